//! Which commands run tests, and which may change files.

use crate::shell::{self, Join, Simple};

/// What a command does to files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Touch {
    /// Nothing.
    #[default]
    No,
    /// Not known.
    Perhaps,
    /// It changes some.
    Yes,
}

/// What a command of the shell is, for a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// It runs tests.
    Test(Plan),
    /// A program that is not known: only a summary that it prints tells whether it ran tests.
    Unknown {
        /// What can be told of it, if it did.
        plan: Plan,
        /// It is named like a program that runs tests.
        seems_test: bool,
    },
    /// It does not.
    Other(Touch),
}

/// What can be told about a command that runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    /// What an exit status of zero means.
    pub(crate) zero: Means,
    /// What another exit status means.
    pub(crate) other: Means,
    /// Whether a printed summary that knows no failure can be relied on: nothing cut off its end or chose among its lines.
    pub(crate) shows_all: bool,
    /// What the rest of the command, after the tests, does to files.
    pub(crate) touch: Touch,
}

/// What an exit status means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// It is that of the tests.
    Tests,
    /// It may be that of something else.
    Nothing,
}

/// Words around a command that leave its exit status as it is.
const WRAPPERS: &[&str] = &[
    "builtin", "bunx", "command", "exec", "nice", "nohup", "npx", "setsid", "sudo", "time", "uvx",
    "xvfb-run",
];
/// Words that run a command behind `--`, with options of their own before it.
const SEPARATED: &[&str] = &[
    "asdf",
    "direnv",
    "doppler",
    "dotenv",
    "infisical",
    "mise",
    "op",
    "rtx",
];
/// Programs of packages that pnpm and yarn run by their names.
const BINARIES: &[&str] = &[
    "ava",
    "jest",
    "lerna",
    "mocha",
    "nx",
    "playwright",
    "turbo",
    "vitest",
];
/// Options with a value, of programs that run others or scripts: the value is no task.
const VALUED: &[&str] = &[
    "--cwd",
    "--cd",
    "--dir",
    "--directory",
    "--env-file",
    "--extra",
    "--filter",
    "--filter-prod",
    "--group",
    "--justfile",
    "--makefile",
    "--manifest-path",
    "--only-group",
    "--package",
    "--prefix",
    "--profile",
    "--project",
    "--python",
    "--with",
    "--with-editable",
    "--with-requirements",
    "--working-directory",
    "--workspace",
    "-C",
    "-F",
    "-f",
    "-n",
    "-p",
    "-w",
];
/// Options with a value, of programs that run commands in containers.
const VALUED_IN_CONTAINER: &[&str] = &[
    "--entrypoint",
    "--env",
    "--env-file",
    "--file",
    "--index",
    "--mount",
    "--name",
    "--network",
    "--platform",
    "--profile",
    "--project-name",
    "--publish",
    "--user",
    "--volume",
    "--workdir",
    "-e",
    "-f",
    "-p",
    "-u",
    "-v",
    "-w",
];
/// Programs whose first word may install something that is called like tests.
const INSTALLING: &[&str] = &[
    "add", "build", "ci", "create", "i", "init", "install", "remove",
];
/// Parts of names of programs and scripts that run tests.
const TEST_NAMES: &[&str] = &[
    "check", "checks", "e2e", "spec", "specs", "test", "testing", "tests", "verify",
];
/// Commands that only prepare: where they fail, the tests were not run, and they say so themselves.
const PREPARING: &[&str] = &[
    ".", ":", "cd", "clear", "date", "echo", "export", "printf", "pushd", "pwd", "set", "sleep",
    "source", "true", "unset",
];
/// The ends of a pipe that show the end of what they are given.
const SHOWING: &[&str] = &["cat", "less", "tail", "tee"];
/// Words that make a test command do something else.
const NOT_RUNNING: &[&str] = &[
    "--collect-only",
    "--co",
    "--help",
    "--list",
    "--list-tests",
    "--listTests",
    "--no-run",
    "--version",
    "-h",
    "-list",
];

