//! What the scripts of packages and the recipes of task runners run: make, just, Task, mise, npm, Composer, Deno.

use std::collections::BTreeMap;

use ralph_gate_component::tree::{Node, Source, TextFormat, Value};

use super::started::{Line, Tree, normalized};
use super::tasks::{JUSTFILES, MAKEFILES, MISE_FILES, TASKFILES};

/// Where mise looks for tasks that are files.
const MISE_DIRECTORIES: &[&str] = &[
    "mise-tasks",
    ".mise-tasks",
    "mise/tasks",
    ".mise/tasks",
    ".config/mise/tasks",
];
/// Options that name the directory in which a task runner works.
const DIRECTORY_OPTIONS: &[&str] = &[
    "-C",
    "--directory",
    "-d",
    "--dir",
    "--working-directory",
    "--working-dir",
    "--prefix",
    "--cwd",
    "--cd",
];
/// What the directory of a task file is called in it.
const OWN_DIRECTORY: &[&str] = &[
    "{{justfile_directory()}}",
    "{{.ROOT_DIR}}",
    "{{.TASKFILE_DIR}}",
    "{{config_root}}",
];
/// How many variables of a makefile are expanded.
const EXPANSION_LIMIT: usize = 10_000;
/// How deep variables of a makefile stand for each other.
const EXPANSION_DEPTH: usize = 8;

/// The lines that a command of a task runner stands for. None if it is none.
pub(super) fn lines(
    tree: Tree<'_>,
    directory: &str,
    program: &str,
    arguments: &[String],
) -> Vec<Line> {
    let Some(call) = Call::of(directory, arguments) else {
        return Vec::new();
    };
    let texts = match program {
        "make" | "gmake" => call.make(tree),
        "just" => call.just(tree),
        "task" | "go-task" => call.of_file(tree, TASKFILES, TextFormat::Yaml, "task"),
        "mise" => call.mise(tree),
        "composer" => call.composer(tree),
        "deno" => match call.names.split_first() {
            Some((&"task", names)) => call.with(names).deno(tree),
            _ => Vec::new(),
        },
        "npm" | "pnpm" | "yarn" | "bun" | "run-s" | "run-p" | "npm-run-all" => {
            call.npm(tree, program)
        }
        _ => Vec::new(),
    };
    let lines = texts.into_iter().map(|(inner, text)| Line {
        directory: inner.unwrap_or_else(|| call.directory.clone()),
        text: OWN_DIRECTORY
            .iter()
            .fold(text, |text, name| text.replace(name, ".")),
    });
    lines.collect()
}

/// A line, with its directory where it is another one.
type Found = Vec<(Option<String>, String)>;

/// Lines that run where the task runner runs.
fn here(lines: impl IntoIterator<Item = String>) -> Found {
    lines.into_iter().map(|line| (None, line)).collect()
}

/// How a task runner is called.
#[derive(Debug, Clone)]
struct Call<'c> {
    directory: String,
    /// The file that it reads, where another one is named.
    file: Option<&'c str>,
    /// What is neither an option nor a variable.
    names: Vec<&'c str>,
}

