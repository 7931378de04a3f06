//! Loops that record digests only: nothing that was said is in the log, and the loop goes on all the same.

use std::fs;

use ralph_gate_tests::event_schema;
use serde_json::{Value, json};

use crate::harness::{KEY, Workplace};
use crate::kit::{move_on, print, promise, simple};

/// What must not be in the log: the task, what the agent prints, what a check prints, and why an operator decides.
const SECRETS: [&str; 5] = ["shed", "violet", "indigo", "crimson", "umber"];

/// A loop whose check prints a secret.
fn private(terms: &str) -> String {
    let check = "[checks.work]\nargv = [\"sh\", \"-c\", \"echo indigo; grep done done.txt\"]\n";
    let simple = simple(terms);
    let (contract, _) = simple.split_once("[checks.work]").unwrap();
    format!("{contract}{check}\n[memory]\nrecord = \"digest_only\"\n")
}

fn log(workplace: &Workplace) -> String {
    let log = workplace.memory().unwrap().join("events.jsonl");
    let log = fs::read_to_string(log).unwrap();
    for secret in SECRETS {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
    event_schema::check(&log);
    log
}

/// An agent that gives up in its first turn and does the work in its second. What it is told, it keeps.
const AGENT: &str = "cat >> ../told.txt; echo violet; echo crimson >&2; \
    if test -f ../second; then echo done > done.txt; echo '<promise>COMPLETE</promise>'; \
    else touch ../second; echo '<promise>LOOP_BLOCKED</promise>'; fi";

#[test]
fn the_log_holds_no_text_and_the_loop_goes_on_with_its_task() {
    let workplace = Workplace::new(&private(""), &[]);
    let said = workplace.gate(&[
        "run",
        "--session",
        KEY,
        "--json",
        "--prompt",
        "Paint the shed.",
        "--",
        "sh",
        "-c",
        AGENT,
    ]);
    assert_eq!(said.code, 3, "{said:?}");
    let names = event_schema::check(&log(&workplace));
    for name in ["loop_started", "agent_ended", "evidence", "verdict"] {
        assert!(names.iter().any(|it| it == name), "{name}");
    }
    let status = workplace.gate(&["status", KEY, "--json"]).json();
    assert_eq!(status["stop_reason"], "blocked");

    // Neither agent nor task is named again.
    let said = workplace.gate(&["run", "--resume", "--session", KEY, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    log(&workplace);
    let told = fs::read_to_string(workplace.beside("told.txt")).unwrap();
    assert_eq!(told.matches("Paint the shed.").count(), 2, "{told}");
    assert_eq!(workplace.verify().code, 0);
    let progress = workplace.memory().unwrap().join("progress.txt");
    assert!(fs::read_to_string(progress).unwrap().contains("work"));
}

#[test]
fn what_counts_is_still_there() {
    let workplace = Workplace::new(&private("loop_max_iters = 1"), &[]);
    let turns = [vec![move_on(), print("violet\n"), promise()]];
    let outcome = workplace.start(&turns).end();
    outcome.stopped("max_iters", None, 1);
    log(&workplace);
    let logs = workplace.logs();
    let verdict = &logs.last().unwrap()["data"];
    assert_eq!(verdict["recorded"], "digest_only");
    let index = &verdict["iteration"]["index"];
    assert_eq!(
        (index, &verdict["iteration"]["action"]),
        (&json!(1), &json!("final"))
    );
    assert_eq!(verdict["verdict"]["stop_reason"], "max_iters");
    assert_eq!(verdict["verdict"]["failures"][0]["code"], "check_failed");
    assert_eq!(verdict["verdict"]["failures"][0]["check"], "work");
    assert_eq!(verdict["verdict"]["counters"]["iteration"], 1);
    let output = &verdict["iteration"]["output"];
    assert!(output["bytes"].as_u64().unwrap() > 20, "{output}");
    assert_eq!(output["digest"].as_str().unwrap().len(), 64);
}

#[test]
fn replaying_says_that_there_is_nothing_to_replay_and_names_no_difference() {
    let workplace = Workplace::new(&private("loop_max_iters = 1"), &[]);
    workplace.start(&[vec![move_on()]]).end();
    let report = workplace.ask_log("replay", &[]);
    assert_eq!(report["different"], 0, "{report:#}");
    assert_eq!(report["not_replayed"], 2, "the baseline and one iteration");
    assert_eq!(report["breaks"], json!([]));
    let only = &report["iterations"][0];
    assert_eq!(only["outcome"], "not_replayed");
    assert_eq!(only["problem"], "recorded as digests only: not replayable");
    let log = workplace.memory().unwrap();
    let other = workplace.work().join("other.yaml");
    fs::write(&other, "mode: ralph\ncompletion_checks: [work]\n").unwrap();
    let words = [
        "what-if",
        log.to_str().unwrap(),
        "--contract",
        other.to_str().unwrap(),
    ];
    let said = workplace.gate(&words);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("recorded as digests only"), "{said:?}");
}

#[test]
fn an_operator_completes_it_without_leaving_a_reason() {
    let workplace = Workplace::new(&private("loop_max_iters = 1"), &[]);
    workplace.start(&[vec![move_on()]]).end();
    let words = [
        "override",
        KEY,
        "--operator",
        "ada",
        "--reason",
        "umber is fine",
    ];
    let said = workplace.gate(&words);
    assert_eq!(said.code, 0, "{said:?}");
    let log = log(&workplace);
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(last["data"]["iteration"]["override"]["operator"], "ada");
    assert_eq!(last["data"]["iteration"]["override"]["reason"]["bytes"], 13);
}
