//! Canonical digests of YAML and JSON: equal content, equal digest, whatever the layout.

use super::normal;
use crate::decimal::canonical_number;
use crate::digest::Digest;
use crate::order::sort;
use crate::tree::{Entry, Node, ReadError, Value, json, yaml};

/// The longest YAML that is parsed: the parser needs about seventy times its size.
const MAX_YAML: usize = 4 << 20;

/// The digest of a JSON text; of its text when it can't be parsed, with a note.
pub(super) fn json(content: &str) -> (String, Option<String>) {
    finish(content, "JSON", json::read(content).map(|node| vec![node]))
}

/// The digest of a YAML stream; of its text when it can't be parsed, with a note.
pub(super) fn yaml(content: &str) -> (String, Option<String>) {
    if content.len() > MAX_YAML {
        let note = format!(
            "{} bytes of YAML, more than {MAX_YAML}; compared as text",
            content.len()
        );
        return (normal(content), Some(note));
    }
    finish(content, "YAML", yaml::read_all(content))
}

fn finish(
    content: &str,
    kind: &str,
    documents: Result<Vec<Node<'_>>, ReadError>,
) -> (String, Option<String>) {
    match documents {
        Ok(documents) => {
            let mut digest = Digest::new("structure");
            digest.number(documents.len());
            for document in &documents {
                write(&mut digest, &document.value);
            }
            (digest.hex(), None)
        }
        Err(error) => (
            normal(content),
            Some(format!("not {kind} ({}); compared as text", error.message)),
        ),
    }
}

/// One unambiguous byte sequence for one value. Recursion is bounded by the readers' depth limit.
fn write(digest: &mut Digest, value: &Value<'_>) {
    match value {
        Value::Null => {
            digest.stream(b"z");
        }
        Value::Bool(true) => {
            digest.stream(b"t");
        }
        Value::Bool(false) => {
            digest.stream(b"f");
        }
        Value::Number(number) => {
            digest
                .stream(b"n")
                .bytes(canonical_number(number).as_bytes());
        }
        Value::String(text) => {
            digest.stream(b"s").bytes(text.as_bytes());
        }
        Value::List(items) => {
            digest.stream(b"l").number(items.len());
            for item in items {
                write(digest, &item.value);
            }
        }
        Value::Map(entries) => {
            let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
            sort(&mut sorted, |a, b| a.key.cmp(&b.key));
            digest.stream(b"m").number(sorted.len());
            for entry in sorted {
                digest.bytes(entry.key.as_bytes());
                write(digest, &entry.node.value);
            }
        }
    }
}
