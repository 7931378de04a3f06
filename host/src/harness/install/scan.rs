//! Finds where things are in a JSON text, without changing or copying it.
//!
//! Strict JSON: comments and trailing commas are faults. Time is linear, depth is bounded, and no tree is built.

use std::borrow::Cow;
use std::fmt;

/// How deep lists and objects may be inside each other.
const DEPTH: usize = 128;
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A part of the text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An element of a list, or a member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) key: Option<Span>,
    pub(super) value: Span,
}

impl Item {
    pub(super) fn start(&self) -> usize {
        self.key.map_or(self.value.start, |key| key.start)
    }
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    List,
    Text,
    /// A number, `true`, `false` or `null`.
    Plain,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::List => "a list",
            Self::Text => "a text",
            Self::Plain => "a single value",
        }
    }
}

/// Something is not as it must be, at a byte of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) problem: Problem,
}

/// What is wrong with a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Bytes that are no text.
    NotUtf8,
    /// Nothing but white space.
    Empty,
    /// `//` or `/*`.
    Comment,
    /// A comma before a closing bracket.
    TrailingComma,
    /// Something else than JSON has there.
    Expected(&'static str),
    /// Lists and objects too deep inside each other.
    TooDeep,
    /// A value of the wrong kind.
    WrongShape {
        /// The setting, with dots between the keys; empty for all of the file.
        place: String,
        /// What is there.
        found: &'static str,
        /// What must be there.
        expected: &'static str,
    },
    /// A setting that is there twice, so that clients may disagree about which one counts.
    Twice {
        /// The setting, with dots between the keys.
        place: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("it is not UTF-8 text"),
            Self::Empty => f.write_str("it is empty, which is not JSON"),
            Self::Comment => f.write_str("there is a comment, which is not plain JSON"),
            Self::TrailingComma => f.write_str("there is a comma with nothing behind it"),
            Self::Expected(what) => write!(f, "it is not JSON: {what} is expected"),
            Self::TooDeep => write!(f, "it is more than {DEPTH} levels deep"),
            Self::WrongShape {
                place,
                found,
                expected,
            } if place.is_empty() => write!(f, "the file holds {found} instead of {expected}"),
            Self::WrongShape {
                place,
                found,
                expected,
            } => write!(f, "`{place}` is {found} instead of {expected}"),
            Self::Twice { place } => write!(f, "`{place}` is there twice"),
        }
    }
}

/// A text that is JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'t> {
    text: &'t str,
    root: Span,
}

impl<'t> Document<'t> {
    pub(super) fn new(text: &'t str) -> Result<Self, Fault> {
        let mut scanner = Scanner {
            bytes: text.as_bytes(),
            at: 0,
        };
        if text.starts_with(BYTE_ORDER_MARK) {
            scanner.at = BYTE_ORDER_MARK.len();
        }
        scanner.space()?;
        if scanner.peek().is_none() {
            return Err(scanner.fault(Problem::Empty));
        }
        let root = scanner.value(0)?;
        scanner.space()?;
        match scanner.peek() {
            None => Ok(Self { text, root }),
            Some(_) => Err(scanner.fault(Problem::Expected("the end of the file"))),
        }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn root(&self) -> Span {
        self.root
    }

    /// The text between two bytes; empty if they are not in order.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn raw(&self, span: Span) -> &'t str {
        self.slice(span.start, span.end)
    }

    pub(super) fn kind(&self, value: Span) -> Kind {
        match self.text.as_bytes().get(value.start) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::List,
            Some(b'"') => Kind::Text,
            _ => Kind::Plain,
        }
    }

    /// What a list or an object holds, in the text's order. Nothing for other values.
    pub(super) fn items(&self, container: Span) -> Items<'t> {
        let holds = matches!(self.kind(container), Kind::Object | Kind::List);
        Items {
            scanner: Scanner {
                bytes: self.text.as_bytes(),
                at: container.start + 1,
            },
            kind: self.kind(container),
            state: if holds { Walk::First } else { Walk::Done },
        }
    }

    /// A text value without its quotes and escapes.
    pub(super) fn string(&self, value: Span) -> Option<Cow<'t, str>> {
        let inner = self.raw(value).strip_prefix('"')?.strip_suffix('"')?;
        Some(if inner.contains('\\') {
            Cow::Owned(unescape(inner))
        } else {
            Cow::Borrowed(inner)
        })
    }

    /// Whether a member has this key, however it is written.
    pub(super) fn has_key(&self, item: &Item, key: &str) -> bool {
        item.key
            .and_then(|span| self.string(span))
            .is_some_and(|found| found == key)
    }

    /// The last member with this key: the one that counts for clients.
    pub(super) fn member(&self, object: Span, key: &str) -> Option<Span> {
        if self.kind(object) != Kind::Object {
            return None;
        }
        let members = self.items(object).filter(|item| self.has_key(item, key));
        members.last().map(|item| item.value)
    }
}

