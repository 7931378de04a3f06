//! Agents that edit what the gate remembers. None of them completes by it.

use std::fs;

use ralph_gate_tests::agent_script::Step;

use crate::harness::{Outcome, Workplace};
use crate::kit::{append, delete, promise, replace, simple, work, write};

/// Runs an agent that does the work and, in the same iteration, something to the memory. Once only: in the second
/// iteration it does nothing more.
fn attack(steps: &[Step]) -> (Workplace, Outcome) {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    let mut turn = steps.to_vec();
    turn.extend([work(), promise()]);
    let outcome = workplace.run_attacked(&[turn]);
    (workplace, outcome)
}

/// The attack was noticed, and what was edited was restored.
fn is_noticed(steps: &[Step]) -> Workplace {
    let (workplace, outcome) = attack(steps);
    outcome.stopped("max_iters", None, 1);
    outcome.always_tampered("gate_files");
    workplace
}

#[test]
fn a_loop_whose_memory_nobody_touches_completes() {
    let (_workplace, outcome) = attack(&[]);
    outcome.stopped("completed", None, 1);
}

#[test]
fn an_edited_contract_is_noticed_and_restored() {
    let workplace = is_noticed(&[replace("{memory}/contract.json", "work", "play")]);
    let contract = fs::read_to_string(workplace.memory().unwrap().join("contract.json")).unwrap();
    assert!(contract.contains("work") && !contract.contains("play"));
    assert_eq!(workplace.verify().code, 0);
}

#[test]
fn a_deleted_contract_is_noticed_and_restored() {
    let workplace = is_noticed(&[delete("{memory}/contract.json")]);
    assert!(workplace.memory().unwrap().join("contract.json").is_file());
    assert_eq!(workplace.verify().code, 0);
}

#[test]
fn lines_that_are_added_to_the_events_are_noticed() {
    let workplace = is_noticed(&[append("{memory}/events.jsonl", "{\"event\":\"verdict\"}\n")]);
    assert_eq!(workplace.verify().code, 0, "they were set aside");
}

#[test]
fn edited_events_are_noticed() {
    let (workplace, outcome) = attack(&[replace(
        "{memory}/events.jsonl",
        "loop_started",
        "loop_departed",
    )]);
    refused_or_error(&outcome);
    assert_eq!(workplace.logs()[0]["event"], "loop_started", "restored");
}

#[test]
fn deleted_events_are_noticed() {
    let (_workplace, outcome) = attack(&[delete("{memory}/events.jsonl")]);
    refused_or_error(&outcome);
}

#[test]
fn edited_checkpoints_are_noticed() {
    let (_workplace, outcome) = attack(&[Step::Corrupt("{memory}/checkpoints".into())]);
    refused_or_error(&outcome);
}

#[test]
fn deleted_checkpoints_are_noticed() {
    let (_workplace, outcome) = attack(&[delete("{memory}/checkpoints")]);
    refused_or_error(&outcome);
}

#[test]
fn a_handoff_that_somebody_else_writes_is_noticed() {
    let (_workplace, outcome) = attack(&[write("{memory}/handoff.md", "# All is well\n")]);
    refused_or_error(&outcome);
}

#[test]
fn without_its_folder_a_session_is_never_complete() {
    let (_workplace, outcome) = attack(&[delete("{memory}")]);
    outcome.never_completed();
    outcome.error_code();
}

#[test]
fn a_folder_put_in_the_place_of_a_session_is_not_taken_for_it() {
    let (_workplace, outcome) = attack(&[
        delete("{memory}"),
        write("{memory}/contract.json", "{}"),
        write("{memory}/checkpoints/1.json", "{}"),
    ]);
    outcome.never_completed();
    outcome.error_code();
}

#[test]
fn without_any_memory_a_loop_is_never_complete() {
    let (_workplace, outcome) = attack(&[delete(".ralph")]);
    outcome.never_completed();
    outcome.error_code();
}

#[test]
fn an_agent_may_add_to_the_progress_log() {
    let (workplace, outcome) = attack(&[append("{memory}/progress.txt", "Remember the milk.\n")]);
    outcome.stopped("completed", None, 1);
    let progress = fs::read_to_string(workplace.memory().unwrap().join("progress.txt")).unwrap();
    assert!(progress.contains("Remember the milk."), "{progress}");
    assert_eq!(workplace.verify().code, 0);
}

/// Where the memory can be saved, the iteration is refused; where not, the run ends with an error.
fn refused_or_error(outcome: &Outcome) {
    outcome.never_completed();
    if outcome.verdicts().is_empty() {
        outcome.error_code();
    } else {
        outcome.always_tampered("gate_files");
    }
}
