//! Looks at a settings file and writes it, where somebody may have put something else in its place.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use super::error::{Action, InstallError, Refusal};
use crate::memory::foreign;

/// The largest settings that are read, in bytes.
pub(super) const LARGEST: u64 = 4 << 20;

/// Where a file belongs, and what its links may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder that is never made or removed.
    base: PathBuf,
    /// The file's path inside it.
    relative: &'static str,
    /// The folders that links may not leave.
    inside: [PathBuf; 2],
}

/// How a file is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Straight,
    /// A folder above it is a link.
    LinkedFolder,
    /// The file itself is a link.
    LinkedFile,
}

/// What is in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// The path without links.
    pub(super) target: PathBuf,
    pub(super) way: Way,
    pub(super) content: Option<Vec<u8>>,
    /// How many names the file has.
    pub(super) names: u64,
    /// Folders that are missing, the outermost first.
    pub(super) missing: Vec<PathBuf>,
    /// How many of the file's folders would have to go to leave one that was there, empty.
    pub(super) empty_above: Option<usize>,
}

impl Place {
    pub(super) fn new(base: &Path, relative: &'static str, inside: [&Path; 2]) -> Self {
        Self {
            base: base.to_owned(),
            relative,
            inside: inside.map(Path::to_owned),
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.base.join(self.relative)
    }

    /// The folders between the base and the file, the outermost first.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let relative = Path::new(self.relative).ancestors().skip(1);
        let relative = relative.filter(|folder| !folder.as_os_str().is_empty());
        let mut folders: Vec<PathBuf> = relative.map(|folder| self.base.join(folder)).collect();
        folders.reverse();
        folders
    }

    /// What is there now. Nothing is waited for.
    pub(super) fn look(&self) -> Result<Seen, InstallError> {
        let base = resolved(&self.base)?.ok_or_else(|| {
            InstallError::disk(&self.base, Action::Read, ErrorKind::NotFound.into())
        })?;
        let mut above = base.clone();
        let folders = self.folders();
        for (depth, folder) in folders.iter().enumerate() {
            match resolved(folder)? {
                Some(target) if target.is_dir() => above = target,
                Some(_) => return Err(InstallError::refused(folder, Refusal::NotAFolder)),
                None => return self.absent(&base, &above, folders.get(depth..), folders.len()),
            }
        }
        let path = self.path();
        match resolved(&path)? {
            None => self.absent(&base, &above, None, folders.len()),
            Some(target) => self.present(&base, target),
        }
    }

    fn absent(
        &self,
        base: &Path,
        above: &Path,
        missing: Option<&[PathBuf]>,
        depth: usize,
    ) -> Result<Seen, InstallError> {
        let missing = missing.unwrap_or_default().to_vec();
        let name = Path::new(self.relative)
            .components()
            .skip(depth - missing.len());
        let target = above.join(name.collect::<PathBuf>());
        self.check_inside(&target)?;
        let inside_base = missing.len() < depth;
        let empty = inside_base && is_empty(above)?;
        Ok(Seen {
            way: self.way(base, &target),
            target,
            content: None,
            names: 1,
            empty_above: empty.then_some(missing.len()),
            missing,
        })
    }

    fn present(&self, base: &Path, target: PathBuf) -> Result<Seen, InstallError> {
        self.check_inside(&target)?;
        let (content, metadata) = read(&self.path(), &target)?;
        Ok(Seen {
            way: self.way(base, &target),
            target,
            content: Some(content),
            names: metadata.nlink(),
            missing: Vec::new(),
            empty_above: None,
        })
    }

    fn way(&self, base: &Path, target: &Path) -> Way {
        if base.join(self.relative) == target {
            return Way::Straight;
        }
        if self.path().is_symlink() {
            Way::LinkedFile
        } else {
            Way::LinkedFolder
        }
    }

    fn check_inside(&self, target: &Path) -> Result<(), InstallError> {
        let inside = |folder: &PathBuf| {
            fs::canonicalize(folder).is_ok_and(|folder| target.starts_with(folder))
        };
        if self.inside.iter().any(inside) {
            return Ok(());
        }
        let target = target.to_owned();
        Err(InstallError::refused(
            &self.path(),
            Refusal::Outside { target },
        ))
    }
}

