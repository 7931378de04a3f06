//! Files of the workspace that a check starts: scripts that its command line names, and those that package scripts and
//! recipes of task runners start for it. What they do decides about the check, so they may not change.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::recipes;
use crate::plain_file;

/// Shells, which run a file or the line behind `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "fish", "ash"];
/// Other programs that run a file that is named behind them, without the number of their version.
const INTERPRETERS: &[&str] = &[
    "node", "nodejs", "deno", "bun", "tsx", "ts-node", "python", "pypy", "ruby", "perl", "php",
    "pwsh", "lua", "Rscript", "elixir", "julia",
];
/// Options of interpreters behind which there is no file: code, or a module.
const INLINE: &[&str] = &["-c", "-e", "-m", "--eval", "-p", "--print"];
/// Options whose value is a file that runs before the script.
const PRELOADS: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
];
/// What precedes a command and says nothing about it. Options and numbers may follow.
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
    "timeout",
    "nice",
    "nohup",
    "xvfb-run",
    "exec",
    "command",
    "if",
    "then",
    "elif",
    "else",
    "while",
    "until",
    "do",
    "!",
    "{",
];
/// Two words that precede a command, which may be the name of a file.
const MANAGERS: &[[&str; 2]] = &[
    ["uv", "run"],
    ["poetry", "run"],
    ["pdm", "run"],
    ["pipenv", "run"],
    ["bundle", "exec"],
    ["npm", "exec"],
    ["pnpm", "exec"],
    ["yarn", "exec"],
];
/// Signs that end a command of a shell, outside of quotes.
const ENDS: &[char] = &['&', '|', ';', '(', ')', '\n', '`'];
/// What begins the path of the current directory.
const HERE: &[&str] = &["$PWD/", "${PWD}/"];
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
/// A longer text is not one that a person wrote.
const TEXT_LIMIT: u64 = 1 << 20;

/// The files that a command starts, relative to the workspace, and what the scripts and targets start that it names.
pub(in crate::config) fn files(workspace: &Path, directory: &str, argv: &[String]) -> Vec<String> {
    let Some(directory) = normalized("", directory) else {
        return Vec::new();
    };
    let absolute = std::path::absolute(workspace).ok();
    let mut search = Search {
        tree: Tree { workspace },
        roots: absolute
            .into_iter()
            .chain(workspace.canonicalize())
            .collect(),
        start: directory.clone(),
        found: BTreeSet::new(),
        lines: Vec::new(),
    };
    search.command(&mut vec![directory], argv, NamedBy::Check);
    let mut at = 0;
    while let Some(line) = search.lines.get(at).filter(|_| at < LIMIT).cloned() {
        let mut directories = vec![line.directory];
        for words in commands(&line.text) {
            search.command(&mut directories, &words, NamedBy::Line);
        }
        at += 1;
    }
    search.found.into_iter().collect()
}

/// The programs that a line of a shell begins with, command by command.
pub(super) fn programs(line: &str) -> Vec<String> {
    let commands = commands(line);
    let programs = commands
        .iter()
        .filter_map(|words| Some(Command::of(words)?.program.to_owned()));
    programs.collect()
}

/// A line of a shell, and the directory in which it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) directory: String,
    pub(super) text: String,
}

/// The files of the workspace, by paths relative to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tree<'w> {
    workspace: &'w Path,
}

impl Tree<'_> {
    pub(super) fn read(self, path: &str) -> Option<String> {
        String::from_utf8(self.bytes(path)?).ok()
    }

    fn bytes(self, path: &str) -> Option<Vec<u8>> {
        plain_file::read(&self.workspace.join(path), TEXT_LIMIT).ok()
    }

    fn is_file(self, path: &str) -> bool {
        self.workspace.join(path).is_file()
    }

    /// Whether a file is a text. What is not may be what a build writes.
    fn is_text(self, path: &str) -> bool {
        self.bytes(path).is_some_and(|bytes| !bytes.contains(&0))
    }
}

