//! What can go wrong with a memory: the thing, the place, the remedy.

use std::io;

use ralph_gate_types::CallError;
use thiserror::Error;

use super::disk::{DiskError, Place, Refusal};
use super::events::Break;
use super::holder::Holder;

/// A memory that can't be opened, read or written.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// Somebody else writes to this session.
    #[error("{session} is being written by {holder}")]
    Busy {
        /// The session's folder.
        session: String,
        /// Who.
        holder: Holder,
    },
    /// Somebody else saved first. Nothing of this save is there.
    #[error("{session} was saved by somebody else since it was opened")]
    Conflict {
        /// Where the session is.
        session: String,
    },
    /// The disk said no.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// There is no such session.
    #[error("there is no session {session}")]
    NoSession {
        /// The session's folder.
        session: String,
    },
    /// There is such a session already.
    #[error("there is a session {session} already")]
    SessionExists {
        /// The session's folder.
        session: String,
    },
    /// There is state, but no checkpoint that can be trusted.
    #[error("{session} has no checkpoint that can be read{}", reasons(.damage))]
    Unreadable {
        /// The session's folder.
        session: String,
        /// What is wrong with each checkpoint.
        damage: Vec<String>,
    },
    /// The state was written by a later version of this program.
    #[error("{file} has version {found} and this program knows versions up to {known}")]
    Newer {
        /// The file.
        file: String,
        /// Its version.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// The folder belongs to another key.
    #[error("{session} belongs to another session key")]
    OtherKey {
        /// The session's folder.
        session: String,
    },
    /// A key must have at least one character.
    #[error("the session key is empty")]
    EmptyKey,
    /// Iterations only ever go up.
    #[error("iteration {given} comes after iteration {saved}, which is saved already")]
    WentBack {
        /// The one to save.
        given: u32,
        /// The newest one saved.
        saved: u32,
    },
    /// An earlier save failed, so that this store no longer knows what the disk holds.
    #[error("an earlier save failed, and what the disk holds is not known")]
    Unsound,
    /// The gate could not read or write a format.
    #[error("{file}: {error}")]
    Gate {
        /// The file.
        file: String,
        /// What the gate said.
        error: CallError,
    },
    /// A log that only this program writes was changed by somebody else.
    #[error("{file} was changed by somebody else: {broken}")]
    LogChanged {
        /// The file.
        file: String,
        /// Where.
        broken: Break,
    },
    /// A file to import is not an export, or was changed.
    #[error("{file} can't be imported: {reason}")]
    BadExport {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A record could not be written as JSON.
    #[error("a record can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

fn reasons(damage: &[String]) -> String {
    if damage.is_empty() {
        String::new()
    } else {
        format!(": {}", damage.join("; "))
    }
}

impl MemoryError {
    pub(super) fn gate(file: &Place, error: CallError) -> Self {
        Self::Gate {
            file: file.to_string(),
            error,
        }
    }

    /// The error's name for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "memory_busy",
            Self::Conflict { .. } => "memory_conflict",
            Self::Disk(DiskError::Io { .. }) => "memory_disk",
            Self::Disk(DiskError::Refused { .. }) => "memory_refused",
            Self::NoSession { .. } => "memory_no_session",
            Self::SessionExists { .. } => "memory_session_exists",
            Self::Unreadable { .. } => "memory_unreadable",
            Self::Newer { .. } => "memory_newer",
            Self::OtherKey { .. } => "memory_other_key",
            Self::EmptyKey => "memory_empty_key",
            Self::WentBack { .. } => "memory_went_back",
            Self::Unsound => "memory_unsound",
            Self::Gate { .. } => "memory_gate",
            Self::LogChanged { .. } => "memory_log_changed",
            Self::BadExport { .. } => "memory_bad_export",
            Self::Json(_) => "memory_json",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "wait for it to end, or end it; its lock ends with it",
            Self::Disk(error) => disk_help(error),
            Self::NoSession { .. } => {
                "check the key and the folder; `ralph-gate memory list` shows what is there"
            }
            Self::SessionExists { .. } => "import into another folder, or move this one away",
            Self::Unreadable { .. } => {
                "nothing was deleted: import an export, or move the folder away to begin anew"
            }
            Self::Newer { .. } => "use the newer ralph-gate that wrote it",
            Self::OtherKey { .. } => "move the folder away; it was not made for this key",
            Self::EmptyKey => "give the session a key",
            Self::Conflict { .. } | Self::WentBack { .. } => {
                "open the session again and go on from what it holds"
            }
            Self::Unsound => "open the session again; it recovers what is there",
            Self::Gate { .. } => "correct the file; nothing was changed",
            Self::LogChanged { .. } => {
                "begin another loop, or take what is there now as right with `--resume --accept-contract`"
            }
            Self::BadExport { .. } => "export it again; nothing was changed",
            Self::Json(_) => "this is a defect of ralph-gate, please report it",
        }
    }
}

fn disk_help(error: &DiskError) -> &'static str {
    match error {
        DiskError::Refused {
            what: Refusal::Swapped,
            ..
        } => "keep others away from the folder, and open it again",
        DiskError::Refused { .. } => {
            "move it away; a session's files are never reached through links"
        }
        DiskError::Io { error, .. } => match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space; nothing that was saved is lost"
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                "make the folder writable, or choose another one with --root"
            }
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::TimedOut => {
                "check the way to the storage; nothing that was saved is lost"
            }
            _ => "check the disk, or the bucket; nothing that was saved is lost",
        },
    }
}