/// Words of a command that can't be taken apart: so many of them are looked at.
const MOST_WORDS: usize = 1000;

/// What a command is.
pub(crate) fn of(text: &str) -> Command {
    let Some(commands) = shell::parse(text) else {
        let words: Vec<&str> = text.split_whitespace().take(MOST_WORDS).collect();
        // `test -f FILE` looks at files.
        let looks = |next: &str| next.starts_with(['-', '!', '"', '$']);
        let is_one = |word: &str, next: &str| {
            is_test(&[word.to_owned()]) || is_test_name(word) && !(word == "test" && looks(next))
        };
        let nexts = words.iter().skip(1).chain(std::iter::once(&""));
        let seems_test = words
            .iter()
            .zip(nexts)
            .any(|(word, next)| is_one(word, next));
        return Command::Unknown {
            plan: Plan {
                zero: Means::Nothing,
                other: Means::Nothing,
                shows_all: false,
                touch: Touch::Perhaps,
            },
            seems_test,
        };
    };
    of_commands(&commands, 0)
}

fn of_commands(commands: &[Simple], depth: u32) -> Command {
    // A shell in a shell is what it runs.
    if let [only] = commands
        && let Some(script) = script_of(&only.words)
        && depth < 3
        && let Some(inner) = shell::parse(script)
    {
        return of_commands(&inner, depth + 1);
    }
    match commands.iter().rposition(|command| is_test(&command.words)) {
        Some(last) => Command::Test(plan(commands, last)),
        None => of_unknown(commands),
    }
}

/// Commands of which none is known to run tests.
fn of_unknown(commands: &[Simple]) -> Command {
    let is_unknown = |command: &Simple| touch(command) == Touch::Perhaps;
    let touched = commands.iter().map(touch).max().unwrap_or(Touch::No);
    let Some(last) = commands.iter().rposition(is_unknown) else {
        return Command::Other(touched);
    };
    let mut plan = plan(commands, last);
    if commands.iter().filter(|it| is_unknown(it)).count() > 1 {
        // Any of them may have run the tests, and any of those behind it may have changed files.
        plan.touch = plan.touch.max(Touch::Perhaps);
    }
    let mut unknown = commands.iter().filter(|it| is_unknown(it));
    Command::Unknown {
        plan,
        seems_test: unknown.any(|command| seems_test(&command.words)),
    }
}

/// Whether a program that is not known is named like one that runs tests, or is given the name of tests to run.
fn seems_test(words: &[String]) -> bool {
    let words = unwrapped(words);
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let rest = skip_options(rest, VALUED);
    let task = rest.first().map_or("", String::as_str);
    if is_test_name(program) {
        return true;
    }
    if INSTALLING.contains(&task) {
        return false;
    }
    let is_run = matches!(task, "run" | "run-script" | "exec" | "r" | "x");
    let second = rest.get(1).filter(|_| is_run);
    is_test_name(task) || second.is_some_and(|word| is_test_name(word))
}

/// Whether a part of a name says that it is about tests: `run_tests.sh`, `unit-test`, `web:test`, `//app:e2e`.
fn is_test_name(word: &str) -> bool {
    let parts = base(word).split(|c: char| !c.is_ascii_alphanumeric());
    parts
        .map(str::to_ascii_lowercase)
        .any(|part| TEST_NAMES.contains(&part.as_str()))
}

/// The script of `bash -c SCRIPT`.
fn script_of(words: &[String]) -> Option<&str> {
    let words = unwrapped(words);
    let [shell, options @ .., script] = words else {
        return None;
    };
    let is_shell = matches!(base(shell), "bash" | "sh" | "zsh" | "dash");
    let is_option = |word: &String| word.starts_with('-') && !word.starts_with("--");
    let runs = options.iter().any(|word| word.ends_with('c'));
    (is_shell && runs && options.iter().all(is_option)).then_some(script)
}

