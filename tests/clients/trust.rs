//! Whose hooks are asked at all.

use ralph_gate_tests::clients::limited::End;
use ralph_gate_tests::clients::stage::{Stage, block};
use ralph_gate_tests::clients::{Client, Scope};
use ralph_gate_tests::offline_tests;

/// How a client ended whose hooks nobody trusted, and how often the model and the hook were asked.
fn untrusted(client: Client, scope: Scope) -> (End, usize, usize) {
    let stage = Stage::anywhere(client, []);
    let hook = stage.hook("stop", &[&block("Go on.")]);
    let run = stage.run().on_stop(hook).configured_in(scope).untrusted();
    let ended = run.start().unwrap();
    let asked = stage.model.conversation().len();
    (ended.end, asked, stage.told("stop").len())
}

offline_tests! {
    fn codex_skips_hooks_that_nobody_trusted() {
        assert_eq!(untrusted(Client::Codex, Scope::Person), (End::Code(0), 1, 0));
        assert_eq!(untrusted(Client::Codex, Scope::Project), (End::Code(0), 1, 0));
    }

    fn copilot_skips_the_hooks_of_a_folder_that_nobody_trusts() {
        assert_eq!(untrusted(Client::Copilot, Scope::Person), (End::Code(0), 2, 2));
        assert_eq!(untrusted(Client::Copilot, Scope::Project), (End::Code(0), 1, 0));
    }

    fn gemini_does_not_work_where_nobody_trusts_the_folder() {
        assert_eq!(untrusted(Client::Gemini, Scope::Person), (End::Code(55), 0, 0));
    }
}
