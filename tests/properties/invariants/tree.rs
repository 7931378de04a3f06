//! Rules about the readers of JSON, YAML and TOML: bounded, exact, and the same value in each format.

use std::collections::BTreeSet;

use ralph_gate_component::decimal::{canonical_number, is_json_number};
use ralph_gate_component::iteration::{Action, Artifact, ArtifactKind, Iteration};
use ralph_gate_component::tree::{
    At, Entry, MAX_DEPTH, Node, ReadError, Source, TextFormat, Value, json, toml, yaml,
};
use serde_json::Value as Json;

/// Checks a text as JSON; a reader that others wrote must agree.
pub fn check_json(input: &[u8]) {
    let text = super::text(input);
    let read = json::read(&text);
    shape(&text, TextFormat::Json, &read);
    let theirs = serde_json::from_str::<Json>(text.trim_start_matches('\u{feff}'));
    match (read, theirs) {
        (Ok(node), Ok(theirs)) => assert!(equal(&node.value, &theirs), "another value: {theirs}"),
        (Ok(node), Err(error)) => assert!(
            error.to_string().contains("number out of range") || depth(&node.value) >= 127,
            "accepted, although {error}"
        ),
        (Err(error), Ok(_)) => assert!(
            error.message.ends_with("appears twice")
                || error.message.starts_with("nested more than")
                || text.starts_with("\u{feff}\u{feff}"),
            "refused: {}",
            error.message
        ),
        (Err(_), Err(_)) => {}
    }
}

/// Checks a text as YAML.
pub fn check_yaml(input: &[u8]) {
    let text = super::text(input);
    let read = yaml::read(&text);
    shape(&text, TextFormat::Yaml, &read);
    if let Ok(node) = read {
        let as_json = round_trip(&node.value);
        let yaml = digest(ArtifactKind::Yaml, &text);
        // An empty stream has no document, which is not the document `null`.
        let is_empty = yaml::read_all(&text).is_ok_and(|documents| documents.is_empty());
        if let Some(as_json) = as_json.filter(|_| !is_empty) {
            assert_eq!(
                yaml,
                digest(ArtifactKind::Json, &as_json),
                "YAML and JSON of one value have two fingerprints:\n{as_json}"
            );
        }
    }
}

/// Checks a text as TOML.
pub fn check_toml(input: &[u8]) {
    let text = super::text(input);
    let read = toml::read(&text);
    shape(&text, TextFormat::Toml, &read);
    if let Ok(node) = read {
        assert!(matches!(node.value, Value::Map(_)), "a document is a table");
        round_trip(&node.value);
    }
}

/// Every value has a place in the text, a bounded depth, unique keys and numbers in one grammar.
fn shape(text: &str, format: TextFormat, read: &Result<Node<'_>, ReadError>) {
    let source = Source::new(text, format);
    match read {
        Ok(node) => walk(text, source, node, 0),
        Err(error) => {
            assert!(!error.message.is_empty());
            place(text, source, error.at);
        }
    }
}

fn walk(text: &str, source: Source<'_>, node: &Node<'_>, depth: u32) {
    assert!(depth < MAX_DEPTH, "nested {depth} levels deep");
    place(text, source, node.at);
    match &node.value {
        Value::Null | Value::Bool(_) | Value::String(_) => {}
        Value::Number(number) => assert!(
            is_json_number(number) || matches!(number.as_ref(), ".inf" | "-.inf" | ".nan"),
            "the number `{number}` is in no known grammar"
        ),
        Value::List(items) => {
            for item in items {
                walk(text, source, item, depth + 1);
            }
        }
        Value::Map(entries) => {
            let keys: BTreeSet<&str> = entries.iter().map(|entry| entry.key.as_ref()).collect();
            assert_eq!(keys.len(), entries.len(), "a key appears twice");
            for Entry { at, node, .. } in entries {
                place(text, source, *at);
                walk(text, source, node, depth + 1);
            }
        }
    }
}

fn place(text: &str, source: Source<'_>, at: At) {
    let (line, column) = source.line_column(at);
    let lines = u32::try_from(text.split(['\n', '\r']).count()).unwrap();
    assert!(
        (1..=lines + 1).contains(&line),
        "line {line} of a text of {lines}"
    );
    // In bytes: the YAML scanner counts some of them where it skips a directive.
    let columns = u32::try_from(text.len()).unwrap() + 2;
    assert!((1..=columns).contains(&column), "column {column}");
}

/// Writes a value as JSON and reads it back. None where JSON has no such number.
fn round_trip(value: &Value<'_>) -> Option<String> {
    let mut text = String::new();
    write(value, &mut text)?;
    let again = json::read(&text).unwrap_or_else(|error| panic!("{}: {text}", error.message));
    assert!(same(value, &again.value), "not the same value: {text}");
    Some(text)
}

fn write(value: &Value<'_>, text: &mut String) -> Option<()> {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(&flag.to_string()),
        Value::Number(number) if is_json_number(number) => text.push_str(number),
        Value::Number(_) => return None,
        Value::String(string) => text.push_str(&Json::from(string.as_ref()).to_string()),
        Value::List(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                write(&item.value, text)?;
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push('{');
            for (index, entry) in entries.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&Json::from(entry.key.as_ref()).to_string());
                text.push(':');
                write(&entry.node.value, text)?;
            }
            text.push('}');
        }
    }
    Some(())
}

fn same(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Number(one), Value::Number(other)) | (Value::String(one), Value::String(other)) => {
            one == other
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same(&one.value, &other.value))
        }
        (Value::Map(one), Value::Map(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| {
                    one.key == other.key && same(&one.node.value, &other.node.value)
                })
        }
        _ => false,
    }
}

/// Whether serde's value is this one. Floats are only compared as numbers, since serde rounds them.
fn equal(ours: &Value<'_>, theirs: &Json) -> bool {
    match (ours, theirs) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(one), Json::Bool(other)) => one == other,
        (Value::Number(one), Json::Number(other)) => {
            other.is_f64() || canonical_number(one) == canonical_number(&other.to_string())
        }
        (Value::String(one), Json::String(other)) => one == other,
        (Value::List(one), Json::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| equal(&one.value, other))
        }
        (Value::Map(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, (key, other))| {
                    one.key == key.as_str() && equal(&one.node.value, other)
                })
        }
        _ => false,
    }
}

fn depth(value: &Value<'_>) -> usize {
    match value {
        Value::List(items) => {
            1 + items
                .iter()
                .map(|item| depth(&item.value))
                .max()
                .unwrap_or(0)
        }
        Value::Map(entries) => {
            1 + entries
                .iter()
                .map(|entry| depth(&entry.node.value))
                .max()
                .unwrap_or(0)
        }
        _ => 0,
    }
}

/// The fingerprint of one artifact.
fn digest(kind: ArtifactKind, content: &str) -> String {
    let mut iteration = Iteration::new(1, Action::Continue);
    iteration.artifacts.push(Artifact {
        name: "artifact".into(),
        kind,
        content: content.into(),
    });
    let fingerprint = ralph_gate_component::fingerprint::of(&iteration);
    assert_eq!(
        fingerprint.parts.iter().find_map(|part| part.note.clone()),
        None,
        "what is well-formed is compared by structure"
    );
    fingerprint.digest
}
