//! Files of the workspace that a check starts: scripts that are named in the scripts of a package or in recipes of make.
//! What they do decides about the check, so they may not change.

use std::collections::BTreeSet;

use serde_json::Value;

use super::folder::Folder;
use super::tasks::{JUSTFILES, MAKEFILES};

/// Programs that run a file that is named behind them.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "node", "deno", "bun", "tsx", "ts-node", "python", "python3",
    "ruby", "perl", "php", "pwsh",
];
/// What stands before a command and says nothing about it.
const PREFIXES: &[&str] = &[
    "npx",
    "bunx",
    "cross-env",
    "c8",
    "nyc",
    "dotenv",
    "--",
    "env",
    "time",
    "exec",
    "if",
    "then",
    "do",
    "!",
];
/// Signs that end a command of a shell, outside of quotes.
const ENDS: &[char] = &['&', '|', ';', '(', ')', '\n', '`'];
/// Directories that are installed or built: what is in them is not the project's own.
const INSTALLED: &[&str] = &[
    "node_modules",
    "vendor",
    ".venv",
    "venv",
    "target",
    "build",
    "dist",
    "out",
    "_build",
    "deps",
];
/// How many lines lead from one to the next.
const LIMIT: usize = 200;

/// The programs that a line of a shell begins with, command by command.
pub(super) fn programs(line: &str) -> impl Iterator<Item = &str> {
    let first = |command| words(command).next();
    commands(line).filter_map(first)
}

/// The commands of a line.
fn commands(line: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let mut is_escaped = false;
    line.split(move |c: char| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match (c, quote) {
            ('\\', _) => is_escaped = true,
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (_, None) => return ENDS.contains(&c),
            _ => {}
        }
        false
    })
}

/// The words of a command, without what stands before it and without quotes.
fn words(command: &str) -> impl Iterator<Item = &str> + Clone {
    let words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'']));
    words.skip_while(|word| {
        let name = word.split_once('=').map(|(name, _)| name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_variable = name.is_some_and(|name| !name.is_empty() && name.chars().all(is_name));
        PREFIXES.contains(word) || is_variable
    })
}

/// The files that a line starts, relative to the workspace, and what the scripts and targets start that it names.
pub(super) fn files(folder: &Folder<'_>, line: &str) -> Vec<String> {
    let package = folder.read("package.json");
    let package: Value = package
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let recipes = |names| folder.first(names).and_then(|file| folder.read(file));
    let search = Search {
        folder,
        package,
        makefile: recipes(MAKEFILES).unwrap_or_default(),
        justfile: recipes(JUSTFILES).unwrap_or_default(),
    };
    let mut found = BTreeSet::new();
    let mut lines = vec![line.to_owned()];
    let mut at = 0;
    while let Some(line) = lines.get(at).filter(|_| at < LIMIT).cloned() {
        for command in commands(&line) {
            search.command(command, &mut found, &mut lines);
        }
        at += 1;
    }
    found.into_iter().collect()
}

struct Search<'f, 'w> {
    folder: &'f Folder<'w>,
    package: Value,
    makefile: String,
    justfile: String,
}

impl Search<'_, '_> {
    /// Adds the files of a command, and the lines that it stands for.
    fn command(&self, command: &str, found: &mut BTreeSet<String>, lines: &mut Vec<String>) {
        let mut words = words(command.trim_start_matches(['@', '-', '+', '\t', ' ']));
        let Some(program) = words.next() else {
            return;
        };
        let program = program.trim_start_matches("./");
        let name = program.rsplit('/').next().unwrap_or(program);
        if program.contains('/') || INTERPRETERS.contains(&name) {
            let named = std::iter::once(program).chain(words.clone());
            for word in named.map(|word| word.trim_start_matches("./")) {
                let is_installed = INSTALLED.contains(&word.split('/').next().unwrap_or(word));
                if self.folder.has(word) && !is_installed {
                    found.insert(self.folder.path(word));
                }
            }
        }
        let mut add = |line: String| {
            if !lines.contains(&line) {
                lines.push(line);
            }
        };
        match name {
            "make" | "gmake" => recipes(&self.makefile, words).for_each(&mut add),
            "just" => recipes(&self.justfile, words).for_each(&mut add),
            "npm" | "pnpm" | "yarn" | "bun" => {
                let mut names = words.filter(|word| *word != "run" && !word.starts_with('-'));
                let script = names.next().and_then(|name| self.script(name));
                script.into_iter().for_each(&mut add);
            }
            _ => {}
        }
    }

