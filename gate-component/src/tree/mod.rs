//! One tree for JSON, YAML and TOML, in which every value knows its place in the text.

pub mod decode;
pub mod json;
pub mod toml;
pub mod yaml;

use std::borrow::Cow;

use crate::error::Problem;
use crate::vocabulary::vocabulary;

/// A longer contract, request or policy is refused: a person writes them.
pub const MAX_SETTINGS: usize = 1 << 20;
/// Values nested deeper than this are refused, in every format.
pub const MAX_DEPTH: u32 = 128;
/// A text with more values than this is refused, so that memory stays bounded.
pub const MAX_NODES: usize = 1_000_000;

vocabulary! {
    /// How a text is written.
    TextFormat {
        /// JSON (RFC 8259).
        Json = "json",
        /// YAML 1.2, core schema.
        Yaml = "yaml",
        /// TOML 1.0.
        Toml = "toml",
    }
}

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    /// The value.
    pub value: Value<'a>,
    /// Its place, to be resolved by the [`Source`] that it was read from.
    pub at: At,
}

/// A value. Numbers keep their text, so that decimals stay exact.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, as a decimal text in JSON's grammar (or `.inf`, `-.inf`, `.nan`).
    Number(Cow<'a, str>),
    /// A string.
    String(Cow<'a, str>),
    /// A sequence.
    List(Vec<Node<'a>>),
    /// A mapping, in the order of the text. Keys are unique.
    Map(Vec<Entry<'a>>),
}

/// One key and value of a mapping.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The key. YAML keys that are not strings begin with a NUL, so that `1` and `"1"` stay apart.
    pub key: Cow<'a, str>,
    /// The key's place.
    pub at: At,
    /// The value.
    pub node: Node<'a>,
}

/// A place in a text: a byte offset, or a packed line and column, as its [`Source`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At(u64);

impl At {
    /// A byte offset.
    pub fn offset(offset: usize) -> Self {
        Self(u64::try_from(offset).unwrap_or(u64::MAX))
    }

    /// The byte offset, for places in JSON and TOML texts.
    pub(crate) fn byte_offset(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// A line and a column, both from 1.
    pub fn line_column(line: usize, column: usize) -> Self {
        let line = u64::try_from(line).unwrap_or(0) & 0xffff_ffff;
        let column = u64::try_from(column).unwrap_or(0) & 0xffff_ffff;
        Self((line << 32) | column)
    }
}

/// The text that a tree was read from; turns places into lines and columns.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    text: &'a str,
    format: TextFormat,
}

impl<'a> Source<'a> {
    /// A source in a known format.
    pub fn new(text: &'a str, format: TextFormat) -> Self {
        Self { text, format }
    }

    /// The line and column of a place, both from 1.
    pub fn line_column(&self, at: At) -> (u32, u32) {
        match self.format {
            TextFormat::Yaml => (saturate(at.0 >> 32), saturate(at.0 & 0xffff_ffff)),
            TextFormat::Json | TextFormat::Toml => {
                let end = usize::try_from(at.0).unwrap_or(usize::MAX);
                let before = self.text.as_bytes().get(..end.min(self.text.len()));
                let before = before.unwrap_or_default();
                let line = memchr::memchr_iter(b'\n', before).count() + 1;
                let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
                let column = before
                    .get(start..)
                    .unwrap_or_default()
                    .iter()
                    .filter(|byte| (**byte & 0xc0) != 0x80)
                    .count()
                    + 1;
                (saturate(line as u64), saturate(column as u64))
            }
        }
    }

    /// A problem at a place.
    pub fn problem(&self, at: At, path: String, message: String, help: Option<String>) -> Problem {
        let (line, column) = self.line_column(at);
        Problem {
            path,
            line,
            column,
            message,
            help,
        }
    }

    /// Read a text that a person wrote, which is never long.
    pub fn read_settings(&self) -> Result<Node<'a>, Problem> {
        if self.text.len() > MAX_SETTINGS {
            let message = format!(
                "has {} bytes; at most {MAX_SETTINGS} are read",
                self.text.len()
            );
            return Err(Problem {
                path: String::new(),
                line: 1,
                column: 1,
                message,
                help: None,
            });
        }
        self.read()
    }

    /// Read a JSON text that programs wrote and people edited: of a repeated key the last value counts.
    pub fn read_repeated(&self) -> Result<(Node<'a>, Vec<json::Repeat>), Problem> {
        json::read_repeated(self.text)
            .map_err(|error| self.problem(error.at, String::new(), error.message, None))
    }

    /// Read the text into a tree. A text that is not well-formed is one problem.
    pub fn read(&self) -> Result<Node<'a>, Problem> {
        match self.format {
            TextFormat::Json => json::read(self.text),
            TextFormat::Yaml => yaml::read(self.text),
            TextFormat::Toml => toml::read(self.text),
        }
        .map_err(|error| self.problem(error.at, String::new(), error.message, None))
    }
}

/// Why a text is not well-formed.
#[derive(Debug)]
pub struct ReadError {
    /// Where reading stopped.
    pub at: At,
    /// What is wrong there.
    pub message: String,
}

impl ReadError {
    pub(crate) fn new(at: At, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }
}

/// Recognise the format of a text: JSON by its first character; TOML by a first line that is a table
/// header or an assignment; YAML otherwise.
pub fn recognise(text: &str) -> TextFormat {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return TextFormat::Json;
    }
    let first = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    match first {
        Some(line) if line.starts_with('[') => TextFormat::Toml,
        Some(line) if is_toml_assignment(line) => TextFormat::Toml,
        _ => TextFormat::Yaml,
    }
}

fn is_toml_assignment(line: &str) -> bool {
    let equals = line.find('=');
    let colon = line.find(':');
    match (equals, colon) {
        (Some(equals), Some(colon)) => equals < colon,
        (Some(_), None) => true,
        _ => false,
    }
}

/// Counts values, so that no text can use more memory than its limit allows.
#[derive(Debug)]
pub(crate) struct NodeBudget(usize);

impl NodeBudget {
    pub(crate) fn new() -> Self {
        Self(MAX_NODES)
    }

    pub(crate) fn take(&mut self, at: At) -> Result<(), ReadError> {
        self.0 = self
            .0
            .checked_sub(1)
            .ok_or_else(|| ReadError::new(at, format!("more than {MAX_NODES} values; split it")))?;
        Ok(())
    }
}

pub(crate) fn too_deep(at: At) -> ReadError {
    ReadError::new(at, format!("nested more than {MAX_DEPTH} levels deep"))
}

fn saturate(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
