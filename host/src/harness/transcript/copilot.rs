//! One line of Copilot's events file.
//!
//! ```text
//! {"type":"user.message","data":{"content":"Build it."},"id":"…","parentId":"…"}
//! {"type":"assistant.message","data":{"messageId":"…","content":"","toolRequests":[…]},…}
//! {"type":"assistant.message","data":{"messageId":"…","content":"Done.","toolRequests":[]},…}
//! ```

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Line;
use super::json;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Which subagent it is about.
    #[serde(rename = "agentId", borrow)]
    agent: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct Data<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(rename = "toolRequests", borrow)]
    tools: Option<&'a RawValue>,
    /// The use of a tool in which a subagent says this.
    #[serde(rename = "parentToolCallId", borrow)]
    parent: Option<&'a RawValue>,
}

/// None if it is not a line of such a file.
pub(super) fn read(line: &str) -> Option<Line> {
    let event: Event = json::object(line)?;
    let kind = match event.kind.as_deref() {
        Some("assistant.message") => Kind::Assistant,
        Some("user.message") => Kind::User,
        Some("hook.start") => return Some(asked(event.data)),
        _ => return Some(Line::Other),
    };
    let data = event.data.and_then(|data| json::object(data.get()));
    let data: Data = data.unwrap_or_default();
    if event.agent.or(data.parent).is_some() {
        return Some(Line::Other);
    }
    Some(match kind {
        Kind::User => Line::Prompt,
        Kind::Assistant => {
            let uses_tool = data.tools.is_some_and(has_elements);
            Line::Assistant {
                id: None,
                // The tools are used behind the text.
                text: text(&data).filter(|_| !uses_tool),
                uses_tool,
            }
        }
    })
}

/// A hook begins. Those of the agent's stop say when they were asked.
fn asked(data: Option<&RawValue>) -> Line {
    #[derive(Deserialize)]
    struct Hook<'a> {
        #[serde(rename = "hookType")]
        kind: Option<String>,
        #[serde(borrow)]
        input: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Input {
        timestamp: Option<u64>,
    }
    let hook: Option<Hook> = data.and_then(|data| json::object(data.get()));
    let hook = hook.filter(|hook| hook.kind.as_deref() == Some("agentStop"));
    let input: Option<Input> = hook
        .and_then(|hook| hook.input)
        .and_then(|input| json::object(input.get()));
    let at_ms = input.and_then(|input| input.timestamp);
    at_ms.map_or(Line::Other, Line::Asked)
}

enum Kind {
    Assistant,
    User,
}

/// Whether it is a list with something in it.
fn has_elements(list: &RawValue) -> bool {
    let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(list.get());
    elements.is_ok_and(|elements| !elements.is_empty())
}

fn text(data: &Data) -> Option<String> {
    let texts = [data.content, data.text];
    let mut texts = texts.into_iter().flatten().filter_map(json::string);
    texts.find_map(json::said)
}
