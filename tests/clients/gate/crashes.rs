//! A check that crashes does not open the gate.

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::model_server::last_said;
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::offline_tests;

use ralph_gate_tests::clients::gated::{Remembered, remembered, run_gated};

const CONFIG: &str = r#"[contract]
mode = "ralph"
completion_checks = ["killed", "missing"]
loop_max_iters = 3

[checks.killed]
argv = ["sh", "-c", "kill -9 $$"]

[checks.missing]
argv = ["no-such-program-anywhere"]
"#;

fn crashes_refuse(client: Client) {
    let stage = Stage::new(client, &[("ralph-gate.toml", CONFIG)], []);

    let ended = run_gated(stage.run());

    let asked = stage.model.conversation();
    assert_eq!(asked.len(), 3, "{ended:?}");
    for request in &asked[1..] {
        let said = last_said(request);
        for check in ["killed: check_", "missing: check_errored"] {
            assert!(said.contains(check), "{said}");
        }
    }
    assert_eq!(remembered(&stage), Remembered::new(3, "max_iters"));
}

offline_tests! {
    fn codex_is_not_let_go_by_checks_that_crash() {
        crashes_refuse(Client::Codex);
    }

    fn gemini_is_not_let_go_by_checks_that_crash() {
        crashes_refuse(Client::Gemini);
    }
}
