//! The simulated disk: what a process sees, and the log of how it came to be.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;

use ralph_gate::memory::disk::{
    Action, Disk, DiskError, DiskResult, Durability, Folder, Place, Stamp,
};

pub(crate) type Inode = u32;

/// The content of a disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) names: BTreeMap<Place, Inode>,
    pub(crate) inodes: BTreeMap<Inode, Vec<u8>>,
    pub(crate) folders: BTreeSet<Folder>,
}

/// One operation. Those on names say which file they are about, so that each can happen without the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    Write {
        inode: Inode,
        offset: usize,
        bytes: Vec<u8>,
    },
    Cut {
        inode: Inode,
        len: usize,
    },
    Link {
        place: Place,
        inode: Inode,
    },
    Unlink {
        place: Place,
    },
    Rename {
        from: Place,
        to: Place,
        inode: Inode,
    },
    Exchange {
        one: (Place, Inode),
        other: (Place, Inode),
    },
    MakeFolder(Folder),
    Sync(Inode),
    SyncFolder(Folder),
    /// A save was acknowledged.
    Acknowledged(usize),
}

impl Image {
    pub(crate) fn content(&self, place: &Place) -> Option<&Vec<u8>> {
        self.inodes.get(self.names.get(place)?)
    }

    /// Applies an operation as it was meant.
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Write {
                inode,
                offset,
                bytes,
            } => {
                let content = self.inodes.entry(*inode).or_default();
                if content.len() < offset + bytes.len() {
                    content.resize(offset + bytes.len(), 0);
                }
                content[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            Op::Cut { inode, len } => self.inodes.entry(*inode).or_default().resize(*len, 0),
            Op::Link { place, inode } => self.link(place, *inode),
            Op::Unlink { place } => drop(self.names.remove(place)),
            Op::Rename { from, to, inode } => {
                self.names.remove(from);
                self.link(to, *inode);
            }
            Op::Exchange { one, other } => {
                self.link(&one.0, other.1);
                self.link(&other.0, one.1);
            }
            Op::MakeFolder(folder) => drop(self.folders.insert(*folder)),
            Op::Sync(_) | Op::SyncFolder(_) | Op::Acknowledged(_) => {}
        }
    }

    fn link(&mut self, place: &Place, inode: Inode) {
        self.names.insert(place.clone(), inode);
        self.inodes.entry(inode).or_default();
        // A folder can't be missing if something in it is there.
        self.folders.insert(place.folder());
    }

