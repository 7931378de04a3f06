//! An empty directory that only this user can write to, for as long as a program runs.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried: somebody else may have taken some.
const MAX_ATTEMPTS: usize = 1_000;

/// Is removed with all that is in it when it is dropped.
pub(super) struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    /// Makes one. What is there already is never used.
    pub(super) fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let process = std::process::id();
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..MAX_ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("ralph-gate-{process}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What is left there is in the directory for such files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn it_is_new_private_and_gone_afterwards() {
        let (one, other) = (
            PrivateDirectory::new().unwrap(),
            PrivateDirectory::new().unwrap(),
        );
        assert_ne!(one.path(), other.path());
        let mode = fs::metadata(one.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::write(one.path().join("file"), "x").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
    }
}
