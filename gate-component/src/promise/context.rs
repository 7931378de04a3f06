//! The `<context>` block that may follow a promise: a flat YAML mapping.

use serde::Serialize;

use crate::tree::{Value, yaml};
use crate::vocabulary::vocabulary;

const OPEN: &str = "<context>";
const CLOSE: &str = "</context>";
/// A longer block is not read.
const MAX_BYTES: usize = 16 * 1024;
/// More entries than this are not read.
const MAX_ENTRIES: usize = 64;

vocabulary! {
    /// The type that a context value was written in.
    ContextKind {
        /// A string.
        Text = "text",
        /// A number, in its own text.
        Number = "number",
        /// `true` or `false`.
        Boolean = "boolean",
        /// No value.
        Empty = "empty",
    }
}

/// One line of the context block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextEntry {
    /// The key.
    pub key: String,
    /// How the value was written.
    pub kind: ContextKind,
    /// The value.
    pub value: String,
}

/// A context block at the beginning of a text.
pub(super) struct Block<'a> {
    content: &'a str,
    closed: bool,
    /// What follows the block.
    pub(super) after: &'a str,
}

/// Whether a text begins with a block.
pub(super) fn begins(text: &str) -> bool {
    text.starts_with(OPEN)
}

/// The block that a text begins with. One that is not closed reaches to the end.
pub(super) fn block(text: &str) -> Option<Block<'_>> {
    let rest = text.strip_prefix(OPEN)?;
    Some(
        match memchr::memmem::find(rest.as_bytes(), CLOSE.as_bytes()) {
            Some(end) => Block {
                content: rest.get(..end).unwrap_or_default(),
                closed: true,
                after: rest.get(end + CLOSE.len()..).unwrap_or_default(),
            },
            None => Block {
                content: rest,
                closed: false,
                after: "",
            },
        },
    )
}

/// Read the block that follows a promise. What can't be read is a warning.
pub(super) fn read(after_promise: &str) -> (Vec<ContextEntry>, Option<String>) {
    let Some(block) = block(after_promise.trim_start()) else {
        return (Vec::new(), None);
    };
    match entries(block.content) {
        Err(warning) => (Vec::new(), Some(warning)),
        Ok(entries) if block.closed => (entries, None),
        Ok(entries) => (
            entries,
            Some("the context block has no closing tag".to_owned()),
        ),
    }
}

fn entries(content: &str) -> Result<Vec<ContextEntry>, String> {
    if content.len() > MAX_BYTES {
        return Err(format!(
            "the context block has {} bytes; at most {MAX_BYTES} are read",
            content.len()
        ));
    }
    let tree = yaml::read(content)
        .map_err(|error| format!("the context block is not YAML: {}", error.message))?;
    let entries = match tree.value {
        Value::Null => return Ok(Vec::new()),
        Value::Map(entries) => entries,
        _ => return Err("the context block is not a mapping".to_owned()),
    };
    if entries.len() > MAX_ENTRIES {
        return Err(format!(
            "the context block has {} entries; at most {MAX_ENTRIES} are read",
            entries.len()
        ));
    }
    entries
        .into_iter()
        .map(|entry| {
            let (kind, value) = match entry.node.value {
                Value::Null => (ContextKind::Empty, String::new()),
                Value::Bool(flag) => (ContextKind::Boolean, flag.to_string()),
                Value::Number(number) => (ContextKind::Number, number.into_owned()),
                Value::String(text) => (ContextKind::Text, text.into_owned()),
                Value::List(_) | Value::Map(_) => {
                    return Err(
                        "the context block is not flat: a value is a list or a mapping".to_owned(),
                    );
                }
            };
            let key = entry.key.trim_start_matches('\0').to_owned();
            Ok(ContextEntry { key, kind, value })
        })
        .collect()
}
