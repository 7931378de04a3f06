//! The Messages interface of Anthropic, as a stream of events.

use serde_json::{Value, json};

use super::responses::with;
use super::{ASIDE, Asked, Dialect, Turn, offers_tools};
use crate::clients::http::{Answer, Content};

/// What a request to the interface asks for.
pub(super) fn asked(body: &Value) -> Asked {
    if offers_tools(body) {
        Asked::Conversation(Dialect::Messages)
    } else {
        Asked::Aside(events("aside", &[text(ASIDE)]))
    }
}

/// A turn as the interface tells it.
pub(super) fn turn(number: usize, turn: &Turn) -> Answer {
    let id = format!("turn_{number}");
    let call = |name: &str, input: Value| {
        let id = format!("toolu_{id}");
        json!({ "type": "tool_use", "id": id, "name": name, "input": input })
    };
    let run = |command: &str| {
        let input = json!({ "command": command, "description": "scripted" });
        call("Bash", input)
    };
    let blocks = match turn {
        Turn::Say(said) => vec![text(said)],
        Turn::Run(command) => vec![run(command)],
        Turn::SayAndRun {
            text: said,
            command,
        } => vec![text(said), run(command)],
        Turn::Write { path, text } => {
            vec![call("Write", json!({ "file_path": path, "content": text }))]
        }
    };
    events(&id, &blocks)
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn events(id: &str, blocks: &[Value]) -> Answer {
    let uses_tool = blocks.iter().any(|block| block.get("input").is_some());
    let stop_reason = if uses_tool { "tool_use" } else { "end_turn" };
    let message = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "scripted",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 1 },
    });
    let mut all = vec![json!({ "type": "message_start", "message": message })];
    for (index, block) in blocks.iter().enumerate() {
        all.extend(block_events(index, block));
    }
    all.push(json!({
        "type": "message_delta", "delta": { "stop_reason": stop_reason, "stop_sequence": null },
        "usage": { "output_tokens": 10 },
    }));
    all.push(json!({ "type": "message_stop" }));
    Answer {
        status: 200,
        content: Content::Events,
        body: all.iter().map(line).collect(),
    }
}

/// The start of an empty block, its whole content and its end.
fn block_events(index: usize, block: &Value) -> [Value; 3] {
    let (empty, delta) = match block.get("input") {
        Some(input) => (
            json!({ "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
        ),
        None => (
            json!({ "text": "" }),
            json!({ "type": "text_delta", "text": block.get("text") }),
        ),
    };
    let begun = with(&empty, block.clone());
    [
        json!({ "type": "content_block_start", "index": index, "content_block": begun }),
        json!({ "type": "content_block_delta", "index": index, "delta": delta }),
        json!({ "type": "content_block_stop", "index": index }),
    ]
}

fn line(event: &Value) -> String {
    let kind = event
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    format!("event: {kind}\ndata: {event}\n\n")
}
