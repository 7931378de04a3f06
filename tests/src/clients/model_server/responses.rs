//! The Responses interface of OpenAI, as a stream of events.

use serde_json::{Value, json};

use super::{ASIDE, Asked, Dialect, Turn, offers_tools};
use crate::clients::http::{Answer, Content};

/// What a request to the interface asks for.
pub(super) fn asked(body: &Value) -> Asked {
    if offers_tools(body) {
        Asked::Conversation(Dialect::Responses)
    } else {
        Asked::Aside(events("aside", &[message("aside", ASIDE)]))
    }
}

/// A turn as the interface tells it.
pub(super) fn turn(number: usize, turn: &Turn, body: &Value) -> Answer {
    let id = format!("turn_{number}");
    let items = match turn {
        Turn::Say(text) => vec![message(&id, text)],
        Turn::Run(command) => vec![call(&id, body, command)],
        Turn::SayAndRun { text, command } => vec![message(&id, text), call(&id, body, command)],
        Turn::Write { path, text } => vec![call(&id, body, &writing(path, text))],
    };
    events(&id, &items)
}

fn message(id: &str, text: &str) -> Value {
    json!({
        "type": "message", "id": format!("msg_{id}"), "role": "assistant", "status": "completed",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

/// A call of the tool for the shell that the client offers.
fn call(id: &str, body: &Value, command: &str) -> Value {
    let offered = |name: &str| {
        let mut tools = body
            .get("tools")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        tools.any(|tool| tool.get("name").is_some_and(|found| found == name))
    };
    let (name, arguments) = if offered("exec_command") {
        ("exec_command", json!({ "cmd": command }))
    } else if offered("bash") {
        (
            "bash",
            json!({ "command": command, "description": "scripted" }),
        )
    } else {
        ("shell_command", json!({ "command": command }))
    };
    json!({
        "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"), "status": "completed",
        "name": name, "arguments": arguments.to_string(),
    })
}

/// A command that writes a file, because the interface's clients have different tools for it.
fn writing(path: &str, text: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    format!("printf %s {} > {}", quoted(text), quoted(path))
}

fn events(id: &str, items: &[Value]) -> Answer {
    let response = |status: &str, output: &Value| {
        json!({
            "id": format!("resp_{id}"), "object": "response", "created_at": 0, "model": "scripted",
            "status": status, "output": output,
            "usage": {
                "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens": 10, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 110,
            },
        })
    };
    let mut all = vec![
        json!({ "type": "response.created", "response": response("in_progress", &json!([])) }),
    ];
    for (index, item) in items.iter().enumerate() {
        all.extend(item_events(index, item));
    }
    all.push(
        json!({ "type": "response.completed", "response": response("completed", &json!(items)) }),
    );
    Answer {
        status: 200,
        content: Content::Events,
        body: all
            .iter()
            .enumerate()
            .map(|(number, event)| line(number, event))
            .collect(),
    }
}

/// How an item comes into being.
fn item_events(index: usize, item: &Value) -> Vec<Value> {
    let (empty, pieces) = match (item.pointer("/content/0"), item.get("arguments")) {
        (Some(part), _) => (json!({ "content": [] }), text_events(index, item, part)),
        (None, Some(arguments)) => (
            json!({ "arguments": "" }),
            call_events(index, item, arguments),
        ),
        (None, None) => (json!({}), Vec::new()),
    };
    let begun = with(
        &json!({ "status": "in_progress" }),
        with(&empty, item.clone()),
    );
    let mut all =
        vec![json!({ "type": "response.output_item.added", "output_index": index, "item": begun })];
    all.extend(pieces);
    all.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    all
}

fn text_events(index: usize, item: &Value, part: &Value) -> Vec<Value> {
    let at = json!({ "item_id": item.get("id"), "output_index": index, "content_index": 0 });
    let text = part.get("text");
    let empty = with(&json!({ "text": "" }), part.clone());
    vec![
        with(
            &at,
            json!({ "type": "response.content_part.added", "part": empty }),
        ),
        with(
            &at,
            json!({ "type": "response.output_text.delta", "delta": text }),
        ),
        with(
            &at,
            json!({ "type": "response.output_text.done", "text": text }),
        ),
        with(
            &at,
            json!({ "type": "response.content_part.done", "part": part }),
        ),
    ]
}

fn call_events(index: usize, item: &Value, arguments: &Value) -> Vec<Value> {
    let at = json!({ "item_id": item.get("id"), "output_index": index });
    let delta = json!({ "type": "response.function_call_arguments.delta", "delta": arguments });
    let done = json!({ "type": "response.function_call_arguments.done", "arguments": arguments });
    vec![with(&at, delta), with(&at, done)]
}

/// The event with the fields of `at`, in place of its own.
pub(super) fn with(at: &Value, mut event: Value) -> Value {
    if let (Some(at), Some(event)) = (at.as_object(), event.as_object_mut()) {
        event.extend(at.clone());
    }
    event
}

fn line(number: usize, event: &Value) -> String {
    let kind = event
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let event = with(&json!({ "sequence_number": number }), event.clone());
    format!("event: {kind}\ndata: {event}\n\n")
}
