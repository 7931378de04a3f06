//! `ralph-gate init`: what it writes into which folder, and what it leaves alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use ralph_gate::config::{Config, FILE_NAMES};
use ralph_gate::engine::{GateEngine, Mode};
use serde_json::json;

use ralph_gate_tests::logs::Scratch;
use ralph_gate_tests::said::Said;

use crate::harness::command;

const FILE: &str = "ralph-gate.toml";

/// Programs that proposed checks start: here they are all installed, and do nothing.
const PROGRAMS: &[&str] = &["cargo", "go", "make", "npm", "pytest"];

/// A folder to begin in, and one with programs.
struct Folder(Scratch, Scratch);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(Scratch::new(), Scratch::new());
        for program in PROGRAMS {
            folder.install(program, "exit 0");
        }
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

    /// Makes a program that can be started, or another one of it.
    fn install(&self, program: &str, line: &str) {
        let path = self.1.path().join(program);
        fs::write(&path, format!("#!/bin/sh\n{line}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn uninstall(&self, program: &str) {
        fs::remove_file(self.1.path().join(program)).unwrap();
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
        let command = command.stdin(Stdio::null()).current_dir(self.path());
        Said::by(command.env("PATH", self.1.path()).env_remove("JAVA_HOME"))
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
    let plain_package = r#"{"scripts": {"test": "./run-all"}}"#;
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
            "argv = [\"npm\", \"test\"]",
        ),
        (
            &[("pyproject.toml", "[tool.pytest.ini_options]\n")],
            "pytest",
            "format = \"pytest\"",
        ),
        (
            &[("setup.cfg", "[tool:pytest]\n")],
            "pytest",
            "argv = [\"pytest\", \"-vv\"]",
        ),
        (
            &[("tests/conftest.py", "")],
            "pytest",
            "argv = [\"pytest\", \"-vv\"]",
        ),
        (
            &[("go.mod", "module m\n")],
            "go_test",
            "format = \"go_json\"",
        ),
        (
            &[("Makefile", "test:\n\ttrue\n")],
            "make_test",
            "argv = [\"make\", \"-B\", \"test\"]",
        ),
    ];
    for (files, check, line) in cases {
        let folder = Folder::new(files);
        let run = folder.run(&["init", "--json"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        let said = run.json();
        for (name, value) in [
            ("file", json!(FILE)),
            ("checks", json!([check])),
            ("agent", json!("claude")),
            ("kept", json!([])),
            ("gitignore", json!("no_repository")),
        ] {
            assert_eq!(said[name], value, "{said:#}");
        }
        assert_eq!(said["found"][0]["id"], check, "{said:#}");
        assert_eq!(said["found"][0]["problem"], json!(null), "{said:#}");
        assert_eq!(folder.accepted(), [check], "{files:?}");
        assert!(folder.read(FILE).contains(line), "{files:?}");
    }
}

#[test]
fn where_nothing_proves_the_work_the_file_says_so_and_run_refuses_it() {
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
    assert!(
        run.stdout.contains(
            "warning: nothing that proves the work was found: name a check in the contract"
        ),
        "{run:?}"
    );
    let text = folder.read(FILE);
    assert!(
        text.contains("\n# completion_checks = [\"tests\"]\n"),
        "{text}"
    );
    assert!(!text.contains("false"), "{text}");
    let run = folder.run(&["run", "--prompt", "x", "--", "/bin/echo", "hello"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr
            .contains("nothing could ever prove this contract complete"),
        "{run:?}"
    );
    assert!(
        !run.stdout.contains("hello"),
        "the agent never began: {run:?}"
    );
}

#[test]
fn several_ways_of_testing_give_several_checks() {
    let folder = Folder::new(&[
        ("Cargo.toml", "[package]\n"),
        ("go.mod", "module m\n"),
        (
            "web/package.json",
            r#"{"scripts": {"test": "node --test", "lint": "x"}}"#,
        ),
    ]);
    let run = folder.run(&["init"]);
    assert_eq!(
        run.stdout,
        "wrote ralph-gate.toml\n\
         check cargo_test: cargo test --no-fail-fast (found in Cargo.toml)\n\
         check go_test: go test -json ./... (found in go.mod)\n\
         check npm_test_web: npm test (found in web/package.json)\n\
         as comments cargo_clippy, go_vet, npm_lint_web\n\
         frozen tests, lock files and test settings of Rust, Go, JavaScript; new test files are allowed\n\
         agent claude\n\
         help: ralph-gate run --prompt-file TASK.md\n"
    );
    assert_eq!(folder.accepted(), ["cargo_test", "go_test", "npm_test_web"]);
    let text = folder.read(FILE);
    assert!(text.contains("\ndirectory = \"web\"\n"), "{text}");
    assert!(text.contains("\n# [checks.npm_lint_web]\n"), "{text}");
}

#[test]
fn a_check_is_written_only_if_its_program_is_there_and_can_run() {
    let files = [("pytest.ini", ""), ("go.mod", "module m\n")];
    let folder = Folder::new(&files);
    folder.uninstall("pytest");
    let run = folder.run(&["init"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains(
            "warning: pytest (found in pytest.ini) can't run here, so it is only a comment: "
        ),
        "{run:?}"
    );
    assert_eq!(folder.accepted(), ["go_test"]);
    assert!(folder.read(FILE).contains("\n# [checks.pytest]\n"));

    // It is there, and does not work.
    let folder = Folder::new(&files);
    folder.install("pytest", "echo 'no module named pytest' >&2; exit 3");
    let said = folder.run(&["init", "--json"]).json();
    assert_eq!(said["checks"], json!(["go_test"]), "{said:#}");
    assert_eq!(
        said["found"][0]["problem"],
        "`pytest --version` ends with exit code 3: no module named pytest"
    );
    assert_eq!(folder.accepted(), ["go_test"]);

    // A wrapper without what it starts, and a script of packages that are not installed.
    let files = [
        ("go.mod", "module m\n"),
        ("build.gradle", ""),
        ("gradlew", "#!/bin/sh\n"),
        (
            "web/package.json",
            r#"{"scripts": {"test": "turbo-x run test"}}"#,
        ),
    ];
    let wrapped = Folder::new(&files);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(wrapped.path().join("gradlew"), mode).unwrap();
    wrapped.install("java", "exit 1");
    wrapped.run(&["init"]);
    assert_eq!(wrapped.accepted(), ["go_test"]);

    // Its settings are protected all the same.
    let config = Config::load(&folder.path().join(FILE)).unwrap();
    let protected = config.tripwires.protected_paths;
    assert!(
        protected.contains(&"conftest.py".to_owned()),
        "{protected:?}"
    );
}

#[test]
fn a_quick_look_never_runs_the_tests() {
    let folder = Folder::new(&[("pytest.ini", "")]);
    folder.install("pytest", "echo \"$@\" >> asked");
    folder.run(&["init"]);
    assert_eq!(folder.read("asked"), "--version\n");
}

#[test]
fn tests_and_what_steers_them_are_protected_by_default() {
    let folder = Folder::new(&[
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("package.json", r#"{"scripts": {"test": "node --test"}}"#),
        ("Cargo.toml", "[package]\n"),
        (".github/workflows/ci.yml", ""),
    ]);
    folder.run(&["init"]);
    let config = Config::load(&folder.path().join(FILE)).unwrap();
    let tripwires = &config.tripwires;
    let has = |patterns: &[String], wanted: &[&str]| {
        for pattern in wanted {
            assert!(
                patterns.iter().any(|it| it == pattern),
                "{pattern} in {patterns:?}"
            );
        }
    };
    has(
        &tripwires.frozen,
        &[
            "test*.py",
            "*.spec.*",
            "__snapshots__/",
            "package-lock.json",
            "Cargo.lock",
            ".github/workflows/",
        ],
    );
    has(
        &tripwires.protected_paths,
        &[
            "conftest.py",
            "jest.config.*",
            ".npmrc",
            "**/.cargo/config.toml",
            "build.rs",
            "!/node_modules/{[!.]*,.[!b]*}",
            "Makefile",
            ".env",
        ],
    );
    assert_eq!(tripwires.frozen_parts["package.json"][0], "/scripts");
    assert_eq!(tripwires.frozen_parts["pyproject.toml"][0], "/tool/pytest");
    assert!(folder.read(FILE).contains("#[cfg(test)]"));
}

#[test]
fn a_script_that_a_check_starts_in_the_root_is_protected() {
    let package = r#"{"scripts": {"test": "./check.sh"}}"#;
    for (name, text) in [
        ("Makefile", "test:\n\t./check.sh\n"),
        ("Makefile", "test:\n\t@./check.sh\n"),
        ("Makefile", "test: deep\ndeep:\n\t-./check.sh\n"),
        ("package.json", package),
    ] {
        let folder = Folder::new(&[(name, text), ("check.sh", "exit 1\n")]);
        folder.run(&["init", "--yes"]);
        assert_eq!(folder.accepted().len(), 1, "{text}");
        let config = Config::load(&folder.path().join(FILE)).unwrap();
        let protected = config.tripwires.protected_paths;
        assert!(protected.contains(&"/check.sh".to_owned()), "{text}");
    }
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
    assert!(folder.read(FILE).starts_with("# What must hold"));
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
