//! The acceptance criteria of the stop hook, each as a test of its name.

use ralph_gate::engine::GateEngine;
use serde_json::Value;

use crate::project::{LOOP_FILE, Project};

/// A project in which the hooks are installed and a loop was begun.
fn begun(max_iterations: &str) -> Project {
    let project = Project::new();
    assert_eq!(project.gate(&["init", "claude-code"], "").code, 0);
    let arguments = [
        "loop",
        "start",
        "--max-iterations",
        max_iterations,
        "--completion-promise",
        "COMPLETE",
        "Fix",
        "the tests.",
    ];
    let said = project.gate(&arguments, "");
    assert_eq!(said.code, 0, "{said:?}");
    project
}

/// The command that Claude Code runs when its agent wants to stop, as the settings say.
fn registered(project: &Project) -> Vec<String> {
    let settings: Value =
        serde_json::from_str(&project.read(".claude/settings.json").unwrap()).unwrap();
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(hook["type"], "command");
    assert_eq!(hook.get("args"), None, "older versions ignore `args`");
    let line = hook["command"].as_str().unwrap();
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn s01_ac1_launching_a_loop_activates_the_stop_hook() {
    let project = begun("5");
    let command = registered(&project);
    assert!(command[0].ends_with("/ralph-gate"), "{command:?}");
    assert_eq!(&command[1..], ["hook", "claude-code"]);
    assert!(project.read(LOOP_FILE).unwrap().contains("active: true"));
}

#[test]
fn s01_ac2_the_hook_blocks_an_exit_and_gives_the_prompt_again() {
    let project = begun("5");
    let answer = project.stop("I think that is all.", false);
    assert_eq!(answer["decision"], "block");
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("Fix the tests."), "{reason}");
    assert!(project.read(LOOP_FILE).unwrap().contains("iteration: 2"));
}

#[test]
fn s01_ac3_the_loop_file_has_valid_front_matter() {
    let project = begun("5");
    let gate = GateEngine::new().unwrap();
    let file = gate
        .read_loop_file(&project.read(LOOP_FILE).unwrap())
        .unwrap();
    assert_eq!((file.iteration, file.max_iterations), (1, 5));
    assert_eq!(file.completion_promise.as_deref(), Some("COMPLETE"));
    assert_eq!(file.prompt, "\nFix the tests.\n");
    assert!(file.started_at.is_some());
}

#[test]
fn s01_ac4_the_promise_stops_the_loop() {
    let project = begun("5");
    let answer = project.stop("All tests pass.\n<promise>COMPLETE</promise>", false);
    assert_eq!(answer["decision"], Value::Null);
    let note = answer["systemMessage"].as_str().unwrap();
    assert!(note.contains("completed"), "{note}");
    assert_eq!(project.read(LOOP_FILE), None);
}

#[test]
fn s01_ac5_the_last_iteration_stops_the_loop_with_a_message() {
    let project = begun("2");
    assert_eq!(project.stop("not yet", false)["decision"], "block");
    let answer = project.stop("still not", true);
    assert_eq!(answer["decision"], Value::Null);
    let note = answer["systemMessage"].as_str().unwrap();
    assert!(note.contains("limit of 2 iterations reached"), "{note}");
    assert!(!note.contains('_'), "a code is no word: {note}");
}

#[test]
fn s01_ac6_canceling_removes_the_loop_file_and_says_how_far_it_was() {
    let project = begun("5");
    assert_eq!(project.stop("not yet", false)["decision"], "block");
    let said = project.gate(&["loop", "cancel"], "");
    assert_eq!(said.code, 0);
    assert_eq!(said.stdout, "Canceled Ralph loop (was at iteration 2)\n");
    assert_eq!(project.read(LOOP_FILE), None);
    assert_eq!(project.stop("bye", false), Value::Null);
}

#[test]
fn s01_ac7_canceling_without_a_loop_says_so() {
    let said = Project::new().gate(&["loop", "cancel"], "");
    assert_eq!(said.code, 0);
    assert_eq!(said.stdout, "No active Ralph loop\n");
}
