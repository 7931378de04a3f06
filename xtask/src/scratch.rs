//! Scratch folders outside the checkout. They vanish when done, and those that an interrupted run
//! left behind vanish with the next run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

const PREFIX: &str = "ralph-gate-xtask-";
const LOCK: &str = "in-use";
/// A folder younger than this may belong to a run that has not locked it yet.
const GRACE: Duration = Duration::from_mins(10);

/// A folder that exists as long as this value does.
pub(crate) struct Scratch {
    folder: TempDir,
    // Held until the end: the system releases it when the process dies, however it dies.
    _lock: File,
}

impl Scratch {
    /// A new folder. The label is part of its name.
    pub(crate) fn new(label: &str) -> Result<Self> {
        let parent = std::env::temp_dir();
        remove_abandoned(&parent);
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{label}-"))
            .tempdir_in(&parent)
            .with_context(|| format!("no scratch folder can be made in {}", parent.display()))?;
        let lock = File::create(folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// A path inside it.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }
}

/// Removes what interrupted runs left. What can't be removed is somebody else's, and stays.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if ours && folder && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let old = fs::metadata(folder)
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|time| time.elapsed().is_ok_and(|age| age > GRACE));
    // Opened for writing because some file systems lock no other way; nothing is written.
    let lock = File::options().append(true).open(folder.join(LOCK));
    old && lock.is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn age(folder: &Path) {
        let long_ago = SystemTime::now() - GRACE - Duration::from_secs(5);
        File::open(folder).unwrap().set_modified(long_ago).unwrap();
    }

    #[test]
    fn a_folder_is_removed_when_its_owner_is_gone_and_kept_while_it_lives() {
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join(format!("{PREFIX}left"));
        let used = parent.path().join(format!("{PREFIX}used"));
        let young = parent.path().join(format!("{PREFIX}young"));
        let foreign = parent.path().join("foreign");
        for folder in [&left, &used, &young, &foreign] {
            fs::create_dir(folder).unwrap();
            File::create(folder.join(LOCK)).unwrap();
        }
        let owner = File::options().append(true).open(used.join(LOCK)).unwrap();
        owner.lock().unwrap();
        for folder in [&left, &used, &foreign] {
            age(folder);
        }
        remove_abandoned(parent.path());
        assert!(!left.exists());
        assert!(used.exists() && young.exists() && foreign.exists());
    }

    #[test]
    fn a_scratch_folder_ends_with_its_value() {
        let scratch = Scratch::new("test").unwrap();
        let inside = scratch.path("repo");
        fs::create_dir(&inside).unwrap();
        drop(scratch);
        assert!(!inside.exists());
    }
}
