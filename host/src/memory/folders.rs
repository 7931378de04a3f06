//! Whole folders that are made, copied and moved aside for an experiment, and held by one process. Nothing is deleted.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::Path;

use super::MemoryError;
use super::disk::{Action, DiskError};

/// What a part of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// A folder.
    Folder,
    /// A plain file.
    File,
    /// A symbolic link, wherever it leads.
    Link,
}

/// Makes a folder and those above it, where they are not there yet.
pub fn make_folder(path: &Path) -> Result<(), MemoryError> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(path);
    made.map_err(|error| failed(Action::Write, path, error))
}

/// Copies a part of a folder to a place where nothing is yet. Folders above it must be there.
pub fn copy_piece(from: &Path, to: &Path, piece: Piece) -> Result<(), MemoryError> {
    let copied = match piece {
        Piece::Folder => fs::create_dir(to),
        Piece::File => fs::copy(from, to).map(|_| ()),
        Piece::Link => fs::read_link(from).and_then(|target| symlink(target, to)),
    };
    copied.map_err(|error| failed(Action::Write, to, error))
}

/// Moves a folder to a place where nothing is yet, in one step. Folders above it are made.
pub fn move_folder(from: &Path, to: &Path) -> Result<(), MemoryError> {
    if let Some(parent) = to.parent() {
        make_folder(parent)?;
    }
    fs::rename(from, to).map_err(|error| failed(Action::Rename, from, error))
}

/// A folder that belongs to this process as long as this lives.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

/// Takes a folder for this process. None if another one has it.
pub fn lock_folder(folder: &Path) -> Result<Option<FolderLock>, MemoryError> {
    let path = folder.join("lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let file = file.map_err(|error| failed(Action::Lock, &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(FolderLock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(Action::Lock, &path, error)),
    }
}

fn failed(action: Action, path: &Path, error: io::Error) -> MemoryError {
    DiskError::io(action, path.display(), error).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_belongs_to_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock_folder(folder.path()).unwrap();
        assert!(first.is_some());
        assert!(lock_folder(folder.path()).unwrap().is_none());
        drop(first);
        assert!(lock_folder(folder.path()).unwrap().is_some());
    }

    #[test]
    fn what_is_moved_is_whole_and_goes_nowhere_where_something_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        make_folder(&path("a/b")).unwrap();
        fs::write(path("a/b/file"), "text").unwrap();
        move_folder(&path("a"), &path("x/y/1")).unwrap();
        assert_eq!(fs::read_to_string(path("x/y/1/b/file")).unwrap(), "text");
        assert!(!path("a").exists());
        make_folder(&path("c")).unwrap();
        move_folder(&path("c"), &path("x/y/1")).unwrap_err();
    }
}
