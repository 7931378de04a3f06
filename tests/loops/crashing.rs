//! Agents that fail: what went wrong is said wherever a person looks.

use std::fs;

use ralph_gate_tests::agent_script::Step;

use crate::harness::{KEY, Workplace};
use crate::kit::{simple, work};

/// A turn that ends as a client does whose key is wrong, with something that must not be shown.
fn crash() -> Vec<Step> {
    let complaint = "connecting\u{1b}[31m\nInvalid API key: sk-a1b2c3d4e5f6g7h8i9j0\n";
    vec![Step::Complain(complaint.to_owned()), Step::Exit(1)]
}

/// What must be said, and what must not.
fn see_that_it_is_said(place: &str, text: &str) {
    assert!(text.contains("Invalid API key"), "{place}: {text}");
    for hidden in ["sk-a1b2", "\u{1b}"] {
        assert!(!text.contains(hidden), "{place}: {text}");
    }
}

#[test]
fn an_agent_that_crashes_is_reported_with_what_it_complained_about() {
    let terms = "max_consecutive_failures = 2\nno_progress_limit = 0";
    let workplace = Workplace::new(&simple(terms), &[]);
    let outcome = workplace.start_with(&["--plain"], &[], &[crash()]).end();
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stdout.contains("exit code 1"), "{outcome:?}");
    see_that_it_is_said("screen", &outcome.stdout);
    let status = workplace.gate(&["status", KEY]);
    see_that_it_is_said("status", &status.stdout);
    let status = workplace.gate(&["status", KEY, "--json"]).json();
    see_that_it_is_said("status", status["agent_problem"].as_str().unwrap());
    see_that_it_is_said("logs", &workplace.gate(&["logs", KEY]).stdout);
    let memory = workplace.memory().unwrap();
    let handoff = fs::read_to_string(memory.join("handoff.md")).unwrap();
    see_that_it_is_said("handoff", &handoff);
    assert!(
        handoff.contains("the agent failed again and again"),
        "{handoff}"
    );
    let log = fs::read_to_string(memory.join("events.jsonl")).unwrap();
    assert!(!log.contains("sk-a1b2"), "{log}");
}

#[test]
fn an_agent_that_crashes_under_the_usual_limits_is_not_called_one_that_stands_still() {
    let workplace = Workplace::new(&simple(""), &[]);
    let outcome = workplace.run(&[crash()]);
    outcome.stopped("blocked", Some("max_consecutive_failures"), 3);
}

#[test]
fn a_crash_without_a_word_is_reported_as_such() {
    let terms = "max_consecutive_failures = 1";
    let workplace = Workplace::new(&simple(terms), &[]);
    let outcome = workplace.run(&[vec![Step::Exit(3)]]);
    let ended = &outcome.events("agent_ended")[0]["agent"];
    assert_eq!(ended["problem"], "it printed nothing");
}

#[test]
fn an_agent_that_ends_well_has_no_problem() {
    let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
    let outcome = workplace.run(&[vec![work(), Step::Complain("a warning\n".to_owned())]]);
    let ended = &outcome.events("agent_ended")[0]["agent"];
    assert_eq!(ended.get("problem"), None, "{ended}");
}

#[test]
fn denied_permissions_are_named_as_the_cause() {
    let config = simple("loop_max_iters = 1") + "\n[agent]\nadapter = \"claude\"\n";
    let workplace = Workplace::new(&config, &[]);
    let denied = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"I could not.\",\
        \"total_cost_usd\":0.1,\"permission_denials\":[{\"tool_name\":\"Write\",\"tool_use_id\":\"a\",\"tool_input\":{}},\
        {\"tool_name\":\"Bash\",\"tool_use_id\":\"b\",\"tool_input\":{}}]}\n";
    let outcome = workplace.run(&[vec![Step::Print(denied.to_owned())]]);
    let ended = &outcome.events("agent_ended")[0]["agent"];
    let problem = ended["problem"].as_str().unwrap();
    assert!(problem.contains("denied by the permissions"), "{problem}");
    assert!(problem.contains("Bash, Write"), "{problem}");
    let handoff = workplace.memory().unwrap().join("handoff.md");
    assert!(fs::read_to_string(handoff).unwrap().contains("Bash, Write"));
}