impl<'c> Call<'c> {
    fn of(directory: &str, arguments: &'c [String]) -> Option<Self> {
        let mut call = Self {
            directory: directory.to_owned(),
            file: None,
            names: Vec::new(),
        };
        let mut words = arguments.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, None),
            };
            if DIRECTORY_OPTIONS.contains(&option) {
                let value = value.or_else(|| words.next())?;
                call.directory = normalized(&call.directory, value)?;
            } else if matches!(
                option,
                "-f" | "--file" | "--makefile" | "--justfile" | "--taskfile"
            ) {
                call.file = value.or_else(|| words.next());
            } else if word == "--" {
                break;
            } else if !word.starts_with('-') && value.is_none() {
                call.names.push(word);
            }
        }
        Some(call)
    }

    fn with(&self, names: &[&'c str]) -> Self {
        Self {
            names: names.to_vec(),
            ..self.clone()
        }
    }

    /// The names without the command of the task runner that may come before them.
    fn names_behind(&self, commands: &[&str]) -> &[&'c str] {
        match self.names.split_first() {
            Some((first, names)) if commands.contains(first) => names,
            _ => &self.names,
        }
    }

    /// The names, or the one that is meant without any.
    fn names_or(&self, default: &'c str) -> Vec<&'c str> {
        match self.names.as_slice() {
            [] => vec![default],
            names => names.to_vec(),
        }
    }

    /// The file that was named, or the first of these.
    fn read(&self, tree: Tree<'_>, files: &[&str]) -> Option<String> {
        let read = |file: &&str| tree.read(&normalized(&self.directory, file)?);
        match &self.file {
            Some(file) => read(file),
            None => files.iter().find_map(read),
        }
    }

    fn make(&self, tree: Tree<'_>) -> Found {
        let Some(mut text) = self.read(tree, MAKEFILES) else {
            return Found::new();
        };
        let mut included = String::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            if matches!(words.next(), Some("include" | "-include" | "sinclude")) {
                let files = words.filter_map(|file| normalized(&self.directory, file));
                for more in files.filter_map(|file| tree.read(&file)) {
                    included.push('\n');
                    included.push_str(&more);
                }
            }
        }
        text.push_str(&included);
        let option = self.file.map_or_else(String::new, |it| format!("-f {it} "));
        let found = of_makefile(&text, &self.names);
        let needed = found
            .needed
            .into_iter()
            .map(|names| format!("make {option}{names}"));
        here(needed.chain(found.recipe))
    }

    fn just(&self, tree: Tree<'_>) -> Found {
        let text = self.read(tree, JUSTFILES);
        text.map_or_else(Found::new, |text| here(of_justfile(&text, &self.names)))
    }

    fn mise(&self, tree: Tree<'_>) -> Found {
        let names = self.names_behind(&["run", "r", "watch", "w"]);
        let call = self.with(names);
        let mut found = call.of_file(tree, MISE_FILES, TextFormat::Toml, "mise run");
        let files = MISE_DIRECTORIES
            .iter()
            .flat_map(|from| names.iter().map(move |name| format!("./{from}/{name}")));
        found.extend(here(files));
        found
    }

    fn composer(&self, tree: Tree<'_>) -> Found {
        let names = self.names_behind(&["run", "run-script"]);
        let script = |line: String| match line.strip_prefix('@') {
            Some(rest) if !rest.starts_with("php ") && !rest.starts_with("putenv ") => {
                let rest = rest.strip_prefix("composer ").unwrap_or(rest);
                format!("composer {rest}")
            }
            Some(rest) => rest.to_owned(),
            None => line,
        };
        let found = self.with(names).scripts(tree, "composer.json", "scripts");
        found
            .into_iter()
            .map(|(directory, line)| (directory, script(line)))
            .collect()
    }

    fn deno(&self, tree: Tree<'_>) -> Found {
        let mut found = self.scripts(tree, "deno.json", "tasks");
        found.extend(self.scripts(tree, "deno.jsonc", "tasks"));
        found
    }

    /// The scripts of a package, with those before and after each.
    fn npm(&self, tree: Tree<'_>, program: &str) -> Found {
        let names = match self.names_behind(&["run", "run-script"]) {
            ["t" | "tst", ..] => &["test"],
            names => names,
        };
        // Behind the script of a package there are arguments.
        let count = if program.starts_with("npm-") || program.starts_with("run-") {
            names.len()
        } else {
            1
        };
        let names: Vec<String> = names
            .iter()
            .take(count)
            .flat_map(|name| ["pre", "", "post"].map(|prefix| format!("{prefix}{name}")))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let call = Call {
            directory: self.directory.clone(),
            file: None,
            names,
        };
        call.scripts(tree, "package.json", "scripts")
    }

    /// What stands in a section of a file in JSON below each name.
    fn scripts(&self, tree: Tree<'_>, file: &str, section: &str) -> Found {
        let text = normalized(&self.directory, file).and_then(|file| tree.read(&file));
        let text = text.unwrap_or_default();
        let Ok(root) = Source::new(&text, TextFormat::Json).read_settings() else {
            return Found::new();
        };
        let nodes = self.names.iter();
        let nodes = nodes.filter_map(|name| find(&root, &[section, name]));
        let mut found = Found::new();
        for node in nodes {
            let command = find(node, &["command"]).unwrap_or(node);
            found.extend(here(texts(command)));
        }
        found
    }

    /// What the tasks of a file run, and calls of those that they need.
    fn of_file(&self, tree: Tree<'_>, files: &[&str], format: TextFormat, runner: &str) -> Found {
        let text = self.read(tree, files).unwrap_or_default();
        let Ok(root) = Source::new(&text, format).read_settings() else {
            return Found::new();
        };
        let mut found = Found::new();
        for name in self.names_or("default") {
            let Some(task) = find(&root, &["tasks", name]) else {
                continue;
            };
            let directory = find(task, &["dir"]).and_then(text_of);
            let directory = directory.and_then(|directory| normalized(&self.directory, &directory));
            let mut add = |line: String| found.push((directory.clone(), line));
            commands_of(task, runner, &mut add);
            for key in ["deps", "depends", "depends_post"] {
                let needed = find(task, &[key]).map(texts).unwrap_or_default();
                for needed in needed {
                    found.push((None, format!("{runner} {needed}")));
                }
            }
        }
        found
    }
}

