//! The store that keeps a session in a folder.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::disk::{Action, DiskError, Missing, SessionFolder};
use super::lock::{self, Patience};
use super::{
    Change, Finding, LoopMemoryStore, MemoryError, Saved, SessionKey, Start, State, Store,
};
use crate::engine::{GateEngine, Prd, ProgressLog};

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
#[derive(Debug)]
pub struct FileStore<'g>(Store<'g, SessionFolder>);

impl<'g> FileStore<'g> {
    /// Opens a session that is there.
    pub fn open(
        gate: &'g GateEngine,
        root: &Path,
        key: &SessionKey,
        patience: Patience,
    ) -> Result<Self, MemoryError> {
        let name = key.checked_folder()?;
        let no_session = || MemoryError::NoSession {
            session: root.join(&name).display().to_string(),
        };
        let folder = SessionFolder::open(root, &name, Missing::Report)?;
        let folder = locked(folder.ok_or_else(no_session)?, patience)?;
        let store = Store::recover(folder, gate, key)?;
        store.map(Self).map_err(|_| no_session())
    }

    /// Opens a session, or begins it.
    pub fn open_or_create(
        gate: &'g GateEngine,
        root: &Path,
        key: &SessionKey,
        start: &Start,
        patience: Patience,
    ) -> Result<Self, MemoryError> {
        match Self::find(gate, root, key, patience)? {
            Ok(store) => Ok(store),
            Err(folder) => Self::begin(folder, gate, key, start),
        }
    }

    /// Begins a session that is not there.
    pub fn create(
        gate: &'g GateEngine,
        root: &Path,
        key: &SessionKey,
        start: &Start,
        patience: Patience,
    ) -> Result<Self, MemoryError> {
        match Self::find(gate, root, key, patience)? {
            Ok(store) => Err(MemoryError::SessionExists {
                session: store.path().display().to_string(),
            }),
            Err(folder) => Self::begin(folder, gate, key, start),
        }
    }

    /// A session, or the folder where it will be.
    fn find(
        gate: &'g GateEngine,
        root: &Path,
        key: &SessionKey,
        patience: Patience,
    ) -> Result<Result<Self, SessionFolder>, MemoryError> {
        let folder = SessionFolder::make(root, &key.checked_folder()?)?;
        Ok(Store::recover(locked(folder, patience)?, gate, key)?.map(Self))
    }

    fn begin(
        folder: SessionFolder,
        gate: &'g GateEngine,
        key: &SessionKey,
        start: &Start,
    ) -> Result<Self, MemoryError> {
        folder.sync_root()?;
        Store::begin(folder, gate, key, start).map(Self)
    }

    /// What the session holds.
    pub fn state(&self) -> State {
        self.0.state()
    }

    /// Saves a change. When this returns, it is on the disk.
    pub fn save(&mut self, change: &Change) -> Result<Saved, MemoryError> {
        self.0.save(change)
    }

    /// Removes the session with everything in it, while nobody else can write to it. A link in it is removed, and not what
    /// it leads to.
    pub fn remove(self) -> Result<(), MemoryError> {
        self.disk().remove_all()
    }

    /// Removes a session that can't be opened because it has no checkpoint that can be read.
    #[cfg(feature = "serve")]
    pub(crate) fn remove_unreadable(
        root: &Path,
        key: &SessionKey,
        patience: Patience,
    ) -> Result<(), MemoryError> {
        let name = key.checked_folder()?;
        match SessionFolder::open(root, &name, Missing::Report)? {
            Some(folder) => locked(folder, patience)?.remove_all(),
            None => Err(MemoryError::NoSession {
                session: root.join(&name).display().to_string(),
            }),
        }
    }

    /// Where the session is.
    pub fn path(&self) -> &Path {
        self.disk().path()
    }
}

impl<'g> Deref for FileStore<'g> {
    type Target = Store<'g, SessionFolder>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for FileStore<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl LoopMemoryStore for FileStore<'_> {
    fn state(&self) -> State {
        self.0.state()
    }

    fn findings(&self) -> &[Finding] {
        self.0.findings()
    }

    fn save(&mut self, change: &Change) -> Result<Saved, MemoryError> {
        self.0.save(change)
    }

    fn prd(&self) -> Result<Option<Prd>, MemoryError> {
        self.0.prd()
    }

    fn progress(&self) -> Result<ProgressLog, MemoryError> {
        self.0.progress()
    }
}

impl SessionFolder {
    /// Opens a session's folder, which is made if it is not there, and locks it until it is closed: for who brings a
    /// store of its own, as the memory's component is one.
    pub fn locked(root: &Path, key: &SessionKey, patience: Patience) -> Result<Self, MemoryError> {
        let folder = locked(Self::make(root, &key.checked_folder()?)?, patience)?;
        folder.sync_root()?;
        Ok(folder)
    }

    fn remove_all(&self) -> Result<(), MemoryError> {
        let failed = |error| DiskError::io(Action::Remove, self.path().display(), error).into();
        std::fs::remove_dir_all(self.path()).map_err(failed)
    }
}

fn locked(mut folder: SessionFolder, patience: Patience) -> Result<SessionFolder, MemoryError> {
    lock::take(&mut folder, patience)?;
    Ok(folder)
}
