//! A session's folder in memory: for tests, and for hosts that have no disk.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;

use super::{Action, Disk, DiskError, DiskResult, Durability, Folder, Place, Stamp};

/// A disk that lives as long as the process.
#[derive(Debug, Default)]
pub struct Ram {
    files: RefCell<BTreeMap<Place, (Vec<u8>, u64)>>,
    changes: Cell<u64>,
}

impl Ram {
    fn change(&self) -> u64 {
        self.changes.set(self.changes.get() + 1);
        self.changes.get()
    }

    fn with<T>(
        &self,
        place: &Place,
        action: Action,
        change: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> DiskResult<T> {
        let version = self.change();
        match self.files.borrow_mut().get_mut(place) {
            Some((bytes, changed)) => {
                *changed = version;
                Ok(change(bytes))
            }
            None => Err(DiskError::io(action, place, io::ErrorKind::NotFound)),
        }
    }
}

fn stamp(bytes: &[u8], version: u64) -> Stamp {
    Stamp {
        len: bytes.len() as u64,
        version: [version, 0, 0, 0, 0],
    }
}

impl Disk for Ram {
    fn name(&self) -> String {
        "the session in memory".to_owned()
    }

    fn guard(&self) -> DiskResult<()> {
        Ok(())
    }

    fn list(&self, folder: Folder) -> DiskResult<Option<Vec<String>>> {
        let files = self.files.borrow();
        let places = files.keys().filter(|place| place.folder() == folder);
        Ok(Some(places.map(|place| place.name().to_owned()).collect()))
    }

    fn stamp(&self, place: &Place) -> DiskResult<Option<Stamp>> {
        let files = self.files.borrow();
        Ok(files
            .get(place)
            .map(|(bytes, version)| stamp(bytes, *version)))
    }

    fn read(&self, place: &Place, from: u64) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        let files = self.files.borrow();
        Ok(files.get(place).map(|(bytes, version)| {
            let from = usize::try_from(from).unwrap_or(usize::MAX);
            let rest = bytes.get(from..).unwrap_or_default().to_vec();
            (rest, stamp(bytes, *version))
        }))
    }

    fn create(&self, place: &Place, bytes: &[u8], _durability: Durability) -> DiskResult<Stamp> {
        let version = self.change();
        let mut files = self.files.borrow_mut();
        if files.contains_key(place) {
            return Err(DiskError::io(
                Action::Write,
                place,
                io::ErrorKind::AlreadyExists,
            ));
        }
        files.insert(place.clone(), (bytes.to_vec(), version));
        Ok(stamp(bytes, version))
    }

    fn append(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp> {
        let version = self.change();
        let mut files = self.files.borrow_mut();
        let (content, changed) = files.entry(place.clone()).or_default();
        content.extend_from_slice(bytes);
        *changed = version;
        Ok(stamp(content, version))
    }

    fn cut(&self, place: &Place, len: u64) -> DiskResult<()> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        self.with(place, Action::Write, |bytes| bytes.truncate(len))
    }

    fn sync(&self, place: &Place) -> DiskResult<()> {
        self.with(place, Action::Sync, |_| ())
    }

    fn rename(&self, from: &Place, to: &Place) -> DiskResult<()> {
        let mut files = self.files.borrow_mut();
        match files.remove(from) {
            Some(file) => {
                files.insert(to.clone(), file);
                Ok(())
            }
            None => Err(DiskError::io(Action::Rename, from, io::ErrorKind::NotFound)),
        }
    }

    fn exchange(&self, one: &Place, other: &Place) -> DiskResult<bool> {
        let mut files = self.files.borrow_mut();
        let (Some(first), Some(second)) = (files.get(one).cloned(), files.get(other).cloned())
        else {
            return Ok(false);
        };
        files.insert(one.clone(), second);
        files.insert(other.clone(), first);
        Ok(true)
    }

    fn remove(&self, place: &Place) -> DiskResult<()> {
        self.files.borrow_mut().remove(place);
        Ok(())
    }

    fn make_folder(&self, _folder: Folder) -> DiskResult<()> {
        Ok(())
    }

    fn sync_folder(&self, _folder: Folder) -> DiskResult<()> {
        Ok(())
    }
}
