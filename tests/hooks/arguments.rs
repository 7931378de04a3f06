//! However a client calls the hook, an event is answered.

use serde_json::Value;

use crate::project::{LOOP_FILE, Project, stop_event};

/// A project with a loop that is not done.
fn looping() -> Project {
    let project = Project::new();
    project.write(
        LOOP_FILE,
        "---\nactive: true\niteration: 1\nmax_iterations: 20\ncompletion_promise: \"COMPLETE\"\n---\n\nFix it.\n",
    );
    project
}

#[test]
fn wrong_arguments_are_named_and_the_event_is_answered() {
    for arguments in [
        &["hook", "claude-code", "--no-such-option"][..],
        &["hook", "no-such-client"],
        &["hook", "claude-code", "--deadline", "never"],
        &["hook", "claude-code", "surplus"],
    ] {
        let project = looping();
        let event = stop_event(&project.work(), "no", false).to_string();
        let said = project.gate(arguments, &event);
        assert_eq!(said.code, 0, "{arguments:?} {said:?}");
        let answer: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(answer["decision"], "block", "{arguments:?} {said:?}");
        assert!(said.stderr.contains("arguments of this hook"), "{said:?}");
    }
}

#[test]
fn the_program_alone_answers_an_event_and_nothing_else() {
    let project = looping();
    let event = stop_event(&project.work(), "no", false).to_string();
    let said = project.gate(&[], &event);
    assert_eq!(said.code, 0, "{said:?}");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(answer["decision"], "block", "{said:?}");
    for input in ["", "hello"] {
        let said = project.gate(&[], input);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stderr.contains("Usage:"), "{said:?}");
    }
}

#[test]
fn claude_code_may_be_called_by_the_name_of_its_program() {
    let project = looping();
    let event = stop_event(&project.work(), "no", false).to_string();
    let said = project.gate(&["hook", "claude"], &event);
    assert!(said.stdout.contains("\"decision\":\"block\""), "{said:?}");
    assert_eq!(said.stderr, "");
}