fn plan(commands: &[Simple], last: usize) -> Plan {
    let pipefail = commands.iter().take(last).any(sets_pipefail);
    let before = commands.get(..last).unwrap_or_default();
    let after = commands.get(last + 1..).unwrap_or_default();
    let piped = after.first().is_some_and(|next| next.join == Join::Pipe);
    let pipe = after
        .iter()
        .take_while(|next| next.join == Join::Pipe)
        .count();
    let rest = after.get(pipe..).unwrap_or_default();
    let is_hidden = piped && !pipefail;
    let only_and = rest
        .iter()
        .all(|next| matches!(next.join, Join::And | Join::Pipe));
    let run = commands.get(last..).unwrap_or_default();
    let in_background = run.iter().take(pipe + 1).any(|it| it.background);
    let joined = commands.get(last).map_or(Join::Then, |test| test.join);
    let is_told = !is_hidden && only_and && !in_background && joined != Join::Or;
    let zero = if is_told {
        Means::Tests
    } else {
        Means::Nothing
    };
    // Of a chain, any part may have failed; those that only prepare say so themselves.
    let is_harmless = |command: &Simple| {
        let first = unwrapped(&command.words).first();
        is_test(&command.words) || first.is_none_or(|word| PREPARING.contains(&word.as_str()))
    };
    let alone = before
        .iter()
        .filter(|it| !sets_pipefail(it))
        .all(is_harmless)
        && rest.iter().all(is_harmless);
    let other = if is_told && alone && joined != Join::Pipe {
        Means::Tests
    } else {
        Means::Nothing
    };
    let shows = |command: &Simple| {
        let words = unwrapped(&command.words);
        words
            .first()
            .is_some_and(|word| SHOWING.contains(&base(word)))
    };
    let discards = commands
        .get(last)
        .is_some_and(|test| !test.writes.is_empty());
    let shows_all = !discards && !in_background && after.iter().take(pipe).all(shows);
    let is_written = |file: &String| !is_nowhere(file);
    let written = after
        .iter()
        .take(pipe)
        .any(|it| it.writes.iter().any(is_written));
    let rest = rest.iter().map(touch).max().unwrap_or(Touch::No);
    // What the pipe keeps, as `tee`, is a log of the tests.
    let touch = if written {
        rest.max(Touch::Perhaps)
    } else {
        rest
    };
    Plan {
        zero,
        other,
        shows_all,
        touch,
    }
}

fn sets_pipefail(command: &Simple) -> bool {
    command.words.first().is_some_and(|word| word == "set")
        && command.words.iter().any(|word| word == "pipefail")
}

/// The last part of a path.
fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// A command without what stands around it: variables, `timeout 60`, `npx`, `uv run`.
fn unwrapped(mut words: &[String]) -> &[String] {
    // Each turn takes at least one word away.
    while let [first, rest @ ..] = words {
        let next = rest.first().map_or("", String::as_str);
        words = match base(first) {
            word if is_assignment(word) => rest,
            "env" => skip_options(rest, &["-u", "-C"]),
            "timeout" | "gtimeout" => {
                let rest = skip_options(rest, &["-k", "-s", "--signal", "--kill-after"]);
                rest.get(1..).unwrap_or_default()
            }
            "stdbuf" | "ionice" => skip_options(rest, &[]),
            "nice" => skip_options(rest, &["-n"]),
            word if WRAPPERS.contains(&word) => skip_options(rest, &[]),
            "uv" | "poetry" | "pipenv" | "hatch" | "rye" | "pdm" | "pipx" | "conda" | "mamba"
            | "micromamba" => match behind(rest, &["run"]) {
                Some(rest) => rest,
                None => match behind(rest, &["tool"]).and_then(|rest| behind(rest, &["run"])) {
                    Some(rest) => rest,
                    None => return words,
                },
            },
            "pnpm" | "yarn" | "npm" => {
                let inner = skip_options(rest, VALUED);
                match behind(rest, &["exec", "dlx", "x"]) {
                    Some(rest) => rest,
                    None if inner
                        .first()
                        .is_some_and(|it| BINARIES.contains(&it.as_str())) =>
                    {
                        inner
                    }
                    None => return words,
                }
            }
            "bundle" if next == "exec" => rest.get(1..).unwrap_or_default(),
            "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
                match in_container(rest) {
                    Some(rest) => rest,
                    None => return words,
                }
            }
            word if SEPARATED.contains(&word) => match rest.iter().position(|word| word == "--") {
                Some(at) => rest.get(at + 1..).unwrap_or_default(),
                None => return words,
            },
            _ => return words,
        };
    }
    words
}

