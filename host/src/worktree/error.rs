//! What can go wrong when the work is looked at: the thing, the place, the limit.

use std::io;
use std::path::Path;

use thiserror::Error;

use super::name::{shown, shown_path};
use super::walk::Kind;

/// The work can't be looked at.
#[derive(Debug, Error)]
pub enum WorktreeError {
    /// The system reported an error.
    #[error("{place} can't be read: {error}")]
    Io {
        /// Which file or folder.
        place: String,
        /// What the system said. Part of the message, and so no source.
        error: io::Error,
    },
    /// git reported an error.
    #[error("git could not {task} in {place}: {reason}")]
    Git {
        /// What it was asked to do.
        task: &'static str,
        /// In which repository.
        place: String,
        /// What it said.
        reason: String,
    },
    /// A repository that has no work tree.
    #[error("{place} is a bare repository, which has no work to look at")]
    Bare {
        /// The repository.
        place: String,
    },
    /// The repository says that its files are elsewhere, or is one of other files.
    #[error("the repository of {place} belongs to other files, those in {other}")]
    OtherFiles {
        /// Where the files were expected.
        place: String,
        /// Where the repository says that they are.
        other: String,
    },
    /// Something that git would open, and that would lead elsewhere or might never end.
    #[error("{place} is {what}, and git expects a plain file or folder there")]
    Treacherous {
        /// The path.
        place: String,
        /// What is there.
        what: Kind,
    },
    /// A file that is too large to be looked at.
    #[error("{place} has {size} bytes, and the limit is {limit}")]
    TooLarge {
        /// The file.
        place: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Too many files.
    #[error("{place} has more than {limit} entries")]
    TooMany {
        /// Where.
        place: String,
        /// The limit.
        limit: usize,
    },
    /// Folders too deep inside each other.
    #[error("{place} is more than {limit} folders deep")]
    TooDeep {
        /// Where.
        place: String,
        /// The limit.
        limit: usize,
    },
    /// git did not answer.
    #[error("git did not answer about {place} within {seconds} s")]
    TimedOut {
        /// The repository.
        place: String,
        /// The limit in seconds.
        seconds: u64,
    },
    /// git stopped in the middle of an answer.
    #[error("git stopped in the middle of an answer about {place}")]
    Stopped {
        /// The repository.
        place: String,
    },
    /// There is no such commit.
    #[error("there is no commit {commit} in {place}")]
    NoCommit {
        /// What was asked for.
        commit: String,
        /// The repository.
        place: String,
    },
    /// A pattern that can't be understood.
    #[error("the pattern `{pattern}` can't be used: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An excluded folder must be one inside of the workspace.
    #[error("the excluded folder `{folder}` is not the path of a folder inside of the workspace")]
    ExcludedFolder {
        /// The folder.
        folder: String,
    },
}

impl WorktreeError {
    pub(super) fn io(place: &Path, error: impl Into<io::Error>) -> Self {
        Self::Io {
            place: shown_path(place),
            error: error.into(),
        }
    }

    /// What git says may quote names that the agent chose.
    pub(super) fn git(task: &'static str, place: &Path, error: &git2::Error) -> Self {
        Self::Git {
            task,
            place: shown_path(place),
            reason: shown(error.message().as_bytes()),
        }
    }
}
