//! A task's folder: what is in it, and fresh copies of it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::error::ExperimentError;
use crate::memory::{Piece, copy_piece, make_folder};
use crate::worktree::{ENTRY_LIMIT, begin_repository};

/// How much of a file is read at a time.
const CHUNK: usize = 64 << 10;

/// All of a task's folder but the memory of loops that somebody ran there.
#[derive(Debug, Clone)]
pub(super) struct Template {
    folder: PathBuf,
    pieces: Vec<(PathBuf, Piece)>,
}

impl Template {
    /// Looks at a folder. `memory` is where loops in it are remembered.
    pub(super) fn look(folder: &Path, memory: &Path) -> Result<Self, ExperimentError> {
        let mut pieces = Vec::new();
        let mut ahead = vec![PathBuf::new()];
        while let Some(inside) = ahead.pop() {
            let place = folder.join(&inside);
            let entries = fs::read_dir(&place).map_err(unreadable(&place))?;
            for entry in entries {
                let entry = entry.map_err(unreadable(&place))?;
                let inside = inside.join(entry.file_name());
                if inside == memory {
                    continue;
                }
                let kind = entry.file_type().map_err(unreadable(&entry.path()))?;
                let piece = if kind.is_dir() {
                    ahead.push(inside.clone());
                    Piece::Folder
                } else if kind.is_file() {
                    Piece::File
                } else if kind.is_symlink() {
                    Piece::Link
                } else {
                    let reason = "a pipe, a socket or a device can't be copied".to_owned();
                    let path = entry.path();
                    return Err(ExperimentError::Unreadable { path, reason });
                };
                pieces.push((inside, piece));
                if pieces.len() > ENTRY_LIMIT {
                    let path = folder.to_owned();
                    let reason = format!("it has more than {ENTRY_LIMIT} entries");
                    return Err(ExperimentError::Unreadable { path, reason });
                }
            }
        }
        // Folders before what is in them, and the same order everywhere.
        pieces.sort();
        Ok(Self {
            folder: folder.to_owned(),
            pieces,
        })
    }

    /// The digest of names, contents, links and whether files can be run.
    pub(super) fn digest(&self) -> Result<String, ExperimentError> {
        let mut hasher = blake3::Hasher::new();
        for (inside, piece) in &self.pieces {
            let path = self.folder.join(inside);
            let content = match piece {
                Piece::Folder => "folder".to_owned(),
                Piece::File => digest_of_file(&path).map_err(unreadable(&path))?,
                Piece::Link => {
                    let target = fs::read_link(&path).map_err(unreadable(&path))?;
                    format!("link {}", blake3::hash(target.as_os_str().as_bytes()))
                }
            };
            // No name and no content holds a zero byte.
            for part in [inside.as_os_str().as_bytes(), content.as_bytes()] {
                hasher.update(part);
                hasher.update(&[0]);
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Makes a fresh copy, a repository of its own unless it is one already.
    pub(super) fn copy(&self, to: &Path) -> Result<(), ExperimentError> {
        make_folder(to)?;
        for (inside, piece) in &self.pieces {
            copy_piece(&self.folder.join(inside), &to.join(inside), *piece)?;
        }
        if !to.join(".git").exists() {
            begin_repository(to)?;
        }
        Ok(())
    }
}

fn digest_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let can_be_run = file.metadata()?.permissions().mode() & 0o111 != 0;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
    let kind = if can_be_run { "program" } else { "file" };
    Ok(format!("{kind} {}", hasher.finalize().to_hex()))
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> ExperimentError + '_ {
    move |error| ExperimentError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(folder: &Path) -> Template {
        Template::look(folder, Path::new(".ralph")).unwrap()
    }

    fn example() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("src/deep")).unwrap();
        fs::write(path("src/deep/a.txt"), "a").unwrap();
        fs::write(path("run.sh"), "true\n").unwrap();
        fs::set_permissions(path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("src/deep", path("link")).unwrap();
        fs::create_dir_all(path(".ralph/old")).unwrap();
        fs::write(path(".ralph/old/events.jsonl"), "{}\n").unwrap();
        folder
    }

    #[test]
    fn a_copy_has_all_but_the_memory_of_other_loops() {
        let (from, to) = (example(), tempfile::tempdir().unwrap());
        let to = to.path().join("workspace");
        template(from.path()).copy(&to).unwrap();
        assert_eq!(fs::read_to_string(to.join("src/deep/a.txt")).unwrap(), "a");
        let link = fs::read_link(to.join("link")).unwrap();
        assert_eq!(link, Path::new("src/deep"));
        let mode = fs::metadata(to.join("run.sh"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o111, 0o111);
        assert!(!to.join(".ralph").exists());
        assert!(to.join(".git").is_dir());
    }

    #[test]
    fn the_digest_changes_with_everything_that_is_copied_and_with_nothing_else() {
        let folder = example();
        let path = |name: &str| folder.path().join(name);
        let digest = || template(folder.path()).digest().unwrap();
        let first = digest();
        fs::write(path(".ralph/old/events.jsonl"), "other\n").unwrap();
        assert_eq!(digest(), first);
        let mut seen = vec![first];
        fs::write(path("src/deep/a.txt"), "b").unwrap();
        seen.push(digest());
        fs::set_permissions(path("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
        seen.push(digest());
        fs::rename(path("run.sh"), path("go.sh")).unwrap();
        seen.push(digest());
        fs::remove_file(path("link")).unwrap();
        std::os::unix::fs::symlink("src", path("link")).unwrap();
        seen.push(digest());
        fs::create_dir(path("empty")).unwrap();
        seen.push(digest());
        let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len());
    }
}
