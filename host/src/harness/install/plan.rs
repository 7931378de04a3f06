//! What will be changed, seen before it is.

use std::path::{Path, PathBuf};

use super::diff;
use super::error::InstallError;
use super::file::{Place, Seen};
use crate::memory::foreign;

/// What installing or uninstalling will do. Nothing is changed until it is applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The files that will change; none if there is nothing to do.
    pub changes: Vec<FileChange>,
    /// What the person should know.
    pub notes: Vec<String>,
}

/// One file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, as the client finds it.
    pub path: PathBuf,
    /// What it holds; none if it is not there.
    pub before: Option<Vec<u8>>,
    /// What it will hold; none if it will be removed.
    pub after: Option<Vec<u8>>,
    place: Place,
    target: PathBuf,
    /// Folders that go with the file if they are empty then, the outermost first.
    emptied: Vec<PathBuf>,
}

impl FileChange {
    pub(super) fn new(place: Place, seen: Seen, after: Option<Vec<u8>>) -> Self {
        Self {
            path: place.path(),
            before: seen.content,
            after,
            target: seen.target,
            place,
            emptied: Vec::new(),
        }
    }

    /// Lets folders go with the file.
    pub(super) fn with_emptied(mut self, folders: Vec<PathBuf>) -> Self {
        self.emptied = folders;
        self
    }

    /// What is there now, if that is what the plan was made for.
    fn unchanged(&self) -> Result<Seen, InstallError> {
        let seen = self.place.look()?;
        if seen.content != self.before || seen.target != self.target {
            return Err(InstallError::Changed {
                path: self.path.clone(),
            });
        }
        seen.check_writable()?;
        Ok(seen)
    }

    fn write(&self, seen: &Seen) -> Result<(), InstallError> {
        match &self.after {
            Some(content) => seen.write(content),
            None => {
                seen.remove()?;
                foreign::remove_empty(&self.emptied);
                Ok(())
            }
        }
    }
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes as a unified diff. Texts of files are shown as they are: clean them for a terminal.
    pub fn diff(&self) -> String {
        let diffs = self.changes.iter().map(|change| {
            let name = change.path.display().to_string();
            diff::unified(&name, change.before.as_deref(), change.after.as_deref())
        });
        diffs.collect()
    }

    /// Makes the changes. Nothing is written if any file is not as it was when the plan was made.
    pub fn apply(&self) -> Result<(), InstallError> {
        let seen = self.changes.iter().map(FileChange::unchanged);
        let seen = seen.collect::<Result<Vec<Seen>, InstallError>>()?;
        for (change, seen) in self.changes.iter().zip(&seen) {
            change.write(seen)?;
        }
        Ok(())
    }

    pub(super) fn note(&mut self, path: &Path, text: &str) {
        self.notes.push(format!("{}: {text}", path.display()));
    }
}
