//! A log of what hooks were asked and answered: a client shows nothing of what goes wrong in its hooks.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::memory::foreign;

/// A longer log is put aside, and the one that was put aside before is dropped.
const LONGEST: u64 = 1 << 20;

/// One question.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Entry<'e> {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// How long the answer took.
    pub duration_ms: u64,
    /// The client, if it is known.
    pub harness: Option<&'e str>,
    /// The session, as the client names it.
    pub session: Option<&'e str>,
    /// What happened, as the client names it.
    pub moment: Option<String>,
    /// What was answered: `allow`, `block`, `remind`, `error`.
    pub answer: &'e str,
    /// What went wrong, or what the person was told.
    pub note: Option<&'e str>,
}

/// Adds an entry.
pub fn add(path: &Path, entry: &Entry<'_>) -> io::Result<()> {
    let mut line = serde_json::to_string(entry)?;
    line.push('\n');
    foreign::append(path, &line, LONGEST)
}