/// Where a walk through a container is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    First,
    Later,
    Done,
}

/// The items of a container, one after the other.
#[derive(Debug)]
pub(super) struct Items<'t> {
    scanner: Scanner<'t>,
    kind: Kind,
    state: Walk,
}

impl Iterator for Items<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if self.state == Walk::Done {
            return None;
        }
        let first = self.state == Walk::First;
        self.state = Walk::Done;
        let close = if self.kind == Kind::Object {
            b'}'
        } else {
            b']'
        };
        // The document was read to its end before: no fault is left to be found.
        let item = self.scanner.item(self.kind, close, first, 0).ok()??;
        self.state = Walk::Later;
        Some(item)
    }
}

#[derive(Debug, Clone)]
struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn fault(&self, problem: Problem) -> Fault {
        Fault {
            at: self.at,
            problem,
        }
    }

    fn expected(&self, what: &'static str) -> Fault {
        self.fault(Problem::Expected(what))
    }

    fn space(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'/' if matches!(self.bytes.get(self.at + 1), Some(b'/' | b'*')) => {
                    return Err(self.fault(Problem::Comment));
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// One value, to its end.
    fn value(&mut self, depth: usize) -> Result<Span, Fault> {
        let start = self.at;
        match self.peek() {
            Some(b'{') => self.container(Kind::Object, b'}', depth)?,
            Some(b'[') => self.container(Kind::List, b']', depth)?,
            Some(b'"') => self.text()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word(b"true")?,
            Some(b'f') => self.word(b"false")?,
            Some(b'n') => self.word(b"null")?,
            _ => return Err(self.expected("a value")),
        }
        Ok(Span {
            start,
            end: self.at,
        })
    }

    fn container(&mut self, kind: Kind, close: u8, depth: usize) -> Result<(), Fault> {
        if depth >= DEPTH {
            return Err(self.fault(Problem::TooDeep));
        }
        self.at += 1;
        let mut first = true;
        while self.item(kind, close, first, depth + 1)?.is_some() {
            first = false;
        }
        Ok(())
    }

    /// The next item of a container, or none and the closing bracket is taken.
    fn item(
        &mut self,
        kind: Kind,
        close: u8,
        first: bool,
        depth: usize,
    ) -> Result<Option<Item>, Fault> {
        self.space()?;
        if self.take(close) {
            return Ok(None);
        }
        if !first {
            let comma = self.at;
            if !self.take(b',') {
                return Err(self.expected("a comma or a closing bracket"));
            }
            self.space()?;
            if self.peek() == Some(close) {
                self.at = comma;
                return Err(self.fault(Problem::TrailingComma));
            }
        }
        let key = match kind {
            Kind::Object => Some(self.key()?),
            _ => None,
        };
        let value = self.value(depth)?;
        Ok(Some(Item { key, value }))
    }

    fn key(&mut self) -> Result<Span, Fault> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        self.text()?;
        let end = self.at;
        self.space()?;
        if !self.take(b':') {
            return Err(self.expected("a colon"));
        }
        self.space()?;
        Ok(Span { start, end })
    }

    fn text(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.expected("the end of a text")),
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0..=0x1f) => return Err(self.expected("an escape for a control character")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let letter = self.bytes.get(self.at + 1);
        let digits = self.bytes.get(self.at + 2..self.at + 6);
        match (letter, digits) {
            (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), _) => self.at += 2,
            (Some(b'u'), Some(digits)) if digits.iter().all(u8::is_ascii_hexdigit) => self.at += 6,
            _ => return Err(self.expected("an escape that JSON knows")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("a digit"));
        }
        Ok(())
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), Fault> {
        let found = self.bytes.get(self.at..self.at + word.len());
        if found != Some(word) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(())
    }
}

