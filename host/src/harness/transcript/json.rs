//! Reads only those parts of a JSON line that matter here.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// A JSON object. An array would pass for one, its elements for the fields.
pub(super) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    if !text.starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// A JSON string. None if it is something else.
pub(super) fn string(value: &RawValue) -> Option<String> {
    let text: Text = serde_json::from_str(value.get()).ok()?;
    Some(text.0)
}

/// The text, unless there is nothing to see in it.
pub(super) fn said(text: String) -> Option<String> {
    (!text.trim().is_empty()).then_some(text)
}

/// Half of a surrogate pair, which a harness writes where it cuts a text between the two, becomes a replacement
/// character. As a string, the message would be lost for it.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Ok(Text(String::from_utf8_lossy(bytes).into_owned()))
    }
}
