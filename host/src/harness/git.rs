//! Where a git repository begins, and where the work tree is that another one belongs to.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::plain_file;

/// More than such a file ever has: one path.
const LIMIT: u64 = 8 * 1024;

/// What a folder is to git.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// Nothing in particular.
    None,
    /// The top of a repository.
    Repository,
    /// The top of a further work tree.
    WorkTree {
        /// The top of the repository's first one.
        main: PathBuf,
    },
    /// The top of a repository that is a part of the one above.
    Submodule,
}

/// Looks at a folder's `.git`. The folder's path has no links in it.
pub(super) fn top(folder: &Path) -> Top {
    let git = folder.join(".git");
    match git.symlink_metadata() {
        Err(_) => Top::None,
        Ok(metadata) if metadata.is_file() => elsewhere(folder, &git).unwrap_or(Top::Repository),
        Ok(_) => Top::Repository,
    }
}

/// A `.git` that is a file says where git's own folder is.
fn elsewhere(folder: &Path, git: &Path) -> Option<Top> {
    let own = path_in(git, b"gitdir:")?;
    let own = folder.join(own).canonicalize().ok()?;
    let parent = own.parent()?;
    if parent.file_name() == Some(OsStr::new("worktrees")) {
        let common = parent.parent()?;
        let is_main = common.file_name() == Some(OsStr::new(".git"));
        let main = common.parent().filter(|_| is_main && leads_back(&own, git));
        return main.map(|main| Top::WorkTree { main: main.into() });
    }
    let modules = own
        .ancestors()
        .find(|path| path.ends_with(".git/modules"))?;
    let above = modules.parent()?.parent()?;
    let is_below = folder != above && folder.starts_with(above);
    is_below.then_some(Top::Submodule)
}

/// Whether git knows this work tree, too: anybody can write a `.git` that points to another repository.
fn leads_back(own: &Path, git: &Path) -> bool {
    let back = path_in(&own.join("gitdir"), b"");
    let back = back.and_then(|back| own.join(back).canonicalize().ok());
    back.is_some() && back == git.canonicalize().ok()
}

/// The path that is all of a file's content, but for a prefix.
fn path_in(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let bytes = plain_file::read(file, LIMIT).ok()?;
    let path = bytes.strip_prefix(prefix)?.trim_ascii();
    (!path.is_empty()).then(|| OsStr::from_bytes(path).into())
}
