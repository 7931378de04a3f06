//! An agent that says "done" too early goes on until the check passes.

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::gated::is_refused_twice_and_let_go;
use ralph_gate_tests::offline_tests;

offline_tests! {
    fn claude_code_is_refused_with_reasons_until_the_check_passes() {
        is_refused_twice_and_let_go(Client::ClaudeCode);
    }

    fn an_old_claude_code_is_refused_with_reasons_until_the_check_passes() {
        is_refused_twice_and_let_go(Client::OldClaudeCode);
    }

    fn copilot_is_refused_with_reasons_until_the_check_passes() {
        is_refused_twice_and_let_go(Client::Copilot);
    }

    fn codex_is_refused_with_reasons_until_the_check_passes() {
        let ended = is_refused_twice_and_let_go(Client::Codex);
        // The message for the person is taken: Codex would complain of an answer that it does not understand.
        let complains = |line: &&str| line.contains(r#""type":"error""#) && line.contains("hook") && !line.contains("hook-trust");
        assert_eq!(ended.stdout.lines().find(complains), None);
    }

    fn gemini_is_refused_with_reasons_until_the_check_passes() {
        let ended = is_refused_twice_and_let_go(Client::Gemini);
        let told = "Hook system message: Ralph loop: completed after 3 iterations.";
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
}
