//! Why there is no report.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why logs could not be found or read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such file or folder, and no file fits the pattern.
    #[error("no log is at {}; name a log, a folder that holds sessions, or a pattern such as `runs/**/events.jsonl`", place.display())]
    NotFound {
        /// What was asked for.
        place: PathBuf,
    },
    /// It is no pattern.
    #[error("{pattern} is no pattern: {reason}")]
    Pattern {
        /// What was asked for.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// A file or folder can't be read.
    #[error("{} can't be read: {reason}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

impl ReportError {
    pub(super) fn unreadable(path: &Path, error: &impl fmt::Display) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }
}
