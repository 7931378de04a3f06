//! Protocols with a mistake. The simulator must find each of them.

use ralph_gate::memory::disk::{Disk, DiskResult, Durability, Folder, Place, Stamp};

use super::disk::SimDisk;

/// A mistake in how files are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// The folder is not synced after a checkpoint got its name.
    UnsyncedFolder,
    /// A checkpoint gets its name before its content is synced.
    EarlyRename,
    /// Old checkpoints are removed before the new one is synced.
    EarlyDelete,
    /// The logs are not synced before old checkpoints are removed.
    UnsyncedLogs,
}

/// A disk on which that mistake is made.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub(crate) sim: SimDisk,
    pub(crate) mistake: Mistake,
}

impl Broken {
    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }
}

impl Disk for Broken {
    fn name(&self) -> String {
        self.sim.name()
    }

    fn guard(&self) -> DiskResult<()> {
        self.sim.guard()
    }

    fn list(&self, folder: Folder) -> DiskResult<Option<Vec<String>>> {
        self.sim.list(folder)
    }

    fn stamp(&self, place: &Place) -> DiskResult<Option<Stamp>> {
        self.sim.stamp(place)
    }

    fn read(&self, place: &Place, from: u64) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        self.sim.read(place, from)
    }

    fn create(&self, place: &Place, bytes: &[u8], durability: Durability) -> DiskResult<Stamp> {
        let is_checkpoint = place.folder() == Folder::Checkpoints;
        if is_checkpoint && self.makes(Mistake::EarlyDelete) {
            for name in self.sim.list(Folder::Checkpoints)?.unwrap_or_default() {
                self.sim.remove(&Place::new(Folder::Checkpoints, &name))?;
            }
        }
        if is_checkpoint && self.makes(Mistake::EarlyRename) {
            return self.sim.create(place, bytes, Durability::Eventual);
        }
        self.sim.create(place, bytes, durability)
    }

    fn append(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp> {
        self.sim.append(place, bytes)
    }

    fn cut(&self, place: &Place, len: u64) -> DiskResult<()> {
        self.sim.cut(place, len)
    }

    fn sync(&self, place: &Place) -> DiskResult<()> {
        if self.makes(Mistake::UnsyncedLogs) {
            return Ok(());
        }
        self.sim.sync(place)
    }

    fn rename(&self, from: &Place, to: &Place) -> DiskResult<()> {
        self.sim.rename(from, to)?;
        if to.folder() == Folder::Checkpoints && self.makes(Mistake::EarlyRename) {
            return self.sim.sync(to);
        }
        Ok(())
    }

    fn exchange(&self, one: &Place, other: &Place) -> DiskResult<bool> {
        self.sim.exchange(one, other)
    }

    fn remove(&self, place: &Place) -> DiskResult<()> {
        self.sim.remove(place)
    }

    fn make_folder(&self, folder: Folder) -> DiskResult<()> {
        self.sim.make_folder(folder)
    }

    fn sync_folder(&self, folder: Folder) -> DiskResult<()> {
        if folder == Folder::Checkpoints && self.makes(Mistake::UnsyncedFolder) {
            return Ok(());
        }
        self.sim.sync_folder(folder)
    }
}
