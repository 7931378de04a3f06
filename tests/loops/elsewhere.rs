//! A loop that a harness in another language began, with the memory's component: the command takes it for its own.

use ralph_gate::memory::SessionKey;
use ralph_gate_tests::gate;
use ralph_gate_tests::memory_component::MemoryInstance;
use serde_json::{Value, json};

use crate::harness::{KEY, Workplace};
use crate::kit::{promise, simple, work};

/// Begins a loop as another language would, with one iteration in which the agent gives up.
fn begin(workplace: &Workplace) {
    let key = SessionKey::Session(KEY.into());
    let request =
        json!({ "mode": "ralph", "completion_token": "COMPLETE", "completion_checks": ["work"] });
    let routing = gate().route(&request.to_string(), "").unwrap();
    let beginning =
        json!({ "at_ms": 1_760_000_000_000_u64, "routing": routing, "prompt": "Paint the shed." });
    let memory = MemoryInstance::new(&workplace.work().join(".ralph"), &key).unwrap();
    let mut memory = memory.begin(&key, &beginning).unwrap();
    let state = memory.state();
    let iteration = json!({
        "index": 1, "action": "final", "output": "<promise>LOOP_BLOCKED</promise>",
        "checks": [{ "id": "work", "outcome": "fail" }],
    });
    let input = json!({ "contract": state["contract"], "snapshot": state["snapshot"], "iteration": iteration });
    let verdict = gate().call("evaluate_final", &input.to_string()).unwrap();
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["stop_reason"], "blocked", "{verdict:#}");
    let evaluated =
        json!({ "at_ms": 1_760_000_001_000_u64, "iteration": iteration, "verdict": verdict });
    memory.remember(&evaluated).unwrap();
}

fn names(workplace: &Workplace) -> Vec<String> {
    let logs = workplace.logs().into_iter();
    logs.map(|event| event["event"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_loop_of_another_language_is_shown_verified_and_gone_on_with() {
    let workplace = Workplace::new(&simple(""), &[]);
    begin(&workplace);
    let verified = workplace.verify();
    assert_eq!(verified.code, 0, "{verified:?}");
    let status = workplace.gate(&["status", KEY, "--json"]).json();
    assert_eq!(
        (&status["state"], &status["stop_reason"]),
        (&json!("stopped"), &json!("blocked"))
    );
    assert_eq!(names(&workplace), ["loop_started", "verdict"]);

    // How checks are run here is not how they were run there: that is for an operator to accept.
    let turns = [vec![work(), promise()]];
    let outcome = workplace
        .start_with(&["--json", "--resume"], &[], &turns)
        .end();
    assert_eq!(outcome.error_code(), "checks_changed");
    let arguments = ["--json", "--resume", "--accept-contract"];
    let outcome = workplace.start_with(&arguments, &[], &turns).finish();
    assert_eq!(outcome.stop().0, "completed");
    assert_eq!(
        names(&workplace)[..4],
        ["loop_started", "verdict", "loop_resumed", "baseline"]
    );
    let verified = workplace.verify();
    assert_eq!(verified.code, 0, "{verified:?}");
}
