//! The store that keeps a session in a folder, and the one that keeps it in memory.

use std::path::Path;

use super::change::Start;
use super::disk::{Missing, Ram, SessionFolder};
use super::error::MemoryError;
use super::key::SessionKey;
use super::lock::{self, Patience};
use super::store::Store;
use crate::engine::GateEngine;

/// Where a workspace keeps its sessions unless it says otherwise.
pub const DEFAULT_ROOT: &str = ".ralph";

/// A session in a folder, open for writing by this process alone.
///
/// ```
/// use ralph_gate::engine::GateEngine;
/// use ralph_gate::memory::{Change, FileStore, Patience, SessionKey, Snapshot, Start};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let workspace = folder.path();
/// let gate = GateEngine::new()?;
/// let root = workspace.join(".ralph");
/// let key = SessionKey::Session("night run".into());
/// let start = Start { contract: r#"{"mode": "ralph", "completion_checks": ["tests"]}"#.into(), ..Start::default() };
/// let mut store = FileStore::open_or_create(&gate, &root, &key, &start, Patience::None)?;
/// let saved = store.save(&Change::default())?;
/// assert_eq!(saved.revision, 2);
/// drop(store);
///
/// // Another process, another day.
/// let store = FileStore::open(&gate, &root, &key, Patience::None)?;
/// assert_eq!(store.state().revision, 2);
/// # Ok(())
/// # }
/// ```
pub type FileStore<'g> = Store<'g, SessionFolder>;

/// A session in memory: for tests, and where there is no disk. Ends with the process.
pub type InMemoryStore<'g> = Store<'g, Ram>;

impl<'g> FileStore<'g> {
    /// Opens a session that is there.
    pub fn open(
        gate: &'g GateEngine,
        root: &Path,
        key: &SessionKey,
        patience: Patience,
    ) -> Result<Self, MemoryError> {
        let name = folder_name(key)?;
        let no_session = || MemoryError::NoSession {
            session: root.join(&name).display().to_string(),
        };
        let folder = SessionFolder::open(root, &name, Missing::Report)?;
        let folder = locked(folder.ok_or_else(no_session)?, patience)?;
        Self::recover(folder, gate, key)?.map_err(|_| no_session())
    }

    /// Opens a session, or begins it.
    pub fn open_or_create(
        gate: &'g GateEngine,
        root: &Path,
        key: &SessionKey,
        start: &Start,
        patience: Patience,
    ) -> Result<Self, MemoryError> {
        let folder = SessionFolder::make(root, &folder_name(key)?)?;
        match Self::recover(locked(folder, patience)?, gate, key)? {
            Ok(store) => Ok(store),
            Err(folder) => {
                folder.sync_root()?;
                Self::begin(folder, gate, key, start)
            }
        }
    }

    /// Where the session is.
    pub fn path(&self) -> &Path {
        self.disk.path()
    }
}

impl<'g> InMemoryStore<'g> {
    /// Begins a session.
    pub fn new(gate: &'g GateEngine, key: &SessionKey, start: &Start) -> Result<Self, MemoryError> {
        Self::begin(Ram::default(), gate, key, start)
    }
}

fn locked(mut folder: SessionFolder, patience: Patience) -> Result<SessionFolder, MemoryError> {
    lock::take(&mut folder, patience)?;
    Ok(folder)
}

/// The folder of a key that may be used.
pub(super) fn folder_name(key: &SessionKey) -> Result<String, MemoryError> {
    if key.text().is_empty() {
        return Err(MemoryError::EmptyKey);
    }
    Ok(key.folder())
}
