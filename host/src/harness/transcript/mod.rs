//! The last message of the assistant, from the end of a harness's transcript.
//!
//! A transcript is read backwards, in blocks, until the answer is known, and never more than [`LIMIT`] bytes of it:
//! what it costs does not depend on how long the session was. Lines that are not JSON are passed over, because a
//! harness may be in the middle of writing one.

mod answer;
mod backwards;
mod claude_code;
mod copilot;
mod json;
mod open;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;

use answer::{Answer, Line, Step};
use backwards::{Backwards, Source, SourceError};

/// How many bytes of a transcript are read, from its end.
pub const LIMIT: u64 = 4 * 1024 * 1024;
/// How often reading starts again because the transcript became shorter meanwhile.
const ATTEMPTS: usize = 3;

/// Whose transcript it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of `type` `assistant` and `user`, each with a `message`.
    ClaudeCode,
    /// Events `assistant.message` and `user.message`, each with `data`.
    Copilot,
}

/// What the assistant said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Last {
    /// Its text: all text blocks of the message, one below the other.
    Message(String),
    /// It said nothing since the last prompt, or nothing in the bytes that were read.
    None,
}

/// How far back it was necessary to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Until the answer was known.
    Enough,
    /// To the beginning.
    Whole,
    /// As far as the limit allows: there may be more of the message further up.
    Limit,
}

/// What the end of a transcript says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// What the assistant said last.
    pub last: Last,
    /// How far back it was necessary to read.
    pub extent: Extent,
    /// When the client asked its hooks last, in milliseconds since 1970, if that is below the message.
    pub asked: Option<u64>,
    /// Lines that were passed over because they are not JSON. Where there are some, the last one may have been the
    /// answer.
    pub unreadable: usize,
}

/// A transcript that can't be read.
#[derive(Debug, Error)]
pub enum TranscriptError {
    /// There is none.
    #[error("the transcript {} is not there", .path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// A folder, a pipe, a socket, a device. It is not read, and nothing is waited for.
    #[error("the transcript {} is not a plain file", .path.display())]
    NotPlain {
        /// Where it is.
        path: PathBuf,
    },
    /// Somebody shortens the file each time that it is read.
    #[error("the transcript {} became shorter {ATTEMPTS} times while it was read", .path.display())]
    Changing {
        /// Where it is.
        path: PathBuf,
    },
    /// The system said no.
    #[error("the transcript {} can't be read: {error}", .path.display())]
    Failed {
        /// Where it is.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

/// The last message of the assistant.
///
/// What was said before the last prompt is no answer to it, and what was said before a tool was used is not the last
/// message. What subagents say does not count.
///
/// ```
/// use ralph_gate::harness::transcript::{Form, Last, last_message};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("events.jsonl");
/// std::fs::write(&path, r#"{"type":"assistant.message","data":{"content":"Done."}}"#)?;
/// assert_eq!(last_message(&path, Form::Copilot)?.last, Last::Message("Done.".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn last_message(path: &Path, form: Form) -> Result<Tail, TranscriptError> {
    let file = open::open(path)?;
    tail_of(&file, form).map_err(|error| match error {
        SourceError::Shorter => TranscriptError::Changing { path: path.into() },
        SourceError::Failed(error) => TranscriptError::Failed {
            path: path.into(),
            error,
        },
    })
}

/// How long a client may take to write what was said, once it has asked. It was seen to take 110 ms.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How often is looked whether it has.
const WRITE_INTERVAL: Duration = Duration::from_millis(5);

/// The last message of the assistant before the client asked at this moment, in milliseconds since 1970.
///
/// A client may ask before it has written what was said: until then the end of its file is an older message, or there is
/// no file. None if it is not written in time.
pub fn message_before(
    path: &Path,
    form: Form,
    at_ms: u64,
) -> Result<Option<Tail>, TranscriptError> {
    let deadline = Instant::now() + WRITE_TIMEOUT;
    loop {
        let is_late = Instant::now() >= deadline;
        match last_message(path, form) {
            Ok(tail) if tail.asked == Some(at_ms) => return Ok(Some(tail)),
            Ok(_) if is_late => return Ok(None),
            Err(error) if is_late => return Err(error),
            Ok(_) | Err(TranscriptError::Missing { .. } | TranscriptError::Changing { .. }) => {}
            Err(error) => return Err(error),
        }
        std::thread::sleep(WRITE_INTERVAL);
    }
}

fn tail_of(source: &impl Source, form: Form) -> Result<Tail, SourceError> {
    for _ in 1..ATTEMPTS {
        match scan(source, form) {
            Err(SourceError::Shorter) => {}
            done => return done,
        }
    }
    scan(source, form)
}

fn scan(source: &impl Source, form: Form) -> Result<Tail, SourceError> {
    let mut lines = Backwards::of(source)?;
    let mut answer = Answer::default();
    let (mut unreadable, mut asked) = (0, None);
    let mut step = Step::Further;
    while step == Step::Further {
        let Some(bytes) = lines.next_line()? else {
            break;
        };
        let line = read_line(&bytes, form);
        unreadable += usize::from(line == Line::Unreadable);
        if let Line::Asked(at_ms) = line {
            asked = asked.or(Some(at_ms));
        }
        step = answer.add(line);
    }
    let extent = match step {
        Step::Known => Extent::Enough,
        Step::Further => lines.extent(),
    };
    Ok(Tail {
        last: answer.finish(),
        asked,
        extent,
        unreadable,
    })
}

fn read_line(bytes: &[u8], form: Form) -> Line {
    // After a crash of the machine a file may have a run of zeros.
    let bytes = trim(bytes, |byte| byte == 0 || byte.is_ascii_whitespace());
    if bytes.is_empty() {
        return Line::Other;
    }
    let text = String::from_utf8_lossy(bytes);
    let line = match form {
        Form::ClaudeCode => claude_code::read(&text),
        Form::Copilot => copilot::read(&text),
    };
    line.unwrap_or(Line::Unreadable)
}

fn trim(mut bytes: &[u8], is_margin: impl Fn(u8) -> bool) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_margin(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_margin(*last)
    {
        bytes = rest;
    }
    bytes
}