/// What stands behind the first word that is no option, if it is one of these.
fn behind<'w>(words: &'w [String], names: &[&str]) -> Option<&'w [String]> {
    behind_with(words, names, VALUED)
}

fn behind_with<'w>(words: &'w [String], names: &[&str], valued: &[&str]) -> Option<&'w [String]> {
    let (first, rest) = skip_options(words, valued).split_first()?;
    let is_it = names.contains(&first.as_str());
    is_it.then(|| skip_options(rest, valued))
}

/// The command of `docker compose exec -T SERVICE COMMAND`, `docker run IMAGE COMMAND` and the like.
fn in_container(words: &[String]) -> Option<&[String]> {
    let behind = |words, name: &str| behind_with(words, &[name], VALUED_IN_CONTAINER);
    let words = behind(words, "compose").unwrap_or(words);
    let words = behind(words, "exec").or_else(|| behind(words, "run"))?;
    words.get(1..)
}

fn is_assignment(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(is_name)
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

fn skip_options<'w>(mut words: &'w [String], valued: &[&str]) -> &'w [String] {
    while let [first, rest @ ..] = words
        && first.starts_with('-')
    {
        if first == "--" {
            return rest;
        }
        words = if valued.contains(&first.as_str()) {
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
    }
    words
}

/// Whether a simple command runs tests.
fn is_test(words: &[String]) -> bool {
    let words = unwrapped(words);
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    if rest.iter().any(|word| NOT_RUNNING.contains(&word.as_str())) {
        return false;
    }
    let has = |word: &str| rest.iter().any(|it| it == word);
    // The first word that is no option.
    let task = rest.iter().find(|word| !word.starts_with(['-', '+']));
    let task = task.map_or("", String::as_str);
    let second = rest
        .iter()
        .filter(|word| !word.starts_with(['-', '+']))
        .nth(1);
    let second = second.map_or("", String::as_str);
    match base(program) {
        "cargo" => {
            matches!(task, "test" | "t" | "llvm-cov" | "tarpaulin")
                || task == "nextest" && matches!(second, "run" | "r")
                || matches!(task, "hack" | "make" | "miri" | "xtask") && second == "test"
        }
        "pytest" | "py.test" | "tox" | "nox" | "nose2" | "jest" | "mocha" | "ava" | "rspec"
        | "phpunit" | "pest" | "ctest" | "gotestsum" | "bats" | "prove" | "karma" => true,
        "vitest" => !matches!(task, "list" | "bench" | "init"),
        "playwright" | "go" | "dotnet" | "swift" | "flutter" | "dart" | "mix" | "deno"
        | "bazel" | "bazelisk" | "buck2" | "pants" | "please" | "hatch" | "cabal" | "stack"
        | "dune" | "meson" | "sbt" | "lein" | "rails" | "hardhat" | "forge" | "gleam" => {
            task == "test" || base(program) == "deno" && task == "task" && is_test_script(second)
        }
        "python" | "python3" | "py" => {
            let module = rest.iter().skip_while(|word| *word != "-m").nth(1);
            matches!(
                module.map(String::as_str),
                Some("pytest" | "unittest" | "tox" | "nox" | "nose2")
            ) || base(task) == "manage.py" && second == "test"
        }
        "npm" | "pnpm" | "yarn" | "bun" | "lerna" | "rush" => is_test_of_package(program, rest),
        "turbo" => {
            let tasks = behind(rest, &["run"]).unwrap_or(rest);
            tasks.iter().any(|word| is_test_script(word))
        }
        "nx" => is_test_of_nx(rest),
        "moon" => {
            behind(rest, &["run", "ci"]).is_some_and(|rest| rest.iter().any(|it| is_target(it)))
        }
        "mise" | "rtx" => {
            let tasks = behind(rest, &["run", "r"]).unwrap_or(rest);
            skip_options(tasks, VALUED)
                .first()
                .is_some_and(|task| is_target(task))
        }
        "node" => has("--test"),
        "make" | "gmake" | "just" | "ninja" | "task" | "go-task" | "rake" | "ant" => {
            targets(rest).any(|word| is_target(word))
        }
        "mvn" | "mvnw" => {
            let skips = rest.iter().any(|word| {
                word.starts_with("-DskipTests") || word.starts_with("-Dmaven.test.skip")
            });
            !skips && (has("test") || has("verify") || has("integration-test"))
        }
        "gradle" | "gradlew" => targets(rest).any(|word| {
            let task = word.rsplit(':').next().unwrap_or(word);
            matches!(task, "test" | "check") || task.ends_with("Test") || task.ends_with("Tests")
        }),
        "composer" => is_test_script(task) || task == "run" && is_test_script(second),
        "php" => {
            base(task) == "artisan" && second == "test" || matches!(base(task), "phpunit" | "pest")
        }
        "xcodebuild" => has("test"),
        "zig" => task == "test" || task == "build" && second == "test",
        "cypress" => task == "run",
        _ => false,
    }
}

