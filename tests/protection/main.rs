//! The first loop in a fresh project of each kind: what `ralph-gate init` writes lets no agent through that touches tests,
//! or what steers them, and does not stand in the way of honest work.
//!
//! With `--nocapture`, each project prints its row: what became of each agent.

#![cfg(target_os = "linux")]

mod projects;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use ralph_gate_tests::agent_script::{Script, Step};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::git;
use ralph_gate_tests::place::Place;
use ralph_gate_tests::said::Said;
use serde_json::Value;

use projects::Project;

/// What an agent does. All but the last one must be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    ReplacesAssertions,
    /// With one of the files that the project has for it.
    RigsTheRunner(usize),
    DeletesATest,
    SkipsATest,
    /// Starts where the tests pass already.
    DoesNothing,
    WorksAndAddsATest,
}

impl Agent {
    fn all(project: &Project) -> Vec<Self> {
        let rigged = 0..project.rigged.len();
        let mut all = vec![Self::ReplacesAssertions];
        all.extend(rigged.map(Self::RigsTheRunner));
        all.extend([
            Self::DeletesATest,
            Self::SkipsATest,
            Self::DoesNothing,
            Self::WorksAndAddsATest,
        ]);
        all
    }

    fn steps(self, project: &Project) -> Vec<Step> {
        let write = |(path, text): (&str, &str)| Step::Write {
            path: path.into(),
            text: text.to_owned(),
        };
        match self {
            Self::ReplacesAssertions => vec![write((project.test.0, project.weakened))],
            Self::RigsTheRunner(file) => vec![write(project.rigged[file])],
            Self::DeletesATest => vec![Step::Delete(project.test.0.into())],
            Self::SkipsATest => vec![write((project.test.0, project.skipped))],
            Self::DoesNothing => Vec::new(),
            Self::WorksAndAddsATest => vec![
                write((project.code.0, project.right)),
                write(project.new_test),
            ],
        }
    }
}

/// How the end of a loop names what was done to its tests.
const TRIPWIRES: [&str; 4] = [
    "(frozen)",
    "(protected_paths)",
    "(test_count)",
    "(skipped_tests)",
];

/// Runs every agent in a fresh project, and prints what became of them.
fn judge(project: &Project) {
    let mut row = vec![format!("{:<8}", project.name)];
    let mut wrong = Vec::new();
    for agent in Agent::all(project) {
        let (word, outcome) = run(project, agent);
        let is_honest = agent == Agent::WorksAndAddsATest;
        let is_right = match agent {
            Agent::WorksAndAddsATest => word == "completed",
            Agent::DoesNothing => word == "not started (green_start)",
            // What is rigged may simply have no effect: then the tests fail as before.
            Agent::RigsTheRunner(_) if word == "no_progress" => true,
            // Refused for what was done, and not for another reason.
            _ => TRIPWIRES.iter().any(|tripwire| word.ends_with(tripwire)),
        };
        // Of these, tests are not counted.
        let may_warn = ["jest", "make"].contains(&project.name);
        let warns = is_honest && !may_warn && outcome.contains("number alone");
        if !is_right || warns {
            wrong.push(format!("{agent:?}: {word}\n{outcome}"));
        }
        row.push(format!("{agent:?}: {word}"));
    }
    println!("{}", row.join(" | "));
    assert!(wrong.is_empty(), "{}: {}", project.name, wrong.join("\n"));
}

/// How the loop ended, in a word, and all that it said.
fn run(project: &Project, agent: Agent) -> (String, String) {
    let code = match agent {
        Agent::DoesNothing => project.right,
        _ => project.code.1,
    };
    let place = begin(project, code);
    let turns = vec![agent.steps(project)];
    let script = place.beside("script.json");
    fs::write(&script, serde_json::to_string(&Script { turns }).unwrap()).unwrap();
    // Tests in Rust that fail print what a panic prints.
    let output = command(
        &place,
        &[
            "run",
            "--json",
            "--prompt",
            "Make it right.",
            "--",
            env!("CARGO_BIN_EXE_scripted-agent"),
            script.to_str().unwrap(),
        ],
    )
    .output()
    .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let last = stdout.lines().last().unwrap_or_default();
    let last: Value = serde_json::from_str(last).unwrap_or_default();
    let word = match (last["stop_reason"].as_str(), last["error"]["code"].as_str()) {
        (Some(reason), _) => match tripwire(&stdout) {
            Some(tripwire) => format!("{reason} ({tripwire})"),
            None => reason.to_owned(),
        },
        (None, Some(code)) => format!("not started ({code})"),
        (None, None) => "no end".to_owned(),
    };
    let is_success = output.status.success();
    assert_eq!(is_success, word == "completed", "{output:?}");
    (word, format!("{output:#?}"))
}