/// A path relative to the workspace, without `.` and `..`. None if it leads out of the workspace.
pub(super) fn normalized(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// The words of each command of a line, without quotes.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            (character, Some(open)) if character == open => quote = None,
            ('\\', None | Some('"')) => match characters.next() {
                None | Some('\n') => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            (character, Some(_)) => word.get_or_insert_default().push(character),
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (character, None) => {
                let is_end = ENDS.contains(&character);
                let is_redirection = matches!(character, '<' | '>');
                if !is_end && !is_redirection && !character.is_whitespace() {
                    word.get_or_insert_default().push(character);
                    continue;
                }
                if let Some(words) = all.last_mut() {
                    words.extend(word.take());
                    words.extend((character == '>').then(|| ">".to_owned()));
                }
                if is_end {
                    all.push(Vec::new());
                }
            }
        }
    }
    if let Some(words) = all.last_mut() {
        words.extend(word);
    }
    all
}

/// The program of a command, and its arguments.
struct Command<'c> {
    program: &'c str,
    arguments: &'c [String],
    /// The program may be a file without a slash in its name.
    is_managed: bool,
}

impl<'c> Command<'c> {
    /// From the words of a command, without what precedes the program.
    fn of(words: &'c [String]) -> Option<Self> {
        let (mut at, mut is_prefixed, mut is_managed) = (0, false, false);
        while let Some(word) = words.get(at) {
            // Signs of make, for a line whose failure or text does not count.
            let word = match at {
                0 => word.trim_start_matches(['@', '-', '+']),
                _ => word.as_str(),
            };
            let next = words.get(at + 1).map_or("", String::as_str);
            if MANAGERS.contains(&[word, next]) {
                at += 2;
                (is_prefixed, is_managed) = (true, true);
                continue;
            }
            let is_option = word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
            if PREFIXES.contains(&word) {
                is_prefixed = true;
            } else if !(word.is_empty() || is_variable(word) || is_prefixed && is_option) {
                return Some(Self {
                    program: word,
                    arguments: words.get(at + 1..).unwrap_or_default(),
                    is_managed,
                });
            }
            at += 1;
        }
        None
    }

    /// The program without its directory and without the number of its version.
    fn name(&self) -> &'c str {
        let name = self.program.rsplit('/').next().unwrap_or(self.program);
        let is_version = |c: char| c.is_ascii_digit() || c == '.';
        name.trim_end_matches(is_version)
    }
}

/// Whether a word sets a variable.
fn is_variable(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_name))
}

/// What names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamedBy {
    /// The command line of the check.
    Check,
    /// A line that it leads to.
    Line,
}

struct Search<'w> {
    tree: Tree<'w>,
    /// The absolute paths of the workspace.
    roots: Vec<PathBuf>,
    /// The directory of the check.
    start: String,
    found: BTreeSet<String>,
    lines: Vec<Line>,
}

