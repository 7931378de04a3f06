//! A session's folder on a real disk.
//!
//! Every file is opened relative to a folder that is already open, never by a path, and never through a link: what
//! an agent puts there can't lead anywhere else.

use std::cell::OnceCell;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::{Errno, retry_on_intr};

use super::{
    Action, Disk, DiskError, DiskResult, Durability, Folder, Place, READ_LIMIT, Refusal, Stamp,
};

/// Nobody else's business: outputs of agents and of checks are in there.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o700);
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

/// A pipe that is opened for reading would wait for its other end.
const PLAIN: OFlags = OFlags::NOFOLLOW
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK);

/// How long a reader lets a writer go on before it looks again.
const PAUSE: Duration = Duration::from_millis(5);

const LOCK: Place = Place::member("lock");

/// A session's folder.
#[derive(Debug)]
pub struct SessionFolder {
    /// For messages.
    path: PathBuf,
    root: OwnedFd,
    name: String,
    session: OwnedFd,
    identity: Identity,
    checkpoints: OnceCell<(OwnedFd, Identity)>,
    quarantine: OnceCell<(OwnedFd, Identity)>,
    /// Held by the one who writes.
    lock: Option<(File, Identity)>,
}

/// Which file or folder it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the types of these fields differ between systems"
    )]
    pub(in crate::memory) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
        }
    }
}

/// What to do if the folder is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) enum Missing {
    Make,
    Report,
}

impl SessionFolder {
    /// Opens the folder `name` below `root`. None if it is not there and is not to be made.
    pub(in crate::memory) fn open(
        root: &Path,
        name: &str,
        missing: Missing,
    ) -> DiskResult<Option<Self>> {
        let Some(root_folder) = open_root(root, missing)? else {
            return Ok(None);
        };
        let path = root.join(name);
        let Some(session) = open_or_make(root_folder.as_fd(), name, &path, missing)? else {
            return Ok(None);
        };
        let identity = identity(session.as_fd(), &path)?;
        Ok(Some(Self {
            path,
            root: root_folder,
            name: name.to_owned(),
            session,
            identity,
            checkpoints: OnceCell::new(),
            quarantine: OnceCell::new(),
            lock: None,
        }))
    }

    /// Opens the folder `name` below `root`, which is made if it is not there.
    pub(in crate::memory) fn make(root: &Path, name: &str) -> DiskResult<Self> {
        let folder = Self::open(root, name, Missing::Make)?;
        folder.ok_or_else(|| {
            DiskError::io(
                Action::Write,
                root.join(name).display(),
                io::ErrorKind::NotFound,
            )
        })
    }

    /// Whether there is anything of that name below `root`.
    pub(in crate::memory) fn exists(root: &Path, name: &str) -> DiskResult<bool> {
        match open_root(root, Missing::Report)? {
            None => Ok(false),
            Some(root) => Ok(stat_at(root.as_fd(), name).is_ok()),
        }
    }

