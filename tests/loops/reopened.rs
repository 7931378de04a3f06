//! Loops that were ended and go on: with the task they had, and with nothing believed that an agent did meanwhile.

use std::fs;

use ralph_gate_tests::agent_script::Step;
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{KEY, Workplace};
use crate::kit::{delete, move_on, print, promise, replace, simple, work, write};

fn blocked() -> Step {
    print("<promise>LOOP_BLOCKED</promise>")
}

#[test]
fn the_agent_and_its_task_are_remembered() {
    let workplace = Workplace::new(&simple(""), &[]);
    let prompt = ["--json", "--prompt", "Paint the shed."];
    let turns = [vec![blocked()], vec![Step::EchoPrompt, work(), promise()]];
    let outcome = workplace.start_with(&prompt, &[], &turns).finish();
    outcome.stopped("blocked", None, 1);
    let said = workplace.gate(&["run", "--resume", "--session", KEY, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let last = workplace.logs().into_iter().rev();
    let mut ended = last.filter(|event| event["event"] == "agent_ended");
    let printed = ended.next().unwrap()["data"]["stdout"]["text"].to_string();
    assert!(printed.contains("Paint the shed."), "{printed}");
}

#[test]
fn an_agent_that_can_no_longer_be_started_stops_the_loop_for_a_reason() {
    let workplace = Workplace::new(
        &simple("max_consecutive_failures = 2\nno_progress_limit = 0"),
        &[],
    );
    let script = workplace.beside("agent.sh");
    fs::write(&script, "#!/bin/sh\nrm \"$0\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).unwrap();
    let agent = script.to_str().unwrap();
    let said = workplace.gate(&["run", "--session", KEY, "--json", "--", agent]);
    assert_eq!(said.code, 3, "{said:?}");
    let last: Value = serde_json::from_str(said.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["stop_reason"], "blocked", "{last:#}");
    let handoff = workplace.memory().unwrap().join("handoff.md");
    assert!(fs::read_to_string(handoff).unwrap().contains("--resume"));
}

#[test]
fn a_loop_whose_event_log_was_damaged_does_not_take_a_new_beginning_by_itself() {
    let workplace = Workplace::new(&simple("no_progress_limit = 0"), &[]);
    workplace.spoiled("an old line is edited by the agent, and nothing else holds it any more");
    // More iterations than checkpoints are kept, so that nothing else holds the first lines.
    let mut turns = vec![vec![move_on()]; 24];
    turns.push(vec![
        replace("{memory}/events.jsonl", "\"baseline\"", "\"baselime\""),
        move_on(),
    ]);
    turns.push(vec![blocked()]);
    let outcome = workplace.run_attacked(&turns);
    outcome.stopped("blocked", None, 26);
    let told = outcome.verdicts()[24]["failures"].to_string();
    assert!(
        told.contains("evidence_tampered") && told.contains("line 2 was edited"),
        "{told}"
    );
    let again = [vec![work(), promise()]];
    let outcome = workplace
        .start_with(&["--json", "--resume"], &[], &again)
        .end();
    assert_eq!(outcome.error_code(), "memory_log_changed");
    let arguments = ["--json", "--resume", "--accept-contract"];
    let outcome = workplace.start_with(&arguments, &[], &again).end();
    assert_eq!(outcome.stop().0, "completed");
}

const PRD: &str = r#"{"userStories": [
    {"id": "US-1", "title": "It works", "passes": false},
    {"id": "US-2", "title": "It is fast", "passes": false}
]}"#;

/// A loop that is complete when every story passes; a story passes when done.txt is there.
fn stories(terms: &str) -> String {
    simple(terms).replace("[\"work\"]", "[\"work\", \"stories\"]")
        + "\n[checks.stories]\nkind = \"prd_all_pass\"\n\n[memory]\nprd = \"prd.json\"\n"
}

const DONE: &str = r#"{"userStories": [
    {"id": "US-1", "title": "It works", "passes": true},
    {"id": "US-2", "title": "It is fast", "passes": true}
]}"#;

#[test]
fn marks_that_were_made_before_a_cancel_need_a_proof_afterwards() {
    let workplace = Workplace::new(&stories("loop_max_iters = 2"), &[("prd.json", PRD)]);
    let running = workplace.start(&[vec![
        write("{memory}/prd.json", DONE),
        write(workplace.beside("begun"), ""),
        Step::Hang,
    ]]);
    running.wait_for("begun");
    running.signal(Signal::INT);
    running.finish().stopped("context_canceled", None, 1);
    let outcome = workplace.resume(&[vec![promise()]]);
    outcome.always_refused("check_failed", Some("stories"));
    assert_eq!(outcome.stop().0, "max_iters");
}

#[test]
fn an_operator_may_accept_that_a_story_was_removed() {
    let workplace = Workplace::new(&stories("loop_max_iters = 1"), &[("prd.json", PRD)]);
    let fewer = r#"{"userStories": [{"id": "US-1", "title": "It works", "passes": true}]}"#;
    let turns = [vec![write("{memory}/prd.json", fewer), work(), promise()]];
    let outcome = workplace.run(&turns);
    outcome.always_tampered("prd_passes");
    outcome.stopped("max_iters", None, 1);
    let more = workplace.read("ralph-gate.toml").replace("= 1", "= 2");
    workplace.write("ralph-gate.toml", &more);
    let arguments = ["--json", "--resume", "--accept-contract"];
    let outcome = workplace.start_with(&arguments, &[], &turns).finish();
    assert_eq!(
        outcome.stop().0,
        "completed",
        "{:#}",
        outcome.verdict()["failures"]
    );
}

#[test]
fn a_path_that_is_protected_later_is_protected_and_an_earlier_one_stays_so() {
    let config = format!(
        "{}\n[tripwires]\nprotected_paths = [\"a.txt\"]\n",
        simple("loop_max_iters = 1")
    );
    let files = [("a.txt", "a\n"), ("b.txt", "b\n")];
    let workplace = Workplace::new(&config, &files);
    let outcome = workplace.run(&[vec![delete("a.txt"), work(), promise()]]);
    outcome.always_tampered("protected_paths");
    let more = config.replace("[\"a.txt\"]", "[\"a.txt\", \"b.txt\"]");
    workplace.write("ralph-gate.toml", &more.replace("= 1", "= 3"));
    let arguments = ["--json", "--resume", "--accept-contract"];
    let outcome = workplace
        .start_with(&arguments, &[], &[vec![delete("b.txt"), promise()]])
        .finish();
    outcome.always_tampered("protected_paths");
    let reason = outcome.verdict()["failures"].to_string();
    assert!(
        reason.contains("a.txt (removed)") && reason.contains("b.txt (removed)"),
        "{reason}"
    );
}
