//! A loop is measured by what was there when its session began, and nothing that an agent removes lets it go.

use std::fs;

use ralph_gate_tests::git::git;
use serde_json::{Value, json};

use crate::project::{LOOP_FILE, Project, stop_event};

/// A check that passes as long as the test says so, and the test is frozen.
const CONFIG: &str = "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\"]\n\n\
    [checks.tests]\nargv = [\"sh\", \"test.sh\"]\n\n[tripwires]\nfrozen = [\"test.sh\"]\n";

fn project() -> Project {
    let project = Project::new();
    project.write("ralph-gate.toml", CONFIG);
    project.write("test.sh", "exit 1\n");
    project
}

fn commit(project: &Project) {
    let work = project.work();
    git(&work, &["init", "--quiet"]);
    for (name, value) in [("user.name", "user"), ("user.email", "user@example.org")] {
        git(&work, &["config", name, value]);
    }
    git(&work, &["add", "--all"]);
    git(&work, &["commit", "--quiet", "--message", "Begin"]);
}

fn begin_session(project: &Project) {
    let mut event = stop_event(&project.work(), "", false);
    event["hook_event_name"] = json!("SessionStart");
    event["source"] = json!("startup");
    let said = project.gate(&["hook", "claude-code"], &event.to_string());
    assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{said:?}");
}

/// What the agent is told; it must be held.
fn reason(answer: &Value) -> &str {
    assert_eq!(answer["decision"], "block", "{answer}");
    answer["reason"].as_str().unwrap()
}

#[test]
fn a_test_that_is_rewritten_in_the_first_turn_is_noticed() {
    let project = project();
    begin_session(&project);
    project.write("test.sh", "exit 0\n");
    let answer = project.stop("done", false);
    assert!(
        reason(&answer).contains("frozen files were changed: test.sh"),
        "{answer}"
    );
    project.write("test.sh", "exit 1\n");
    assert!(reason(&project.stop("done", true)).contains("tests: check_failed"));
}

#[test]
fn a_configuration_that_is_rewritten_in_the_first_turn_is_the_one_that_the_session_began_with() {
    let project = project();
    begin_session(&project);
    project.write(
        "ralph-gate.toml",
        &CONFIG.replace("\"sh\", \"test.sh\"", "\"true\""),
    );
    let answer = project.stop("done", false);
    assert!(
        reason(&answer).contains("ralph-gate.toml was changed"),
        "{answer}"
    );
}

#[test]
fn a_loop_file_cannot_be_loosened_or_removed_in_the_first_turn() {
    for change in [Some("max_iterations: 1\n"), None] {
        let project = Project::new();
        let words = [
            "loop",
            "start",
            "--completion-promise",
            "X",
            "--max-iterations",
            "9",
            "do it",
        ];
        assert_eq!(project.gate(&words, "").code, 0);
        begin_session(&project);
        let text = project.read(LOOP_FILE).unwrap();
        match change {
            Some(line) => project.write(LOOP_FILE, &text.replace("max_iterations: 9\n", line)),
            None => fs::remove_file(project.work().join(LOOP_FILE)).unwrap(),
        }
        let answer = project.stop("free", false);
        assert!(reason(&answer).contains("evidence_tampered"), "{answer}");
        assert!(reason(&answer).contains("iteration 1 of 9"), "{answer}");
        assert!(
            project
                .read(LOOP_FILE)
                .unwrap()
                .contains("max_iterations: 9\n")
        );
    }
}

#[test]
fn a_beginning_that_nobody_saw_is_measured_by_the_newest_commit() {
    let project = project();
    commit(&project);
    project.write("test.sh", "exit 0\n");
    let answer = project.stop("done", false);
    assert!(
        reason(&answer).contains("frozen files were changed: test.sh"),
        "{answer}"
    );
    assert!(reason(&answer).contains("Nobody saw"), "{answer}");
}

#[test]
fn a_configuration_that_is_removed_or_loosened_before_anybody_looked_holds_as_it_was_committed() {
    let loosened = CONFIG.replace("\"sh\", \"test.sh\"", "\"true\"");
    for change in [None, Some(loosened.as_str())] {
        let project = project();
        commit(&project);
        match change {
            None => fs::remove_file(project.work().join("ralph-gate.toml")).unwrap(),
            Some(text) => project.write("ralph-gate.toml", text),
        }
        let answer = project.stop("done", false);
        assert!(reason(&answer).contains("tests: check_failed"), "{answer}");
    }
}

#[test]
fn cleaning_the_work_tree_lets_no_agent_go() {
    for words in [
        &["clean", "-fdxq"][..],
        &["stash", "--include-untracked", "--quiet"],
    ] {
        let project = Project::new();
        project.write("code.txt", "one\n");
        commit(&project);
        let start = ["loop", "start", "--completion-promise", "X", "do it"];
        assert_eq!(project.gate(&start, "").code, 0);
        assert!(reason(&project.stop("no", false)).contains("iteration 1"));
        project.write("code.txt", "two\n");
        git(&project.work(), words);
        let answer = project.stop("free", true);
        assert!(reason(&answer).contains("iteration 2"), "{answer}");
        assert!(project.read(LOOP_FILE).is_some(), "the loop file is back");
        assert!(!project.work().join(".ralph").exists());
    }
}

#[test]
fn a_session_whose_state_is_gone_is_held_a_bounded_number_of_times() {
    let project = project();
    assert!(reason(&project.stop("no", false)).contains("iteration 1"));
    fs::remove_dir_all(project.sessions()).unwrap();
    for refusal in 1..=5 {
        let answer = project.stop("free", true);
        assert!(
            reason(&answer).contains(&format!("refusal {refusal} of 5")),
            "{answer}"
        );
    }
    let answer = project.stop("free", true);
    assert_eq!(answer["decision"], Value::Null, "{answer}");
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("can't be read"),
        "{answer}"
    );
}

#[test]
fn state_that_is_replaced_by_something_else_holds_the_session() {
    let project = project();
    assert!(reason(&project.stop("no", false)).contains("iteration 1"));
    let session = fs::read_dir(project.sessions())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    fs::remove_dir_all(&session).unwrap();
    std::os::unix::fs::symlink("/dev/null", &session).unwrap();
    assert!(reason(&project.stop("free", true)).contains("can't be read"));
}

#[test]
fn a_session_is_held_wherever_its_client_works() {
    let project = project();
    assert!(reason(&project.stop("no", false)).contains("iteration 1"));
    let elsewhere = project.home();
    let event = stop_event(&elsewhere, "free", true).to_string();
    let said = project.gate(&["hook", "claude-code"], &event);
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(reason(&answer).contains("iteration 2"), "{answer}");
}
