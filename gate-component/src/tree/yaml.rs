//! Reads YAML 1.2 (core schema) into a tree. Aliases are expanded within the limit on values.

use std::borrow::Cow;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

use super::json::duplicate_key;
use super::{At, Entry, MAX_DEPTH, Node, NodeBudget, ReadError, Value, too_deep};
use crate::decimal::is_json_number;

/// Read the one document of a YAML text. An empty text is null.
pub fn read(text: &str) -> Result<Node<'_>, ReadError> {
    let mut documents = read_all(text)?;
    match documents.len() {
        0 => Ok(Node {
            value: Value::Null,
            at: At::line_column(1, 1),
        }),
        1 => Ok(documents.remove(0)),
        _ => Err(ReadError::new(
            documents
                .get(1)
                .map_or(At::line_column(1, 1), |node| node.at),
            "a second YAML document; one is expected",
        )),
    }
}

/// Read every document of a YAML stream.
pub fn read_all(text: &str) -> Result<Vec<Node<'_>>, ReadError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        anchors: Vec::new(),
        first_anchor: 0,
        budget: NodeBudget::new(),
    };
    let mut documents = Vec::new();
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(documents),
            (Event::StreamStart | Event::DocumentEnd | Event::Nothing, _) => {}
            (Event::DocumentStart(_), _) => {
                reader.first_anchor += reader.anchors.len();
                reader.anchors.clear();
                let first = reader.next()?;
                documents.push(reader.node(first, 0)?);
            }
            (_, span) => {
                return Err(ReadError::new(
                    place(span.start),
                    "a value outside a document",
                ));
            }
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// Anchored values by the parser's id, which counts up.
    anchors: Vec<Option<Node<'a>>>,
    /// The id of the first one; ids of earlier documents are below it.
    first_anchor: usize,
    budget: NodeBudget,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), ReadError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(scan_error(&error)),
            None => Err(ReadError::new(
                At::line_column(1, 1),
                "the YAML text ends too early",
            )),
        }
    }

    fn node(
        &mut self,
        (event, span): (Event<'a>, Span),
        depth: u32,
    ) -> Result<Node<'a>, ReadError> {
        let at = place(span.start);
        self.budget.take(at)?;
        if depth >= MAX_DEPTH {
            return Err(too_deep(at));
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (scalar(text, style, tag.as_deref()), anchor)
            }
            Event::SequenceStart(anchor, _) => (self.sequence(depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.mapping(depth)?, anchor),
            Event::Alias(anchor) => return self.alias(anchor, at),
            _ => return Err(ReadError::new(at, "a value is expected here")),
        };
        let node = Node { value, at };
        if anchor != 0 {
            self.charge(&node, at)?;
            self.remember(anchor, node.clone());
        }
        Ok(node)
    }

    fn sequence(&mut self, depth: u32) -> Result<Value<'a>, ReadError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(items)),
                event => items.push(self.node(event, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: u32) -> Result<Value<'a>, ReadError> {
        let mut entries = Vec::new();
        loop {
            let (key, at) = match self.next()? {
                (Event::MappingEnd, _) => break,
                event => {
                    let at = place(event.1.start);
                    (key_text(self.node(event, depth + 1)?), at)
                }
            };
            let value = self.next()?;
            let node = self.node(value, depth + 1)?;
            entries.push(Entry { key, at, node });
        }
        match duplicate_key(&entries) {
            None => Ok(Value::Map(entries)),
            Some(entry) => Err(ReadError::new(
                entry.at,
                format!(
                    "the key `{}` appears twice",
                    entry.key.trim_start_matches('\0')
                ),
            )),
        }
    }

    fn alias(&mut self, anchor: usize, at: At) -> Result<Node<'a>, ReadError> {
        let Some(node) = self.recall(anchor) else {
            return Err(ReadError::new(at, "an alias of a value that contains it"));
        };
        self.charge(&node, at)?;
        Ok(Node {
            value: node.value,
            at,
        })
    }

    fn remember(&mut self, anchor: usize, node: Node<'a>) {
        let Some(index) = anchor.checked_sub(self.first_anchor) else {
            return;
        };
        if self.anchors.len() <= index {
            self.anchors.resize(index + 1, None);
        }
        if let Some(slot) = self.anchors.get_mut(index) {
            *slot = Some(node);
        }
    }

    fn recall(&self, anchor: usize) -> Option<Node<'a>> {
        let index = anchor.checked_sub(self.first_anchor)?;
        self.anchors.get(index)?.clone()
    }

    /// Copies of anchored values count like written ones: this is what stops alias bombs.
    fn charge(&mut self, node: &Node<'a>, at: At) -> Result<(), ReadError> {
        for _ in 0..count(node) {
            self.budget.take(at)?;
        }
        Ok(())
    }
}

fn count(node: &Node<'_>) -> usize {
    1 + match &node.value {
        Value::List(items) => items.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|entry| 1 + count(&entry.node)).sum(),
        _ => 0,
    }
}

/// The value of a scalar: quoted and block scalars are strings; plain ones follow the core schema.
fn scalar<'a>(text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>) -> Value<'a> {
    let is_text = match tag {
        Some(tag) if tag.is_yaml_core_schema() => tag.suffix == "str",
        Some(_) => true,
        None => style != ScalarStyle::Plain,
    };
    if is_text {
        Value::String(text)
    } else {
        plain(text)
    }
}

fn plain(text: Cow<'_, str>) -> Value<'_> {
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            Value::Number(Cow::Borrowed(".inf"))
        }
        "-.inf" | "-.Inf" | "-.INF" => Value::Number(Cow::Borrowed("-.inf")),
        ".nan" | ".NaN" | ".NAN" => Value::Number(Cow::Borrowed(".nan")),
        word => match number(word) {
            Some(number) if number == word => Value::Number(text),
            Some(number) => Value::Number(Cow::Owned(number)),
            None => Value::String(text),
        },
    }
}

/// A number of the core schema, in JSON's grammar.
fn number(word: &str) -> Option<String> {
    let first = *word.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.')) {
        return None;
    }
    if let Some(octal) = word.strip_prefix("0o") {
        return radix(octal, 8);
    }
    if let Some(hex) = word.strip_prefix("0x") {
        return radix(hex, 16);
    }
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(index) => digits.split_at(index),
        None => (digits, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let number = format!("{sign}{whole}{point}{fraction}{exponent}");
    is_json_number(&number).then_some(number)
}

fn radix(digits: &str, radix: u32) -> Option<String> {
    if !digits.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        return None;
    }
    u128::from_str_radix(digits, radix)
        .ok()
        .map(|number| number.to_string())
}

fn key_text(node: Node<'_>) -> Cow<'_, str> {
    match node.value {
        Value::String(text) => text,
        other => {
            let mut text = String::from("\0");
            describe_key(&other, &mut text);
            Cow::Owned(text)
        }
    }
}

/// One text for one key value; it is injective enough because strings are quoted.
fn describe_key(value: &Value<'_>, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&crate::decimal::canonical_number(number)),
        Value::String(string) => text.push_str(&format!("{string:?}")),
        Value::List(items) => {
            text.push('[');
            for item in items {
                describe_key(&item.value, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push('{');
            for entry in entries {
                text.push_str(&format!("{:?}:", entry.key));
                describe_key(&entry.node.value, text);
                text.push(',');
            }
            text.push('}');
        }
    }
}

fn scan_error(error: &ScanError) -> ReadError {
    ReadError::new(place(*error.marker()), error.info())
}

fn place(marker: Marker) -> At {
    At::line_column(marker.line(), marker.col() + 1)
}
