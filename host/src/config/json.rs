//! A part of a configuration as JSON, for the gate: numbers keep their text.

use ralph_gate_component::tree::{Node, Value};

/// The value as JSON.
pub(crate) fn write(node: &Node<'_>) -> String {
    let mut text = String::new();
    push(&mut text, node);
    text
}

fn push(text: &mut String, node: &Node<'_>) {
    match &node.value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        // What JSON has no number for stays a text, which no field takes for a number.
        Value::Number(number) if number.contains(['n', 'f']) => push_text(text, number),
        Value::Number(number) => text.push_str(number),
        Value::String(string) => push_text(text, string),
        Value::List(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                push(text, item);
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push('{');
            for (index, entry) in entries.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                push_text(text, &entry.key);
                text.push(':');
                push(text, &entry.node);
            }
            text.push('}');
        }
    }
}

fn push_text(text: &mut String, string: &str) {
    // A text always has a JSON form.
    text.push_str(&serde_json::to_string(string).unwrap_or_default());
}

/// An object from fields that are JSON already.
pub(crate) fn object<'t>(fields: impl IntoIterator<Item = (&'t str, String)>) -> String {
    let fields = fields.into_iter().map(|(name, value)| {
        let mut field = String::new();
        push_text(&mut field, name);
        format!("{field}:{value}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