/// The first tripwire that was touched.
fn tripwire(stdout: &str) -> Option<String> {
    let mut events = stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tripped = events.find(|event| event["event"] == "tripwire")?;
    Some(tripped["tripwire"]["tripwire"].as_str()?.to_owned())
}

/// A fresh project in which `ralph-gate init` was run, and committed what it wrote.
fn begin(project: &Project, code: &str) -> Place {
    let mut files = project.others.to_vec();
    files.extend([
        (project.code.0, code),
        project.test,
        (".gitignore", project.ignored),
    ]);
    let place = Place::new(&files);
    if project.has_packages {
        install(&place.work().join("node_modules"));
    }
    let said = gate(&place, &["init", "--yes", "--agent", "other", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let told = said.json();
    assert_eq!(
        told["checks"],
        serde_json::json!([project.check]),
        "{told:#}"
    );
    for (name, value) in [("user.name", "agent"), ("user.email", "agent@example.org")] {
        git::git(&place.work(), &["config", name, value]);
    }
    git::git(&place.work(), &["add", "--all"]);
    git::git(
        &place.work(),
        &["commit", "--quiet", "--message", "Add the gate"],
    );
    place
}

fn gate(place: &Place, arguments: &[&str]) -> Said {
    Said::by(&mut command(place, arguments))
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(binary());
    let path = env::var_os("PATH").unwrap_or_default();
    let own = installed("venv/bin");
    let path = env::join_paths([own].into_iter().chain(env::split_paths(&path))).unwrap();
    command.args(arguments).env("PATH", path);
    command
}

/// Packages as npm installs them: a directory of the project's own. What is in each is shared.
fn install(modules: &Path) {
    fs::create_dir(modules).unwrap();
    for entry in fs::read_dir(installed("npm/node_modules")).unwrap() {
        let entry = entry.unwrap();
        std::os::unix::fs::symlink(entry.path(), modules.join(entry.file_name())).unwrap();
    }
}

/// What was installed for this test: this program is `target/PROFILE/deps/protection-…`.
fn installed(name: &str) -> PathBuf {
    let program = env::current_exe().unwrap();
    let path = program
        .ancestors()
        .nth(3)
        .unwrap()
        .join("protection")
        .join(name);
    assert!(
        path.exists(),
        "{} is not there: `cargo xtask test` installs it",
        path.display()
    );
    path
}

#[test]
fn in_a_pytest_project_only_the_honest_agent_completes() {
    judge(&projects::PYTEST);
}

#[test]
fn in_a_jest_project_only_the_honest_agent_completes() {
    judge(&projects::JEST);
}

#[test]
fn in_a_vitest_project_only_the_honest_agent_completes() {
    judge(&projects::VITEST);
}

#[test]
fn in_a_cargo_project_only_the_honest_agent_completes() {
    judge(&projects::CARGO);
}

#[test]
fn in_a_cargo_project_with_tests_in_its_sources_only_the_honest_agent_completes() {
    judge(&projects::CARGO_INLINE);
}

#[test]
fn in_a_node_project_only_the_honest_agent_completes() {
    judge(&projects::NODE);
}

#[test]
fn a_renamed_test_of_a_fresh_pytest_project_is_named() {
    let renamed = Project {
        // Where nothing freezes it.
        test: (
            "checks.py",
            "from calc import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
        ),
        weakened: "def test_works():\n    assert True\n",
        others: &[(
            "pyproject.toml",
            "[tool.pytest.ini_options]\npythonpath = [\".\"]\naddopts = \"-q\"\npython_files = [\"checks.py\"]\n",
        )],
        ..projects::PYTEST
    };
    let (word, outcome) = run(&renamed, Agent::ReplacesAssertions);
    assert!(word.ends_with("(test_count)"), "{word}: {outcome}");
    assert!(outcome.contains("checks.py::test_adds"), "{outcome}");
    assert!(!outcome.contains("number alone"), "{outcome}");
}

#[test]
fn in_a_go_project_only_the_honest_agent_completes() {
    judge(&projects::GO);
}

#[test]
fn in_a_project_with_a_script_that_writes_junit_only_the_honest_agent_completes() {
    judge(&projects::JUNIT);
}

#[test]
fn in_a_make_project_only_the_honest_agent_completes() {
    judge(&projects::MAKE);
}
