//! Why a client's question could not be judged.

use std::path::PathBuf;

use thiserror::Error;

use super::transcript::TranscriptError;
use crate::config::ConfigError;
use crate::runner::RunError;

/// A question that could not be judged. None of these says that the work is done.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// The event is too long.
    #[error("the event has {bytes} bytes; at most {limit} are read")]
    EventTooLong {
        /// Its length.
        bytes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// The event is no JSON object.
    #[error("the event is not a JSON object: {reason}")]
    EventNotJson {
        /// What is wrong.
        reason: String,
    },
    /// The event is of no client that is known.
    #[error("the event is of no client that is known")]
    UnknownClient,
    /// Something that is needed is not in the event, or is no text.
    #[error("the event has no text `{name}`")]
    FieldMissing {
        /// Its name.
        name: &'static str,
    },
    /// A configuration that somebody else could have put there.
    #[error("{} belongs to another user", file.display())]
    ForeignConfig {
        /// The file.
        file: PathBuf,
    },
    /// What the agent said can't be read.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// There is a loop already.
    #[error("{} is there already: a loop is under way", path.display())]
    LoopRuns {
        /// Its loop file.
        path: PathBuf,
    },
    /// A loop file can't be used.
    #[error("{}: {reason}", path.display())]
    LoopFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A configuration can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The loop can't be judged.
    #[error(transparent)]
    Run(#[from] RunError),
}
