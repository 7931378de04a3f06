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
        _ => return Some(Line::Other),
    };
    let data = event.data.and_then(|data| json::object(data.get()));
    let data: Data = data.unwrap_or_default();
    if event.agent.or(data.parent).is_some() {
        return Some(Line::Other);
    }
    Some(match kind {
        Kind::User => Line::Prompt,
        Kind::Assistant => Line::Assistant {
            id: None,
            text: text(&data),
        },
    })
}

enum Kind {
    Assistant,
    User,
}

fn text(data: &Data) -> Option<String> {
    let texts = [data.content, data.text];
    let mut texts = texts.into_iter().flatten().filter_map(json::string);
    texts.find_map(json::said)
}
