//! A promise counts where an agent ends with it, and nowhere else.

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::model_server::{Turn, last_said};
use ralph_gate_tests::clients::stage::Stage;
use ralph_gate_tests::offline_tests;

use ralph_gate_tests::clients::gated::{Remembered, remembered, run_gated};

const CONFIG: &str = r#"[contract]
mode = "ralph"
completion_token = "COMPLETE"
loop_max_iters = 6
"#;

fn promise_counts_only_at_the_end(client: Client) {
    let promise = "<promise>COMPLETE</promise>";
    let turns = [
        Turn::say(format!("I would say:\n\n```\n{promise}\n```\n")),
        Turn::say(format!("All done.\n\n{promise}")),
    ];
    let stage = Stage::new(client, &[("ralph-gate.toml", CONFIG)], turns);

    let ended = run_gated(stage.run());

    let asked = stage.model.conversation();
    assert_eq!(asked.len(), 2, "{ended:?}");
    let said = last_said(&asked[1]);
    assert!(said.contains("promise_misplaced"), "{said}");
    assert_eq!(remembered(&stage), Remembered::new(2, "completed"));
}

offline_tests! {
    fn a_promise_of_claude_code_counts_at_the_end_and_not_in_code() {
        promise_counts_only_at_the_end(Client::ClaudeCode);
    }

    fn a_promise_of_an_old_claude_code_counts_at_the_end_and_not_in_code() {
        promise_counts_only_at_the_end(Client::OldClaudeCode);
    }

    fn a_promise_of_copilot_counts_at_the_end_and_not_in_code() {
        promise_counts_only_at_the_end(Client::Copilot);
    }

    fn a_promise_of_codex_counts_at_the_end_and_not_in_code() {
        promise_counts_only_at_the_end(Client::Codex);
    }

    fn a_promise_of_gemini_counts_at_the_end_and_not_in_code() {
        promise_counts_only_at_the_end(Client::Gemini);
    }
}
