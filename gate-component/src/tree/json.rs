//! Reads JSON (RFC 8259) into a tree. Own code, because no maintained reader keeps both places and number texts.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{At, Entry, MAX_DEPTH, Node, NodeBudget, ReadError, Value, too_deep};
use crate::order::Index;

/// Read one JSON value that fills the whole text. A byte order mark is skipped.
pub fn read(text: &str) -> Result<Node<'_>, ReadError> {
    read_with(text, Repeated::Refused).map(|(node, _)| node)
}

/// The same of a text in which a key may be repeated: its last value counts, as in every other reader of JSON.
pub fn read_repeated(text: &str) -> Result<(Node<'_>, Vec<Repeat>), ReadError> {
    read_with(text, Repeated::LastCounts)
}

/// Objects that have a key twice and are told: the first ones.
const MAX_REPEATS: usize = 100;

/// A key that an object has twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// Where the key is again.
    pub at: At,
    /// The key.
    pub key: String,
}

/// What becomes of a key that an object has twice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeated {
    Refused,
    LastCounts,
}

fn read_with(text: &str, repeated: Repeated) -> Result<(Node<'_>, Vec<Repeat>), ReadError> {
    let mut reader = Reader {
        text,
        repeated,
        repeats: Vec::new(),
        bytes: text.as_bytes(),
        position: if text.starts_with('\u{feff}') { 3 } else { 0 },
        budget: NodeBudget::new(),
    };
    reader.skip_space();
    if reader.peek().is_none() {
        return Err(reader.error("the text is empty; a JSON value is expected"));
    }
    let node = reader.value(0)?;
    reader.skip_space();
    match reader.peek() {
        None => Ok((node, reader.repeats)),
        Some(_) => Err(reader.error("text after the end of the JSON value")),
    }
}

struct Reader<'a> {
    text: &'a str,
    repeated: Repeated,
    repeats: Vec<Repeat>,
    bytes: &'a [u8],
    position: usize,
    budget: NodeBudget,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn at(&self) -> At {
        At::offset(self.position)
    }

    fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError::new(self.at(), message)
    }

    fn unexpected(&self, expected: &str) -> ReadError {
        match self
            .text
            .get(self.position..)
            .and_then(|rest| rest.chars().next())
        {
            None => self.error(format!("the text ends where {expected} is expected")),
            Some(found) if found.is_control() => self.error(format!(
                "a control character (U+{:04X}) where {expected} is expected",
                u32::from(found)
            )),
            Some(found) => self.error(format!("`{found}` where {expected} is expected")),
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.position += 1;
        }
    }

    fn value(&mut self, depth: u32) -> Result<Node<'a>, ReadError> {
        let at = self.at();
        self.budget.take(at)?;
        if depth >= MAX_DEPTH {
            return Err(too_deep(at));
        }
        let value = match self.peek() {
            Some(b'{') => Value::Map(self.object(depth)?),
            Some(b'[') => Value::List(self.array(depth)?),
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(Cow::Borrowed(self.number()?)),
            Some(b't') => self.literal("true", Value::Bool(true))?,
            Some(b'f') => self.literal("false", Value::Bool(false))?,
            Some(b'n') => self.literal("null", Value::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { value, at })
    }

    fn literal(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, ReadError> {
        if self
            .bytes
            .get(self.position..)
            .unwrap_or_default()
            .starts_with(word.as_bytes())
        {
            self.position += word.len();
            Ok(value)
        } else {
            Err(self.unexpected("a value"))
        }
    }

    fn array(&mut self, depth: u32) -> Result<Vec<Node<'a>>, ReadError> {
        self.position += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.position += 1;
            return Ok(items);
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.position += 1,
                Some(b']') => {
                    self.position += 1;
                    return Ok(items);
                }
                _ => return Err(self.unexpected("`,` or `]`")),
            }
        }
    }

    fn object(&mut self, depth: u32) -> Result<Vec<Entry<'a>>, ReadError> {
        self.position += 1;
        let mut entries = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.position += 1;
            return Ok(entries);
        }
        loop {
            self.skip_space();
            let at = self.at();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.position += 1;
            self.skip_space();
            let node = self.value(depth + 1)?;
            entries.push(Entry { key, at, node });
            self.skip_space();
            match self.peek() {
                Some(b',') => self.position += 1,
                Some(b'}') => {
                    self.position += 1;
                    return match duplicate_key(&entries) {
                        None => Ok(entries),
                        Some(entry) if self.repeated == Repeated::LastCounts => {
                            if self.repeats.len() < MAX_REPEATS {
                                self.repeats.push(Repeat {
                                    at: entry.at,
                                    key: entry.key.clone().into_owned(),
                                });
                            }
                            Ok(last_ones(entries))
                        }
                        Some(entry) => Err(ReadError::new(
                            entry.at,
                            format!("the key `{}` appears twice", entry.key),
                        )),
                    };
                }
                _ => return Err(self.unexpected("`,` or `}`")),
            }
        }
    }

    /// A string, borrowed from the text unless it has an escape.
    fn string(&mut self) -> Result<Cow<'a, str>, ReadError> {
        self.position += 1;
        let start = self.position;
        let end = self.plain_run(start)?;
        if self.bytes.get(end) == Some(&b'"') {
            self.position = end + 1;
            return Ok(Cow::Borrowed(self.text.get(start..end).unwrap_or_default()));
        }
        self.escaped_string(start, end)
    }

    /// The end of the run without quotes and escapes; control characters are refused.
    fn plain_run(&mut self, start: usize) -> Result<usize, ReadError> {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        let run = rest.get(..length).unwrap_or_default();
        if let Some(control) = run.iter().position(|byte| *byte < 0x20) {
            self.position = start + control;
            return Err(self.unexpected("an escaped character"));
        }
        if length == rest.len() {
            self.position = self.bytes.len();
            return Err(self.unexpected("the closing `\"` of a string"));
        }
        Ok(start + length)
    }

    fn escaped_string(
        &mut self,
        start: usize,
        first_escape: usize,
    ) -> Result<Cow<'a, str>, ReadError> {
        let mut text = String::new();
        let (mut from, mut to) = (start, first_escape);
        loop {
            text.push_str(self.text.get(from..to).unwrap_or_default());
            self.position = to;
            if self.peek() == Some(b'"') {
                self.position += 1;
                return Ok(Cow::Owned(text));
            }
            self.position += 1;
            text.push(self.escape()?);
            from = self.position;
            to = self.plain_run(from)?;
        }
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        let escaped = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.unexpected("an escape such as `\\n`")),
        };
        self.position += 1;
        Ok(escaped)
    }

    fn unicode_escape(&mut self) -> Result<char, ReadError> {
        let at = self.position;
        let first = self.four_hex()?;
        let code = match first {
            0xd800..=0xdbff => {
                if self.bytes.get(self.position..self.position + 2) != Some(b"\\u") {
                    return Err(ReadError::new(At::offset(at), "half of a surrogate pair"));
                }
                self.position += 1;
                let second = self.four_hex()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(ReadError::new(At::offset(at), "half of a surrogate pair"));
                }
                0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            other => other,
        };
        char::from_u32(code)
            .ok_or_else(|| ReadError::new(At::offset(at), "half of a surrogate pair"))
    }

    /// Four hexadecimal digits after a `u`.
    fn four_hex(&mut self) -> Result<u32, ReadError> {
        self.position += 1;
        let mut code = 0;
        for _ in 0..4 {
            let digit = self
                .peek()
                .and_then(|byte| char::from(byte).to_digit(16))
                .ok_or_else(|| self.unexpected("four hexadecimal digits"))?;
            code = code * 16 + digit;
            self.position += 1;
        }
        Ok(code)
    }

    fn number(&mut self) -> Result<&'a str, ReadError> {
        let start = self.position;
        if self.peek() == Some(b'-') {
            self.position += 1;
        }
        match self.peek() {
            Some(b'0') => self.position += 1,
            _ => self.digits()?,
        }
        if let Some(b'0'..=b'9') = self.peek() {
            return Err(self.error("a number can't begin with `0`"));
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.position += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.position += 1;
            }
            self.digits()?;
        }
        Ok(self.text.get(start..self.position).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<(), ReadError> {
        let start = self.position;
        while let Some(b'0'..=b'9') = self.peek() {
            self.position += 1;
        }
        if start == self.position {
            return Err(self.unexpected("a digit"));
        }
        Ok(())
    }
}

