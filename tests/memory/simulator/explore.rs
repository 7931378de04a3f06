//! Cuts the power at every point of a life, and again at every point of the recovery.

use std::collections::BTreeSet;
use std::fmt;

use ralph_gate::memory::disk::Disk;
use ralph_gate_tests::random::Random;

use super::check::{Recovered, recover};
use super::crash::Moment;
use super::disk::{Image, Op, SimDisk};
use super::script::{Life, Script};

/// How many disks are looked at for each point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Where the power is cut during a life.
    pub(crate) life: usize,
    /// Where it is cut during a recovery.
    pub(crate) recovery: usize,
    /// One recovery in so many is cut.
    pub(crate) once_in: u32,
}

/// What was looked at, and what was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) scripts: u64,
    /// Points at which the power was cut.
    pub(crate) points: u64,
    /// Of these, with every disk that can be left.
    pub(crate) complete: u64,
    /// Different disks.
    pub(crate) disks: u64,
    /// Of these, after a second cut during recovery.
    pub(crate) second: u64,
    pub(crate) violations: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.scripts += other.scripts;
        self.points += other.points;
        self.complete += other.complete;
        self.disks += other.disks;
        self.second += other.second;
        self.violations.extend(other.violations);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} scripts, {} crash points ({} with every disk they can leave), {} different disks ({} after a second \
             crash), {} violations",
            self.scripts,
            self.points,
            self.complete,
            self.disks,
            self.second,
            self.violations.len()
        )
    }
}

/// Explores a script on the disk as it is.
pub(crate) fn explore(script: &Script, extent: Extent, seed: u64) -> Tally {
    explore_with(script, extent, seed, |sim| sim)
}

/// Explores a script with a protocol around the disk.
pub(crate) fn explore_with<D: Disk>(
    script: &Script,
    extent: Extent,
    seed: u64,
    wrap: impl Fn(SimDisk) -> D,
) -> Tally {
    let life = script.live(wrap);
    let mut explorer = Explorer {
        life: &life,
        extent,
        random: Random::new(seed),
        seen: BTreeSet::new(),
        tally: Tally {
            scripts: 1,
            ..Tally::default()
        },
        name: format!("{:?} (seed {seed})", script.steps),
    };
    explorer.life();
    explorer.tally
}

struct Explorer<'l> {
    life: &'l Life,
    extent: Extent,
    random: Random,
    seen: BTreeSet<([u8; 32], usize)>,
    tally: Tally,
    name: String,
}

impl Explorer<'_> {
    fn life(&mut self) {
        let mut moment = Moment::new(Image::default());
        let mut acknowledged = 0;
        for (index, op) in self.life.log.iter().enumerate() {
            moment.step(op);
            if let Op::Acknowledged(revision) = op {
                acknowledged = *revision;
            }
            let (images, complete) = moment.crashes(self.extent.life, &mut self.random);
            self.tally.points += 1;
            self.tally.complete += u64::from(complete);
            for image in images {
                if let Some(recovered) = self.look(&image, acknowledged, index, None)
                    && self.random.once_in(self.extent.once_in)
                {
                    self.recovery(&image, &recovered, index);
                }
            }
            if self.tally.violations.len() > 3 {
                return;
            }
        }
    }

    /// Cuts the power again. What a recovery has shown must not be lost by the next one.
    fn recovery(&mut self, image: &Image, recovered: &Recovered, index: usize) {
        let mut moment = Moment::new(image.clone());
        for (step, op) in recovered.log.iter().enumerate() {
            moment.step(op);
            let (images, _) = moment.crashes(self.extent.recovery, &mut self.random);
            for image in images {
                if self
                    .look(&image, recovered.revision, index, Some(step))
                    .is_some()
                {
                    self.tally.second += 1;
                }
            }
        }
    }

    /// Looks at a disk, unless it was looked at before.
    fn look(
        &mut self,
        image: &Image,
        acknowledged: usize,
        index: usize,
        step: Option<usize>,
    ) -> Option<Recovered> {
        if !self.seen.insert((image.digest(), acknowledged)) {
            return None;
        }
        self.tally.disks += 1;
        match recover(image, acknowledged, self.life) {
            Ok(recovered) => Some(recovered),
            Err(violation) => {
                let again = step.map_or_else(String::new, |step| {
                    format!(", and again at {step} of the recovery")
                });
                let op = &self.life.log[index];
                let place = format!(
                    "{}: power cut after operation {index} ({}){again}",
                    self.name,
                    shorten(op)
                );
                self.tally
                    .violations
                    .push(format!("{place}: {violation}\n  disk: {}", describe(image)));
                None
            }
        }
    }
}

fn shorten(op: &Op) -> String {
    format!("{op:?}").chars().take(120).collect()
}

fn describe(image: &Image) -> String {
    let files = image.files();
    let files = files
        .iter()
        .map(|(name, content)| format!("{name} ({} bytes)", content.len()));
    files.collect::<Vec<_>>().join(", ")
}