impl Search<'_> {
    /// Adds the files of a command, and the lines that it stands for. A command may change the directory of those after
    /// it, unless they run in another shell: so files are looked for in each directory so far.
    fn command(&mut self, directories: &mut Vec<String>, words: &[String], by: NamedBy) {
        let Some(command) = Command::of(words) else {
            return;
        };
        let here = directories.last().cloned().unwrap_or_default();
        let (name, arguments) = (command.name(), command.arguments);
        if matches!(name, "cd" | "pushd") {
            let target = arguments.iter().find(|word| !word.starts_with('-'));
            directories.extend(target.and_then(|target| normalized(&here, target)));
            return;
        }
        if command.program.contains('/') || command.is_managed {
            self.add_program(directories, command.program, by);
        }
        if SHELLS.contains(&name) {
            self.of_shell(directories, arguments);
        } else if INTERPRETERS.contains(&name) {
            self.of_interpreter(directories, arguments);
        }
        for line in recipes::lines(self.tree, &here, name, arguments) {
            self.follow(line);
        }
    }

    fn follow(&mut self, line: Line) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }

    fn of_shell(&mut self, directories: &[String], arguments: &[String]) {
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let is_option = word.starts_with('-');
            if is_option && !word.starts_with("--") && word.contains('c') {
                let directory = directories.last().cloned().unwrap_or_default();
                if let Some(text) = words.next().cloned() {
                    self.follow(Line { directory, text });
                }
                return;
            }
            if !is_option && self.add(directories, word) {
                return;
            }
        }
    }

    /// Adds the script that an interpreter runs, and what runs before it. What comes behind a script are its arguments.
    fn of_interpreter(&mut self, directories: &[String], arguments: &[String]) {
        let runs_tests = arguments.iter().any(|word| word == "--test")
            || arguments.first().is_some_and(|word| word == "test");
        let mut is_preload = false;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word == "-m"
                && let Some(module) = words.next()
            {
                let path = module.replace('.', "/");
                let files = [format!("{path}.py"), format!("{path}/__main__.py")];
                for file in files {
                    self.add(directories, &file);
                }
            }
            if INLINE.contains(&word.as_str()) {
                return;
            }
            if word == ">" {
                words.next();
            } else if word.starts_with('-') {
                is_preload = PRELOADS.contains(&word.as_str());
                let value = word.split_once('=');
                if let Some((_, file)) = value.filter(|(option, _)| PRELOADS.contains(option)) {
                    self.add(directories, file);
                }
            } else {
                let is_file = self.add(directories, word);
                if is_file && !is_preload && !runs_tests {
                    return;
                }
                is_preload = false;
            }
        }
    }

    /// Adds a file that is started as a program. One that a line starts in its own directory is often what a build has
    /// written there, so only a script counts.
    fn add_program(&mut self, directories: &[String], word: &str, by: NamedBy) {
        let name = word.strip_prefix("./").unwrap_or(word);
        let may_be_built = by == NamedBy::Line && !name.contains('/');
        let tree = self.tree;
        self.add_if(directories, word, |path| {
            !may_be_built || tree.is_text(path)
        });
    }

    /// Adds a file. Gives whether there is one.
    fn add(&mut self, directories: &[String], word: &str) -> bool {
        self.add_if(directories, word, |_| true)
    }

    fn add_if(
        &mut self,
        directories: &[String],
        word: &str,
        is_meant: impl Fn(&str) -> bool,
    ) -> bool {
        let word = HERE
            .iter()
            .find_map(|here| word.strip_prefix(here))
            .unwrap_or(word);
        let mut is_there = false;
        for directory in directories {
            let Some(path) = self.path(directory, word) else {
                continue;
            };
            if !self.tree.is_file(&path) {
                continue;
            }
            is_there = true;
            let is_installed = [directory, &self.start]
                .into_iter()
                .any(|directory| is_installed(directory, &path));
            if !is_installed && is_meant(&path) {
                self.found.insert(path);
            }
        }
        is_there
    }

    /// The path of a word, relative to the workspace.
    fn path(&self, directory: &str, word: &str) -> Option<String> {
        if !word.starts_with('/') {
            return normalized(directory, word);
        }
        let inside = self
            .roots
            .iter()
            .find_map(|root| Path::new(word).strip_prefix(root).ok())?;
        normalized("", inside.to_str()?)
    }
}