/// A script of a package, by its name: `test`, `test:unit`.
fn is_test_script(name: &str) -> bool {
    matches!(name, "test" | "tests" | "t") || name.starts_with("test:") || name.starts_with("test-")
}

/// A target, recipe or task, by its name: `test`, `check`, `test-unit`, `unit-test`, `web:test`.
fn is_target(name: &str) -> bool {
    matches!(name, "check" | "spec" | "tests")
        || name
            .split(['-', '_', ':', '/', '.'])
            .any(|part| matches!(part, "test" | "tests"))
}

/// The words that are neither options, nor their values, nor variables.
fn targets(mut words: &[String]) -> impl Iterator<Item = &String> {
    std::iter::from_fn(move || {
        loop {
            words = skip_options(words, VALUED);
            let (first, rest) = words.split_first()?;
            words = rest;
            if !is_assignment(first) {
                return Some(first);
            }
        }
    })
}

/// `npm test -w web`, `pnpm --filter web run test`, `yarn workspace web test`, `yarn workspaces foreach -A run test`.
fn is_test_of_package(program: &str, words: &[String]) -> bool {
    // The option without a value that makes pnpm work at the root is the one with a value that names a workspace of npm.
    let at_root = base(program) == "pnpm" && words.first().is_some_and(|word| word == "-w");
    let mut words = skip_options(
        words.get(usize::from(at_root)..).unwrap_or_default(),
        VALUED,
    );
    if let Some(rest) = behind(words, &["recursive", "multi", "m"]) {
        words = rest;
    } else if let Some(rest) = behind(words, &["workspace"]) {
        words = skip_options(rest.get(1..).unwrap_or_default(), VALUED);
    } else if let Some(rest) = behind(words, &["workspaces"]) {
        words = behind(rest, &["foreach"]).unwrap_or(rest);
    }
    let script = behind(words, &["run", "run-script"]).unwrap_or(words);
    script.first().is_some_and(|script| is_test_script(script))
}

/// `nx test web`, `nx run web:test`, `nx run-many -t lint test`, `nx affected --target=test`.
fn is_test_of_nx(words: &[String]) -> bool {
    let Some((task, rest)) = words.split_first() else {
        return false;
    };
    match task.as_str() {
        "run" => rest
            .first()
            .is_some_and(|it| it.split(':').nth(1).is_some_and(is_test_script)),
        "run-many" | "affected" => {
            let is_named = |word: &String| {
                let name = word
                    .strip_prefix("--target=")
                    .or(word.strip_prefix("--targets="));
                name.unwrap_or(word).split(',').any(is_test_script)
            };
            rest.iter().any(is_named)
        }
        task => task
            .strip_prefix("affected:")
            .map_or(is_test_script(task), is_test_script),
    }
}

