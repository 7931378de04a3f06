//! A session that was carried here as one file.

use std::path::{Path, PathBuf};

use super::disk::SessionFolder;
use super::{Exported, MemoryError, SessionKey};

/// A session that was imported.
#[derive(Debug)]
pub struct Imported {
    /// Whose it is.
    pub key: SessionKey,
    /// Its newest revision.
    pub revision: u64,
    /// Where it is now.
    pub path: PathBuf,
}

/// Writes an exported session into a root. Nothing is there unless all of it is.
pub fn import(root: &Path, file: &str, text: &str) -> Result<Imported, MemoryError> {
    let exported = Exported::read(file, text)?;
    let name = exported.key.checked_folder()?;
    let path = root.join(&name);
    let exists = || MemoryError::SessionExists {
        session: path.display().to_string(),
    };
    if SessionFolder::exists(root, &name)? {
        return Err(exists());
    }
    let folder = SessionFolder::make(root, &format!(".import-{}-{name}", std::process::id()))?;
    exported.write(&folder)?;
    if !folder.settle_as(&name)? {
        return Err(exists());
    }
    Ok(Imported {
        key: exported.key,
        revision: exported.revision,
        path,
    })
}
