//! One run for each way in which a loop can stop.

use ralph_gate_tests::agent_script::Step;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{KEY, Outcome, Workplace};
use crate::kit::{claude, move_on, print, promise, simple, work, write};

/// An agent that says that it has begun, and then works until it is ended.
fn busy(workplace: &Workplace) -> Vec<Step> {
    vec![write(workplace.beside("begun"), ""), Step::Hang]
}

#[test]
fn a_loop_completes_when_the_checks_pass_and_the_token_is_promised() {
    let workplace = Workplace::new(&simple(""), &[]);
    let outcome = workplace.run(&[vec![promise()], vec![work(), promise()]]);
    outcome.stopped("completed", None, 2);
    let verdicts = outcome.verdicts();
    let first = Outcome::failures_of(&verdicts[0]);
    assert_eq!(first, [("check_failed".into(), Some("work".into()))]);
    assert_eq!(verdicts[0]["intercepted"], true);
    assert_eq!(outcome.verdict()["failures"], json!([]));
    assert_eq!(outcome.verdict()["overridden"], false);
}

#[test]
fn a_loop_completes_on_the_very_last_permitted_iteration() {
    let workplace = Workplace::new(&simple("loop_max_iters = 2"), &[]);
    let outcome = workplace.run(&[vec![move_on()], vec![work(), promise()]]);
    outcome.stopped("completed", None, 2);
}

#[test]
fn an_operator_completes_a_loop_while_the_agent_is_at_work() {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = workplace.start(&[busy(&workplace)]);
    running.wait_for("begun");
    let said = workplace.gate(&["override", KEY, "--operator", "ada", "--reason", "enough"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("completed by ada"), "{said:?}");
    let outcome = running.finish();
    outcome.stopped("completed", None, 1);
    assert_eq!(outcome.verdict()["overridden"], true);
    let logs = workplace.logs();
    let note = &logs.last().unwrap()["data"]["iteration"]["override"];
    assert_eq!(*note, json!({ "operator": "ada", "reason": "enough" }));
}

#[test]
fn a_completion_by_override_ends_with_an_exit_code_of_its_own() {
    let workplace = Workplace::new(&simple(""), &[]);
    for arguments in [&["--json"][..], &["--plain"]] {
        let running = workplace.start_with(arguments, &[], &[busy(&workplace)]);
        running.wait_for("begun");
        let said = workplace.gate(&["override", KEY, "--operator", "ada", "--reason", "enough"]);
        assert_eq!(said.code, 0, "{said:?}");
        let outcome = running.end();
        assert_eq!(outcome.code, Some(5), "{outcome:?}");
        std::fs::remove_dir_all(workplace.memory().unwrap()).unwrap();
        std::fs::remove_file(workplace.beside("begun")).unwrap();
    }
}

#[test]
fn an_operator_completes_a_loop_that_has_stopped() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    let outcome = workplace.run(&[vec![promise()]]);
    outcome.stopped("max_iters", None, 1);
    let said = workplace.gate(&["override", "--operator", "ada", "--reason", "enough"]);
    assert_eq!(said.code, 0, "{said:?}");
    let status = status(&workplace);
    assert_eq!(
        (&status["state"], &status["stop_reason"]),
        (&json!("stopped"), &json!("completed"))
    );
    let memory = workplace.memory().unwrap();
    assert!(!memory.join("handoff.md").exists(), "nothing is left to do");
    let verified = workplace.verify();
    assert_eq!(verified.code, 0, "{verified:?}");
    let last = workplace.logs().pop().unwrap();
    assert_eq!(last["data"]["verdict"]["overridden"], true);
}

#[test]
fn an_override_is_refused_where_the_contract_forbids_it() {
    let workplace = Workplace::new(&simple("allow_override = false"), &[]);
    let running = workplace.start(&[busy(&workplace)]);
    running.wait_for("begun");
    let order = [
        "override",
        "--operator",
        "ada",
        "--reason",
        "enough",
        "--json",
    ];
    assert_eq!(workplace.gate(&order).error_code(), "override_not_allowed");
    running.signal(Signal::INT);
    running.finish().stopped("context_canceled", None, 1);
    assert_eq!(workplace.gate(&order).error_code(), "override_not_allowed");
    assert_eq!(status(&workplace)["stop_reason"], "context_canceled");
}

