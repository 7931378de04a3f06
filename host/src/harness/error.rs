//! Why a client's question could not be judged.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

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
    /// The session is known, and its loop can't be read.
    #[error("the loop of this session can't be read: {reason}")]
    StateLost {
        /// What is wrong.
        reason: String,
    },
    /// The state directory can't be written.
    #[error("the state directory can't be written: {error}")]
    State {
        /// What the system says.
        error: io::Error,
    },
    /// A configuration can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The loop can't be judged.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl HarnessError {
    pub(super) fn state_lost(reason: &str) -> Self {
        let reason = reason.to_owned();
        Self::StateLost { reason }
    }

    /// The error's name for machines, in `snake_case`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EventTooLong { .. } => "event_too_long",
            Self::EventNotJson { .. } => "event_not_json",
            Self::UnknownClient => "unknown_client",
            Self::FieldMissing { .. } => "event_incomplete",
            Self::ForeignConfig { .. } => "foreign_config",
            Self::LoopRuns { .. } => "loop_runs",
            Self::LoopFile { .. } => "loop_file",
            Self::StateLost { .. } => "state_lost",
            Self::State { .. } => "state",
            Self::Config(error) => error.code(),
            Self::Run(_) => "loop",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &str {
        match self {
            Self::EventTooLong { .. }
            | Self::EventNotJson { .. }
            | Self::UnknownClient
            | Self::FieldMissing { .. } => {
                "hooks are called by their client; `ralph-gate hook --help` shows how"
            }
            Self::ForeignConfig { .. } => "see who put it there, or make it yours",
            Self::LoopRuns { .. } => "end it with `ralph-gate loop cancel`",
            Self::LoopFile { .. } => {
                "mend it, or end the loop with `ralph-gate loop cancel`, which keeps the file"
            }
            Self::StateLost { .. } => {
                "see `ralph-gate memory verify`, or end the loop with `ralph-gate loop cancel`"
            }
            Self::State { .. } => "see that this user may write it",
            Self::Config(error) => error.help().unwrap_or("mend the configuration"),
            Self::Run(error) => error.help().unwrap_or("see `ralph-gate memory verify`"),
        }
    }
}
