//! Which of the agent's words a hook is told, where the observed events don't show it.

use ralph_gate_tests::clients::Client;
use ralph_gate_tests::clients::model_server::{Turn, last_said};
use ralph_gate_tests::clients::stage::{Stage, block};
use ralph_gate_tests::offline_tests;
use serde_json::Value;

const CLEARING: &str = r#"echo '{"decision":"block","reason":"Go on.","hookSpecificOutput":{"hookEventName":"AfterAgent","clearContext":true}}'"#;

/// A session, and a field of each event that its stop hook got, when it replied to the first.
fn told(
    client: Client,
    field: &str,
    turns: impl IntoIterator<Item = Turn>,
    reply: &str,
) -> (Stage, Vec<Value>) {
    let stage = Stage::anywhere(client, turns);
    let hook = stage.hook("stop", &[reply]);
    stage.run().on_stop(hook).start().unwrap().assert_success();
    let told = stage.told("stop");
    let told = told.iter().map(|event| event[field].clone()).collect();
    (stage, told)
}

/// A text with a tool, an empty answer, and a last one.
fn around_a_tool() -> [Turn; 3] {
    [
        Turn::say_and_run("Before.", "true"),
        Turn::say(""),
        Turn::say("Last."),
    ]
}

offline_tests! {
    fn codex_tells_an_empty_message_as_null_and_not_the_text_before_a_tool() {
        let (_, messages) = told(Client::Codex, "last_assistant_message", around_a_tool(), &block("Go on."));
        assert_eq!(messages, [Value::Null, "Last.".into()]);
    }

    fn gemini_tells_the_text_before_a_tool_although_the_last_message_is_empty() {
        let (_, texts) = told(Client::Gemini, "prompt_response", around_a_tool(), &block("Go on."));
        assert_eq!(texts, ["Before.", "Before.\nLast."]);
    }

    fn gemini_tells_all_texts_although_the_context_was_cleared() {
        let turns = ["First.", "Last."].map(Turn::say);
        let (stage, texts) = told(Client::Gemini, "prompt_response", turns, CLEARING);
        assert_eq!(texts, ["First.", "First.\nLast."]);
        let request = &stage.model.conversation()[1];
        assert_eq!(last_said(request), "Go on.");
        let request = request.to_string();
        assert!(!request.contains("First.") && !request.contains("Do the thing."));
    }
}