    /// A script of the package, with those before and after it.
    fn script(&self, name: &str) -> Option<String> {
        let scripts = self.package.get("scripts")?;
        let script = |prefix: &str| scripts.get(format!("{prefix}{name}"))?.as_str();
        let all = ["pre", "", "post"].map(|prefix| script(prefix).unwrap_or_default());
        Some(all.join("\n"))
    }
}

/// The recipes of targets, and commands that stand for those that they need.
fn recipes<'t>(
    makefile: &'t str,
    targets: impl Iterator<Item = &'t str>,
) -> impl Iterator<Item = String> {
    let targets: Vec<&str> = targets.filter(|word| !word.starts_with('-')).collect();
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in makefile.lines() {
        if line.starts_with(char::is_whitespace) {
            if is_inside {
                found.push(line.trim().to_owned());
            }
            continue;
        }
        let Some((names, needed)) = line.split_once(':') else {
            continue;
        };
        is_inside = names.split_whitespace().any(|name| targets.contains(&name));
        if is_inside {
            let (needed, recipe) = needed.split_once(';').unwrap_or((needed, ""));
            let needed = needed.trim_start_matches(':').trim();
            if !needed.is_empty() {
                found.push(format!("make {needed}"));
            }
            found.push(recipe.to_owned());
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn started(files_there: &[(&str, &str)], line: &str) -> Vec<String> {
        let work = tempfile::tempdir().unwrap();
        for (name, text) in files_there {
            let path = work.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        files(&Folder::open(work.path(), String::new()).unwrap(), line)
    }

    #[test]
    fn a_script_that_is_started_is_found_and_what_it_works_on_is_not() {
        let there = &[("ci/check.sh", ""), ("calc.js", ""), ("scripts/run.js", "")];
        for (line, expected) in [
            ("node scripts/run.js", &["scripts/run.js"] as &[&str]),
            (
                "CI=1 npx c8 node --no-warnings ./scripts/run.js",
                &["scripts/run.js"],
            ),
            ("eslint calc.js && ./ci/check.sh", &["ci/check.sh"]),
            ("sh \"ci/check.sh\" | tee calc.js", &["ci/check.sh"]),
            ("jest calc.js", &[]),
            ("sh missing.sh", &[]),
        ] {
            assert_eq!(started(there, line), expected, "{line}");
        }
    }

    #[test]
    fn scripts_and_targets_lead_to_each_other() {
        let package = r#"{"scripts": {"test": "npm run unit && make check", "pretest": "node a.js", "unit": "node b.js"}}"#;
        let makefile = "app: app.sh\n\tsh app.sh\ncheck: deep\n\t@sh c.sh\ndeep: check; sh d.sh\n";
        let names = ["a.js", "b.js", "c.sh", "d.sh", "app.sh"];
        let mut there: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        there.extend([("package.json", package), ("Makefile", makefile)]);
        assert_eq!(
            started(&there, "npm test"),
            ["a.js", "b.js", "c.sh", "d.sh"]
        );
    }

    #[test]
    fn a_line_has_a_program_for_each_command() {
        let found: Vec<&str> = programs("A=1 tsc -p . && npx jest; echo \"x\" | (cat)").collect();
        assert_eq!(found, ["tsc", "jest", "echo", "cat"]);
    }
}