    /// Gives the folder its final name, durable before the call returns. False if that name is taken.
    pub(in crate::memory) fn settle_as(&self, name: &str) -> DiskResult<bool> {
        let failed = |error: Errno| DiskError::io(Action::Rename, self.path.display(), error);
        if stat_at(self.root.as_fd(), name).is_ok() {
            return Ok(false);
        }
        // A folder that is not empty is never replaced by a rename.
        match retry_on_intr(|| rustix::fs::renameat(&self.root, &self.name, &self.root, name)) {
            Ok(()) => self.sync_root().map(|()| true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    /// Where it is, for people.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the lock file, which is made if it is not there.
    pub(in crate::memory) fn open_lock(&self) -> DiskResult<(File, Identity)> {
        let flags = OFlags::RDWR | OFlags::CREATE | PLAIN;
        let (file, stat) = self.open_file(&LOCK, flags, Action::Lock)?;
        Ok((File::from(file), Identity::of(&stat)))
    }

    /// Opens the lock file for a look. None if there is none.
    pub(in crate::memory) fn read_lock(&self) -> DiskResult<Option<File>> {
        match self.open_file(&LOCK, OFlags::RDONLY | PLAIN, Action::Lock) {
            Ok((file, _)) => Ok(Some(File::from(file))),
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Which lock file there is now.
    pub(in crate::memory) fn lock_identity(&self) -> DiskResult<Option<Identity>> {
        match stat_at(self.session.as_fd(), LOCK.name()) {
            Ok(stat) => Ok(Some(Identity::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed(Action::Lock, &LOCK, error)),
        }
    }

    /// Keeps the locked file open as long as the folder is.
    pub(in crate::memory) fn hold(&mut self, file: File, identity: Identity) {
        self.lock = Some((file, identity));
    }

    /// Makes the name of the session's folder itself durable.
    pub(in crate::memory) fn sync_root(&self) -> DiskResult<()> {
        let failed = |error: Errno| DiskError::io(Action::Sync, self.root_path().display(), error);
        let root = reopen(self.root.as_fd()).map_err(failed)?;
        retry_on_intr(|| rustix::fs::fsync(&root)).map_err(failed)
    }

    fn root_path(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    fn slot(&self, folder: Folder) -> Option<&OnceCell<(OwnedFd, Identity)>> {
        match folder {
            Folder::Session => None,
            Folder::Checkpoints => Some(&self.checkpoints),
            Folder::Quarantine => Some(&self.quarantine),
        }
    }

    fn folder_path(&self, folder: Folder) -> PathBuf {
        match folder.name() {
            None => self.path.clone(),
            Some(name) => self.path.join(name),
        }
    }

    /// The open folder. None if it is not there.
    fn folder(&self, folder: Folder) -> DiskResult<Option<BorrowedFd<'_>>> {
        let (Some(slot), Some(name)) = (self.slot(folder), folder.name()) else {
            return Ok(Some(self.session.as_fd()));
        };
        if let Some((open, _)) = slot.get() {
            return Ok(Some(open.as_fd()));
        }
        let path = self.folder_path(folder);
        let Some(open) = open_folder(self.session.as_fd(), name, &path)? else {
            return Ok(None);
        };
        let identity = identity(open.as_fd(), &path)?;
        Ok(Some(slot.get_or_init(|| (open, identity)).0.as_fd()))
    }

    /// The open folder, which must be there.
    fn need(&self, folder: Folder) -> DiskResult<BorrowedFd<'_>> {
        self.folder(folder)?.ok_or_else(|| {
            let path = self.folder_path(folder);
            DiskError::io(Action::Read, path.display(), io::ErrorKind::NotFound)
        })
    }

    fn failed(&self, action: Action, place: &Place, error: impl Into<io::Error>) -> DiskError {
        DiskError::io(action, self.shown(place), error)
    }

    fn shown(&self, place: &Place) -> String {
        self.folder_path(place.folder())
            .join(place.name())
            .display()
            .to_string()
    }

    /// Opens a plain file that has no other name.
    fn open_file(
        &self,
        place: &Place,
        flags: OFlags,
        action: Action,
    ) -> DiskResult<(OwnedFd, Stat)> {
        let folder = self.need(place.folder())?;
        let open = || rustix::fs::openat(folder, place.name(), flags, FILE_MODE);
        let file = match retry_on_intr(open) {
            Ok(file) => file,
            Err(error) => return Err(self.not_opened(place, action, error)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|error| self.failed(action, place, error))?;
        match refusal(&stat) {
            None => Ok((file, stat)),
            Some(what) => Err(DiskError::refused(self.shown(place), what)),
        }
    }

    /// An error with the reason that the person can do something about.
    fn not_opened(&self, place: &Place, action: Action, error: Errno) -> DiskError {
        let suspicious = matches!(
            error,
            Errno::LOOP | Errno::MLINK | Errno::NXIO | Errno::ISDIR | Errno::NOTDIR
        );
        let stat = suspicious
            .then(|| self.need(place.folder()).ok())
            .flatten()
            .and_then(|folder| stat_at(folder, place.name()).ok());
        match stat.as_ref().and_then(refusal) {
            Some(what) => DiskError::refused(self.shown(place), what),
            None => self.failed(action, place, error),
        }
    }

    fn finish(&self, place: &Place, file: &OwnedFd) -> DiskResult<Stamp> {
        let stat =
            rustix::fs::fstat(file).map_err(|error| self.failed(Action::Write, place, error))?;
        Ok(stamp(&stat))
    }

    /// Writes all of it, and sees after each part that it arrived: behind one that did not, nothing more is written.
    fn write(&self, place: &Place, file: &OwnedFd, before: u64, bytes: &[u8]) -> DiskResult<()> {
        let failed = |error: io::Error| self.failed(Action::Write, place, error);
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match retry_on_intr(|| rustix::io::write(file, rest)) {
                Ok(0) => return Err(failed(io::ErrorKind::WriteZero.into())),
                Ok(written) => done += written,
                Err(error) => return Err(failed(error.into())),
            }
            let arrived = self.finish(place, file)?.len.saturating_sub(before);
            if arrived < done as u64 {
                let message = format!("{done} bytes were written and {arrived} arrived");
                return Err(failed(io::Error::other(message)));
            }
        }
        Ok(())
    }
}

impl Disk for SessionFolder {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn guard(&self) -> DiskResult<()> {
        let same = |folder, name: &str, expected: Identity| {
            stat_at(folder, name).is_ok_and(|stat| Identity::of(&stat) == expected)
        };
        if !same(self.root.as_fd(), &self.name, self.identity) {
            return Err(DiskError::refused(self.path.display(), Refusal::Swapped));
        }
        if let Some((_, identity)) = &self.lock
            && !same(self.session.as_fd(), LOCK.name(), *identity)
        {
            return Err(DiskError::refused(self.shown(&LOCK), Refusal::Swapped));
        }
        for folder in [Folder::Checkpoints, Folder::Quarantine] {
            if let (Some(slot), Some(name)) = (self.slot(folder), folder.name())
                && let Some((_, identity)) = slot.get()
                && !same(self.session.as_fd(), name, *identity)
            {
                return Err(DiskError::refused(
                    self.folder_path(folder).display(),
                    Refusal::Swapped,
                ));
            }
        }
        Ok(())
    }

    fn list(&self, folder: Folder) -> DiskResult<Option<Vec<String>>> {
        let Some(open) = self.folder(folder)? else {
            return Ok(None);
        };
        names(open)
            .map(Some)
            .map_err(|error| DiskError::io(Action::Read, self.folder_path(folder).display(), error))
    }

    fn stamp(&self, place: &Place) -> DiskResult<Option<Stamp>> {
        let Some(folder) = self.folder(place.folder())? else {
            return Ok(None);
        };
        match stat_at(folder, place.name()) {
            Ok(stat) => match refusal(&stat) {
                None => Ok(Some(stamp(&stat))),
                Some(what) => Err(DiskError::refused(self.shown(place), what)),
            },
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed(Action::Read, place, error)),
        }
    }

    fn read(&self, place: &Place, from: u64) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        if self.folder(place.folder())?.is_none() {
            return Ok(None);
        }
        let (file, stat) = match self.open_file(place, OFlags::RDONLY | PLAIN, Action::Read) {
            Ok(open) => open,
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stamp = stamp(&stat);
        let expected = stamp.len.saturating_sub(from);
        if expected > READ_LIMIT {
            return Err(DiskError::refused(self.shown(place), Refusal::TooLarge));
        }
        let expected = usize::try_from(expected).unwrap_or_default();
        let bytes = read_from(&file, from, expected)
            .map_err(|error| self.failed(Action::Read, place, error))?;
        Ok(Some((bytes, stamp)))
    }

    fn create(&self, place: &Place, bytes: &[u8], durability: Durability) -> DiskResult<Stamp> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | PLAIN;
        let (file, _) = self.open_file(place, flags, Action::Write)?;
        self.write(place, &file, 0, bytes)?;
        if durability == Durability::Synced {
            retry_on_intr(|| rustix::fs::fsync(&file))
                .map_err(|error| self.failed(Action::Sync, place, error))?;
        }
        self.finish(place, &file)
    }

    fn append(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | PLAIN;
        let (file, stat) = self.open_file(place, flags, Action::Write)?;
        self.write(place, &file, stamp(&stat).len, bytes)?;
        // Where it can't be done, a change is noticed a few milliseconds later.
        let _ = rustix::fs::futimens(&file, &unique_time(&stat));
        self.finish(place, &file)
    }

    fn cut(&self, place: &Place, len: u64) -> DiskResult<()> {
        let (file, _) = self.open_file(place, OFlags::WRONLY | PLAIN, Action::Write)?;
        retry_on_intr(|| rustix::fs::ftruncate(&file, len))
            .map_err(|error| self.failed(Action::Write, place, error))
    }

    fn sync(&self, place: &Place) -> DiskResult<()> {
        let (file, _) = self.open_file(place, OFlags::RDONLY | PLAIN, Action::Sync)?;
        retry_on_intr(|| rustix::fs::fsync(&file))
            .map_err(|error| self.failed(Action::Sync, place, error))
    }

    fn rename(&self, from: &Place, to: &Place) -> DiskResult<()> {
        let (old, new) = (self.need(from.folder())?, self.need(to.folder())?);
        retry_on_intr(|| rustix::fs::renameat(old, from.name(), new, to.name()))
            .map_err(|error| self.failed(Action::Rename, from, error))
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn exchange(&self, one: &Place, other: &Place) -> DiskResult<bool> {
        use rustix::fs::RenameFlags;
        let (left, right) = (self.need(one.folder())?, self.need(other.folder())?);
        let exchange = || {
            rustix::fs::renameat_with(left, one.name(), right, other.name(), RenameFlags::EXCHANGE)
        };
        match retry_on_intr(exchange) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::NOENT) => Ok(false),
            Err(error) => Err(self.failed(Action::Rename, one, error)),
        }
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn exchange(&self, _one: &Place, _other: &Place) -> DiskResult<bool> {
        Ok(false)
    }

    fn remove(&self, place: &Place) -> DiskResult<()> {
        let folder = self.need(place.folder())?;
        match retry_on_intr(|| rustix::fs::unlinkat(folder, place.name(), AtFlags::empty())) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failed(Action::Remove, place, error)),
        }
    }

    fn make_folder(&self, folder: Folder) -> DiskResult<()> {
        let Some(name) = folder.name() else {
            return Ok(());
        };
        make(self.session.as_fd(), name, &self.folder_path(folder))
    }

    fn sync_folder(&self, folder: Folder) -> DiskResult<()> {
        let failed =
            |error: Errno| DiskError::io(Action::Sync, self.folder_path(folder).display(), error);
        // A descriptor of its own: one that has reported an error may not report it again.
        let fresh = reopen(self.need(folder)?).map_err(failed)?;
        retry_on_intr(|| rustix::fs::fsync(&fresh)).map_err(failed)
    }

    fn pause(&self) {
        std::thread::sleep(PAUSE);
    }
}

/// The folders in a root that may be sessions, sorted.
pub(in crate::memory) fn folders(root: &Path) -> DiskResult<Vec<String>> {
    let Some(open) = open_root(root, Missing::Report)? else {
        return Ok(Vec::new());
    };
    let names =
        names(open.as_fd()).map_err(|error| DiskError::io(Action::Read, root.display(), error))?;
    let is_folder = |name: &String| {
        stat_at(open.as_fd(), name)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    };
    Ok(names
        .into_iter()
        .filter(|name| !name.starts_with('.') && is_folder(name))
        .collect())
}

/// The root is a folder in a place that the caller trusts, but is itself no link.
fn open_root(root: &Path, missing: Missing) -> DiskResult<Option<OwnedFd>> {
    let (parent, name) = match (
        root.parent(),
        root.file_name().and_then(|name| name.to_str()),
    ) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => (Path::new("."), name),
        (Some(parent), Some(name)) => (parent, name),
        // `/`, `.` or a path that ends in `..`: there is no name that could be a link.
        _ => (root, "."),
    };
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    match retry_on_intr(|| rustix::fs::open(parent, flags, Mode::empty())) {
        Ok(parent) => open_or_make(parent.as_fd(), name, root, missing),
        Err(Errno::NOENT) if missing == Missing::Report => Ok(None),
        Err(error) => Err(DiskError::io(Action::Read, parent.display(), error)),
    }
}

