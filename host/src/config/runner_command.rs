//! Commands that start a known test runner, as `ralph-gate init` would write them.

use super::catalogue::{CARGO, Ecosystem, GO, JAVASCRIPT, PYTHON, TASKS};
use super::survey::{Proposal, Results};
use crate::evidence::reports::TestFormat;

/// Tools that run a program in the environment of a project, with `run`.
const MANAGERS: &[&str] = &["uv", "poetry", "pdm", "pipenv"];

/// What a command is run as, so that its tests are counted. None if it starts no known test runner, or one that does
/// something else than to run tests and print their results.
pub fn recognize(command: &[String]) -> Option<Proposal> {
    let start = runner_at(command)?;
    let (before, command) = command.split_at(start);
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let (program, rest) = words.split_first()?;
    let name = program.rsplit('/').next()?;
    let mut found = match (name, rest) {
        ("pytest" | "py.test", rest) => pytest(command, rest)?,
        (name, ["-m", "pytest", rest @ ..]) if is_python(name) => pytest(command, rest)?,
        ("cargo", rest) => cargo(command, rest)?,
        ("go", ["test", rest @ ..]) => go(command, rest)?,
        ("node", rest) => node(command, rest)?,
        ("make" | "gmake", rest) => make(command, rest)?,
        _ => return None,
    };
    prefix(before, &mut found);
    Some(found)
}

/// Where the runner stands: behind variables that `env` sets, and tools that run it in an environment.
fn runner_at(command: &[String]) -> Option<usize> {
    let mut at = 0;
    if command.first()? == "env" {
        let rest = command.iter().skip(1);
        at = 1 + rest.take_while(|word| word.contains('=')).count();
    }
    let is_manager = MANAGERS.contains(&command.get(at)?.as_str());
    if is_manager && command.get(at + 1)? == "run" {
        at += 2;
    }
    Some(at)
}

/// Puts what stood before the runner before all its commands again.
fn prefix(before: &[String], found: &mut Proposal) {
    let put = |argv: &mut Vec<String>| {
        argv.splice(0..0, before.iter().cloned());
    };
    put(&mut found.argv);
    if !found.probe.is_empty() {
        put(&mut found.probe);
    }
    if let Some(fallback) = &mut found.fallback {
        put(&mut fallback.argv);
        put(&mut fallback.probe);
    }
}

fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python");
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Whether an argument is one of these, or one of these with a value.
fn has(rest: &[&str], options: &[&str]) -> bool {
    rest.iter().any(|word| {
        let name = word.split_once('=').map_or(*word, |(name, _)| name);
        options.contains(&name)
    })
}

fn proposal(
    ecosystem: &'static Ecosystem,
    argv: Vec<String>,
    format: Option<TestFormat>,
) -> Proposal {
    let mut proposal = Proposal::of(ecosystem, argv);
    proposal.results = format.map(|format| Results {
        format,
        report: None,
    });
    proposal
}

fn pytest(command: &[String], rest: &[&str]) -> Option<Proposal> {
    let others = [
        "-h",
        "--help",
        "-V",
        "--version",
        "--collect-only",
        "--co",
        "--fixtures",
        "--markers",
        "--setup-plan",
        "--setup-only",
    ];
    if has(rest, &others) || rest.iter().any(|word| word.contains("no:terminal")) {
        return None;
    }
    // The name of each test, even where it is told to be quiet.
    let argv = with_option(command, command.len(), "-vv");
    Some(proposal(&PYTHON, argv, Some(TestFormat::Pytest)))
}

fn cargo(command: &[String], rest: &[&str]) -> Option<Proposal> {
    let rest = match rest {
        [toolchain, rest @ ..] if toolchain.starts_with('+') => rest,
        rest => rest,
    };
    let (format, rest) = match rest {
        ["test" | "t", rest @ ..] => (TestFormat::Cargo, rest),
        ["nextest", "run" | "r", rest @ ..] => (TestFormat::Nextest, rest),
        _ => return None,
    };
    let others = [
        "-h",
        "--help",
        "--no-run",
        "--list",
        "--message-format",
        "--format",
        "--nocapture",
        "--no-capture",
        "-Z",
    ];
    if has(rest, &others) {
        return None;
    }
    let is_told = has(rest, &["--no-fail-fast", "--fail-fast", "--max-fail"]);
    let argv = if is_told {
        command.to_vec()
    } else {
        let end = command.iter().position(|word| word == "--");
        with_option(command, end.unwrap_or(command.len()), "--no-fail-fast")
    };
    Some(proposal(&CARGO, argv, Some(format)))
}