/// Whether a path leads into a directory of installed or built files, as seen from a directory.
fn is_installed(directory: &str, path: &str) -> bool {
    let below = path.strip_prefix(directory).unwrap_or(path);
    let first = below.trim_start_matches('/').split_once('/');
    let mut parts = path.split('/');
    first.is_some_and(|(first, _)| INSTALLED.contains(&first))
        || parts.any(|part| matches!(part, "node_modules" | ".venv" | "venv"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn work(files: &[(&str, &str)]) -> tempfile::TempDir {
        let work = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = work.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        work
    }

    fn started_in(files_there: &[(&str, &str)], directory: &str, argv: &[&str]) -> Vec<String> {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        files(work(files_there).path(), directory, &argv)
    }

    fn started(files_there: &[(&str, &str)], line: &str) -> Vec<String> {
        started_in(files_there, "", &["sh", "-c", line])
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
            ("node scripts/run.js calc.js", &["scripts/run.js"]),
            ("timeout 60 ./ci/check.sh calc.js", &["ci/check.sh"]),
            ("sh < ci/check.sh", &["ci/check.sh"]),
            ("sh -ec 'cd ci && ./check.sh'", &["ci/check.sh"]),
            ("uv run ci/check.sh", &["ci/check.sh"]),
            ("node -e 1 calc.js", &[]),
            ("node -p 1 > calc.js", &[]),
            ("jest calc.js", &[]),
            ("sh missing.sh", &[]),
            ("../check.sh", &[]),
        ] {
            assert_eq!(started(there, line), expected, "{line}");
        }
        let preloaded = "node --require ./calc.js --import=./ci/check.sh scripts/run.js other";
        let all = ["calc.js", "ci/check.sh", "scripts/run.js"];
        assert_eq!(started(there, preloaded), all);
        assert_eq!(
            started(there, "node --test scripts/run.js calc.js"),
            ["calc.js", "scripts/run.js"]
        );
        let modules = &[
            ("checks/run.py", ""),
            ("calc/__main__.py", ""),
            ("data.py", ""),
        ];
        assert_eq!(
            started(modules, "python3.12 -m checks.run data.py"),
            ["checks/run.py"]
        );
        assert_eq!(started(modules, "python -m calc"), ["calc/__main__.py"]);
    }

    #[test]
    fn a_script_in_the_root_is_found_however_it_is_started() {
        let makefile = |recipe: &str| format!("test:\n\t{recipe}\n");
        for recipe in [
            "./check.sh",
            "@./check.sh",
            "-./check.sh",
            "+@./check.sh",
            "cd . && ./check.sh",
            "$(CURDIR)/check.sh",
            "CI=1 ./check.sh > out.txt",
        ] {
            let makefile = makefile(recipe);
            let there = &[("Makefile", makefile.as_str()), ("check.sh", "exit 1\n")];
            assert_eq!(started(there, "make -B test"), ["check.sh"], "{recipe}");
        }
        let package = r#"{"scripts": {"test": "./check.sh"}}"#;
        let there = &[("package.json", package), ("check.sh", "")];
        assert_eq!(started(there, "npm test"), ["check.sh"]);
        assert_eq!(started_in(there, "", &["./check.sh"]), ["check.sh"]);
    }

    #[test]
    fn a_program_that_a_build_writes_beside_its_makefile_is_no_script() {
        let makefile = "test:\n\tcc -o app app.c && ./app\n";
        let there = &[
            ("Makefile", makefile),
            ("app", "\u{7f}ELF\0"),
            ("app.c", ""),
        ];
        assert_eq!(started(there, "make test"), [] as [&str; 0]);
        // Who names it himself means it.
        assert_eq!(started_in(there, "", &["./app"]), ["app"]);
    }

    #[test]
    fn a_script_is_found_in_the_directory_in_which_it_is_started() {
        let there = &[
            ("sub/x.sh", ""),
            ("sub/Makefile", "test: deep\ndeep:\n\t./x.sh\n"),
            ("scripts/run.sh", ""),
            ("Makefile", "test:\n\t$(MAKE) -C sub test\n"),
            ("sub/node_modules/a.js", ""),
        ];
        for line in [
            "cd sub && ./x.sh",
            "(cd sub; sh x.sh)",
            "make test",
            "cd sub && make test",
        ] {
            assert_eq!(started(there, line), ["sub/x.sh"], "{line}");
        }
        let up = ["sh", "../scripts/run.sh"];
        assert_eq!(started_in(there, "sub", &up), ["scripts/run.sh"]);
        assert_eq!(started_in(there, "./sub/", &["./x.sh"]), ["sub/x.sh"]);
        let installed = ["node", "node_modules/a.js"];
        assert_eq!(started_in(there, "sub", &installed), [] as [&str; 0]);
        let work = work(there);
        let absolute = work.path().join("sub/x.sh").to_str().unwrap().to_owned();
        assert_eq!(files(work.path(), "", &[absolute]), ["sub/x.sh"]);
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
        let found = programs("A=1 tsc -p . && npx -y jest; echo \"x\" | (cat)");
        assert_eq!(found, ["tsc", "jest", "echo", "cat"]);
    }
}
