//! What of a hook's words reaches the model, and in which form.

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::model_server::{Turn, last_said};
use ralph_gate_tests::clients::stage::{Stage, block, say};
use ralph_gate_tests::offline_tests;
use serde_json::{Value, json};

const TRICKY: &str = "1 < 2 && \"quoted\" 'single' é\n- [ ] `code` <promise>DONE</promise>";
const CODEX_ESCAPED: &str =
    "1 &lt; 2 &amp;&amp; \"quoted\" 'single' é\n- [ ] `code` &lt;promise&gt;DONE&lt;/promise&gt;";
/// Where Codex cuts what a hook says, in bytes.
const CODEX_LIMIT: usize = 10_000;

/// What the model is asked in a session whose hook gives these replies.
fn asked(client: Client, replies: &[&str]) -> Vec<Value> {
    let stage = Stage::anywhere(client, [Turn::say("First answer.")]);
    let hook = stage.hook("stop", replies);
    stage.run().on_stop(hook).start().unwrap().assert_success();
    stage.model.conversation()
}

/// What Codex puts around a reason is not the reason.
fn inside_hook_prompt(request: &Value) -> &str {
    let text = last_said(request).strip_suffix("</hook_prompt>").unwrap();
    let (start, reason) = text.split_once('>').unwrap();
    assert!(
        start.starts_with("<hook_prompt hook_run_id=\"stop:"),
        "{start}"
    );
    reason
}

/// The request after a session start that gave a context.
fn with_context(client: Client, context: &str) -> Value {
    let output = json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": context } });
    let stage = Stage::anywhere(client, []);
    let hook = stage.hook("start", &[&say(&output.to_string())]);
    let run = stage.run().on("SessionStart", hook);
    run.start().unwrap().assert_success();
    stage.model.conversation()[0].clone()
}

fn with_message(reason: &str) -> String {
    say(
        &json!({ "decision": "block", "reason": reason, "systemMessage": "Only seen." })
            .to_string(),
    )
}

offline_tests! {
    fn codex_escapes_a_reason_and_cuts_it_above_ten_thousand_bytes() {
        let whole = "é".repeat(CODEX_LIMIT / 2);
        let longer = format!("start {whole} end");
        let asked = asked(Client::Codex, &[&with_message(TRICKY), &block(&whole), &block(&longer)]);
        assert_eq!(inside_hook_prompt(&asked[1]), CODEX_ESCAPED);
        assert!(!asked[1].to_string().contains("Only seen."));
        assert_eq!(inside_hook_prompt(&asked[2]), whole);
        let cut = inside_hook_prompt(&asked[3]);
        assert!(cut.starts_with("Warning: truncated output (original token count: "), "{cut}");
        assert!(cut.contains("start é") && cut.contains("é end"), "{cut}");
    }

    fn gemini_sends_a_reason_as_it_is() {
        let long = "x ".repeat(50_000) + "end";
        let asked = asked(Client::Gemini, &[&with_message(TRICKY), &block(&long)]);
        assert_eq!(last_said(&asked[1]), TRICKY);
        assert!(!asked[1].to_string().contains("Only seen."));
        assert_eq!(last_said(&asked[2]), long);
    }

    fn codex_sends_the_context_of_a_session_start_as_its_developer() {
        let request = with_context(Client::Codex, TRICKY);
        let messages = request["input"].as_array().unwrap();
        let found = messages.iter().find(|message| message["content"][0]["text"] == TRICKY);
        assert_eq!(found.unwrap()["role"], "developer");
    }

    fn gemini_puts_the_context_of_a_session_start_before_the_prompt() {
        let request = with_context(Client::Gemini, "Remember <this> & that.");
        let expected = "<hook_context>Remember &lt;this&gt; & that.</hook_context>\n\nDo the thing.";
        assert_eq!(last_said(&request), expected);
    }
}
