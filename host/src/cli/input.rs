//! Reads what a command works on: a file or standard input, as text, never more than the limit.

use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ralph_gate::engine::GateLimits;
use serde::de::IgnoredAny;

use super::error::{CliError, Size};
use super::excerpt::{MAX_FILE, text_of};

/// What standard input had, for errors that show a line of it: a pipe can't be read again.
static PIPED: OnceLock<String> = OnceLock::new();

/// Where an input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// No argument and `-` both mean standard input.
    pub(crate) fn new(file: Option<&Path>) -> Self {
        match file {
            None => Self::Stdin,
            Some(file) if file == Path::new("-") => Self::Stdin,
            Some(file) => Self::File(file.to_owned()),
        }
    }

    /// The text, to show a line of it. None where it can't be read or is too long for that.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Stdin => PIPED.get().cloned(),
            Self::File(file) => text_of(file),
        }
    }

    /// The file's extension in lower case.
    pub(crate) fn extension(&self) -> Option<String> {
        match self {
            Self::Stdin => None,
            Self::File(file) => Some(file.extension()?.to_str()?.to_ascii_lowercase()),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

/// A text and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) source: Source,
    pub(crate) text: String,
}

impl Input {
    /// Reads a file, or standard input.
    pub(crate) fn read(file: Option<&Path>) -> Result<Self, CliError> {
        Self::read_up_to(file, GateLimits::default().input)
    }

    /// The same, with another limit in bytes.
    pub(crate) fn read_up_to(file: Option<&Path>, limit: usize) -> Result<Self, CliError> {
        Self::read_at_most(Source::new(file), limit)
    }

    /// The same, for a text that must be one JSON value.
    pub(crate) fn read_json(file: Option<&Path>) -> Result<Self, CliError> {
        let input = Self::read(file)?;
        match serde_json::from_str::<IgnoredAny>(&input.text) {
            Ok(_) => Ok(input),
            Err(error) => Err(CliError::not_json(input.source, &error)),
        }
    }

    fn read_at_most(source: Source, limit: usize) -> Result<Self, CliError> {
        let bytes = match &source {
            Source::Stdin => {
                invite();
                read_at_most(io::stdin().lock(), 0, limit)
            }
            Source::File(file) => read_file(file, limit),
        };
        let bytes = match bytes {
            Ok(Content::Bytes(bytes)) => bytes,
            Ok(Content::TooLarge(observed)) => {
                return Err(CliError::InputTooLarge {
                    file: source,
                    observed,
                    limit,
                });
            }
            Err(error) => return Err(CliError::unreadable(source, &error)),
        };
        match String::from_utf8(bytes) {
            Ok(text) => {
                if source == Source::Stdin && text.len() <= MAX_FILE {
                    PIPED.get_or_init(|| text.clone());
                }
                Ok(Self { source, text })
            }
            Err(error) => Err(CliError::not_utf8(source, &error)),
        }
    }
}

/// Reads a file that is not text.
pub(crate) fn read_bytes(path: &Path, limit: usize) -> Result<Vec<u8>, CliError> {
    let file = Source::File(path.to_owned());
    match read_file(path, limit) {
        Ok(Content::Bytes(bytes)) => Ok(bytes),
        Ok(Content::TooLarge(observed)) => Err(CliError::InputTooLarge {
            file,
            observed,
            limit,
        }),
        Err(error) => Err(CliError::unreadable(file, &error)),
    }
}

/// What is in an input.
#[derive(Debug, PartialEq, Eq)]
enum Content {
    Bytes(Vec<u8>),
    TooLarge(Size),
}

fn read_file(path: &Path, limit: usize) -> io::Result<Content> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if metadata.len() > limit as u64 {
        return Ok(Content::TooLarge(Size::Exactly(metadata.len())));
    }
    let size = usize::try_from(metadata.len()).unwrap_or(0);
    read_at_most(file, size, limit)
}

/// Reads at most one byte more than the limit, whatever the reader says about its size.
fn read_at_most(reader: impl Read, expected: usize, limit: usize) -> io::Result<Content> {
    // With room for one byte more than expected, the end of the file is found without growing.
    let mut bytes = Vec::with_capacity(expected + 1);
    reader.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Ok(Content::TooLarge(Size::MoreThan(limit as u64)));
    }
    Ok(Content::Bytes(bytes))
}

/// Tells a person who started the command without an input what it waits for.
fn invite() {
    if io::stdin().is_terminal() {
        let _ = writeln!(io::stderr(), "reading standard input; end it with Ctrl-D");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_and_a_dash_are_standard_input() {
        assert_eq!(Source::new(None), Source::Stdin);
        assert_eq!(Source::new(Some(Path::new("-"))), Source::Stdin);
        assert_eq!(
            Source::new(Some(Path::new("./-"))),
            Source::File("./-".into())
        );
    }

    #[test]
    fn an_endless_reader_is_read_up_to_the_limit() {
        assert_eq!(
            read_at_most(io::repeat(b'x'), 0, 1000).unwrap(),
            Content::TooLarge(Size::MoreThan(1000))
        );
        assert_eq!(
            read_at_most(&b"abc"[..], 3, 3).unwrap(),
            Content::Bytes(b"abc".to_vec())
        );
    }

    #[test]
    fn the_extension_ignores_case() {
        assert_eq!(
            Source::File("a/B.YML".into()).extension().as_deref(),
            Some("yml")
        );
        assert_eq!(Source::Stdin.extension(), None);
    }
}
