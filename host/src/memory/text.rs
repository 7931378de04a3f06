//! Single files that a person named: written whole or not at all, and nothing that was there is lost.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::MemoryError;
use super::disk::{Action, DiskError};

/// The most old files that are kept beside each other.
const KEPT: usize = 1000;

/// Writes a text to a file that a person named, all of it or nothing, durable before the call returns.
pub fn save_text(path: &Path, text: &str) -> Result<(), MemoryError> {
    save_bytes(path, text.as_bytes())
}

/// The same for what is not text.
pub fn save_bytes(path: &Path, bytes: &[u8]) -> Result<(), MemoryError> {
    put(path, bytes, |temporary| fs::rename(temporary, path))?;
    sync_folder(path)
}

/// Writes a text in place of another one, all of it or nothing. After a power loss it may be either of them.
pub(crate) fn update_text(path: &Path, text: &str) -> Result<(), MemoryError> {
    put(path, text.as_bytes(), |temporary| {
        fs::rename(temporary, path)
    })
}

/// The same for a file that must not be there yet.
pub fn create_text(path: &Path, text: &str) -> Result<(), MemoryError> {
    put(path, text.as_bytes(), |temporary| {
        fs::hard_link(temporary, path)?;
        fs::remove_file(temporary)
    })?;
    sync_folder(path)
}

/// Writes a text in place of other files, each of which is kept under a name of its own. Gives the names: `.bak`, or
/// the first one with a number that nobody has.
pub fn replace_text(old: &[PathBuf], path: &Path, text: &str) -> Result<Vec<PathBuf>, MemoryError> {
    let kept = old.iter().map(|old| keep(old));
    let kept = kept.collect::<Result<Vec<PathBuf>, MemoryError>>()?;
    if old.iter().any(|old| old == path) {
        save_text(path, text)?;
    } else {
        create_text(path, text)?;
    }
    for other in old.iter().filter(|old| *old != path) {
        fs::remove_file(other).map_err(|error| failed(other, error))?;
    }
    sync_folder(path)?;
    Ok(kept)
}

/// Gives a file a second name that nobody has.
fn keep(path: &Path) -> Result<PathBuf, MemoryError> {
    for number in 1..=KEPT {
        let mut name = path.as_os_str().to_owned();
        name.push(match number {
            1 => ".bak".to_owned(),
            number => format!(".bak{number}"),
        });
        let kept = PathBuf::from(name);
        match fs::hard_link(path, &kept) {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&kept, error).into()),
        }
    }
    let full = io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("there are {KEPT} old ones already"),
    );
    Err(failed(path, full).into())
}

/// Writes a temporary file beside the one that is meant, and lets `settle` give it its name.
fn put(
    path: &Path,
    bytes: &[u8],
    settle: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), MemoryError> {
    let name = path
        .file_name()
        .ok_or_else(|| failed(path, io::ErrorKind::InvalidInput.into()))?;
    let mut temporary_name = OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(temporary_name);
    let written = File::create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        settle(&temporary)
    });
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(failed(path, error).into());
    }
    Ok(())
}

fn sync_folder(path: &Path) -> Result<(), MemoryError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new(".")));
    let synced = folder.and_then(|folder| folder.sync_all());
    Ok(synced.map_err(|error| failed(path, error))?)
}

fn failed(path: &Path, error: io::Error) -> DiskError {
    DiskError::io(Action::Write, path.display(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_is_there_is_not_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        create_text(&path, "first").unwrap();
        create_text(&path, "second").unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_is_replaced_is_kept_and_so_is_what_was_kept_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let other = folder.path().join("a.yaml");
        save_text(&path, "one").unwrap();
        save_text(&other, "other").unwrap();
        let old = [path.clone(), other];
        let kept = replace_text(&old, &path, "two").unwrap();
        assert!(kept[0].ends_with("a.toml.bak") && kept[1].ends_with("a.yaml.bak"));
        replace_text(&old[..1], &path, "three").unwrap();
        assert_eq!(
            names(folder.path()),
            ["a.toml", "a.toml.bak", "a.toml.bak2", "a.yaml.bak"]
        );
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            [
                read("a.toml"),
                read("a.toml.bak2"),
                read("a.toml.bak"),
                read("a.yaml.bak")
            ],
            ["three", "two", "one", "other"]
        );
    }
}
