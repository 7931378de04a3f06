//! Kills processes that may be starting others meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::table::{Life, Process, own_children, process};
use crate::process::program::Leftover;
use crate::process::registry::roots;

/// How many processes are named in a list for people.
pub(super) const NAMED: usize = 64;
/// How often is looked for processes that were not stopped yet.
const FREEZE_ROUNDS: u32 = 30;
/// How often is looked for processes that are still alive; about two seconds in all.
const KILL_ROUNDS: u32 = 110;
/// How often a process is stopped that fled before all of this, and how long each is chased.
const HUNTS: u32 = 10;
const CHASE: Duration = Duration::from_millis(500);
/// The longest pause between two looks.
const PAUSE: u32 = 20;

/// What a hunt found.
#[derive(Debug, Default)]
pub(super) struct Hunt {
    /// What was alive at its beginning or came up meanwhile; the first of them.
    pub(super) found: BTreeMap<u32, Leftover>,
    /// What was alive at its end.
    pub(super) survivors: Vec<Process>,
}

/// What is hunted.
pub(super) trait Prey {
    /// Signals a whole process group at one instant, which no process in it can escape by starting another one.
    fn signal_group(&self, signal: Signal);
    /// What lives of it now.
    fn look(&mut self) -> Vec<Process>;
    /// Whether a child of this process belongs to it.
    fn includes(&self, child: &Process) -> bool;
}

/// Kills all of it, until there is nothing left.
pub(super) fn hunt(prey: &mut impl Prey) -> Hunt {
    let mut hunt = Hunt::default();
    for _ in 0..HUNTS {
        prey.signal_group(Signal::STOP);
        freeze(&mut hunt, prey);
        kill(&mut hunt, prey);
        let includes = |child: &Process| prey.includes(child);
        let Some(fleeing) = glimpse(includes, CHASE) else {
            break;
        };
        fleeing.signal(Signal::STOP);
    }
    hunt
}

fn kill(hunt: &mut Hunt, prey: &mut impl Prey) {
    for round in 0..KILL_ROUNDS {
        prey.signal_group(Signal::KILL);
        hunt.survivors = prey.look();
        if hunt.survivors.is_empty() {
            return;
        }
        note(&mut hunt.found, &hunt.survivors);
        for process in &hunt.survivors {
            process.signal(Signal::KILL);
        }
        thread::sleep(Duration::from_millis(u64::from(round.min(PAUSE))));
    }
}

/// Finds a living child of this process that is too quick for a look at all processes: one that lives for less than
/// that takes, but has started its successor. Ends when no child has come any more, or after so long.
pub(super) fn glimpse(includes: impl Fn(&Process) -> bool, patience: Duration) -> Option<Process> {
    let deadline = Instant::now() + patience;
    let mut known = BTreeSet::new();
    while Instant::now() < deadline {
        let mut children = own_children()?;
        for root in roots() {
            children.remove(&root);
        }
        let fresh: Vec<u32> = children.difference(&known).copied().collect();
        if fresh.is_empty() {
            return None;
        }
        // The newest has the longest life before it.
        for id in fresh.iter().rev() {
            if let Some(child) = process(*id)
                && child.life != Life::Ended
                && includes(&child)
            {
                return Some(child);
            }
        }
        known = children;
    }
    None
}

/// Stops everything first: a process that is stopped starts no other one, and who was whose parent stays visible.
fn freeze(hunt: &mut Hunt, prey: &mut impl Prey) {
    let mut stopped = BTreeSet::new();
    for _ in 0..FREEZE_ROUNDS {
        let alive = prey.look();
        note(&mut hunt.found, &alive);
        for process in &alive {
            if stopped.insert(process.identity()) {
                process.signal(Signal::STOP);
            }
        }
        if alive.iter().all(|process| process.life == Life::Stopped) {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn note(found: &mut BTreeMap<u32, Leftover>, alive: &[Process]) {
    for process in alive {
        if found.len() >= NAMED {
            return;
        }
        found
            .entry(process.id)
            .or_insert_with(|| process.describe());
    }
}
