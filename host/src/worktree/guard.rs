//! Looks at what libgit2 would open by path, before it does: a pipe would stop it for ever, a link would lead it out
//! of the workspace, a huge file would fill the memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::FileType;

use super::error::WorktreeError;
use super::limits::{CONTROL_LIMIT, FILE_LIMIT};
use super::name::{self, shown_path};
use super::plain::{self, Root, Stamp, absent};
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

/// How many folders are remembered.
const REMEMBERED_FOLDERS: usize = 100_000;
/// How many threads may hang.
const HANGING_LIMIT: usize = 4;
/// The most object folders that a repository may borrow from.
const ALTERNATES_LIMIT: usize = 64;
/// The longest file that names other folders, in bytes.
const POINTER_LIMIT: u64 = 64 << 10;

/// Whether the one who asked has stopped waiting, or has the answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Whether it was set before.
    fn set(&self) -> bool {
        self.0.swap(true, Ordering::AcqRel)
    }
}

/// Threads that hang in a question to git.
static HANGING: AtomicUsize = AtomicUsize::new(0);

/// Does something in a thread of its own, and stops waiting for it after some time.
///
/// A thread that hangs stays behind: there is no way to end it, and it ends with the process. There are never many of
/// them: beyond a few, nothing is asked any more.
pub(super) fn within<T: Send + 'static>(
    patience: Duration,
    place: &Path,
    work: impl FnOnce(Abandoned) -> Result<T, WorktreeError> + Send + 'static,
) -> Result<T, WorktreeError> {
    let timed_out = || WorktreeError::TimedOut {
        place: shown_path(place),
        seconds: patience.as_secs(),
    };
    if HANGING.load(Ordering::Acquire) >= HANGING_LIMIT {
        return Err(timed_out());
    }
    let (sender, receiver) = sync_channel(1);
    let abandoned = Abandoned::default();
    let flag = abandoned.clone();
    let spawned = thread::Builder::new()
        .name("git".to_owned())
        .spawn(move || {
            let found = work(flag.clone());
            if flag.set() {
                HANGING.fetch_sub(1, Ordering::AcqRel);
            }
            // Nobody may be waiting any more.
            let _ = sender.send(found);
        });
    spawned.map_err(|error| WorktreeError::io(place, error))?;
    match receiver.recv_timeout(patience) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => {
            HANGING.fetch_add(1, Ordering::AcqRel);
            // It may have come to its end just now.
            if abandoned.set() {
                HANGING.fetch_sub(1, Ordering::AcqRel);
            }
            Err(timed_out())
        }
        Err(RecvTimeoutError::Disconnected) => Err(WorktreeError::Stopped {
            place: shown_path(place),
        }),
    }
}

/// Checks the repository's own folder, and those that it refers to.
pub(super) fn check_repository(root: &Path, seen: &PlainFolders) -> Result<(), WorktreeError> {
    let own = own_folder(root)?;
    check_folder(&own, seen)?;
    let common = match pointer(&own.join("commondir"))? {
        Some(common) => own.join(name::path(&common)),
        None => own.clone(),
    };
    if common != own {
        check_folder(&common, seen)?;
    }
    check_alternates(common.join("objects"), seen)
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
pub(super) fn pointer(path: &Path) -> Result<Option<Vec<u8>>, WorktreeError> {
    let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    let root = Root::open(folder)?;
    let Some((file, stat)) = root.file(name::bytes(Path::new(file)))? else {
        return Ok(None);
    };
    let size = plain::size(&stat);
    if size > POINTER_LIMIT {
        return Err(WorktreeError::TooLarge {
            place: shown_path(path),
            size,
            limit: POINTER_LIMIT,
        });
    }
    let text = plain::read(&file, POINTER_LIMIT).map_err(|error| WorktreeError::io(path, error))?;
    Ok(Some(text.trim_ascii_end().to_vec()))
}

fn check_folder(path: &Path, seen: &PlainFolders) -> Result<(), WorktreeError> {
    check_folder_at(path, seen, SystemTime::now())
}

fn check_folder_at(
    path: &Path,
    seen: &PlainFolders,
    begun: SystemTime,
) -> Result<(), WorktreeError> {
    let root = Root::open(path)?;
    let mut folder = RepositoryFolder {
        root: &root,
        seen,
        leaves: BTreeMap::new(),
    };
    walk(&root, &mut folder)?;
    seen.remember(folder.leaves.into_values(), begun);
    Ok(())
}

/// Folders without folders inside, in which there was nothing but plain files. What is in a folder can't become
/// something else without a change of the folder itself, so they need not be looked into again.
#[derive(Debug, Default)]
pub(super) struct PlainFolders(Mutex<BTreeSet<Stamp>>);

impl PlainFolders {
    fn has(&self, stamp: &Stamp) -> bool {
        self.lock().contains(stamp)
    }

    /// Without those that changed so shortly before that a further change might not show.
    fn remember(&self, leaves: impl Iterator<Item = Stamp>, begun: SystemTime) {
        let settled = leaves.filter(|stamp| stamp.is_settled(begun));
        self.lock().extend(settled);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Stamp>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Of folders that are gone, some stay: that is no reason to keep them for ever.
        if known.len() > REMEMBERED_FOLDERS {
            known.clear();
        }
        known
    }
}

struct RepositoryFolder<'a> {
    root: &'a Root,
    seen: &'a PlainFolders,
    /// Folders in which no folder was found yet.
    leaves: BTreeMap<Vec<u8>, Stamp>,
}

