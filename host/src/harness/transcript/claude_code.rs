//! One line of Claude Code's transcript.
//!
//! ```text
//! {"type":"user","message":{"role":"user","content":"Build it."},"isSidechain":false,…}
//! {"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":"I look."}]},…}
//! {"type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use","name":"Read",…}]},…}
//! {"type":"user","message":{"content":[{"type":"tool_result",…}]},…}
//! ```

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Line;
use super::json;

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Option<bool>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

/// None if it is not a line of such a transcript.
pub(super) fn read(line: &str) -> Option<Line> {
    let entry: Entry = json::object(line)?;
    if entry.is_sidechain == Some(true) {
        return Some(Line::Other);
    }
    match entry.kind.as_deref() {
        Some("assistant") => assistant(entry.message?),
        Some("user") => Some(user(entry.message)),
        _ => Some(Line::Other),
    }
}

fn assistant(message: &RawValue) -> Option<Line> {
    let message: Message = json::object(message.get())?;
    let (text, uses_tool) = message.content.map_or((None, false), said);
    Some(Line::Assistant {
        id: message.id,
        text,
        uses_tool,
    })
}

/// Whatever is not a tool's result counts as a prompt: feedback of a hook, a summary, an interruption. The worst that
/// comes of it is that there is no answer, where otherwise an old one would be taken for new.
fn user(message: Option<&RawValue>) -> Line {
    let message: Option<Message> = message.and_then(|message| json::object(message.get()));
    let content = message.and_then(|message| message.content);
    let is_result = |block: Block| block.kind.as_deref() == Some("tool_result");
    if content.is_some_and(|content| blocks(content).any(is_result)) {
        Line::Other
    } else {
        Line::Prompt
    }
}

/// The text behind the last use of a tool, and whether a tool is used.
fn said(content: &RawValue) -> (Option<String>, bool) {
    if let Some(text) = json::string(content) {
        return (json::said(text), false);
    }
    let mut uses_tool = false;
    let mut texts = Vec::new();
    for block in blocks(content) {
        match block.kind.as_deref() {
            Some("tool_use") => {
                uses_tool = true;
                texts.clear();
            }
            Some("text") => texts.extend(block.text.and_then(json::string)),
            _ => {}
        }
    }
    (json::said(texts.join("\n")), uses_tool)
}

/// Those that are objects. None if the content is no list.
fn blocks(content: &RawValue) -> impl Iterator<Item = Block<'_>> {
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
    blocks
        .into_iter()
        .filter_map(|block| json::object(block.get()))
}