/// Of entries with the same key the last one, each at its own place.
fn last_ones(entries: Vec<Entry<'_>>) -> Vec<Entry<'_>> {
    let mut seen = BTreeSet::new();
    let is_last: Vec<bool> = entries
        .iter()
        .rev()
        .map(|entry| seen.insert(entry.key.clone()))
        .collect();
    let kept = entries.into_iter().zip(is_last.into_iter().rev());
    kept.filter_map(|(entry, is_last)| is_last.then_some(entry))
        .collect()
}

/// The second of two entries with the same key, if there is one.
pub(crate) fn duplicate_key<'e, 'a>(entries: &'e [Entry<'a>]) -> Option<&'e Entry<'a>> {
    if entries.len() <= 16 {
        return entries
            .iter()
            .enumerate()
            .find(|(index, entry)| {
                entries
                    .iter()
                    .take(*index)
                    .any(|other| other.key == entry.key)
            })
            .map(|(_, entry)| entry);
    }
    let index = Index::new(entries.iter().map(|entry| entry.key.as_ref()).collect());
    let (_, later) = *index.repeated().first()?;
    entries.get(later)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(text).unwrap_err().message
    }

    #[test]
    fn escapes_and_surrogates_are_decoded() {
        let node = read(r#""a\n\u00e9\ud83d\ude00""#).unwrap();
        assert!(matches!(node.value, Value::String(text) if text == "a\né😀"));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_cause() {
        assert_eq!(error(""), "the text is empty; a JSON value is expected");
        assert_eq!(error("[1,]"), "`]` where a value is expected");
        assert_eq!(
            error("{\"a\":1"),
            "the text ends where `,` or `}` is expected"
        );
        assert_eq!(error("\"\\ud800\""), "half of a surrogate pair");
        assert_eq!(error("01"), "a number can't begin with `0`");
        assert_eq!(error("1 2"), "text after the end of the JSON value");
        assert_eq!(error("{\"a\":1,\"a\":2}"), "the key `a` appears twice");
        let (node, repeats) = read_repeated("{\"a\":1,\"b\":3,\"a\":2}").unwrap();
        assert_eq!(repeats.len(), 1);
        assert_eq!(repeats[0].key, "a");
        let Value::Map(entries) = node.value else {
            panic!("no object");
        };
        let read: Vec<_> = entries
            .iter()
            .map(|entry| (entry.key.as_ref(), &entry.node.value))
            .collect();
        assert!(
            matches!(read[..], [("b", Value::Number(_)), ("a", Value::Number(two))] if two == "2")
        );
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = "[".repeat(100_000);
        assert_eq!(error(&deep), "nested more than 128 levels deep");
    }
}
