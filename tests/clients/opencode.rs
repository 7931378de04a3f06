//! opencode with the gate's plugin. Apart from the other clients, because of its size.

#![cfg(target_os = "linux")]

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::gated::{
    Remembered, is_refused_twice_and_let_go, remembered, run_gated,
};
use ralph_gate_tests::clients::model_server::{Part, Turn};
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::offline_tests;

const CONFIG: &str = r#"[contract]
mode = "ralph"
completion_token = "COMPLETE"
loop_max_iters = 3
"#;

offline_tests! {
    fn opencode_is_refused_with_reasons_until_the_check_passes() {
        is_refused_twice_and_let_go(Client::Opencode);
    }

    fn a_text_before_a_tool_of_opencode_is_no_iteration() {
        let turns = [
            Turn::say_and_run("I look around.", "true"),
            Turn::say("Done."),
            Turn::say_and_run("I look again.", "true"),
            Turn::say("Done.\n\n<promise>COMPLETE</promise>"),
        ];
        let stage = Stage::new(Client::Opencode, &[("ralph-gate.toml", CONFIG)], turns);
        run_gated(stage.run());
        assert_eq!(stage.model.conversation().len(), 4);
        assert_eq!(remembered(&stage), Remembered::new(2, "completed"));
    }

    fn opencode_asks_for_a_title_beside_the_conversation() {
        let stage = Stage::anywhere(Client::Opencode, [Turn::say("Only answer.")]);
        stage.run().start().unwrap().assert_success();
        let received = stage.model.received();
        let parts = |part| received.iter().filter(|one| one.part == part).count();
        assert_eq!((parts(Part::Turn(0)), parts(Part::Aside), received.len()), (1, 1, 2));
    }
}
