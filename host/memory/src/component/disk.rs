//! The disk as the world gives it.

use std::io;

use super::bindings::ralph::gate::disk as wit;
use crate::disk::{Action, Disk, DiskError, DiskResult, Durability, Folder, Place, Refusal, Stamp};

/// The session's folder that the instance was made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Imported;

impl Disk for Imported {
    fn name(&self) -> String {
        wit::name()
    }

    fn guard(&self) -> DiskResult<()> {
        wit::guard().map_err(failed)
    }

    fn list(&self, folder: Folder) -> DiskResult<Option<Vec<String>>> {
        let mut names = wit::names(lower(folder)).map_err(failed)?;
        // Whatever order the language has: ours is that of the bytes.
        if let Some(names) = &mut names {
            names.sort_unstable();
        }
        Ok(names)
    }

    fn stamp(&self, place: &Place) -> DiskResult<Option<Stamp>> {
        let found = wit::stat(&at(place)).map_err(failed)?;
        Ok(found.as_ref().map(stamp))
    }

    fn read(&self, place: &Place, from: u64) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        let found = wit::read(&at(place), from).map_err(failed)?;
        Ok(found.map(|content| {
            let stamp = stamp(&content.stamp);
            (bytes_of(content.bytes), stamp)
        }))
    }

    fn create(&self, place: &Place, bytes: &[u8], durability: Durability) -> DiskResult<Stamp> {
        let synced = durability == Durability::Synced;
        let made = wit::create(&at(place), &content(bytes), synced).map_err(failed)?;
        Ok(stamp(&made))
    }

    fn append(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp> {
        let longer = wit::append(&at(place), &content(bytes)).map_err(failed)?;
        Ok(stamp(&longer))
    }

    fn cut(&self, place: &Place, len: u64) -> DiskResult<()> {
        wit::cut(&at(place), len).map_err(failed)
    }

    fn sync(&self, place: &Place) -> DiskResult<()> {
        wit::sync(&at(place)).map_err(failed)
    }

    fn rename(&self, from: &Place, to: &Place) -> DiskResult<()> {
        wit::rename(&at(from), &at(to)).map_err(failed)
    }

    fn exchange(&self, one: &Place, other: &Place) -> DiskResult<bool> {
        wit::exchange(&at(one), &at(other)).map_err(failed)
    }

    fn remove(&self, place: &Place) -> DiskResult<()> {
        wit::remove(&at(place)).map_err(failed)
    }

    fn make_folder(&self, folder: Folder) -> DiskResult<()> {
        wit::make_folder(lower(folder)).map_err(failed)
    }

    fn sync_folder(&self, folder: Folder) -> DiskResult<()> {
        wit::sync_folder(lower(folder)).map_err(failed)
    }
}

fn lower(folder: Folder) -> wit::Folder {
    match folder {
        Folder::Session => wit::Folder::Session,
        Folder::Checkpoints => wit::Folder::Checkpoints,
        Folder::Quarantine => wit::Folder::Quarantine,
    }
}

fn at(place: &Place) -> wit::Place {
    wit::Place {
        folder: lower(place.folder()),
        name: place.name().to_owned(),
    }
}

fn bytes_of(bytes: wit::Bytes) -> Vec<u8> {
    match bytes {
        wit::Bytes::Text(text) => text.into_bytes(),
        wit::Bytes::Raw(bytes) => bytes,
    }
}

fn content(bytes: &[u8]) -> wit::Bytes {
    match str::from_utf8(bytes) {
        Ok(text) => wit::Bytes::Text(text.to_owned()),
        Err(_) => wit::Bytes::Raw(bytes.to_vec()),
    }
}

/// Stamps are only compared: a digest tells one text from another as well as the text itself.
fn stamp(stamp: &wit::Stamp) -> Stamp {
    let digest = blake3::hash(stamp.version.as_bytes());
    let mut version = [0; 5];
    for (word, bytes) in version.iter_mut().zip(digest.as_bytes().as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    Stamp {
        len: stamp.length,
        version,
    }
}

fn failed(error: wit::DiskError) -> DiskError {
    match why(error.kind) {
        Why::Refused(what) => DiskError::refused(error.place, what),
        Why::Io(kind) => {
            let said = io::Error::new(kind, error.message);
            DiskError::io(action(error.action), error.place, said)
        }
    }
}

/// The two ways in which a disk says no.
enum Why {
    Refused(Refusal),
    Io(io::ErrorKind),
}

fn why(kind: wit::DiskErrorKind) -> Why {
    use wit::DiskErrorKind as Kind;
    match kind {
        Kind::NotFound => Why::Io(io::ErrorKind::NotFound),
        Kind::AlreadyExists => Why::Io(io::ErrorKind::AlreadyExists),
        Kind::PermissionDenied => Why::Io(io::ErrorKind::PermissionDenied),
        Kind::ReadOnly => Why::Io(io::ErrorKind::ReadOnlyFilesystem),
        Kind::Full => Why::Io(io::ErrorKind::StorageFull),
        Kind::Other => Why::Io(io::ErrorKind::Other),
        Kind::SymbolicLink => Why::Refused(Refusal::SymbolicLink),
        Kind::HardLink => Why::Refused(Refusal::HardLink),
        Kind::IsFolder => Why::Refused(Refusal::Folder),
        Kind::NotAFolder => Why::Refused(Refusal::NotAFolder),
        Kind::Special => Why::Refused(Refusal::Special),
        Kind::Swapped => Why::Refused(Refusal::Swapped),
        Kind::TooLarge => Why::Refused(Refusal::TooLarge),
    }
}

fn action(action: wit::Action) -> Action {
    match action {
        wit::Action::Read => Action::Read,
        wit::Action::Write => Action::Write,
        wit::Action::Sync => Action::Sync,
        wit::Action::Rename => Action::Rename,
        wit::Action::Remove => Action::Remove,
        wit::Action::Lock => Action::Lock,
    }
}
