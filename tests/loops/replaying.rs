//! Logs of real loops, asked afterwards: whether the gate still says the same, and what it would have said otherwise.
//!
//! That the log of every other loop in these tests replays byte for byte is seen in `harness.rs`.

use std::fs;

use ralph_gate_tests::agent_script::Step;
use serde_json::{Value, json};

use crate::harness::{KEY, Workplace};
use crate::kit::{PROMISE, move_on, print, promise, simple, work};

/// Five turns of which the last one does the work; every one promises that it is done.
fn five_turns() -> Vec<Vec<Step>> {
    let mut turns = vec![vec![move_on(), promise()]; 4];
    turns.push(vec![work(), promise()]);
    turns
}

fn completed_after_five() -> Workplace {
    let workplace = Workplace::new(&simple(""), &[]);
    workplace.run(&five_turns()).stopped("completed", None, 5);
    workplace
}

/// A contract in a file beside the work.
fn contract(workplace: &Workplace, text: &str) -> String {
    let file = workplace.beside("other.yaml");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// What `what-if` says under another contract.
fn what_if(workplace: &Workplace, text: &str) -> Value {
    workplace.ask_log("what-if", &["--contract", &contract(workplace, text)])
}

const SAME: &str = "mode: ralph\ncompletion_token: COMPLETE\ncompletion_checks: [work]\n";

#[test]
fn the_same_terms_change_nothing() {
    let report = what_if(&completed_after_five(), SAME);
    assert_eq!(report["contract_digest"], report["recorded_digest"]);
    assert_eq!(report["changed"], json!([]), "{report:#}");
    assert_eq!(report["other"], report["recorded"]);
    assert_eq!(report["saved"], Value::Null);
    assert_eq!(report["unknown"], Value::Null);
}

#[test]
fn a_lower_limit_ends_the_loop_earlier_and_says_what_that_saves() {
    let workplace = completed_after_five();
    let report = what_if(&workplace, &format!("{SAME}loop_max_iters: 2\n"));
    assert_eq!(report["changed"], json!([2]), "{report:#}");
    assert_eq!(report["other"]["ended"], true);
    assert_eq!(report["other"]["iteration"], 2);
    assert_eq!(report["other"]["decided"]["stop_reason"], "max_iters");
    assert_eq!(report["saved"]["iterations"], 3);
    // What was not spent is what the iterations after it used.
    let verdicts = verdicts(&workplace);
    let elapsed = |index: usize| verdicts[index]["verdict"]["counters"]["elapsed_ms"].as_u64();
    let saved = report["saved"]["elapsed_ms"].as_u64();
    assert_eq!(saved.unwrap(), elapsed(4).unwrap() - elapsed(1).unwrap());
    let states = report["iterations"].as_array().unwrap().iter();
    let states: Vec<&str> = states.map(|it| it["state"].as_str().unwrap()).collect();
    // The first one is the baseline.
    let expected = [
        "evaluated",
        "evaluated",
        "evaluated",
        "not_reached",
        "not_reached",
        "not_reached",
    ];
    assert_eq!(states, expected);
}

#[test]
fn an_agent_that_would_have_been_believed_is_shown() {
    let workplace = completed_after_five();
    let report = what_if(&workplace, "mode: ralph\ncompletion_token: COMPLETE\n");
    assert_eq!(report["other"]["iteration"], 1, "{report:#}");
    assert_eq!(report["other"]["decided"]["stop_reason"], "completed");
    assert_eq!(report["saved"]["iterations"], 4);
}

#[test]
fn what_comes_after_the_recorded_end_is_unknown() {
    let workplace = Workplace::new(&simple("loop_max_iters = 2"), &[]);
    let turns = vec![vec![move_on()]; 2];
    workplace.run(&turns).stopped("max_iters", None, 2);
    let report = what_if(&workplace, SAME);
    assert_eq!(report["changed"], json!([2]), "{report:#}");
    assert_eq!(report["other"]["ended"], false);
    assert_eq!(report["unknown"]["after"], 2);
    assert_eq!(report["saved"], Value::Null);
}

#[test]
fn what_a_person_went_on_with_is_unknown_where_the_other_contract_would_not_have_stopped() {
    let workplace = Workplace::new(&simple(""), &[]);
    let blocked = vec![print("<promise>LOOP_BLOCKED</promise>\n")];
    workplace.run(&[blocked]).stopped("blocked", None, 1);
    let outcome = workplace.resume(&[vec![move_on()], vec![work(), promise()]]);
    assert_eq!(outcome.stop().0, "completed", "{outcome:#?}");
    // Both stop where the agent asked for it, and are gone on with.
    let report = what_if(&workplace, &format!("{SAME}max_tool_calls: 7\n"));
    assert_eq!(report["changed"], json!([]), "{report:#}");
    assert_eq!(report["other"]["decided"]["stop_reason"], "completed");
    // Only a word in the wrong place: it counts under lenient rules alone.
    let workplace = Workplace::new(&simple("promise_rules = \"lenient\""), &[]);
    let quoted = vec![print("> <promise>LOOP_BLOCKED</promise>\n\nI go on.\n")];
    workplace.run(&[quoted]).stopped("blocked", None, 1);
    workplace.resume(&[vec![work(), print(PROMISE)]]);
    let report = what_if(&workplace, SAME);
    let states = report["iterations"].as_array().unwrap().iter();
    let states: Vec<&str> = states.map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["evaluated", "evaluated", "unknown"], "{report:#}");
    assert_eq!(report["unknown"]["after"], 1);
}

