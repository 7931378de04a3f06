//! Files of other programs, and others that are no session's: changed whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// How many names are tried for a temporary file.
const ATTEMPTS: usize = 100;

/// Adds a line to a log, not through a link, and without waiting for a pipe. A log that is too long is put aside first,
/// in place of the one that was put aside before.
pub(crate) fn append(path: &Path, line: &str, longest: u64) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() > longest) {
        fs::rename(path, path.with_extension("old"))?;
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    // At once, so that lines of two processes don't mix.
    file.write_all(line.as_bytes())
}

/// Gives a file another name in its folder, in place of what has it. Whether there was one.
pub(crate) fn put_aside(path: &Path, name: &str) -> io::Result<bool> {
    match fs::rename(path, path.with_file_name(name)) {
        Ok(()) => sync_folder(path).map(|()| true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes the folders above a file.
pub(crate) fn make_room(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Removes a file.
pub(crate) fn remove(target: &Path) -> io::Result<()> {
    fs::remove_file(target)?;
    sync_folder(target)
}

/// Makes folders that are missing, and gives those that were made here.
pub(crate) fn make(missing: &[PathBuf]) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut made = Vec::new();
    for folder in missing {
        if let Err(error) = fs::create_dir(folder) {
            remove_empty(&made);
            return Err((folder.clone(), error));
        }
        made.push(folder.clone());
    }
    Ok(made)
}

/// Removes folders, the innermost first, until one is not empty. A link is none.
pub(crate) fn remove_empty(folders: &[PathBuf]) {
    let mut inwards = folders.iter().rev();
    // A folder that stays is no reason to fail: the hooks are gone.
    inwards.all(|folder| fs::remove_dir(folder).is_ok());
}

/// Replaces a file by one with the same owner and permissions.
pub(crate) fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    let old = fs::metadata(target)?;
    put(target, |temporary, file| {
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(&*file, Some(old.uid()), Some(old.gid()))?;
        }
        file.set_permissions(old.permissions())?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(temporary, target)
    })
}

/// Creates a file that must not be there yet.
pub(crate) fn create(target: &Path, content: &[u8]) -> io::Result<()> {
    put(target, |temporary, file| {
        file.write_all(content)?;
        file.sync_all()?;
        fs::hard_link(temporary, target)?;
        fs::remove_file(temporary)
    })
}

/// Makes a folder that only this user can look into, and those above it.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    make_room(folder)?;
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Creates a file, for this user alone, that must not be there yet.
pub(crate) fn create_private(target: &Path, content: &[u8]) -> io::Result<()> {
    put(target, |temporary, file| {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(content)?;
        fs::hard_link(temporary, target)?;
        fs::remove_file(temporary)
    })
}

/// Writes a file for this user alone, in place of what is there.
pub(crate) fn replace_private(target: &Path, content: &[u8]) -> io::Result<()> {
    put(target, |temporary, file| {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(content)?;
        fs::rename(temporary, target)
    })
}

/// Makes a temporary file beside the one that is meant, and lets `settle` fill it and give it its name.
fn put(target: &Path, settle: impl FnOnce(&Path, &mut File) -> io::Result<()>) -> io::Result<()> {
    let (temporary, mut file) = temporary(target)?;
    if let Err(error) = settle(&temporary, &mut file) {
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    sync_folder(target)
}

fn temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    let name = target.file_name().ok_or(ErrorKind::InvalidInput)?;
    for number in 0..ATTEMPTS {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{number}.new", std::process::id()));
        let temporary = target.with_file_name(temporary);
        match File::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn sync_folder(target: &Path) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    File::open(folder)?.sync_all()
}
