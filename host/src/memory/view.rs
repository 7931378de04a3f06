//! Sessions of a root, as a reader sees them: never waits for a lock, never changes a file.

use std::ops::Deref;
use std::path::Path;

use super::disk::{Disk, Missing, SessionFolder, folders};
use super::{Listed, MemoryError, SessionKey};

/// A session that is open for reading.
#[derive(Debug)]
pub struct View<D>(ralph_gate_memory::View<D>);

impl View<SessionFolder> {
    /// Opens a session of a root for reading.
    pub fn open(root: &Path, key: &SessionKey) -> Result<Self, MemoryError> {
        let name = key.checked_folder()?;
        match SessionFolder::open(root, &name, Missing::Report)? {
            Some(folder) => Ok(Self::new(folder, Some(key.clone()))),
            None => Err(MemoryError::NoSession {
                session: root.join(name).display().to_string(),
            }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.disk().path()
    }
}

impl<D: Disk> View<D> {
    /// A session on any disk. Without a key, whoever's it is.
    pub fn new(disk: D, key: Option<SessionKey>) -> Self {
        Self(ralph_gate_memory::View::new(disk, key))
    }
}

impl<D> Deref for View<D> {
    type Target = ralph_gate_memory::View<D>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The sessions of a root, by folder.
pub fn list(root: &Path) -> Result<Vec<Listed>, MemoryError> {
    let mut sessions = Vec::new();
    for folder in folders(root)? {
        sessions.extend(look(root, folder));
    }
    Ok(sessions)
}

fn look(root: &Path, folder: String) -> Option<Listed> {
    match SessionFolder::open(root, &folder, Missing::Report) {
        Ok(None) => None,
        Ok(Some(disk)) => View::new(disk, None).listed(folder),
        Err(error) => Some(Listed::unreadable(folder, &error.into())),
    }
}