    /// Names and contents: all that anybody can see.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let content = |inode| self.inodes.get(inode).cloned().unwrap_or_default();
        self.names
            .iter()
            .map(|(place, inode)| (place.to_string(), content(inode)))
            .collect()
    }

    pub(crate) fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for (name, content) in self.files() {
            hasher
                .update(&(name.len() as u64).to_le_bytes())
                .update(name.as_bytes());
            hasher
                .update(&(content.len() as u64).to_le_bytes())
                .update(&content);
        }
        for folder in &self.folders {
            hasher.update(folder.name().unwrap_or("").as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

#[derive(Debug, Default)]
struct World {
    image: Image,
    log: Vec<Op>,
    next: Inode,
    changes: BTreeMap<Inode, u64>,
    change: u64,
}

/// The disk as a process sees it. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimDisk(Rc<RefCell<World>>);

impl SimDisk {
    /// A disk on which everything is durable.
    pub(crate) fn new(image: Image) -> Self {
        let next = image.inodes.keys().max().map_or(0, |inode| inode + 1);
        Self(Rc::new(RefCell::new(World {
            image,
            next,
            ..World::default()
        })))
    }

    pub(crate) fn image(&self) -> Image {
        self.0.borrow().image.clone()
    }

    pub(crate) fn log(&self) -> Vec<Op> {
        self.0.borrow().log.clone()
    }

    pub(crate) fn acknowledge(&self, revision: usize) {
        self.op(Op::Acknowledged(revision));
    }

    pub(crate) fn op(&self, op: Op) {
        let mut world = self.0.borrow_mut();
        world.image.apply(&op);
        world.change += 1;
        let change = world.change;
        if let Op::Write { inode, .. } | Op::Cut { inode, .. } = &op {
            world.changes.insert(*inode, change);
        }
        world.log.push(op);
    }

    pub(crate) fn inode(&self, place: &Place) -> Option<Inode> {
        self.0.borrow().image.names.get(place).copied()
    }

    fn need(&self, place: &Place, action: Action) -> DiskResult<Inode> {
        self.inode(place)
            .ok_or_else(|| failed(action, place, io::ErrorKind::NotFound))
    }

    pub(crate) fn make(&self, place: &Place) -> Inode {
        let inode = {
            let mut world = self.0.borrow_mut();
            world.next += 1;
            world.next
        };
        self.op(Op::Link {
            place: place.clone(),
            inode,
        });
        inode
    }

    pub(crate) fn len(&self, inode: Inode) -> usize {
        self.0.borrow().image.inodes.get(&inode).map_or(0, Vec::len)
    }

    fn stamp_of(&self, inode: Inode) -> Stamp {
        let world = self.0.borrow();
        let change = world.changes.get(&inode).copied().unwrap_or_default();
        Stamp {
            len: world.image.inodes.get(&inode).map_or(0, Vec::len) as u64,
            version: [u64::from(inode), change, 0, 0, 1],
        }
    }
}

fn failed(action: Action, place: &Place, kind: io::ErrorKind) -> DiskError {
    DiskError::Io {
        action,
        place: place.to_string(),
        error: kind.into(),
    }
}

impl Disk for SimDisk {
    fn name(&self) -> String {
        "the simulated session".to_owned()
    }

    fn guard(&self) -> DiskResult<()> {
        Ok(())
    }

    fn list(&self, folder: Folder) -> DiskResult<Option<Vec<String>>> {
        let world = self.0.borrow();
        if folder != Folder::Session && !world.image.folders.contains(&folder) {
            return Ok(None);
        }
        let names = world
            .image
            .names
            .keys()
            .filter(|place| place.folder() == folder);
        let mut names: Vec<String> = names.map(|place| place.name().to_owned()).collect();
        if folder == Folder::Session {
            names.extend(
                world
                    .image
                    .folders
                    .iter()
                    .filter_map(|folder| folder.name())
                    .map(str::to_owned),
            );
        }
        names.sort();
        Ok(Some(names))
    }

    fn stamp(&self, place: &Place) -> DiskResult<Option<Stamp>> {
        Ok(self.inode(place).map(|inode| self.stamp_of(inode)))
    }

    fn read(&self, place: &Place, from: u64) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        let Some(inode) = self.inode(place) else {
            return Ok(None);
        };
        let stamp = self.stamp_of(inode);
        let world = self.0.borrow();
        let content = world
            .image
            .inodes
            .get(&inode)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let from = usize::try_from(from).unwrap();
        Ok(Some((
            content.get(from..).unwrap_or_default().to_vec(),
            stamp,
        )))
    }

    fn create(&self, place: &Place, bytes: &[u8], durability: Durability) -> DiskResult<Stamp> {
        if self.inode(place).is_some() {
            return Err(failed(Action::Write, place, io::ErrorKind::AlreadyExists));
        }
        let inode = self.make(place);
        self.op(Op::Write {
            inode,
            offset: 0,
            bytes: bytes.to_vec(),
        });
        if durability == Durability::Synced {
            self.op(Op::Sync(inode));
        }
        Ok(self.stamp_of(inode))
    }

    fn append(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp> {
        let inode = self.inode(place).unwrap_or_else(|| self.make(place));
        self.op(Op::Write {
            inode,
            offset: self.len(inode),
            bytes: bytes.to_vec(),
        });
        Ok(self.stamp_of(inode))
    }

    fn cut(&self, place: &Place, len: u64) -> DiskResult<()> {
        let inode = self.need(place, Action::Write)?;
        self.op(Op::Cut {
            inode,
            len: usize::try_from(len).unwrap(),
        });
        Ok(())
    }

    fn sync(&self, place: &Place) -> DiskResult<()> {
        let inode = self.need(place, Action::Sync)?;
        self.op(Op::Sync(inode));
        Ok(())
    }

    fn rename(&self, from: &Place, to: &Place) -> DiskResult<()> {
        let inode = self.need(from, Action::Rename)?;
        self.op(Op::Rename {
            from: from.clone(),
            to: to.clone(),
            inode,
        });
        Ok(())
    }

    fn exchange(&self, one: &Place, other: &Place) -> DiskResult<bool> {
        let (Some(left), Some(right)) = (self.inode(one), self.inode(other)) else {
            return Ok(false);
        };
        self.op(Op::Exchange {
            one: (one.clone(), left),
            other: (other.clone(), right),
        });
        Ok(true)
    }

    fn remove(&self, place: &Place) -> DiskResult<()> {
        if self.inode(place).is_some() {
            self.op(Op::Unlink {
                place: place.clone(),
            });
        }
        Ok(())
    }

    fn make_folder(&self, folder: Folder) -> DiskResult<()> {
        if !self.0.borrow().image.folders.contains(&folder) {
            self.op(Op::MakeFolder(folder));
        }
        Ok(())
    }

    fn sync_folder(&self, folder: Folder) -> DiskResult<()> {
        self.op(Op::SyncFolder(folder));
        Ok(())
    }
}
