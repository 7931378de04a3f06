//! `ralph-gate init`: what it writes into which folder, and what it leaves alone.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use ralph_gate::config::{Config, FILE_NAMES};
use ralph_gate::engine::{GateEngine, Mode};
use serde_json::json;

use ralph_gate_tests::logs::Scratch;
use ralph_gate_tests::said::Said;

use crate::harness::command;

const FILE: &str = "ralph-gate.toml";

/// A folder to begin in.
struct Folder(Scratch);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(Scratch::new());
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    /// The least that git takes for a repository.
    fn with_git(files: &[(&str, &str)]) -> Self {
        let folder = Self::new(files);
        for name in ["objects", "refs"] {
            fs::create_dir_all(folder.path().join(".git").join(name)).unwrap();
        }
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The names of what is in it, without the repository.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != ".git").collect();
        names.sort();
        names
    }

    fn run(&self, arguments: &[&str]) -> Said {
        let mut command = command(arguments);
        Said::by(command.stdin(Stdio::null()).current_dir(self.path()))
    }

    /// The checks that were written, after the gate has accepted them.
    fn accepted(&self) -> Vec<String> {
        let config = Config::load(&self.path().join(FILE)).unwrap();
        let task = config.route(&GateEngine::new().unwrap(), None).unwrap();
        assert_eq!(task.routing.mode, Mode::Ralph);
        assert!(task.warnings.is_empty(), "{:?}", task.warnings);
        let checks = task.terms().unwrap().completion_checks;
        checks.into_iter().map(|check| check.id).collect()
    }
}

/// The files that are there, the check that they give, and what it must say.
type Case<'c> = (&'c [(&'c str, &'c str)], &'c str, &'c str);