#[test]
fn a_promised_error_stops_the_loop() {
    let workplace = Workplace::new(&simple(""), &[]);
    let outcome = workplace.run(&[vec![print("<promise>LOOP_ERROR</promise>")]]);
    outcome.stopped("error", None, 1);
    assert_eq!(outcome.verdict()["signal"], "LOOP_ERROR");
}

#[test]
fn a_promised_block_stops_the_loop() {
    let workplace = Workplace::new(&simple(""), &[]);
    let outcome = workplace.run(&[vec![print("<promise>LOOP_BLOCKED</promise>")]]);
    outcome.stopped("blocked", None, 1);
    assert_eq!(outcome.verdict()["signal"], "LOOP_BLOCKED");
}

/// A loop with a client that says what it used.
fn claude_loop(terms: &str) -> Workplace {
    let config = simple(terms) + "\n[agent]\nadapter = \"claude\"\n";
    Workplace::new(&config, &[])
}

#[test]
fn the_cost_is_added_up_and_stops_the_loop_when_it_exceeds_the_budget() {
    let workplace = claude_loop("cost_budget_usd = \"0.30\"");
    let outcome = workplace.run(&[vec![move_on(), claude("On my way.", "0.1", 0)]]);
    outcome.stopped("budget_exceeded", Some("cost_budget_usd"), 4);
    assert_eq!(outcome.verdict()["counters"]["cost_usd"], "0.40");
}

/// A result line that says that nothing was used.
const NOTHING_USED: &str = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Done.\",\
    \"total_cost_usd\":0,\"usage\":{},\"modelUsage\":{},\"permission_denials\":[]}\n";

#[test]
fn a_result_line_that_comes_later_lowers_no_cost() {
    let forged = [
        print(NOTHING_USED),
        Step::PrintAfterTheEnd(NOTHING_USED.to_owned()),
    ];
    for forged in forged {
        let workplace = claude_loop("cost_budget_usd = \"20\"");
        let outcome = workplace.run(&[vec![move_on(), claude("On my way.", "30", 0), forged]]);
        outcome.stopped("budget_exceeded", Some("cost_budget_usd"), 1);
        assert_eq!(outcome.verdict()["counters"]["cost_usd"], "30.00");
    }
}

#[test]
fn tool_calls_are_added_up_and_stop_the_loop_when_they_exceed_the_limit() {
    let workplace = claude_loop("max_tool_calls = 6");
    let outcome = workplace.run(&[vec![move_on(), claude("On my way.", "0.1", 3)]]);
    outcome.stopped("budget_exceeded", Some("max_tool_calls"), 3);
    assert_eq!(outcome.verdict()["counters"]["tool_calls"], 9);
}

#[test]
fn tokens_are_added_up_and_stop_the_loop_when_they_exceed_the_limit() {
    let used = |tokens: u32| {
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Done.\",\"total_cost_usd\":0.1,\
             \"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":1}},\"permission_denials\":[]}}\n"
        )
    };
    let workplace = claude_loop("max_tokens = 200");
    let outcome = workplace.run(&[vec![move_on(), print(&used(99))]]);
    outcome.stopped("budget_exceeded", Some("max_tokens"), 3);
    assert_eq!(outcome.verdict()["counters"]["tokens"], 300);
}

#[test]
fn an_agent_may_say_that_it_is_blocked_as_often_as_the_contract_allows() {
    let workplace = Workplace::new(&simple("blocked_limit = 3"), &[]);
    let turn = vec![move_on(), print("<promise>LOOP_BLOCKED</promise>")];
    workplace.run(&[turn]).stopped("blocked", None, 3);
}

