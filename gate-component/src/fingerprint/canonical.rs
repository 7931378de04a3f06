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

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> String {
        let (digest, note) = yaml(text);
        assert_eq!(note, None, "{text}");
        digest
    }

    #[test]
    fn a_tag_counts_unless_it_says_what_the_core_schema_knows() {
        let texts = [
            "a: b",
            "a: !one b",
            "a: !two b",
            "a: !!binary b",
            "a: [b]",
            "a: !one [b]",
            "a: !one {b: c}",
            "a: {b: c}",
            "a: 1",
            "a: !!str 1",
            "a: !one 1",
        ];
        for (index, text) in texts.iter().enumerate() {
            for other in texts.iter().skip(index + 1) {
                assert_ne!(digest(text), digest(other), "{text} {other}");
            }
        }
        for (text, other) in [
            ("a: !!str b", "a: b"),
            ("a: !!map {b: c}", "a: {b: c}"),
            ("a: !!seq [b]", "a: [b]"),
            ("a: ! 1", "a: '1'"),
            ("%TAG !x! tag:yaml.org,2002:\n---\na: !x!str 1", "a: '1'"),
        ] {
            assert_eq!(digest(text), digest(other), "{text} {other}");
        }
    }

    #[test]
    fn yaml_is_read_up_to_its_longest() {
        let mut text = format!("a: 1\n#{}", "c".repeat(MAX_YAML - 6));
        assert_eq!(text.len(), MAX_YAML);
        assert_eq!(digest(&text), digest("a: 1"));
        text.push('c');
        let (other, note) = yaml(&text);
        assert_ne!(other, digest("a: 1"));
        assert!(note.is_some_and(|note| note.contains("4194305 bytes of YAML")));
    }

    #[test]
    fn an_alias_is_what_it_stands_for() {
        for (text, other) in [
            ("a: &x [1, {b: c}]\nd: *x", "a: [1, {b: c}]\nd: [1, {b: c}]"),
            (
                "a: &x 1\nb: &y [*x, *x]\nc: *y",
                "a: 1\nb: [1, 1]\nc: [1, 1]",
            ),
            ("a: &x 1\nb: &x 2\nc: *x", "a: 1\nb: 2\nc: 2"),
            ("&k key: &v value\n*v : *k", "key: value\nvalue: key"),
            ("a: &x !t b\nc: *x", "a: !t b\nc: !t b"),
        ] {
            assert_eq!(digest(text), digest(other), "{text}");
        }
    }

    #[test]
    fn aliases_stand_for_a_bounded_amount_whatever_they_repeat() {
        let long = format!(
            "a: &x \"{}\\n\"\nb: [{}]",
            "x".repeat(50_000),
            "*x, ".repeat(10_000)
        );
        let many = format!(
            "a: &x [{}]\nb: [{}]",
            "1, ".repeat(10_000),
            "*x, ".repeat(1000)
        );
        let circle = "a: &x [*x]";
        let other = "--- &x a\n--- [*x]\n";
        for (text, cause) in [
            (long.as_str(), "the aliases stand for too much"),
            (&many, "the aliases stand for too much"),
            (circle, "an alias of a value that contains it"),
            (other, "an alias of a value in another document"),
        ] {
            let (_, note) = yaml(text);
            let note = note.unwrap_or_default();
            assert!(note.contains(cause), "{note}");
        }
        let fair = format!("a: &x [{}]\nb: [*x, *x, *x]", "1, ".repeat(2000));
        assert_eq!(yaml(&fair).1, None);
    }
}