#[test]
fn each_kind_of_repository_gets_a_configuration_that_fits() {
    let package = r#"{"scripts": {"test": "node --test"}}"#;
    let plain_package = r#"{"scripts": {"test": "jest"}}"#;
    let cases: [Case<'_>; 9] = [
        (
            &[("Cargo.toml", "[package]\n")],
            "cargo_test",
            "format = \"cargo\"",
        ),
        (
            &[("Cargo.toml", "[workspace]\n")],
            "cargo_test",
            "\"--workspace\"",
        ),
        (
            &[("package.json", package)],
            "npm_test",
            "format = \"node\"",
        ),
        (
            &[("package.json", plain_package)],
            "npm_test",
            "kind = \"command\"",
        ),
        (
            &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
            "pytest",
            "format = \"pytest\"",
        ),
        (
            &[("setup.cfg", "[tool:pytest]\n")],
            "pytest",
            "argv = [\"pytest\"]",
        ),
        (
            &[("tests/conftest.py", "")],
            "pytest",
            "argv = [\"pytest\"]",
        ),
        (
            &[("go.mod", "module m\n")],
            "go_test",
            "format = \"go_json\"",
        ),
        (
            &[("Makefile", "test:\n\ttrue\n")],
            "make_test",
            "argv = [\"make\", \"test\"]",
        ),
    ];
    for (files, check, line) in cases {
        let folder = Folder::new(files);
        let run = folder.run(&["init", "--json"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        assert_eq!(
            run.json(),
            json!({
                "file": FILE, "checks": [check], "agent": "claude", "kept": [], "gitignore": "no_repository",
            })
        );
        assert_eq!(folder.accepted(), [check], "{files:?}");
        assert!(folder.read(FILE).contains(line), "{files:?}");
    }
}

#[test]
fn what_only_looks_like_tests_is_no_check() {
    let folder = Folder::new(&[
        (
            "package.json",
            r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
        ),
        ("pyproject.toml", "[tool.black]\n"),
        ("Makefile", "all:\n\ttrue\n"),
    ]);
    let run = folder.run(&["init"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.contains("found no tests"), "{run:?}");
    assert_eq!(folder.accepted(), ["tests"]);
}

#[test]
fn several_ways_of_testing_give_several_checks() {
    let folder = Folder::new(&[
        ("Cargo.toml", "[package]\n"),
        ("go.mod", "module m\n"),
        ("Makefile", "test:\n\ttrue\n"),
    ]);
    let run = folder.run(&["init"]);
    assert_eq!(
        run.stdout,
        "wrote ralph-gate.toml\nchecks cargo_test, go_test, make_test\nagent claude\n\
         help: ralph-gate run --prompt-file TASK.md\n"
    );
    assert_eq!(folder.accepted(), ["cargo_test", "go_test", "make_test"]);
}

#[test]
fn a_loop_does_not_complete_before_somebody_says_what_proves_it() {
    let folder = Folder::new(&[]);
    assert_eq!(folder.run(&["init"]).code, 0);
    let run = folder.run(&[
        "run",
        "--prompt",
        "x",
        "--",
        "echo",
        "<promise>COMPLETE</promise>",
    ]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stdout.contains("fail tests: exit code 1"), "{run:?}");
}

#[test]
fn a_configuration_of_any_name_is_never_overwritten() {
    for name in FILE_NAMES {
        let folder = Folder::new(&[(name, "mine")]);
        let run = folder.run(&["init"]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
        assert_eq!(
            run.stderr,
            format!(
                "error: there is a configuration already, {name}\n\
                 help: edit it, or write a new one with `--force`, which keeps the old one beside it\n"
            )
        );
        assert_eq!(
            folder.run(&["init", "--json"]).error_code(),
            "config_exists"
        );
        assert_eq!(
            (folder.names(), folder.read(name)),
            (vec![name.to_owned()], "mine".into())
        );
    }
}

#[test]
fn force_keeps_the_old_one_and_every_older_one() {
    let folder = Folder::new(&[
        (FILE, "new"),
        ("ralph-gate.toml.bak", "old"),
        ("ralph-gate.yaml", "other"),
    ]);
    let run = folder.run(&["init", "--force", "--json"]);
    assert_eq!(
        run.json()["kept"],
        json!(["ralph-gate.toml.bak2", "ralph-gate.yaml.bak"]),
        "{run:?}"
    );
    assert_eq!(
        folder.names(),
        [
            FILE,
            "ralph-gate.toml.bak",
            "ralph-gate.toml.bak2",
            "ralph-gate.yaml.bak"
        ]
    );
    assert_eq!(folder.read("ralph-gate.toml.bak"), "old");
    assert_eq!(folder.read("ralph-gate.toml.bak2"), "new");
    assert_eq!(folder.read("ralph-gate.yaml.bak"), "other");
    assert_eq!(folder.accepted(), ["tests"]);
}

#[test]
fn a_dry_run_prints_what_would_be_written_and_writes_nothing() {
    let folder = Folder::with_git(&[("go.mod", "module m\n")]);
    let dry = folder.run(&["init", "--dry-run", "--agent", "gemini"]);
    let json = folder.run(&["init", "--dry-run", "--agent", "gemini", "--json"]);
    assert_eq!(folder.names(), ["go.mod"]);
    assert_eq!(json.json()["text"], dry.stdout);
    assert_eq!(folder.run(&["init", "--agent", "gemini"]).code, 0);
    assert_eq!(folder.read(FILE), dry.stdout);
}

#[test]
fn the_memory_is_ignored_once_and_only_where_there_is_git() {
    let folder = Folder::with_git(&[(".gitignore", "target")]);
    let run = folder.run(&["init"]);
    assert!(
        run.stdout.contains("added .ralph/ to .gitignore\n"),
        "{run:?}"
    );
    assert_eq!(folder.read(".gitignore"), "target\n.ralph/\n");
    let again = folder.run(&["init", "--force", "--json"]);
    assert_eq!(again.json()["gitignore"], "already");
    assert_eq!(folder.read(".gitignore"), "target\n.ralph/\n");

    let folder = Folder::with_git(&[]);
    let run = folder.run(&["init", "--no-gitignore", "--json"]);
    assert_eq!(run.json()["gitignore"], "off");
    assert_eq!(folder.names(), [FILE]);

    let folder = Folder::with_git(&[(".gitignore", ".*\n!.gitignore\n")]);
    assert_eq!(
        folder.run(&["init", "--json"]).json()["gitignore"],
        "already"
    );
}

#[test]
fn an_ignore_file_that_is_a_link_is_left_alone() {
    let folder = Folder::with_git(&[("elsewhere", "a\n")]);
    std::os::unix::fs::symlink("elsewhere", folder.path().join(".gitignore")).unwrap();
    assert_eq!(
        folder.run(&["init", "--json"]).json()["gitignore"],
        "unable"
    );
    assert_eq!(folder.read("elsewhere"), "a\n");
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use super::*;
    use crate::pty::Watched;

    fn init(folder: &Folder, arguments: &[&str]) -> Watched {
        let mut command = command(&["init"]);
        command.args(arguments).current_dir(folder.path());
        Watched::start(command, 24, 80)
    }

    #[test]
    fn a_person_is_asked_for_the_agent_until_the_answer_is_one() {
        let folder = Folder::new(&[]);
        let mut watched = init(&folder, &[]);
        watched.wait_for(&["Which agent does the work? claude, codex, gemini, other [claude]"]);
        watched.type_line("clippy");
        watched.wait_for(&["clippy is none of these"]);
        watched.type_line("codex");
        assert_eq!(watched.finish(), 0, "{}", watched.text());
        assert!(watched.text().contains("agent codex"), "{}", watched.text());
        assert!(folder.read(FILE).contains("\"codex\", \"exec\""));
    }

    #[test]
    fn nobody_is_asked_who_said_yes() {
        let folder = Folder::new(&[]);
        let mut watched = init(&folder, &["--yes"]);
        assert_eq!(watched.finish(), 0, "{}", watched.text());
        assert!(
            !watched.text().contains("Which agent"),
            "{}",
            watched.text()
        );
        assert!(folder.read(FILE).contains("\"claude\", \"-p\""));
    }
}
