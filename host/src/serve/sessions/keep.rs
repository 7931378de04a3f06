//! Where sessions are kept: in a folder of this machine, or in a bucket that several machines use.

use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "bucket")]
use ralph_gate_bucket::BucketRoot;

use crate::engine::GateEngine;
use crate::memory::{
    FileStore, Listed, LoopMemoryStore, MemoryError, Patience, SessionKey, Start, State, View, list,
};

/// How long to wait for somebody else who writes to the same session.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(20);
const PATIENCE: Patience = Patience::Until(LONGEST_WAIT);

/// Where sessions are kept.
#[derive(Debug)]
pub(super) enum Keep {
    /// In a folder. Whoever writes locks the session as long as that takes.
    Files(PathBuf),
    /// In a bucket. Of two who write at the same time, one is told so.
    #[cfg(feature = "bucket")]
    Bucket(BucketRoot),
}

impl Keep {
    /// Begins a session that is not there.
    pub(super) fn create(
        &self,
        gate: &GateEngine,
        key: &SessionKey,
        start: &Start,
    ) -> Result<State, MemoryError> {
        match self {
            Self::Files(root) => Ok(FileStore::create(gate, root, key, start, PATIENCE)?.state()),
            #[cfg(feature = "bucket")]
            Self::Bucket(root) => Ok(root.create(gate, key, start)?.state()),
        }
    }

    /// Opens a session to write to it.
    pub(super) fn open<'g>(
        &self,
        gate: &'g GateEngine,
        key: &SessionKey,
    ) -> Result<Box<dyn LoopMemoryStore + 'g>, MemoryError> {
        match self {
            Self::Files(root) => Ok(Box::new(FileStore::open(gate, root, key, PATIENCE)?)),
            #[cfg(feature = "bucket")]
            Self::Bucket(root) => Ok(Box::new(root.open(gate, key)?)),
        }
    }

    /// The sessions, at most so many.
    pub(super) fn list(&self, most: usize) -> Result<Vec<Listed>, MemoryError> {
        match self {
            Self::Files(root) => {
                let mut listed = list(root)?;
                listed.truncate(most);
                Ok(listed)
            }
            #[cfg(feature = "bucket")]
            Self::Bucket(root) => root.list(None, most),
        }
    }

    /// Opens a session to remove it. None where that is left to the tools of the storage.
    #[cfg_attr(
        not(feature = "bucket"),
        allow(clippy::unnecessary_wraps, reason = "a bucket gives none")
    )]
    pub(super) fn open_to_remove<'g>(
        &self,
        gate: &'g GateEngine,
        key: &SessionKey,
    ) -> Option<Result<FileStore<'g>, MemoryError>> {
        match self {
            Self::Files(root) => Some(FileStore::open(gate, root, key, PATIENCE)),
            #[cfg(feature = "bucket")]
            Self::Bucket(_) => None,
        }
    }

    /// Removes a session that can't be opened because nothing in it can be read. Only in a folder: see above.
    pub(super) fn remove_unreadable(&self, key: &SessionKey) -> Result<(), MemoryError> {
        match self {
            Self::Files(root) => FileStore::remove_unreadable(root, key, PATIENCE),
            #[cfg(feature = "bucket")]
            Self::Bucket(_) => Ok(()),
        }
    }

    /// What a session holds.
    pub(super) fn state(&self, key: &SessionKey) -> Result<State, MemoryError> {
        match self {
            Self::Files(root) => View::open(root, key)?.state(),
            #[cfg(feature = "bucket")]
            Self::Bucket(root) => root.view(key)?.state(),
        }
    }

    /// What happened in a session, as its file has it.
    pub(super) fn log(&self, key: &SessionKey) -> Result<(State, Vec<u8>), MemoryError> {
        match self {
            Self::Files(root) => View::open(root, key)?.log(),
            #[cfg(feature = "bucket")]
            Self::Bucket(root) => root.view(key)?.log(),
        }
    }
}