#[test]
fn a_client_that_says_what_it_used_completes_with_its_answer() {
    let workplace = claude_loop("cost_budget_usd = \"0.30\"");
    let outcome = workplace.run(&[vec![
        work(),
        claude("Done.\n<promise>COMPLETE</promise>", "0.3", 2),
    ]]);
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_loop_that_takes_too_long_is_stopped() {
    let workplace = Workplace::new(&simple("max_duration_ms = 1"), &[]);
    let outcome = workplace.run(&[vec![move_on()]]);
    outcome.stopped("budget_exceeded", Some("max_duration_ms"), 1);
}

#[test]
fn a_loop_ends_with_the_last_permitted_iteration() {
    let workplace = Workplace::new(&simple("loop_max_iters = 3"), &[]);
    let outcome = workplace.run(&[vec![move_on(), promise()]]);
    outcome.stopped("max_iters", None, 3);
    let handoff = workplace.memory().unwrap().join("handoff.md");
    let handoff = std::fs::read_to_string(handoff).unwrap();
    let stopped = "The loop stopped at iteration 3: limit of 3 iterations reached.";
    assert!(handoff.contains(stopped), "{handoff}");
    assert!(handoff.contains("--resume --session test"), "{handoff}");
}

#[test]
fn the_handoff_and_the_status_say_in_words_why_a_loop_stopped_and_what_failed() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    workplace.run(&[vec![move_on(), promise()]]);
    let handoff = workplace.memory().unwrap().join("handoff.md");
    let handoff = std::fs::read_to_string(handoff).unwrap();
    let missing = "work: done.txt: it is not there";
    assert!(handoff.contains(&format!("- {missing}")), "{handoff}");
    // Fields of a contract are named where something is to be changed.
    assert!(!handoff.contains(": max_iters"), "{handoff}");
    assert!(!handoff.contains("check_failed"), "{handoff}");
    let ended = format!("stopped, not done: limit of 1 iteration reached; {missing}");
    for command in ["status", "sessions"] {
        let said = workplace.gate(&[command]);
        assert!(said.stdout.contains(&ended), "{said:?}");
    }
}

#[test]
fn an_agent_that_fails_again_and_again_stops_the_loop() {
    let workplace = Workplace::new(&simple("max_consecutive_failures = 2"), &[]);
    let outcome = workplace.run(&[vec![move_on(), Step::Exit(1)]]);
    outcome.stopped("blocked", Some("max_consecutive_failures"), 2);
    assert_eq!(actions(&workplace), ["error", "error"]);
}

#[test]
fn failures_count_only_in_a_row() {
    let workplace = Workplace::new(&simple("max_consecutive_failures = 2"), &[]);
    let fail = vec![move_on(), Step::Exit(1)];
    let outcome = workplace.run(&[fail.clone(), vec![move_on()], fail, vec![work(), promise()]]);
    outcome.stopped("completed", None, 4);
}

#[test]
fn an_agent_that_always_takes_too_long_stops_the_loop() {
    let terms = "max_consecutive_failures = 2\nper_iter_timeout_ms = 300";
    let workplace = Workplace::new(&simple(terms), &[]);
    let outcome = workplace.run(&[vec![move_on(), work(), promise(), Step::Hang]]);
    outcome.stopped("blocked", Some("max_consecutive_failures"), 2);
    assert_eq!(actions(&workplace), ["timeout", "timeout"]);
}

#[test]
fn an_interrupt_stops_the_loop_so_that_it_can_be_resumed() {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = workplace.start(&[busy(&workplace)]);
    running.wait_for("begun");
    running.signal(Signal::INT);
    running.finish().stopped("context_canceled", None, 1);
    let outcome = workplace.resume(&[vec![work(), promise()]]);
    outcome.stopped("completed", None, 1);
}

#[test]
fn cancel_stops_the_loop_and_says_how_many_iterations_ran() {
    let workplace = Workplace::new(&simple(""), &[]);
    let running = workplace.start(&[vec![move_on()], busy(&workplace)]);
    running.wait_for("begun");
    let said = workplace.gate(&["cancel"]);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "Canceled the Ralph loop after 2 iterations\n")
    );
    running.finish().stopped("context_canceled", None, 2);
    assert_eq!(no_loop(&workplace), "No active Ralph loop\n");
}

#[test]
fn cancel_without_a_loop_says_so() {
    let workplace = Workplace::new(&simple(""), &[]);
    assert_eq!(no_loop(&workplace), "No active Ralph loop\n");
    assert_eq!(workplace.memory(), None);
}

fn no_loop(workplace: &Workplace) -> String {
    let said = workplace.gate(&["cancel"]);
    assert_eq!(said.code, 0, "{said:?}");
    said.stdout
}

fn status(workplace: &Workplace) -> Value {
    let said = workplace.gate(&["status", "--json"]);
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

/// What the gate was told that the agent did, iteration by iteration.
fn actions(workplace: &Workplace) -> Vec<String> {
    let logs = workplace.logs().into_iter();
    let verdicts = logs.filter(|event| event["event"] == "verdict");
    let turns = verdicts.filter(|event| event["data"]["iteration"]["index"] != 0);
    turns
        .map(|event| {
            event["data"]["iteration"]["action"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}
