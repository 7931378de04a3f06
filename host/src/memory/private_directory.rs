//! An empty directory that only this user can write to, for as long as a program runs.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried: somebody else may have taken some.
const MAX_ATTEMPTS: usize = 1_000;

/// Is removed with all that is in it when it is dropped.
#[derive(Debug)]
pub(crate) struct PrivateDirectory(PathBuf);

/// What is written into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A file.
    File {
        /// What is in it.
        bytes: Vec<u8>,
        /// Whether it can be executed.
        is_executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        target: PathBuf,
    },
}

impl PrivateDirectory {
    /// Makes one. What is there already is never used.
    pub(crate) fn new() -> io::Result<Self> {
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

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes something below it. A path that would lead out of it is left out.
    pub(crate) fn write(&self, path: &Path, content: &Content) -> io::Result<()> {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !path.components().all(is_plain) {
            return Ok(());
        }
        let path = self.0.join(path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        match content {
            Content::File {
                bytes,
                is_executable,
            } => {
                fs::write(&path, bytes)?;
                let mode = if *is_executable { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode))
            }
            Content::Link { target } => symlink(target, &path),
        }
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

    #[test]
    fn nothing_is_written_outside_of_it() {
        let directory = PrivateDirectory::new().unwrap();
        let file = Content::File {
            bytes: b"x".to_vec(),
            is_executable: true,
        };
        directory.write(Path::new("a/b"), &file).unwrap();
        assert_eq!(fs::read(directory.path().join("a/b")).unwrap(), b"x");
        let outside = format!("../{}-outside", std::process::id());
        for path in [outside.as_str(), "a/../../b", "/ralph-gate-outside"] {
            directory.write(Path::new(path), &file).unwrap();
        }
        assert!(!directory.path().join(outside).exists());
        assert!(!Path::new("/ralph-gate-outside").exists());
    }
}