#[test]
fn a_check_that_was_never_run_is_named() {
    let workplace = completed_after_five();
    let report = what_if(
        &workplace,
        &format!("{}\n", SAME.replace("[work]", "[work, lint]")),
    );
    assert_eq!(report["changed"], json!([5]), "{report:#}");
    assert_eq!(report["unknown"]["after"], 5);
    let notes = report["notes"].to_string();
    assert!(notes.contains("no evidence for the check lint"), "{notes}");
}

#[test]
fn a_promise_that_nobody_asked_for_is_pointed_out() {
    let workplace = completed_after_five();
    let report = what_if(&workplace, &SAME.replace("COMPLETE", "FINISHED"));
    let notes = report["notes"].to_string();
    assert!(notes.contains("asks for the promise FINISHED"), "{notes}");
    assert_eq!(report["unknown"]["after"], 5, "{report:#}");
}

#[test]
fn a_contract_with_a_mistake_is_refused_at_its_place() {
    let workplace = completed_after_five();
    let other = contract(&workplace, "mode: ralph\nloop_max_iter: 3\n");
    let log = workplace.memory().unwrap();
    let said = workplace.gate(&["what-if", log.to_str().unwrap(), "--contract", &other]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("other.yaml:2:1"), "{said:?}");
    assert!(said.stderr.contains("loop_max_iters"), "{said:?}");
}

/// The verdicts of the log, without that of the baseline.
fn verdicts(workplace: &Workplace) -> Vec<Value> {
    let logs = workplace.logs().into_iter();
    let verdicts = logs.filter(|event| event["event"] == "verdict");
    let verdicts = verdicts.map(|event| event["data"].clone());
    verdicts
        .filter(|data| data["iteration"]["index"] != 0)
        .collect()
}