impl Seen {
    /// Whether it may be written, before anything is.
    pub(super) fn check_writable(&self) -> Result<(), InstallError> {
        if self.content.is_some() && !writable(&self.target)? {
            return Err(InstallError::refused(&self.target, Refusal::ReadOnly));
        }
        let above = self.target.ancestors().nth(self.missing.len() + 1);
        match above {
            Some(folder) if !writable(folder)? => {
                Err(InstallError::refused(folder, Refusal::ReadOnlyFolder))
            }
            _ => Ok(()),
        }
    }

    /// Makes the file hold this, all of it or nothing.
    pub(super) fn write(&self, content: &[u8]) -> Result<(), InstallError> {
        let failed = |error| InstallError::disk(&self.target, Action::Write, error);
        let made = foreign::make(&self.missing)
            .map_err(|(folder, error)| InstallError::disk(&folder, Action::Write, error))?;
        let written = match &self.content {
            Some(_) => foreign::replace(&self.target, content),
            None => foreign::create(&self.target, content),
        };
        if written.is_err() {
            foreign::remove_empty(&made);
        }
        written.map_err(failed)
    }

    /// Removes the file.
    pub(super) fn remove(&self) -> Result<(), InstallError> {
        foreign::remove(&self.target)
            .map_err(|error| InstallError::disk(&self.target, Action::Remove, error))
    }
}

/// A path without links; none if nothing is there.
fn resolved(path: &Path) -> Result<Option<PathBuf>, InstallError> {
    let error = match fs::canonicalize(path) {
        Ok(target) => return Ok(Some(target)),
        Err(error) => error,
    };
    let circle = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    let nothing = error.kind() == ErrorKind::NotFound;
    if circle || (nothing && fs::symlink_metadata(path).is_ok()) {
        return Err(InstallError::refused(path, Refusal::Dangling));
    }
    if nothing {
        return Ok(None);
    }
    Err(InstallError::disk(path, Action::Read, error))
}

fn is_empty(folder: &Path) -> Result<bool, InstallError> {
    let entries = fs::read_dir(folder);
    let mut entries = entries.map_err(|error| InstallError::disk(folder, Action::Read, error))?;
    Ok(entries.next().is_none())
}

/// All of a plain file, if it is not too large.
fn read(path: &Path, target: &Path) -> Result<(Vec<u8>, Metadata), InstallError> {
    let failed = |error| InstallError::disk(path, Action::Read, error);
    // Devices may act on being opened, so a look comes first.
    check_plain(path, &fs::metadata(target).map_err(failed)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let file = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(target)
        .map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    check_plain(path, &metadata)?;
    let mut content = Vec::new();
    let mut bounded = file.take(LARGEST + 1);
    bounded.read_to_end(&mut content).map_err(failed)?;
    check_size(path, content.len() as u64)?;
    Ok((content, metadata))
}

fn check_plain(path: &Path, metadata: &Metadata) -> Result<(), InstallError> {
    if metadata.is_dir() {
        return Err(InstallError::refused(path, Refusal::Folder));
    }
    if !metadata.is_file() {
        return Err(InstallError::refused(path, Refusal::Special));
    }
    check_size(path, metadata.len())
}

fn check_size(path: &Path, size: u64) -> Result<(), InstallError> {
    if size <= LARGEST {
        return Ok(());
    }
    let limit = LARGEST;
    Err(InstallError::refused(
        path,
        Refusal::TooLarge { size, limit },
    ))
}

/// Whether somebody may write there, and we may. The superuser may always, but a file that nobody may write was made
/// read-only by intent.
fn writable(path: &Path) -> Result<bool, InstallError> {
    let metadata = fs::metadata(path);
    let metadata = metadata.map_err(|error| InstallError::disk(path, Action::Read, error))?;
    let by_anybody = metadata.permissions().mode() & 0o222 != 0;
    Ok(by_anybody && rustix::fs::access(path, Access::WRITE_OK).is_ok())
}
