//! Looks at what libgit2 would open by path, before it does: a pipe would stop it for ever, a link would lead it out
//! of the workspace, a huge file would fill the memory.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::fs::FileType;

use super::error::WorktreeError;
use super::limits::{CONTROL_LIMIT, FILE_LIMIT};
use super::name::{self, shown_path};
use super::plain::{self, Root, absent};
use super::walk::{Item, Kind, Step, Visitor, walk};

/// The files in any folder of the work that git reads by itself.
const STEERING: [&CStr; 3] = [c".gitignore", c".gitattributes", c".gitmodules"];

/// What libgit2 never opens in a repository's own folder, and where others keep links or sockets.
const UNTOUCHED: [&[u8]; 6] = [
    b"hooks",
    b"modules",
    b"worktrees",
    b"lfs",
    b"annex",
    b"fsmonitor--daemon.ipc",
];

/// The most object folders that a repository may borrow from.
const ALTERNATES_LIMIT: usize = 64;
/// The longest file that names other folders, in bytes.
const POINTER_LIMIT: u64 = 64 << 10;

/// Whether the one who asked has stopped waiting.
#[derive(Debug, Clone, Default)]
pub(super) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Does something in a thread of its own, and stops waiting for it after some time.
///
/// A thread that hangs stays behind: there is no way to end it, and it ends with the process.
pub(super) fn within<T: Send + 'static>(
    patience: Duration,
    place: &Path,
    work: impl FnOnce(Abandoned) -> Result<T, WorktreeError> + Send + 'static,
) -> Result<T, WorktreeError> {
    let (sender, receiver) = sync_channel(1);
    let abandoned = Abandoned::default();
    let flag = abandoned.clone();
    let spawned = thread::Builder::new()
        .name("git".to_owned())
        .spawn(move || {
            // Nobody may be waiting any more.
            let _ = sender.send(work(flag));
        });
    spawned.map_err(|error| WorktreeError::io(place, error))?;
    match receiver.recv_timeout(patience) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => {
            abandoned.0.store(true, Ordering::Release);
            Err(WorktreeError::TimedOut {
                place: shown_path(place),
                seconds: patience.as_secs(),
            })
        }
        Err(RecvTimeoutError::Disconnected) => Err(WorktreeError::Stopped {
            place: shown_path(place),
        }),
    }
}

/// Checks the repository's own folder, and those that it refers to.
pub(super) fn check_repository(root: &Path) -> Result<(), WorktreeError> {
    let own = own_folder(root)?;
    check_folder(&own)?;
    let common = match pointer(&own.join("commondir"))? {
        Some(common) => own.join(name::path(&common)),
        None => own.clone(),
    };
    if common != own {
        check_folder(&common)?;
    }
    check_alternates(common.join("objects"))
}

/// The repository's own folder: `.git`, or what the file `.git` names.
fn own_folder(root: &Path) -> Result<PathBuf, WorktreeError> {
    let link = root.join(".git");
    match kind(&link)? {
        Kind::Folder => Ok(link),
        Kind::File => {
            let text = pointer(&link)?.unwrap_or_default();
            match text.strip_prefix(b"gitdir:").map(<[u8]>::trim_ascii) {
                Some(path) if !path.is_empty() => Ok(root.join(name::path(path))),
                _ => Err(WorktreeError::Git {
                    task: "open the repository",
                    place: shown_path(root),
                    reason: "the file `.git` names no folder".to_owned(),
                }),
            }
        }
        what => Err(treacherous(&link, what)),
    }
}

fn kind(path: &Path) -> Result<Kind, WorktreeError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Ok(Kind::File),
        Ok(metadata) if metadata.is_dir() => Ok(Kind::Folder),
        Ok(metadata) if metadata.is_symlink() => Ok(Kind::Link),
        Ok(_) => Ok(Kind::Special),
        Err(error) => Err(WorktreeError::io(path, error)),
    }
}

fn treacherous(path: &Path, what: Kind) -> WorktreeError {
    WorktreeError::Treacherous {
        place: shown_path(path),
        what,
    }
}

/// The content of a file that names another folder. None if there is no such file.
fn pointer(path: &Path) -> Result<Option<Vec<u8>>, WorktreeError> {
    let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    let root = Root::open(folder)?;
    let Some((file, _)) = root.file(name::bytes(Path::new(file)))? else {
        return Ok(None);
    };
    let text = plain::read(&file, POINTER_LIMIT).map_err(|error| WorktreeError::io(path, error))?;
    Ok(Some(text.trim_ascii_end().to_vec()))
}

fn check_folder(path: &Path) -> Result<(), WorktreeError> {
    let root = Root::open(path)?;
    walk(&root, &mut RepositoryFolder { root: &root })
}

struct RepositoryFolder<'a> {
    root: &'a Root,
}

impl Visitor for RepositoryFolder<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError> {
        if UNTOUCHED.contains(&item.path) {
            return Ok(Step::Over);
        }
        let path = || self.root.path.join(name::path(item.path));
        match item.kind {
            Kind::Folder => Ok(Step::Into),
            Kind::File if !item.path.contains(&b'/') => {
                check_size(item, CONTROL_LIMIT, path).map(|()| Step::Over)
            }
            Kind::File => Ok(Step::Over),
            what => Err(treacherous(&path(), what)),
        }
    }
}

