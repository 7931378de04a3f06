//! Opens plain files below a folder, never through a link.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

use super::error::WorktreeError;
use super::name;

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::RDONLY)
    .union(OFlags::CLOEXEC);

/// A pipe that is swapped in at the last moment must not be waited for.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK);

/// How much is read at once.
const PORTION: usize = 64 << 10;

/// An open folder, and what it is called in messages.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) folder: OwnedFd,
    pub(super) path: PathBuf,
}

impl Root {
    /// Opens a folder whose path the caller trusts.
    pub(super) fn open(path: &Path) -> Result<Self, WorktreeError> {
        let folder = retry_on_intr(|| rustix::fs::open(path, FOLDER, Mode::empty()))
            .map_err(|error| WorktreeError::io(path, error))?;
        Ok(Self {
            folder,
            path: path.to_owned(),
        })
    }

    /// Opens the plain file at a path below. None if there is none, or something else, or a link on the way.
    pub(super) fn file(&self, path: &[u8]) -> Result<Option<(File, Stat)>, WorktreeError> {
        let failed = |error: Errno| WorktreeError::io(&self.path.join(name::path(path)), error);
        absent(self.find(path)).map(Option::flatten).map_err(failed)
    }

    fn find(&self, path: &[u8]) -> rustix::io::Result<Option<(File, Stat)>> {
        let mut parts = path.split(|byte| *byte == b'/');
        let Some(last) = parts.next_back() else {
            return Ok(None);
        };
        let mut open: Option<OwnedFd> = None;
        for part in parts {
            let parent = open.as_ref().map_or(self.folder.as_fd(), AsFd::as_fd);
            open = Some(open_folder(parent, &text(part)?)?);
        }
        let parent = open.as_ref().map_or(self.folder.as_fd(), AsFd::as_fd);
        open_plain(parent, &text(last)?)
    }
}

fn text(part: &[u8]) -> rustix::io::Result<CString> {
    match part {
        b"" | b"." | b".." => Err(Errno::NOENT),
        part => CString::new(part).map_err(|_| Errno::NOENT),
    }
}

/// What is not there, or is something else than expected, is none.
pub(super) fn absent<T>(result: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::MLINK | Errno::NAMETOOLONG) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Opens a folder in another one, not through a link.
pub(super) fn open_folder(
    at: BorrowedFd<'_>,
    name: impl Arg + Copy,
) -> rustix::io::Result<OwnedFd> {
    retry_on_intr(|| rustix::fs::openat(at, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()))
}

/// Opens a plain file in a folder. None if it is something else.
///
/// Looked at before as well as after: opening a device can already do something.
pub(super) fn open_plain(
    at: BorrowedFd<'_>,
    name: impl Arg + Copy,
) -> rustix::io::Result<Option<(File, Stat)>> {
    if !is_plain(&stat(at, name)?) {
        return Ok(None);
    }
    let file = retry_on_intr(|| rustix::fs::openat(at, name, FILE, Mode::empty()))?;
    let stat = rustix::fs::fstat(&file)?;
    Ok(is_plain(&stat).then(|| (File::from(file), stat)))
}

/// What is there, itself and not what it leads to.
pub(super) fn stat(at: BorrowedFd<'_>, name: impl Arg) -> rustix::io::Result<Stat> {
    rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
}

fn is_plain(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// A file or folder changed less than so many seconds before it was looked at may change again under the same time
/// stamps, where the file system counts in coarse steps.
const SETTLED_SECONDS: u64 = 2;

/// What is the same as long as nothing changed: size, device, inode, and the times of modification and of change in
/// seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stamp([u64; 7]);

impl Stamp {
    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_sign_loss,
        reason = "the types of these fields differ between systems, and only their equality counts"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        Self([
            stat.st_size as u64,
            stat.st_dev as u64,
            stat.st_ino as u64,
            stat.st_mtime as u64,
            stat.st_mtime_nsec as u64,
            stat.st_ctime as u64,
            stat.st_ctime_nsec as u64,
        ])
    }

    /// Whether a change after this moment would show.
    pub(super) fn is_settled(&self, moment: SystemTime) -> bool {
        let [.., changed, _] = self.0;
        let now = moment
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs());
        changed.saturating_add(SETTLED_SECONDS) < now
    }
}

/// Its size in bytes.
pub(super) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}

/// The first bytes of a file, and no more than so many.
pub(super) fn read(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Hashes the first bytes of a file, portion by portion. What is added meanwhile is for the next look.
pub(super) fn hash(file: &File, length: u64) -> io::Result<blake3::Hasher> {
    let mut hasher = blake3::Hasher::new();
    let mut rest = file.take(length);
    let mut portion = vec![0; PORTION];
    loop {
        match rest.read(&mut portion) {
            Ok(0) => return Ok(hasher),
            Ok(count) => hasher.update(portion.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
    }
}
