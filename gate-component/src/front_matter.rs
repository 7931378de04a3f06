//! Front matter: the YAML between two `---` lines at the beginning of a Markdown text.

use std::borrow::Cow;

use crate::error::Problem;
use crate::tree::decode::{Decoder, Path};
use crate::tree::{At, Node, Source, TextFormat, Value};

/// A Markdown text taken apart: YAML between two `---` lines, and the rest.
#[derive(Debug)]
pub(crate) struct FrontMatter<'a> {
    /// The byte order mark, if there is one.
    pub(crate) mark: &'a str,
    /// From the opening `---` to the closing one, which is left out. It is a YAML document of its own,
    /// whose lines are those of the file.
    pub(crate) head: &'a str,
    /// The closing `---` line.
    pub(crate) fence: &'a str,
    /// What follows it.
    pub(crate) body: &'a str,
}

impl<'a> FrontMatter<'a> {
    /// Take a text apart. A byte order mark in front is skipped.
    pub(crate) fn split(text: &'a str) -> Result<Self, Problem> {
        let (mark, unmarked) = text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 });
        let mut start = 0;
        for (number, line) in unmarked.split_inclusive('\n').enumerate() {
            let end = start + line.len();
            match (number, is_fence(line)) {
                (0, false) => break,
                (0, true) | (_, false) => {}
                (_, true) => {
                    let head = unmarked.get(..start).unwrap_or_default();
                    let body = unmarked.get(end..).unwrap_or_default();
                    return Ok(Self {
                        mark,
                        head,
                        fence: line,
                        body,
                    });
                }
            }
            start = end;
        }
        let has_opening = unmarked.split('\n').next().is_some_and(is_fence);
        let (message, help) = if has_opening {
            (
                "the front matter that begins here does not end",
                "add a line `---` between it and the text",
            )
        } else {
            (
                "there is no front matter",
                "the file must begin with a line `---`, then the fields, then another line `---`",
            )
        };
        Err(problem_at((1, 1), "", message, Some(help.to_owned())))
    }
}

fn is_fence(line: &str) -> bool {
    line.trim_end_matches([' ', '\t', '\r', '\n']) == "---"
}

pub(crate) fn problem_at(
    (line, column): (u32, u32),
    path: &str,
    message: &str,
    help: Option<String>,
) -> Problem {
    Problem {
        path: path.to_owned(),
        line,
        column,
        message: message.to_owned(),
        help,
    }
}

/// A scalar as text. Numbers and booleans that are not quoted are taken as they are written, so that
/// an id such as `007` stays what it is.
pub(crate) fn scalar_text<'n>(
    decoder: &mut Decoder<'_>,
    node: &'n Node<'_>,
    path: Path<'_>,
    places: &mut Places<'_>,
) -> Option<Cow<'n, str>> {
    let canonical = match &node.value {
        Value::Number(text) => text.as_ref(),
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        _ => return decoder.string(node, path).map(Cow::Borrowed),
    };
    let written = places.plain_word(node.at);
    Some(written.map_or(Cow::Borrowed(canonical), Cow::Owned))
}

/// Finds the bytes of places in a YAML text. Places asked for in the order of the text cost linear
/// time in all.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    text: &'a str,
    line: u32,
    column: u32,
    offset: usize,
}

impl<'a> Places<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            line: 1,
            column: 1,
            offset: 0,
        }
    }

    /// The byte offset of a place.
    pub(crate) fn offset(&mut self, at: At) -> usize {
        let wanted = Source::new(self.text, TextFormat::Yaml).line_column(at);
        if wanted < (self.line, self.column) {
            *self = Self::new(self.text);
        }
        let mut rest = self.text.get(self.offset..).unwrap_or_default().chars();
        while (self.line, self.column) < wanted {
            let Some(character) = rest.next() else {
                break;
            };
            self.offset += character.len_utf8();
            // YAML's line breaks: LF, CR LF and CR.
            let is_break =
                character == '\n' || (character == '\r' && !rest.as_str().starts_with('\n'));
            (self.line, self.column) = if is_break {
                (self.line + 1, 1)
            } else {
                (self.line, self.column + 1)
            };
        }
        self.offset
    }

    /// The unquoted word at a place; none for an alias, an anchor or a tag.
    pub(crate) fn plain_word(&mut self, at: At) -> Option<String> {
        let offset = self.offset(at);
        let rest = self.text.get(offset..)?;
        let end = rest
            .find(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ']' | '}' | '#'))
            .unwrap_or(rest.len());
        let word = rest.get(..end)?;
        let is_plain =
            word.starts_with(|first: char| first.is_ascii_alphanumeric() || "+-.".contains(first));
        is_plain.then(|| word.to_owned())
    }
}