fn check_size(
    item: &Item<'_>,
    limit: u64,
    path: impl Fn() -> PathBuf,
) -> Result<(), WorktreeError> {
    let stat = absent(plain::stat(item.folder, item.name))
        .map_err(|error| WorktreeError::io(&path(), error))?;
    match stat.as_ref().map(plain::size) {
        Some(size) if size > limit => Err(WorktreeError::TooLarge {
            place: shown_path(&path()),
            size,
            limit,
        }),
        _ => Ok(()),
    }
}

/// Checks the object folders that a repository borrows from, and those that these borrow from.
fn check_alternates(objects: PathBuf) -> Result<(), WorktreeError> {
    let mut known = BTreeSet::new();
    let mut rest = vec![objects];
    while let Some(objects) = rest.pop() {
        let Ok(Some(text)) = pointer(&objects.join("info/alternates")) else {
            continue;
        };
        for line in text.split(|byte| *byte == b'\n') {
            let path = objects.join(name::path(line));
            if line.is_empty() || line.starts_with(b"#") || !known.insert(path.clone()) {
                continue;
            }
            if known.len() > ALTERNATES_LIMIT {
                return Err(WorktreeError::TooMany {
                    place: shown_path(&objects.join("info/alternates")),
                    limit: ALTERNATES_LIMIT,
                });
            }
            if path.is_dir() {
                check_folder(&path)?;
                rest.push(path);
            }
        }
    }
    Ok(())
}

/// Checks the files outside of the workspace that the repository's settings name.
pub(super) fn check_settings(git: &git2::Repository) -> Result<(), WorktreeError> {
    let Ok(config) = git.config() else {
        return Ok(());
    };
    for key in ["core.excludesfile", "core.attributesfile"] {
        let Ok(path) = config.get_path(key) else {
            continue;
        };
        match path.metadata() {
            Ok(metadata) if metadata.is_file() || metadata.is_dir() => {}
            Ok(_) => return Err(treacherous(&path, Kind::Special)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(WorktreeError::io(&path, error)),
        }
    }
    Ok(())
}

/// Checks every folder of the workspace that libgit2 would look into, and those above up to the repository's root.
pub(super) fn check_files(
    git: &git2::Repository,
    root: &Path,
    prefix: &[u8],
    tracked: &BTreeSet<&[u8]>,
) -> Result<(), WorktreeError> {
    let mut above = root.to_owned();
    for part in name::path(prefix).components() {
        check_steering(Root::open(&above)?.folder.as_fd(), &above)?;
        above.push(part);
    }
    let root = Root::open(&above)?;
    let mut files = WorkFiles {
        git,
        root: &root,
        prefix,
        tracked,
    };
    walk(&root, &mut files)
}

fn check_steering(folder: BorrowedFd<'_>, path: &Path) -> Result<(), WorktreeError> {
    for file in STEERING {
        let path = || path.join(name::path(file.to_bytes()));
        let stat =
            absent(plain::stat(folder, file)).map_err(|error| WorktreeError::io(&path(), error))?;
        match stat.map(|stat| Kind::of(FileType::from_raw_mode(stat.st_mode))) {
            None | Some(Kind::File | Kind::Folder) => {}
            Some(what) => return Err(treacherous(&path(), what)),
        }
    }
    Ok(())
}

struct WorkFiles<'a> {
    git: &'a git2::Repository,
    root: &'a Root,
    prefix: &'a [u8],
    tracked: &'a BTreeSet<&'a [u8]>,
}

impl Visitor for WorkFiles<'_> {
    fn enter(&mut self, folder: BorrowedFd<'_>, path: &[u8]) -> Result<(), WorktreeError> {
        check_steering(folder, &self.root.path.join(name::path(path)))
    }

    fn item(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError> {
        let path = || self.root.path.join(name::path(item.path));
        match item.kind {
            Kind::Folder if item.name == c".git" => Ok(Step::Over),
            Kind::Folder if self.is_passed_over(item.path) => Ok(Step::Over),
            Kind::Folder => Ok(Step::Into),
            Kind::File => match check_size(item, FILE_LIMIT, path) {
                Err(error) if !self.is_passed_over(item.path) => Err(error),
                _ => Ok(Step::Over),
            },
            Kind::Link | Kind::Special | Kind::Closed => Ok(Step::Over),
        }
    }
}

impl WorkFiles<'_> {
    /// Whether git ignores a path, and tracks nothing there.
    fn is_passed_over(&self, path: &[u8]) -> bool {
        let path = name::join(self.prefix, path);
        let ignored = self.git.is_path_ignored(name::path(&path)).unwrap_or(false);
        ignored && !self.tracks(&path)
    }

    fn tracks(&self, path: &[u8]) -> bool {
        let inside = [path, b"/"].concat();
        self.tracked.contains(path)
            || self
                .tracked
                .range(inside.as_slice()..)
                .next()
                .is_some_and(|next| next.starts_with(&inside))
    }
}
