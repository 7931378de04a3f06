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
    "builtin", "bunx", "command", "exec", "nice", "nohup", "npx", "setsid", "sudo", "time",
    "xvfb-run",
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

/// What a command is.
pub(crate) fn of(text: &str) -> Command {
    let Some(commands) = shell::parse(text) else {
        return Command::Other(Touch::Perhaps);
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
        None => Command::Other(commands.iter().map(touch).max().unwrap_or(Touch::No)),
    }
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
            "uv" | "poetry" | "pipenv" | "hatch" | "rye" | "pdm" if next == "run" => skip_options(
                rest.get(1..).unwrap_or_default(),
                &["--with", "--python", "-p"],
            ),
            "pnpm" | "yarn" | "npm" if matches!(next, "exec" | "dlx") => {
                skip_options(rest.get(1..).unwrap_or_default(), &[])
            }
            "bundle" if next == "exec" => rest.get(1..).unwrap_or_default(),
            _ => return words,
        };
    }
    words
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
    let is_test_script = |name: &str| name == "test" || name.starts_with("test:") || name == "t";
    match base(program) {
        "cargo" => {
            matches!(task, "test" | "t") || task == "nextest" && matches!(second, "run" | "r")
        }
        "pytest" | "py.test" | "tox" | "nox" | "nose2" | "jest" | "mocha" | "ava" | "rspec"
        | "phpunit" | "pest" | "ctest" | "gotestsum" | "bats" | "prove" | "karma" => true,
        "vitest" => !matches!(task, "list" | "bench" | "init"),
        "playwright" | "go" | "dotnet" | "swift" | "flutter" | "dart" | "mix" | "deno"
        | "bazel" | "bazelisk" | "cabal" | "stack" | "dune" | "meson" | "sbt" | "lein"
        | "rails" | "hardhat" | "forge" | "gleam" => task == "test",
        "python" | "python3" | "py" => {
            let module = rest.iter().skip_while(|word| *word != "-m").nth(1);
            matches!(
                module.map(String::as_str),
                Some("pytest" | "unittest" | "tox" | "nox" | "nose2")
            ) || base(task) == "manage.py" && second == "test"
        }
        "npm" | "pnpm" | "yarn" => {
            is_test_script(task)
                || matches!(task, "run" | "run-script") && is_test_script(second)
                || base(program) != "npm" && matches!(task, "jest" | "vitest" | "mocha")
        }
        "bun" => task == "test" || task == "run" && is_test_script(second),
        "node" => has("--test"),
        "make" | "gmake" | "just" | "ninja" | "task" | "rake" | "ant" => rest
            .iter()
            .any(|word| matches!(word.as_str(), "test" | "tests" | "check" | "spec")),
        "mvn" | "mvnw" => {
            let skips = rest.iter().any(|word| {
                word.starts_with("-DskipTests") || word.starts_with("-Dmaven.test.skip")
            });
            !skips && (has("test") || has("verify") || has("integration-test"))
        }
        "gradle" | "gradlew" => rest.iter().any(|word| {
            let task = word.rsplit(':').next().unwrap_or(word);
            matches!(task, "test" | "check")
        }),
        "composer" => is_test_script(task),
        "php" => {
            base(task) == "artisan" && second == "test" || matches!(base(task), "phpunit" | "pest")
        }
        "xcodebuild" => has("test"),
        "zig" => task == "test" || task == "build" && second == "test",
        "cypress" => task == "run",
        _ => false,
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
            Command::Other(_) => None,
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
            assert_eq!(of(text), Command::Other(expected), "{text}");
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