fn open_or_make(
    at: BorrowedFd<'_>,
    name: &str,
    path: &Path,
    missing: Missing,
) -> DiskResult<Option<OwnedFd>> {
    if let Some(folder) = open_folder(at, name, path)? {
        return Ok(Some(folder));
    }
    if missing == Missing::Report {
        return Ok(None);
    }
    make(at, name, path)?;
    open_folder(at, name, path)
}

fn make(at: BorrowedFd<'_>, name: &str, path: &Path) -> DiskResult<()> {
    match retry_on_intr(|| rustix::fs::mkdirat(at, name, FOLDER_MODE)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(DiskError::io(Action::Write, path.display(), error)),
    }
}

/// Opens a folder, not through a link. None if it is not there.
fn open_folder(at: BorrowedFd<'_>, name: &str, path: &Path) -> DiskResult<Option<OwnedFd>> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match retry_on_intr(|| rustix::fs::openat(at, name, flags, Mode::empty())) {
        Ok(folder) => Ok(Some(folder)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
            let is_link = stat_at(at, name)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
            let what = if is_link {
                Refusal::SymbolicLink
            } else {
                Refusal::NotAFolder
            };
            Err(DiskError::refused(path.display(), what))
        }
        Err(error) => Err(DiskError::io(Action::Read, path.display(), error)),
    }
}

