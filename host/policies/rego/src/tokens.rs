//! The tokens of Rego, as far as brackets, operators and names go.
//!
//! Texts and comments are recognised exactly as the engine does, or something could hide in them. What is
//! wrong otherwise is left for the engine to find.

use ralph_gate_policy_evidence::depth::Mark;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name.
    Word,
    /// A word of the language. After a dot it is a name like any other.
    Keyword,
    Number,
    /// A text, without its quotes.
    Text,
    Open,
    Close,
    Separator,
    Operator,
}

/// A token, and whether it is the first one of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    pub(crate) begins_line: bool,
}

impl Token<'_> {
    /// Whether an expression can end here.
    pub(crate) fn can_end(self) -> bool {
        matches!(
            self.kind,
            Kind::Word | Kind::Number | Kind::Text | Kind::Close
        )
    }

    /// Whether an expression that could have ended goes on here, even on another line. A call may have its
    /// bracket there.
    pub(crate) fn goes_on(self) -> bool {
        matches!(self.kind, Kind::Keyword | Kind::Operator) || self.text == "("
    }

    /// What it means for the depth.
    pub(crate) fn mark(self) -> Option<Mark> {
        match self.kind {
            Kind::Open => Some(Mark::Open),
            Kind::Close => Some(Mark::Close),
            Kind::Separator => Some(Mark::Separator),
            Kind::Operator | Kind::Keyword => Some(Mark::Operator),
            Kind::Word | Kind::Number | Kind::Text => None,
        }
    }
}

/// Words after which something must follow.
const KEYWORDS: [&str; 12] = [
    "if", "else", "contains", "in", "with", "as", "some", "every", "not", "default", "import",
    "package",
];

/// All tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut rest, mut begins_line) = (text, true);
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        if first == '\n' {
            begins_line = true;
        }
        let (kind, length, shown) = next(rest, first);
        if let Some(mut kind) = kind {
            let text = rest.get(shown..length - shown).unwrap_or_default();
            let is_member = tokens
                .last()
                .is_some_and(|last: &Token<'_>| last.text == ".");
            if kind == Kind::Keyword && is_member {
                kind = Kind::Word;
            }
            tokens.push(Token {
                kind,
                text,
                begins_line,
            });
            begins_line = false;
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// What comes first, how long it is, and how much of it at both ends is not shown.
fn next(rest: &str, first: char) -> (Option<Kind>, usize, usize) {
    let until = |end: fn(char) -> bool| rest.find(end).unwrap_or(rest.len());
    let symbol = |kind| (Some(kind), first.len_utf8(), 0);
    match first {
        '#' => (None, until(|c| c == '\n'), 0),
        '"' => (Some(Kind::Text), escaped_text(rest), 1),
        '`' => {
            let inside = rest.get(1..).unwrap_or_default();
            let end = inside.find('`').map_or(rest.len(), |end| end + 2);
            (Some(Kind::Text), end, 1)
        }
        '[' | '{' | '(' => symbol(Kind::Open),
        ']' | '}' | ')' => symbol(Kind::Close),
        ',' | ';' => symbol(Kind::Separator),
        '.' | '+' | '-' | '*' | '/' | '%' | '&' | '|' => symbol(Kind::Operator),
        ':' | '=' | '<' | '>' | '!' => {
            let length = until(|c| !matches!(c, ':' | '=' | '<' | '>' | '!'));
            (Some(Kind::Operator), length, 0)
        }
        c if c.is_ascii_alphanumeric() || c == '_' => {
            let length = until(|c| !c.is_ascii_alphanumeric() && c != '_');
            (
                Some(word(rest.get(..length).unwrap_or_default())),
                length,
                0,
            )
        }
        c => (None, c.len_utf8(), 0),
    }
}

fn word(word: &str) -> Kind {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        Kind::Number
    } else if KEYWORDS.contains(&word) {
        Kind::Keyword
    } else {
        Kind::Word
    }
}

/// The length of a text in quotes. One that does not end goes on to the end of everything.
fn escaped_text(rest: &str) -> usize {
    let mut is_escaped = false;
    for (index, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}
