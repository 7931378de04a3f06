//! The interface of Gemini.

use serde_json::{Value, json};

use super::{ASIDE, Asked, Dialect, Turn, json_answer, offers_tools};
use crate::clients::http::{Answer, Content};

/// What a request to a model of this path asks for.
pub(super) fn asked(path: &str, body: &Value) -> Asked {
    match path.rsplit(':').next() {
        Some("streamGenerateContent") if offers_tools(body) => Asked::Conversation(Dialect::Gemini),
        Some("streamGenerateContent") => Asked::Aside(events(&aside())),
        Some("generateContent") => Asked::Aside(json_answer(&aside())),
        Some("countTokens") => Asked::Aside(json_answer(&json!({ "totalTokens": 100 }))),
        _ => Asked::Unknown,
    }
}

/// A turn as the interface tells it.
pub(super) fn turn(number: usize, turn: &Turn) -> Answer {
    let call = |name: &str, arguments: Value| {
        let id = format!("call_{number}");
        json!({ "functionCall": { "id": id, "name": name, "args": arguments } })
    };
    let run = |command: &str| {
        let arguments = json!({ "command": command, "description": "scripted" });
        call("run_shell_command", arguments)
    };
    let parts = match turn {
        Turn::Say(text) => vec![json!({ "text": text })],
        Turn::Run(command) => vec![run(command)],
        Turn::SayAndRun { text, command } => vec![json!({ "text": text }), run(command)],
        Turn::Write { path, text } => vec![call(
            "write_file",
            json!({ "file_path": path, "content": text }),
        )],
    };
    events(&response(&format!("turn_{number}"), &parts))
}

fn aside() -> Value {
    response("aside", &[json!({ "text": ASIDE })])
}

fn response(id: &str, parts: &[Value]) -> Value {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110 },
        "modelVersion": "scripted", "responseId": id,
    })
}

fn events(response: &Value) -> Answer {
    Answer {
        status: 200,
        content: Content::Events,
        body: format!("data: {response}\n\n"),
    }
}