#[test]
fn a_verdict_that_was_edited_is_found_by_replaying_it_and_by_its_seal() {
    let workplace = completed_after_five();
    let log = workplace.memory().unwrap().join("events.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let (at, line) = (1..)
        .zip(text.lines())
        .find(|(_, line)| line.contains("\"intercepted\":true"))
        .unwrap();
    let edited = line.replacen("\"intercepted\":true", "\"intercepted\":false", 1);
    assert_ne!(edited, line);
    let copy = workplace.beside("edited.jsonl");
    fs::write(&copy, text.replacen(line, &edited, 1)).unwrap();
    let said = workplace.gate(&["replay", "--json", copy.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{said:?}");
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    let report = &answer["logs"][0];
    assert_eq!(
        report["first_difference"]["path"], "intercepted",
        "{report:#}"
    );
    assert_eq!(report["first_difference"]["line"], at);
    assert_eq!(report["first_difference"]["recorded"], "false");
    assert_eq!(
        (&report["equal"], &report["different"]),
        (&json!(5), &json!(1))
    );
    assert_eq!(report["breaks"][0]["line"], at);
    assert_eq!(report["breaks"][0]["kind"], "edited");
    let said = workplace.gate(&["replay", copy.to_str().unwrap()]);
    let expected = format!("edited.jsonl:{at}: iteration 1 differs at intercepted");
    assert!(said.stdout.contains(&expected), "{said:?}");
}

#[test]
fn a_log_without_its_contract_is_replayed_with_the_one_beside_it() {
    let workplace = completed_after_five();
    let memory = workplace.memory().unwrap();
    let text = fs::read_to_string(memory.join("events.jsonl")).unwrap();
    let mut first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let contract = first["data"].as_object_mut().unwrap().remove("contract");
    assert!(contract.is_some(), "{first:#}");
    let rest = text.split_once('\n').unwrap().1;
    let folder = workplace.beside("old");
    workplace.spoiled("the contract is taken out of the first line of a copy");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("events.jsonl"), format!("{first}\n{rest}")).unwrap();
    let ask = || workplace.gate(&["replay", "--json", folder.to_str().unwrap()]);
    let said = ask();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stdout.contains("\"no_contract\""), "{said:?}");
    fs::copy(memory.join("contract.json"), folder.join("contract.json")).unwrap();
    let answer: Value = serde_json::from_str(&ask().stdout).unwrap();
    assert_eq!(answer["logs"][0]["same"], true, "{answer:#}");
    fs::write(folder.join("contract.json"), SAME.replace("work", "lint")).unwrap();
    let said = ask();
    assert!(said.stdout.contains("\"wrong_contract\""), "{said:?}");
}

#[test]
fn a_contract_that_an_operator_accepted_is_replayed_from_where_it_was() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    workplace
        .run(&[vec![move_on()]])
        .stopped("max_iters", None, 1);
    workplace.write("ralph-gate.toml", &simple("loop_max_iters = 9"));
    let arguments = ["--json", "--resume", "--accept-contract"];
    // Of these the first one is over.
    let turns = [vec![move_on()], vec![move_on()], vec![work(), promise()]];
    // `finish` replays the log.
    let outcome = workplace.start_with(&arguments, &[], &turns).finish();
    assert_eq!(outcome.stop().0, "completed", "{outcome:#?}");
    let report = workplace.ask_log("replay", &[]);
    assert_eq!(report["equal"], 4, "{report:#}");
}

#[test]
fn a_loop_that_an_operator_completed_replays() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    workplace
        .run(&[vec![move_on()]])
        .stopped("max_iters", None, 1);
    let words = ["override", KEY, "--operator", "ada", "--reason", "seen it"];
    let said = workplace.gate(&words);
    assert_eq!(said.code, 0, "{said:?}");
    let report = workplace.ask_log("replay", &[]);
    assert_eq!(
        (&report["same"], &report["equal"]),
        (&json!(true), &json!(3)),
        "{report:#}"
    );
}

#[test]
fn what_is_no_log_is_refused_in_words() {
    let workplace = Workplace::new(&simple(""), &[]);
    let file = workplace.work().join("ralph-gate.toml");
    let said = workplace.gate(&["replay", file.to_str().unwrap()]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.stderr.contains("no line of this text is an event"),
        "{said:?}"
    );
    let said = workplace.gate(&["replay", "nowhere.jsonl"]);
    assert!(said.stderr.contains("there is no such file"), "{said:?}");
}