/// Programs that only look.
const LOOKING: &[&str] = &[
    "[",
    "basename",
    "cat",
    "clear",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "egrep",
    "exit",
    "false",
    "fgrep",
    "file",
    "free",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "ldd",
    "less",
    "ls",
    "lsof",
    "md5sum",
    "more",
    "nl",
    "nproc",
    "objdump",
    "od",
    "pgrep",
    "popd",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "return",
    "rg",
    "sha256sum",
    "shellcheck",
    "sort",
    "stat",
    "strings",
    "tail",
    "test",
    "tr",
    "tree",
    "type",
    "uname",
    "uniq",
    "uptime",
    "wc",
    "which",
    "whoami",
    "xxd",
    "yes",
];
/// Programs that change files.
const CHANGING: &[&str] = &[
    "apply_patch",
    "applypatch",
    "cp",
    "install",
    "ln",
    "mv",
    "patch",
    "rm",
    "tee",
    "touch",
    "truncate",
];
/// What git does without changing the files that are tested.
const GIT_LOOKING: &[&str] = &[
    "add",
    "blame",
    "branch",
    "cat-file",
    "commit",
    "config",
    "describe",
    "diff",
    "fetch",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "push",
    "reflog",
    "remote",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
    "tag",
];
const GIT_CHANGING: &[&str] = &[
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "clean",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "switch",
];

/// What a simple command does to files.
fn touch(command: &Simple) -> Touch {
    if command.writes.iter().any(|file| !is_nowhere(file)) {
        return Touch::Yes;
    }
    let words = unwrapped(&command.words);
    let Some((program, rest)) = words.split_first() else {
        return Touch::No;
    };
    if is_test(&command.words) {
        return Touch::No;
    }
    let has = |word: &str| rest.iter().any(|it| it == word);
    let task = rest.iter().find(|word| !word.starts_with(['-', '+']));
    let task = task.map_or("", String::as_str);
    let in_place = rest
        .iter()
        .any(|word| word.starts_with("-i") || word.starts_with("--in-place"));
    match base(program) {
        word if PREPARING.contains(&word) || LOOKING.contains(&word) => Touch::No,
        "sed" if in_place => Touch::Yes,
        "perl"
            if rest
                .iter()
                .any(|word| word.starts_with("-pi") || word.starts_with("-i")) =>
        {
            Touch::Yes
        }
        "find" if ["-delete", "-exec", "-execdir", "-ok"].into_iter().any(has) => Touch::Perhaps,
        "awk" | "fd" | "find" | "gawk" | "sed" => Touch::No,
        word if CHANGING.contains(&word) => {
            let files = rest.iter().filter(|word| !word.starts_with('-'));
            let mut files = files.peekable();
            if files.peek().is_some() && files.all(|file| is_nowhere(file)) {
                Touch::No
            } else {
                Touch::Yes
            }
        }
        "mkdir" | "rmdir" | "kill" | "wait" | "jobs" | "curl" if !has("-o") && !has("-O") => {
            Touch::No
        }
        "git" if GIT_LOOKING.contains(&task) => Touch::No,
        "git" if GIT_CHANGING.contains(&task) => Touch::Yes,
        "cargo"
            if matches!(
                task,
                "build" | "check" | "clippy" | "doc" | "tree" | "metadata" | "bench" | "b" | "c"
            ) =>
        {
            if has("--fix") {
                Touch::Perhaps
            } else {
                Touch::No
            }
        }
        "cargo" if task == "fmt" && has("--check") => Touch::No,
        "rustc" | "gcc" | "clang" | "tsc" | "mypy" | "pyright" | "flake8" | "pylint" => Touch::No,
        "eslint" | "ruff" if !has("--fix") && task != "format" => Touch::No,
        "go" if matches!(task, "vet" | "build" | "list" | "env" | "version") => Touch::No,
        _ => Touch::Perhaps,
    }
}