fn go(command: &[String], rest: &[&str]) -> Option<Proposal> {
    let others = ["-h", "-help", "-c", "-n", "-list", "-args", "--args"];
    if has(rest, &others) {
        return None;
    }
    let argv = if has(rest, &["-json", "--json"]) {
        command.to_vec()
    } else {
        with_option(command, 2, "-json")
    };
    Some(proposal(&GO, argv, Some(TestFormat::GoJson)))
}

fn node(command: &[String], rest: &[&str]) -> Option<Proposal> {
    let others = ["--test-reporter", "--watch", "-h", "--help"];
    if !rest.contains(&"--test") || has(rest, &others) {
        return None;
    }
    Some(proposal(
        &JAVASCRIPT,
        command.to_vec(),
        Some(TestFormat::Node),
    ))
}

fn make(command: &[String], rest: &[&str]) -> Option<Proposal> {
    let others = [
        "-n",
        "--dry-run",
        "--just-print",
        "-q",
        "--question",
        "-t",
        "--touch",
        "-h",
        "--help",
        "-v",
        "--version",
    ];
    if has(rest, &others) {
        return None;
    }
    Some(proposal(&TASKS, Vec::new(), None).made_anew(command))
}

fn with_option(command: &[String], at: usize, option: &str) -> Vec<String> {
    let mut argv = command.to_vec();
    argv.insert(at.min(argv.len()), option.to_owned());
    argv
}

#[cfg(test)]
mod tests {
    use super::super::given::check_command;
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let found = recognize(&check_command(text).unwrap())?;
        let format = found.results.map_or("-", |it| {
            use ralph_gate_component::Word as _;
            it.format.as_str()
        });
        Some(format!("{} as {format}", found.argv.join(" ")))
    }

    #[test]
    fn a_test_runner_is_run_as_init_would_write_it() {
        for (text, expected) in [
            ("pytest -q", "pytest -q -vv as pytest"),
            (
                ".venv/bin/pytest tests",
                ".venv/bin/pytest tests -vv as pytest",
            ),
            ("python3 -m pytest", "python3 -m pytest -vv as pytest"),
            (
                "env A=1 uv run pytest -x",
                "env A=1 uv run pytest -x -vv as pytest",
            ),
            ("cargo test", "cargo test --no-fail-fast as cargo"),
            (
                "cargo +nightly test -p a -- --skip x",
                "cargo +nightly test -p a --no-fail-fast -- --skip x as cargo",
            ),
            (
                "cargo nextest run",
                "cargo nextest run --no-fail-fast as nextest",
            ),
            ("go test ./...", "go test -json ./... as go_json"),
            ("go test -json ./...", "go test -json ./... as go_json"),
            ("node --test src", "node --test src as node"),
            ("make test", "make -B -r test as -"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_does_not_run_tests_or_prints_something_else_stays_as_it_is() {
        for text in [
            "pytest --collect-only",
            "pytest -p no:terminal",
            "python -m unittest",
            "python3 test.py",
            "pythonx -m pytest",
            "cargo build",
            "cargo test --no-run",
            "cargo test -- --nocapture",
            "go vet ./...",
            "go test -list . ./...",
            "node test.js",
            "node --test --test-reporter=dot",
            "make -n test",
            "npm test",
            "sh -c 'pytest'",
            "env A=1",
            "uv",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn where_make_needs_its_rules_they_stay() {
        let words = ["env", "A=1", "make", "test"].map(str::to_owned);
        let mut found = recognize(&words).unwrap();
        let problem = |proposal: &Proposal| {
            let needs_rules = proposal.probe.contains(&"-c".to_owned());
            if needs_rules {
                Err(String::new())
            } else {
                Ok(())
            }
        };
        assert_eq!(found.settle(problem), Ok(()));
        assert_eq!(found.argv, ["env", "A=1", "make", "-B", "test"]);
        assert_eq!(found.probe, ["env", "A=1", "make", "-n", "test"]);
    }
}
