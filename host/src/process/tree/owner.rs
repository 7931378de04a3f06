//! Tells which run a process belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;

use super::table::{Life, Process, Table, ids, read};
use crate::process::registry::{Run, Runs, VARIABLE};

/// The system allows no more for arguments and environment together.
const ENVIRONMENT_LIMIT: u64 = 8 << 20;
/// How many open files of one process are looked at.
const FILES: usize = 4096;
/// The bit in the mode of a link in `/proc/<id>/fd` that says that the file is open for writing.
const WRITES: u32 = 0o200;

/// What names an open pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::process) struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    /// The pipe behind a descriptor. None if the system won't say.
    pub(in crate::process) fn of(file: impl AsFd) -> Option<Self> {
        let stat = rustix::fs::fstat(file).ok()?;
        Some(Self {
            device: stat.st_dev,
            number: stat.st_ino,
        })
    }
}

/// Whom a process belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// It is no descendant of this process.
    Nobody,
    /// It is a descendant of this process, but of no run that one could tell.
    Host,
    /// It belongs to the run with this number.
    Run(u64),
}

/// Goes through all processes, parents before their children, and lets `judge` say whose each is, given its parent's
/// owner.
pub(super) fn owners(
    processes: &Table,
    mut judge: impl FnMut(&Process, Owner) -> Owner,
) -> BTreeMap<u32, Owner> {
    let mut owners = BTreeMap::from([(std::process::id(), Owner::Host)]);
    for process in processes.values() {
        let mut path = Vec::new();
        let mut at = Some(process);
        let mut owner = Owner::Nobody;
        while let Some(process) = at {
            if let Some(known) = owners.get(&process.id) {
                owner = *known;
                break;
            }
            // Processes come and go while they are listed: without this, two could be each other's parents.
            owners.insert(process.id, Owner::Nobody);
            path.push(process);
            let parent = processes.get(&process.parent);
            at = parent.filter(|parent| parent.start <= process.start);
        }
        for process in path.into_iter().rev() {
            owner = judge(process, owner);
            owners.insert(process.id, owner);
        }
    }
    owners
}

/// What one run has learnt about its own processes.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// Those that were seen in its tree.
    pub(super) members: BTreeSet<(u32, u64)>,
    /// The sessions that they made: nobody else can get into one.
    pub(super) sessions: BTreeSet<u32>,
}

/// Finds a process's run without the help of its ancestors. The first sign counts, the strongest comes first.
pub(super) fn by_signs(process: &Process, runs: &Runs, own: u64, learnt: &Learnt) -> Option<u64> {
    if learnt.members.contains(&process.identity()) {
        return Some(own);
    }
    by_mark(process, runs)
        .or_else(|| find(runs, |run| run.root == process.group))
        .or_else(|| learnt.sessions.contains(&process.session).then_some(own))
        .or_else(|| by_pipe(process, runs))
}

/// Finds a process's run by its mark alone: for processes that are no descendants of this one.
pub(super) fn by_mark(process: &Process, runs: &Runs) -> Option<u64> {
    if process.life == Life::Ended {
        return None;
    }
    let marks = marks(process);
    find(runs, |run| marks.contains(&run.mark))
}

fn find(runs: &Runs, is_it: impl Fn(&Run) -> bool) -> Option<u64> {
    runs.iter()
        .find_map(|(number, run)| is_it(run).then_some(*number))
}

fn marks(process: &Process) -> BTreeSet<String> {
    let path = format!("/proc/{}/environ", process.id);
    let environment = read(&path, ENVIRONMENT_LIMIT).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok())
        .filter_map(|entry| entry.strip_prefix(VARIABLE)?.strip_prefix('='))
        .flat_map(|value| value.split(':').map(str::to_owned))
        .collect()
}

/// Only what a run started can write to its pipes: this process holds the other end.
fn by_pipe(process: &Process, runs: &Runs) -> Option<u64> {
    if process.life == Life::Ended {
        return None;
    }
    let folder = format!("/proc/{}/fd", process.id);
    ids(&folder).into_iter().take(FILES).find_map(|file| {
        let path = format!("{folder}/{file}");
        let link = std::fs::symlink_metadata(&path).ok()?;
        if link.mode() & WRITES == 0 {
            return None;
        }
        let data = std::fs::metadata(&path).ok()?;
        let inode = Inode {
            device: data.dev(),
            number: data.ino(),
        };
        find(runs, |run| run.pipes.contains(&Some(inode)))
    })
}