/// Whether a file is none of the project's: a device, or in the folder for temporary files.
fn is_nowhere(file: &str) -> bool {
    file.starts_with("/dev/") || file.starts_with("/tmp/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Option<(Means, Means, bool)> {
        match of(text) {
            Command::Test(plan) => Some((plan.zero, plan.other, plan.shows_all)),
            Command::Unknown { .. } | Command::Other(_) => None,
        }
    }

    #[test]
    fn test_commands_are_known_by_themselves_and_behind_others() {
        for text in [
            "cargo test",
            "cargo +nightly test --workspace",
            "cargo nextest run -p x",
            "cd host && cargo test",
            "RUST_LOG=debug cargo test",
            "env A=1 B=2 timeout -k 5 60 cargo test",
            "timeout 60 pytest -q",
            "python3 -m pytest tests/",
            "python -m unittest discover",
            "uv run pytest",
            "npm test",
            "npm run test:unit -- --run",
            "pnpm test",
            "yarn test",
            "yarn run test",
            "npx vitest run",
            "npx --yes jest",
            "node --test test/",
            "bun test",
            "go test ./...",
            "make test",
            "make -j4 check",
            "mvn -q test",
            "./gradlew :app:test",
            "./mvnw verify",
            "tox -e py311",
            "bundle exec rspec",
            "vendor/bin/phpunit",
            "ctest --output-on-failure",
            "dotnet test",
            "bash -lc 'cd x && npm test'",
            "(cd web && npm test)",
        ] {
            assert_eq!(
                told(text),
                Some((Means::Tests, Means::Tests, true)),
                "{text}"
            );
        }
    }

    #[test]
    fn test_commands_are_known_behind_task_runners_workspaces_and_containers() {
        for text in [
            "mise run test",
            "mise r test:unit",
            "mise test",
            "mise exec -- cargo test",
            "mise x python@3.12 -- pytest -q",
            "turbo run test --filter=web",
            "npx turbo test",
            "pnpm turbo run lint test",
            "nx test web",
            "npx nx run web:test",
            "nx run-many -t lint test",
            "nx affected --target=test",
            "pnpm --filter web test",
            "pnpm -F ./packages/web run test:unit",
            "pnpm -r test",
            "pnpm -w test",
            "pnpm -C packages/web vitest run",
            "pnpm recursive run test",
            "uv run -m pytest",
            "uv run --with pytest-cov --directory api pytest -q",
            "uv --directory api run pytest",
            "uvx pytest",
            "poetry -C api run pytest",
            "poetry run -- pytest",
            "hatch test",
            "conda run -n dev pytest",
            "docker compose exec -T web pytest -q",
            "docker compose -f dev.yml run --rm -e CI=1 app npm test",
            "docker-compose exec web bundle exec rspec",
            "docker exec -it app cargo test",
            "docker run --rm -v .:/app -w /app node:22 npm test",
            "npm test -w web",
            "npm -w web test",
            "npm run test --workspaces",
            "npm --prefix web run test",
            "yarn workspace web test",
            "yarn workspaces foreach -A run test",
            "yarn --cwd web test",
            "lerna run test",
            "just test",
            "just --justfile tools/justfile test-unit",
            "just web::test",
            "make unit-test",
            "make -C server test ARGS=-v",
            "make -f dev.mk tests",
            "task backend:test",
            "cargo xtask test",
            "cargo llvm-cov nextest",
            "composer run test",
            "deno task test",
            "./gradlew testDebugUnitTest",
            "doppler run -- npm test",
        ] {
            assert_eq!(
                told(text),
                Some((Means::Tests, Means::Tests, true)),
                "{text}"
            );
        }
        for text in [
            "mise install",
            "turbo run build",
            "nx build web",
            "pnpm --filter test build",
            "npm -w test run build",
            "docker compose up -d",
            "docker build -t test .",
            "docker compose exec web sh",
            "make contest",
            "just build",
            "uv run python app.py",
            "yarn workspace test build",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn programs_that_are_not_known_but_named_like_tests_seem_to_be_tests() {
        for (text, expected) in [
            ("./run_tests.sh", true),
            ("scripts/e2e --headless", true),
            ("bb test", true),
            ("earthly +test", true),
            ("npm run verify", true),
            ("for p in a b; do (cd $p && pytest -q); done", true),
            ("for d in */; do make -C $d test; done", true),
            ("./deploy.sh", false),
            ("npm install test", false),
            ("if test -f x; then ./build.sh; fi", false),
        ] {
            let Command::Unknown { seems_test, .. } = of(text) else {
                panic!("{text} is not known");
            };
            assert_eq!(seems_test, expected, "{text}");
        }
    }

    #[test]
    fn commands_that_run_no_tests_are_no_test_commands() {
        for text in [
            "",
            "ls",
            "cargo build",
            "cargo test --no-run",
            "pytest --collect-only",
            "git commit -m 'cargo test passes'",
            "echo cargo test",
            "grep -rn 'npm test' .",
            "cat test",
            "npm install",
            "go build ./...",
            "mvn package -DskipTests",
            "cargo nextest list",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn an_exit_status_that_may_be_something_elses_means_nothing() {
        use Means::{Nothing, Tests};
        for (text, expected) in [
            ("cargo test 2>&1 | tail -5", (Nothing, Nothing, true)),
            ("cargo test | grep ok", (Nothing, Nothing, false)),
            ("cargo test | head -5", (Nothing, Nothing, false)),
            (
                "set -o pipefail; cargo test | tail -5",
                (Tests, Tests, true),
            ),
            ("cargo test; echo done", (Nothing, Nothing, true)),
            ("cargo test || true", (Nothing, Nothing, true)),
            ("cargo test &", (Nothing, Nothing, false)),
            ("cargo test & wait", (Nothing, Nothing, false)),
            ("cargo build && cargo test", (Tests, Nothing, true)),
            ("cargo test && git commit -am x", (Tests, Nothing, true)),
            ("cargo test && npm test", (Tests, Tests, true)),
            ("cargo nextest run || cargo test", (Nothing, Nothing, true)),
            ("cargo test > log.txt", (Tests, Tests, false)),
            ("cargo test 2>/dev/null | tail", (Nothing, Nothing, false)),
        ] {
            assert_eq!(told(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_changes_files_is_told_from_what_only_looks_and_from_what_may() {
        for (text, expected) in [
            ("ls -la && git status", Touch::No),
            ("git add -A && git commit -m x && git push", Touch::No),
            ("cargo clippy 2>&1 | tail -3", Touch::No),
            ("sed -n 1,5p a.rs", Touch::No),
            ("rm -rf /tmp/x", Touch::No),
            ("echo hi > /dev/null", Touch::No),
            ("sed -i s/a/b/ a.rs", Touch::Yes),
            ("echo x >> a.rs", Touch::Yes),
            ("cat > a.rs <<'EOF'\nfn main() {}\nEOF", Touch::Yes),
            ("git checkout -- a.rs", Touch::Yes),
            ("rm a.rs", Touch::Yes),
            ("cargo fmt", Touch::Perhaps),
            ("./script.sh", Touch::Perhaps),
            ("python3 fix.py", Touch::Perhaps),
            ("for x in a b; do echo $x; done", Touch::Perhaps),
        ] {
            let found = match of(text) {
                Command::Unknown { .. } => Touch::Perhaps,
                Command::Other(touch) => touch,
                Command::Test(_) => panic!("{text} runs no tests"),
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_follows_the_tests_in_the_same_command_counts() {
        for (text, expected) in [
            ("cargo test && git commit -am x", Touch::No),
            ("cargo test; sed -i s/a/b/ a.rs", Touch::Yes),
            ("cargo test; ./deploy.sh", Touch::Perhaps),
        ] {
            let Command::Test(plan) = of(text) else {
                panic!("{text} runs tests");
            };
            assert_eq!(plan.touch, expected, "{text}");
        }
    }
}