/// Resolves escapes. Halves of pairs that stand alone become a replacement character.
fn unescape(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut units = Vec::new();
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        let letter = match character {
            '\\' => rest.next().unwrap_or_default(),
            plain => {
                flush(&mut units, &mut text);
                text.push(plain);
                continue;
            }
        };
        if letter == 'u' {
            let digits: String = rest.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).unwrap_or_default());
            continue;
        }
        flush(&mut units, &mut text);
        text.push(match letter {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            other => other,
        });
    }
    flush(&mut units, &mut text);
    text
}

fn flush(units: &mut Vec<u16>, text: &mut String) {
    text.push_str(&String::from_utf16_lossy(units));
    units.clear();
}

/// A byte's line and column, both from one; columns count characters.
pub(super) fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = bytes.get(..at).unwrap_or(bytes);
    let lines = before.split(|byte| *byte == b'\n');
    let (number, line) = lines.enumerate().last().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let line = line.trim_start_matches(BYTE_ORDER_MARK);
    (number + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, String) {
        let fault = Document::new(text).unwrap_err();
        (fault.at, fault.problem.to_string())
    }

    #[test]
    fn a_fault_is_found_where_it_is() {
        let not = |what: &str| format!("it is not JSON: {what} is expected");
        assert_eq!(fault(" "), (1, "it is empty, which is not JSON".to_owned()));
        assert_eq!(fault("{\"a\" 1}"), (5, not("a colon")));
        assert_eq!(fault("{a:1}"), (1, not("a key in double quotes")));
        assert_eq!(fault("[1 2]"), (3, not("a comma or a closing bracket")));
        assert_eq!(fault("[01]"), (2, not("a comma or a closing bracket")));
        assert_eq!(fault("[1.]"), (3, not("a digit")));
        assert_eq!(fault("[\"\\x\"]"), (2, not("an escape that JSON knows")));
        assert_eq!(
            fault("[\"\n\"]"),
            (2, not("an escape for a control character"))
        );
        assert_eq!(fault("[\"a"), (3, not("the end of a text")));
        assert_eq!(fault("[nul]"), (1, not("a value")));
        assert_eq!(fault("{} x"), (3, not("the end of the file")));
        assert_eq!(
            fault("{\"a\":1, }"),
            (6, "there is a comma with nothing behind it".to_owned())
        );
        assert_eq!(
            fault("{ // x\n}"),
            (2, "there is a comment, which is not plain JSON".to_owned())
        );
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Document::new(&nested(DEPTH)).is_ok());
        assert_eq!(fault(&nested(1_000_000)).0, DEPTH);
    }

    #[test]
    fn keys_are_compared_without_their_escapes_and_the_last_one_counts() {
        let document =
            Document::new("{\"hooks\":1,\"\\u0068ook\\u0073\":2,\"\\ud83d\\ude00\":3}").unwrap();
        let raw = |key| {
            document
                .member(document.root(), key)
                .map(|span| document.raw(span))
        };
        assert_eq!(raw("hooks"), Some("2"));
        assert_eq!(raw("😀"), Some("3"));
        assert_eq!(raw("none"), None);
    }

    #[test]
    fn any_bytes_of_json_cut_anywhere_are_no_panic() {
        let text =
            "\u{feff}{\"ä\\u00e4\\n\": [1.5e+3, -0, true, false, null, {}, [ ]], \"b\": \"\"}";
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(Document::new(&text[..end]).is_err(), "{end}");
        }
        assert!(Document::new(text).is_ok());
    }

    #[test]
    fn a_position_counts_characters() {
        assert_eq!(position("\u{feff}{".as_bytes(), 3), (1, 1));
        assert_eq!(position("a\nüx".as_bytes(), 4), (2, 2));
        assert_eq!(position(b"", 9), (1, 1));
    }
}