impl RepositoryFolder<'_> {
    /// Whether a folder must be looked into.
    fn step_into(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError> {
        if let Some(end) = item.path.iter().rposition(|byte| *byte == b'/') {
            self.leaves.remove(item.path.get(..end).unwrap_or_default());
        }
        let stat = absent(plain::stat(item.folder, item.name)).map_err(|error| {
            WorktreeError::io(&self.root.path.join(name::path(item.path)), error)
        })?;
        match stat.map(|stat| Stamp::of(&stat)) {
            Some(stamp) if self.seen.has(&stamp) => Ok(Step::Over),
            Some(stamp) => {
                self.leaves.insert(item.path.to_vec(), stamp);
                Ok(Step::Into)
            }
            None => Ok(Step::Over),
        }
    }
}

impl Visitor for RepositoryFolder<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError> {
        if UNTOUCHED.contains(&item.path) {
            return Ok(Step::Over);
        }
        let path = || self.root.path.join(name::path(item.path));
        match item.kind {
            Kind::Folder => self.step_into(item),
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
fn check_alternates(objects: PathBuf, seen: &PlainFolders) -> Result<(), WorktreeError> {
    let mut known = BTreeSet::new();
    let mut rest = vec![objects];
    while let Some(objects) = rest.pop() {
        if !objects.join("info").is_dir() {
            continue;
        }
        let Some(text) = pointer(&objects.join("info/alternates"))? else {
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
                check_folder(&path, seen)?;
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
        // What is tracked need not be asked about, which costs more.
        !self.tracks(&path) && self.git.is_path_ignored(name::path(&path)).unwrap_or(false)
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn a_folder_is_looked_into_again_when_something_was_added_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let leaf = folder.path().join("objects/ab");
        fs::create_dir_all(&leaf).unwrap();
        let seen = PlainFolders::default();
        let later = SystemTime::now() + Duration::from_secs(10);
        check_folder_at(folder.path(), &seen, SystemTime::now()).unwrap();
        assert_eq!(seen.lock().len(), 0, "it is too young");
        check_folder_at(folder.path(), &seen, later).unwrap();
        assert_eq!(
            seen.lock().len(),
            1,
            "the leaf, and not the folder above it"
        );
        check_folder_at(folder.path(), &seen, later).unwrap();
        let changed = || {
            let metadata = leaf.metadata().unwrap();
            (metadata.ctime(), metadata.ctime_nsec())
        };
        // The clock of a file system has coarse steps.
        let before = changed();
        symlink("/etc", leaf.join("link")).unwrap();
        while changed() == before {
            fs::remove_file(leaf.join("link")).unwrap();
            symlink("/etc", leaf.join("link")).unwrap();
        }
        let error = check_folder_at(folder.path(), &seen, later).unwrap_err();
        assert!(
            matches!(error, WorktreeError::Treacherous { .. }),
            "{error}"
        );
    }
}
