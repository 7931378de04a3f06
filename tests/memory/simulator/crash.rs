//! The disks that a power cut can leave behind.

use ralph_gate::memory::disk::Folder;
use ralph_gate_tests::random::Random;

use super::disk::{Image, Inode, Op};

/// A disk at some point: what is durable, and the operations since that are not.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    durable: Image,
    pending: Vec<Op>,
}

impl Moment {
    pub(crate) fn new(durable: Image) -> Self {
        Self {
            durable,
            pending: Vec::new(),
        }
    }

    /// Goes one operation on.
    pub(crate) fn step(&mut self, op: &Op) {
        match op {
            Op::Sync(inode) => self.settle(|op| is_data_of(op, *inode)),
            Op::SyncFolder(folder) => self.settle(|op| is_name_in(op, *folder)),
            Op::Acknowledged(_) => {}
            op => self.pending.push(op.clone()),
        }
    }

    fn settle(&mut self, is_synced: impl Fn(&Op) -> bool) {
        for op in self.pending.extract_if(.., |op| is_synced(op)) {
            self.durable.apply(&op);
        }
    }

    /// Every disk that can be left, or `limit` of them where there are more. True if it is every one.
    pub(crate) fn crashes(&self, limit: usize, random: &mut Random) -> (Vec<Image>, bool) {
        let choices: Vec<Vec<Fate>> = self.pending.iter().map(fates).collect();
        let total = choices
            .iter()
            .try_fold(1_usize, |total, fates| total.checked_mul(fates.len()));
        match total {
            Some(total) if total <= limit => (
                (0..total)
                    .map(|index| self.leave(&nth(&choices, index)))
                    .collect(),
                true,
            ),
            _ => (self.sample(&choices, limit, random), false),
        }
    }

    /// Of the simple ones, in which one operation has another fate than the rest, and of random ones.
    fn sample(&self, choices: &[Vec<Fate>], limit: usize, random: &mut Random) -> Vec<Image> {
        let mut simple = simple(choices);
        let mut images = Vec::with_capacity(limit);
        while images.len() < limit {
            let fates = if simple.is_empty() || random.once_in(4) {
                choices.iter().map(|fates| random.pick(fates)).collect()
            } else {
                simple.swap_remove(random.index(simple.len()))
            };
            images.push(self.leave(&fates));
        }
        images
    }

    fn leave(&self, fates: &[Fate]) -> Image {
        let mut image = self.durable.clone();
        for (op, fate) in self.pending.iter().zip(fates) {
            fate.carry_out(op, &mut image);
        }
        image
    }
}

/// Everything up to some operation, and all but one or none but one.
fn simple(choices: &[Vec<Fate>]) -> Vec<Vec<Fate>> {
    let count = choices.len();
    let mut simple: Vec<Vec<Fate>> = (0..=count)
        .map(|split| {
            (0..count)
                .map(|index| Fate::applied_if(index < split))
                .collect()
        })
        .collect();
    for rest in [Fate::Applied, Fate::Dropped] {
        for (index, fates) in choices.iter().enumerate() {
            for fate in fates {
                let mut all = vec![rest; count];
                all[index] = *fate;
                simple.push(all);
            }
        }
    }
    simple
}

fn is_data_of(op: &Op, file: Inode) -> bool {
    matches!(op, Op::Write { inode, .. } | Op::Cut { inode, .. } if *inode == file)
}

fn is_name_in(op: &Op, folder: Folder) -> bool {
    match op {
        Op::Link { place, .. } | Op::Unlink { place } => place.folder() == folder,
        Op::Rename { from, to, .. } => from.folder() == folder || to.folder() == folder,
        Op::Exchange { one, other } => one.0.folder() == folder || other.0.folder() == folder,
        Op::MakeFolder(_) => folder == Folder::Session,
        _ => false,
    }
}

/// What becomes of an operation that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Applied,
    Dropped,
    /// Only so many bytes were written.
    Short(usize),
    /// So many bytes were written, and the rest of the file's new length is zeros.
    Zeros(usize),
}

impl Fate {
    fn applied_if(applied: bool) -> Self {
        if applied {
            Self::Applied
        } else {
            Self::Dropped
        }
    }

    fn carry_out(self, op: &Op, image: &mut Image) {
        match (self, op) {
            (Self::Applied, op) => image.apply(op),
            (
                Self::Short(len),
                Op::Write {
                    inode,
                    offset,
                    bytes,
                },
            ) => image.apply(&Op::Write {
                inode: *inode,
                offset: *offset,
                bytes: bytes[..len].to_vec(),
            }),
            (
                Self::Zeros(len),
                Op::Write {
                    inode,
                    offset,
                    bytes,
                },
            ) => {
                let mut bytes = bytes.clone();
                bytes[len..].fill(0);
                image.apply(&Op::Write {
                    inode: *inode,
                    offset: *offset,
                    bytes,
                });
            }
            (Self::Dropped | Self::Short(_) | Self::Zeros(_), _) => {}
        }
    }
}

/// A write can be torn in its middle, and where a sector or a page ends.
fn fates(op: &Op) -> Vec<Fate> {
    let mut fates = vec![Fate::Applied, Fate::Dropped];
    if let Op::Write { offset, bytes, .. } = op {
        let mut tears = vec![bytes.len() / 2];
        for size in [512, 4096] {
            let boundary = (offset / size + 1) * size - offset;
            if boundary < bytes.len() {
                tears.push(boundary);
            }
        }
        tears.retain(|tear| *tear > 0);
        tears.dedup();
        fates.extend(tears.iter().map(|tear| Fate::Short(*tear)));
        fates.extend(tears.iter().map(|tear| Fate::Zeros(*tear)));
        fates.push(Fate::Zeros(0));
    }
    fates
}

/// The choice with that number, of all that there are.
fn nth(choices: &[Vec<Fate>], mut index: usize) -> Vec<Fate> {
    let mut chosen = Vec::with_capacity(choices.len());
    for fates in choices {
        chosen.push(fates[index % fates.len()]);
        index /= fates.len();
    }
    chosen
}