fn reopen(folder: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    retry_on_intr(|| rustix::fs::openat(folder, c".", flags, Mode::empty()))
}

fn identity(folder: BorrowedFd<'_>, path: &Path) -> DiskResult<Identity> {
    match rustix::fs::fstat(folder) {
        Ok(stat) => Ok(Identity::of(&stat)),
        Err(error) => Err(DiskError::io(Action::Read, path.display(), error)),
    }
}

fn stat_at(folder: BorrowedFd<'_>, name: &str) -> rustix::io::Result<Stat> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// The names in a folder that are text, sorted. A name that is not text is nobody's here.
fn names(folder: BorrowedFd<'_>) -> rustix::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if let Some(name) = text(entry.file_name()) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn text(name: &CStr) -> Option<String> {
    match name.to_str() {
        Ok("." | "..") | Err(_) => None,
        Ok(name) => Some(name.to_owned()),
    }
}

/// So many bytes, or fewer if the file is shorter by now. What is added meanwhile is for the next look.
fn read_from(file: &OwnedFd, from: u64, len: usize) -> rustix::io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let mut done = 0;
    while let Some(space) = bytes.get_mut(done..).filter(|space| !space.is_empty()) {
        match rustix::io::pread(file, space, from + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(done);
    Ok(bytes)
}

fn refusal(stat: &Stat) -> Option<Refusal> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if stat.st_nlink <= 1 => None,
        FileType::RegularFile => Some(Refusal::HardLink),
        FileType::Symlink => Some(Refusal::SymbolicLink),
        FileType::Directory => Some(Refusal::Folder),
        _ => Some(Refusal::Special),
    }
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "the types of these fields differ between systems, and only their equality counts"
)]
fn stamp(stat: &Stat) -> Stamp {
    Stamp {
        len: stat.st_size as u64,
        version: [
            stat.st_ino as u64,
            stat.st_mtime as u64,
            stat.st_mtime_nsec as u64,
            stat.st_ctime as u64,
            stat.st_ctime_nsec as u64,
        ],
    }
}

/// A time of change that no later change will have by chance: many file systems count in milliseconds, and an edit
/// in the same one would look like none.
fn unique_time(stat: &Stat) -> Timestamps {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count =
        COUNT.fetch_add(1, Ordering::Relaxed) ^ u64::from(std::process::id()).rotate_left(32);
    let nanoseconds = count.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000_000;
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: stat.st_mtime,
            tv_nsec: i64::try_from(nanoseconds).unwrap_or_default(),
        },
    }
}
