//! Which checks are run again inside one iteration, and that nobody can overlook it.

use serde_json::{Value, json};

use crate::harness::{Outcome, Workplace};
use crate::kit::{promise, work};

/// A loop of one iteration whose check notes each start and then does this.
fn workplace(check: &str, script: &str) -> Workplace {
    let config = format!(
        "[contract]\nmode = \"ralph\"\ncompletion_token = \"COMPLETE\"\nloop_max_iters = 1\n\
         [[contract.completion_checks]]\nid = \"slow\"\n{check}\n\n\
         [checks.slow]\nkind = \"command\"\nargv = [\"sh\", \"check.sh\"]\n"
    );
    let workplace = Workplace::new(&config, &[]);
    let starts = workplace.beside("starts").display().to_string();
    let script = format!("echo started >> '{starts}'\n{script}\n");
    std::fs::write(workplace.work().join("check.sh"), script).unwrap();
    workplace
}

/// The outcome of each run in the first iteration, and the reason that the gate was told.
fn attempts(outcome: &Outcome) -> (Vec<Value>, String) {
    let events = outcome.events("evidence");
    let evidence = events
        .iter()
        .map(|event| &event["evidence"])
        .find(|evidence| evidence["iteration"] == 1)
        .expect("evidence of the first iteration");
    let attempts = evidence["attempts"].as_array().unwrap();
    let outcomes = attempts.iter().map(|attempt| attempt["outcome"].clone());
    let reason = evidence["reason"].as_str().unwrap().to_owned();
    (outcomes.collect(), reason)
}

/// How often the check's program was started, and how often the records say so.
fn starts(workplace: &Workplace, outcome: &Outcome) -> (usize, usize) {
    let noted = std::fs::read_to_string(workplace.beside("starts")).unwrap();
    let recorded = outcome
        .events("evidence")
        .iter()
        .map(|event| event["evidence"]["attempts"].as_array().unwrap().len())
        .sum();
    (noted.lines().count(), recorded)
}

#[test]
fn a_check_that_fails_is_started_once() {
    let workplace = workplace("", "exit 1");
    let outcome = workplace.run(&[vec![work(), promise()]]);
    outcome.stopped("max_iters", None, 1);
    let (outcomes, reason) = attempts(&outcome);
    assert_eq!(outcomes, [json!("fail")]);
    assert!(!reason.contains("run 2 times"), "{reason}");
    let (noted, recorded) = starts(&workplace, &outcome);
    assert_eq!(noted, recorded);
}

#[test]
fn a_check_that_breaks_is_started_twice_and_the_reason_says_so() {
    let workplace = workplace("", "kill -9 $$");
    let outcome = workplace.run(&[vec![work(), promise()]]);
    outcome.stopped("max_iters", None, 1);
    let (outcomes, reason) = attempts(&outcome);
    assert_eq!(outcomes, [json!("error"), json!("error")]);
    assert!(reason.ends_with(" (run 2 times: error, error)"), "{reason}");
    let failures = &outcome.verdict()["failures"];
    assert_eq!(failures[0]["code"], "check_errored", "{failures}");
    let (noted, recorded) = starts(&workplace, &outcome);
    assert_eq!(noted, recorded);
}

#[test]
fn a_check_that_takes_too_long_is_started_twice_and_the_reason_says_so() {
    let workplace = workplace("", "sleep 60");
    let path = workplace.work().join("ralph-gate.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{config}timeout_ms = 200\n")).unwrap();
    let outcome = workplace.run(&[vec![work(), promise()]]);
    outcome.stopped("max_iters", None, 1);
    let (outcomes, reason) = attempts(&outcome);
    assert_eq!(outcomes, [json!("timeout"), json!("timeout")]);
    assert!(reason.contains("run 2 times: timeout, timeout"), "{reason}");
    let failures = &outcome.verdict()["failures"];
    assert_eq!(failures[0]["code"], "check_timed_out", "{failures}");
}

#[test]
fn a_check_that_breaks_and_then_passes_has_passed() {
    // It breaks whenever it was not started right before.
    let script = "if test -f broken; then rm broken; exit 0; fi\ntouch broken; kill -9 $$";
    let workplace = workplace("", script);
    let outcome = workplace.run(&[vec![work(), promise()]]);
    outcome.stopped("completed", None, 1);
    let (outcomes, reason) = attempts(&outcome);
    assert_eq!(outcomes, [json!("error"), json!("pass")]);
    assert!(reason.ends_with(" (run 2 times: error, pass)"), "{reason}");
    // One of them before the agent began.
    assert_eq!(outcome.verdict()["counters"]["check_retries"], 2);
}

#[test]
fn a_check_that_asks_for_it_is_started_again_after_a_failure() {
    let script = "if test -f broken; then rm broken; exit 0; fi\ntouch broken; exit 1";
    let again = "retry_on = [\"fail\"]\non_flaky = \"pass\"";
    let workplace = workplace(again, script);
    let outcome = workplace.run(&[vec![work(), promise()]]);
    outcome.stopped("completed", None, 1);
    let (outcomes, _) = attempts(&outcome);
    assert_eq!(outcomes, [json!("fail"), json!("pass")]);
    assert_eq!(outcome.verdict()["checks"][0]["flaky"], true);
}

#[test]
fn a_rerun_is_said_on_the_screen_and_in_logs() {
    let workplace = workplace("", "echo one; echo two; kill -9 $$");
    let turns = [vec![work(), promise()]];
    let outcome = workplace.start_with(&["--plain"], &[], &turns).end();
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let said = [&*outcome.stdout, &outcome.stderr].concat();
    let rerun = "killed by signal 9 (run 2 times: error, error)";
    // The check itself, before the agent and after it.
    let of_check = |line: &&str| line.contains("error slow: ") && line.contains(rerun);
    assert_eq!(said.lines().filter(of_check).count(), 2, "{said}");
    let logs = workplace.gate(&["logs", "test"]).stdout;
    let of_check = |line: &&str| line.contains("slow error: ") && line.contains(rerun);
    assert_eq!(logs.lines().filter(of_check).count(), 2, "{logs}");
    // The reason for which the loop was refused.
    let of_verdict = |line: &&str| line.trim_start().starts_with("slow: ") && line.contains(rerun);
    assert_eq!(logs.lines().filter(of_verdict).count(), 2, "{logs}");
}