/// The commands of a task of Task or mise: a text, a list, or a table with them.
fn commands_of(node: &Node<'_>, runner: &str, add: &mut impl FnMut(String)) {
    match &node.value {
        Value::String(line) => add(line.clone().into_owned()),
        Value::List(items) => {
            for item in items {
                commands_of(item, runner, add);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                match entry.key.as_ref() {
                    "cmd" | "cmds" | "run" | "defer" => commands_of(&entry.node, runner, add),
                    "task" | "tasks" => {
                        for name in texts(&entry.node) {
                            add(format!("{runner} {name}"));
                        }
                    }
                    "file" => {
                        for file in texts(&entry.node) {
                            add(format!("./{file}"));
                        }
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// A text, the texts of a list, or the names of tasks in it.
fn texts(node: &Node<'_>) -> Vec<String> {
    match &node.value {
        Value::List(items) => items.iter().flat_map(texts).collect(),
        Value::Map(_) => find(node, &["task"])
            .and_then(text_of)
            .into_iter()
            .collect(),
        _ => text_of(node).into_iter().collect(),
    }
}

fn text_of(node: &Node<'_>) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// What a path of keys leads to.
pub(super) fn find<'n, 'a>(root: &'n Node<'a>, path: &[&str]) -> Option<&'n Node<'a>> {
    let mut node = root;
    for step in path {
        let Value::Map(entries) = &node.value else {
            return None;
        };
        node = &entries.iter().find(|entry| entry.key == *step)?.node;
    }
    Some(node)
}

/// What targets of a makefile stand for.
#[derive(Default)]
struct Rule {
    /// Other targets, separated by white space.
    needed: Vec<String>,
    recipe: Vec<String>,
}

/// The rules of targets; of the first target where none is named.
fn of_makefile(text: &str, targets: &[&str]) -> Rule {
    let text = text.replace("\\\n", " ");
    let variables = variables(&text);
    let mut found = Rule::default();
    let mut first: Option<String> = None;
    // The targets and what they need, while their recipe is read.
    let mut rule: Option<(String, String)> = None;
    for line in text.lines() {
        if line.starts_with(char::is_whitespace) {
            if let Some((target, needed)) = &rule {
                let line = expand_recipe(line.trim(), &variables, target, needed);
                found.recipe.push(line);
            }
            continue;
        }
        let Some((names, needed)) = line.split_once(':').filter(|_| !is_assignment(line)) else {
            continue;
        };
        let names = expand(names, &variables);
        if targets.is_empty() && first.is_none() {
            let mut names = names.split_whitespace();
            let name = names.find(|name| !name.starts_with('.'));
            first = name.map(str::to_owned);
        }
        let target = names
            .split_whitespace()
            .find(|name| targets.contains(name) || first.as_deref() == Some(*name));
        let Some(target) = target else {
            rule = None;
            continue;
        };
        let (needed, recipe) = needed.split_once(';').unwrap_or((needed, ""));
        let needed = expand(needed.trim_start_matches(':'), &variables);
        let needed = needed.replace('|', " ").trim().to_owned();
        if !recipe.is_empty() {
            let recipe = expand_recipe(recipe.trim(), &variables, target, &needed);
            found.recipe.push(recipe);
        }
        if !needed.is_empty() {
            found.needed.push(needed.clone());
        }
        rule = Some((target.to_owned(), needed));
    }
    found
}

/// Whether a line outside of recipes is a comment or sets a variable, be it of one target.
fn is_assignment(line: &str) -> bool {
    let rule = line.split(';').next().unwrap_or(line);
    line.starts_with('#') || rule.contains('=')
}

/// The variables of a makefile.
fn variables(text: &str) -> BTreeMap<String, String> {
    let known = [("MAKE", "make"), ("CURDIR", "."), ("PWD", ".")];
    let known = known.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut variables = BTreeMap::from(known);
    for line in text.lines().filter(|line| !line.starts_with('\t')) {
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim().trim_start_matches("export ");
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        let name = name.rsplit(':').next().unwrap_or(name).trim();
        if !name.is_empty() && !name.contains(char::is_whitespace) {
            variables.insert(name.to_owned(), value.trim().to_owned());
        }
    }
    variables
}

fn expand(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut limit = EXPANSION_LIMIT;
    expanded(text, variables, EXPANSION_DEPTH, &mut limit)
}

/// A line of a recipe, with the variables that stand for its target and for what that needs.
fn expand_recipe(
    line: &str,
    variables: &BTreeMap<String, String>,
    target: &str,
    needed: &str,
) -> String {
    let first = needed.split_whitespace().next().unwrap_or_default();
    let line = line.replace("$<", first).replace("$^", needed);
    expand(&line.replace("$@", target), variables)
}

fn expanded(
    text: &str,
    variables: &BTreeMap<String, String>,
    depth: usize,
    limit: &mut usize,
) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        whole.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            whole.push('$');
            rest = after;
            continue;
        }
        let inside = after
            .strip_prefix('(')
            .and_then(|inside| inside.split_once(')'))
            .or_else(|| after.strip_prefix('{')?.split_once('}'));
        let value = inside.and_then(|(name, tail)| Some((variables.get(name.trim())?, tail)));
        match value {
            Some((value, tail)) if depth > 0 && *limit > 0 => {
                *limit -= 1;
                whole.push_str(&expanded(value, variables, depth - 1, limit));
                rest = tail;
            }
            _ => {
                whole.push('$');
                rest = after;
            }
        }
    }
    whole.push_str(rest);
    whole
}

/// The recipes of a justfile, and calls of those that they need; the first recipe where none is named.
fn of_justfile(text: &str, targets: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut is_inside, mut is_script, mut is_first) = (false, false, true);
    for line in text.lines() {
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with(char::is_whitespace) {
            let line = line.trim();
            if !is_inside {
                continue;
            }
            match found.last_mut() {
                // One script, in which a directory stays changed.
                Some(script) if is_script => {
                    script.push('\n');
                    script.push_str(line);
                }
                _ => found.push(line.to_owned()),
            }
            is_script = is_script || line.starts_with("#!");
            continue;
        }
        (is_inside, is_script) = (false, false);
        let header = line.split_once(':');
        let Some((names, needed)) = header.filter(|(_, rest)| !rest.starts_with('=')) else {
            continue;
        };
        let name = names.split_whitespace().next().unwrap_or_default();
        let name = name.trim_start_matches('@');
        is_inside = targets.contains(&name) || targets.is_empty() && is_first;
        is_first = false;
        if is_inside {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            let needed: Vec<&str> = needed
                .split(|c| !is_part(c))
                .filter(|it| !it.is_empty())
                .collect();
            if !needed.is_empty() {
                found.push(format!("just {}", needed.join(" ")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::started::files;

    /// The files that a command starts where these are.
    fn started(task_file: (&str, &str), argv: &[&str]) -> Vec<String> {
        let work = tempfile::tempdir().unwrap();
        let scripts = ["check.sh", "sub/deep.sh", "ci/more.sh", "mise-tasks/lint"];
        for name in scripts {
            let path = work.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "exit 1\n").unwrap();
        }
        fs::write(work.path().join(task_file.0), task_file.1).unwrap();
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        files(work.path(), "", &argv)
    }

    #[test]
    fn a_recipe_of_make_is_reached_through_prerequisites_variables_and_directories() {
        for makefile in [
            "test: check\ncheck:\n\t./check.sh\n",
            "test: \\\n  check\ncheck: ; @./check.sh\n",
            "CHECK := $(RUN)\nRUN = ./check.sh\ntest:\n\t${CHECK} --all\n",
            "test: check.sh\n\tsh $<\n",
            "test:\n\tcd sub && \\\n\t../check.sh\n",
            "test:\n\t$(MAKE) check\ncheck:\n\t./check.sh\n",
            "all test: | check\ncheck::\n\t./check.sh\n",
            "test: RUN = ./check.sh\ntest:\n\t$(RUN)\n",
        ] {
            let found = started(("Makefile", makefile), &["make", "-B", "test"]);
            assert_eq!(found, ["check.sh"], "{makefile}");
        }
        let first =
            ".PHONY: test\nSH := sh\n# a: b\ntest:\n\t./check.sh\nother:\n\tsh ci/more.sh\n";
        assert_eq!(started(("Makefile", first), &["make"]), ["check.sh"]);
        let looped = "A = $(B)$(B)\nB = $(A)$(A)\ntest:\n\t$(A) ./check.sh\n";
        assert_eq!(started(("Makefile", looped), &["make"]), ["check.sh"]);
    }

    #[test]
    fn a_script_is_reached_through_every_task_runner() {
        let just = "check:\n    ./check.sh\ntest *args: check\n    sh ci/more.sh\n";
        let task = "version: '3'\ntasks:\n  check: ./check.sh\n  test:\n    deps: [check]\n    cmds:\n      - cmd: sh ci/more.sh\n";
        let mise = "[tasks]\ncheck = './check.sh'\n[tasks.test]\ndepends = ['check']\nrun = ['sh ci/more.sh']\n";
        let composer =
            r#"{"scripts": {"test": ["@check", "@php ci/more.sh"], "check": "./check.sh"}}"#;
        let deno = r#"{"tasks": {"test": "deno task check && sh ci/more.sh", "check": {"command": "./check.sh"}}}"#;
        let cases: [((&str, &str), &[&str]); 9] = [
            (("justfile", just), &["just", "test"]),
            (("Taskfile.yml", task), &["task", "test"]),
            (("mise.toml", mise), &["mise", "run", "test"]),
            (("composer.json", composer), &["composer", "test"]),
            (
                ("composer.json", composer),
                &["composer", "run-script", "test"],
            ),
            (("deno.json", deno), &["deno", "task", "test"]),
            (
                (
                    "package.json",
                    r#"{"scripts": {"test": "run-s check more", "check": "./check.sh", "more": "sh ci/more.sh"}}"#,
                ),
                &["npm", "test"],
            ),
            (
                (
                    "justfile",
                    "test:\n  #!/bin/sh\n  cd ci\n  ./more.sh\n  ../check.sh\n",
                ),
                &["just"],
            ),
            (
                (
                    "Taskfile.yml",
                    "tasks:\n  default: [task: test]\n  test:\n    dir: ci\n    cmds: [./more.sh, ../check.sh]\n",
                ),
                &["task", "test"],
            ),
        ];
        for (file, argv) in cases {
            assert_eq!(
                started(file, argv),
                ["check.sh", "ci/more.sh"],
                "{file:?} {argv:?}"
            );
        }
        let task = ("mise.toml", "");
        assert_eq!(started(task, &["mise", "run", "lint"]), ["mise-tasks/lint"]);
    }
}
