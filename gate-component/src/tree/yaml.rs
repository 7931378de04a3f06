//! Reads YAML 1.2 (core schema) into a tree. Aliases are expanded, within a bound that the text's length sets.

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
    let may_have_aliases = memchr::memchr(b'&', text.as_bytes()).is_some()
        && memchr::memchr(b'*', text.as_bytes()).is_some();
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        may_have_aliases,
        log: Vec::new(),
        anchors: Vec::new(),
        replays: Vec::new(),
        replay_budget: FREE_REPLAY + text.len() / 8,
        budget: NodeBudget::new(),
    };
    let mut documents = Vec::new();
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(documents),
            (Event::StreamStart | Event::DocumentEnd | Event::Nothing, _) => {}
            (Event::DocumentStart(_), _) => {
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

/// What aliases may stand for beside an eighth of the text's length: four for each value, and its text in bytes.
const FREE_REPLAY: usize = 64 * 1024;

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    may_have_aliases: bool,
    /// Every event since the first anchor, where there may be aliases.
    log: Vec<(Event<'a>, Span)>,
    /// Where each anchored value is in the log; the end is missing while it is being read.
    anchors: Vec<(usize, Replay)>,
    /// Anchored values that are being read again, innermost last.
    replays: Vec<usize>,
    /// What aliases may still stand for: this is what stops alias bombs.
    replay_budget: usize,
    budget: NodeBudget,
}

/// Events of the log.
#[derive(Debug, Clone, Copy)]
struct Replay {
    start: usize,
    complete: bool,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), ReadError> {
        if let Some(next) = self.replays.last_mut()
            && let Some(event) = self.log.get(*next)
        {
            *next += 1;
            let cost = match &event.0 {
                Event::Scalar(text, ..) => text.len() + 4,
                _ => 4,
            };
            let Some(left) = self.replay_budget.checked_sub(cost) else {
                let message = "the aliases stand for too much";
                return Err(ReadError::new(place(event.1.start), message));
            };
            self.replay_budget = left;
            return Ok(event.clone());
        }
        match self.parser.next_event() {
            Some(Ok(event)) => {
                if self.may_have_aliases && (!self.log.is_empty() || anchor(&event.0) != 0) {
                    self.log.push(event.clone());
                }
                Ok(event)
            }
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
        let anchor = self.begin(anchor(&event));
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                let tag = tag.as_deref();
                tagged(scalar(text, style, tag), tag, at)
            }
            Event::SequenceStart(_, tag) => tagged(self.sequence(depth)?, tag.as_deref(), at),
            Event::MappingStart(_, tag) => tagged(self.mapping(depth)?, tag.as_deref(), at),
            Event::Alias(anchor) => self.alias(anchor, at, depth)?,
            _ => return Err(ReadError::new(at, "a value is expected here")),
        };
        if let Some(replay) = anchor.and_then(|index| self.anchors.get_mut(index)) {
            replay.1.complete = true;
        }
        Ok(Node { value, at })
    }

    /// Remember where an anchored value begins: with the event that was just read.
    fn begin(&mut self, anchor: usize) -> Option<usize> {
        if anchor == 0 || !self.replays.is_empty() {
            return None;
        }
        let replay = Replay {
            start: self.log.len().checked_sub(1)?,
            complete: false,
        };
        // The parser counts anchors up.
        self.anchors.push((anchor, replay));
        Some(self.anchors.len() - 1)
    }

    /// Read an anchored value again.
    fn alias(&mut self, anchor: usize, at: At, depth: u32) -> Result<Value<'a>, ReadError> {
        let found = self.anchors.binary_search_by_key(&anchor, |known| known.0);
        let Some((_, replay)) = found.ok().and_then(|index| self.anchors.get(index)) else {
            return Err(ReadError::new(
                at,
                "an alias of a value in another document",
            ));
        };
        if !replay.complete {
            return Err(ReadError::new(at, "an alias of a value that contains it"));
        }
        self.replays.push(replay.start);
        let first = self.next()?;
        let value = self.node(first, depth)?.value;
        self.replays.pop();
        Ok(value)
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
}

/// The number of the anchor that an event carries, or zero.
fn anchor(event: &Event<'_>) -> usize {
    match event {
        Event::Scalar(_, _, anchor, _)
        | Event::SequenceStart(anchor, _)
        | Event::MappingStart(anchor, _) => *anchor,
        _ => 0,
    }
}

/// A value under a tag that says more than the core schema knows is the only entry of a mapping, whose key is
/// the tag. So it stays apart from the same value without the tag, and no setting takes it for one.
fn tagged<'a>(value: Value<'a>, tag: Option<&Tag>, at: At) -> Value<'a> {
    let Some(tag) = tag.filter(|tag| !is_core(tag)) else {
        return value;
    };
    let node = Node { value, at };
    let key = Cow::Owned(format!("\0{tag}"));
    Value::Map(vec![Entry { key, at, node }])
}

/// The tags of the core schema, and `!`, which only says that a value is not to be guessed.
fn is_core(tag: &Tag) -> bool {
    let known = ["str", "int", "float", "bool", "null", "map", "seq"];
    if tag.is_yaml_core_schema() {
        known.contains(&tag.suffix.as_str())
    } else {
        tag.handle.is_empty() && tag.suffix == "!"
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
