//! An agent that says "done" too early goes on until the check passes.

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::model_server::{Turn, last_said};
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::offline_tests;

use super::{Remembered, remembered, run_gated};

const CONFIG: &str = r#"[contract]
mode = "ralph"
completion_checks = ["made"]
loop_max_iters = 6

[checks.made]
argv = ["test", "-e", "made.txt"]
"#;

fn is_refused_twice_and_let_go(client: Client) {
    let turns = [
        Turn::say("All done."),
        Turn::say("I am sure that all is done."),
        Turn::run("touch made.txt"),
        Turn::say("Now it is there."),
    ];
    let stage = Stage::new(client, &[("ralph-gate.toml", CONFIG)], turns);

    let ended = run_gated(stage.run());

    let asked = stage.model.conversation();
    assert_eq!(asked.len(), 4, "{ended:?}");
    let reasons = [
        "iteration 1 of 6 was refused.\n- made: check_failed: exit code 1",
        "iteration 2 of 6 was refused.\n- made: check_failed, unchanged since iteration 1",
    ];
    for (reason, request) in reasons.iter().zip(&asked[1..]) {
        let said = last_said(request);
        assert!(said.contains(reason), "{said}");
    }
    assert!(ended.stdout.contains("Now it is there."), "{ended:?}");
    assert_eq!(remembered(&stage), Remembered::new(3, "completed"));
    println!("{}\n{}", ended.stdout, ended.stderr);
}

offline_tests! {
    fn codex_is_refused_with_reasons_until_the_check_passes() {
        is_refused_twice_and_let_go(Client::Codex);
    }

    fn gemini_is_refused_with_reasons_until_the_check_passes() {
        is_refused_twice_and_let_go(Client::Gemini);
    }
}
