//! Linux: orphans become children of this process, and `/proc` tells the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};

use super::Reach;
use super::hunt::{Hunt, NAMED, Prey, glimpse, hunt};
use super::owner::{Learnt, Owner, by_mark, by_signs, owners};
use super::table::{self, Life, Process, Table};
use crate::process::error::ClaimError;
use crate::process::program::Leftover;
use crate::process::registry::{Runs, roots, runs};
use crate::process::root::Root;

/// How long is looked for processes that are too quick to be seen in a list of all.
const GLIMPSE: Duration = Duration::from_millis(20);

static CLAIMED: AtomicBool = AtomicBool::new(false);

fn is_claimed() -> bool {
    CLAIMED.load(Ordering::SeqCst)
}

pub(super) fn claim() -> Result<Reach, ClaimError> {
    if !table::is_usable() {
        return Ok(Reach::Group);
    }
    notice_children()?;
    set_child_subreaper(Some(getpid())).map_err(std::io::Error::from)?;
    CLAIMED.store(true, Ordering::SeqCst);
    Ok(Reach::Tree)
}

/// Whoever started this process may have made it ignore the end of its children; then the system reaps them at once,
/// and their status and their ids are lost. A handler, even an idle one, undoes that.
fn notice_children() -> Result<(), ClaimError> {
    const CHILD: u32 = signal_hook::consts::SIGCHLD.unsigned_abs();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    if ignored.is_some_and(|mask| mask >> (CHILD - 1) & 1 == 1) {
        let idle = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGCHLD, idle)?;
    }
    Ok(())
}

/// The processes of one run.
#[derive(Debug)]
pub(in crate::process) struct Tree {
    number: u64,
    root: u32,
    learnt: Learnt,
    /// Whether there was ever more than the root.
    grown: Growth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    None,
    Possible,
}

impl Tree {
    pub(in crate::process) fn new(number: u64, root: &Root) -> Self {
        Self {
            number,
            root: root.id(),
            learnt: Learnt::default(),
            grown: Growth::None,
        }
    }

    /// Finds its processes while their parents live, so that they are known when these are gone.
    pub(in crate::process) fn survey(&mut self) {
        self.grown = Growth::Possible;
        self.members(&table::processes(), Life::is_alive);
    }

    /// What lives of it, apart from the root, now that the root has ended.
    pub(in crate::process) fn alive(&mut self) -> Vec<Leftover> {
        if !has_orphans() {
            return Vec::new();
        }
        self.grown = Growth::Possible;
        let mut alive = self.members(&near(), Life::is_alive);
        alive.retain(|process| process.id != self.root);
        if alive.is_empty() && is_claimed() {
            alive.extend(glimpse(|child| self.is_mine(child, &runs()), GLIMPSE));
        }
        describe(&alive)
    }

    /// Kills all of it, with the root, and gives what could not be killed.
    pub(in crate::process) fn kill(&mut self, root: &Root) -> Vec<Leftover> {
        self.grown = Growth::Possible;
        describe(&hunt(&mut WholeTree { tree: self, root }).survivors)
    }

    fn is_mine(&self, child: &Process, runs: &Runs) -> bool {
        self.judge(child, Owner::Host, runs) == Owner::Run(self.number)
    }

    /// Reaps those that have ended and whose parent is this process; the root is not one of them.
    pub(in crate::process) fn reap(&mut self) {
        if self.grown == Growth::None {
            return;
        }
        let ended = self.members(&near(), |life| life == Life::Ended);
        let runs = runs();
        let is_root = |id| runs.values().any(|run| run.root == id);
        for process in ended {
            if process.parent == std::process::id() && !is_root(process.id) {
                reap(process.id);
            }
        }
    }

    fn members(&mut self, among: &Table, wanted: impl Fn(Life) -> bool) -> Vec<Process> {
        let runs = runs().clone();
        let owners = owners(among, |process, above| self.judge(process, above, &runs));
        let mine = |process: &&Process| owners.get(&process.id) == Some(&Owner::Run(self.number));
        let members: Vec<Process> = among.values().filter(mine).cloned().collect();
        self.learn(&members);
        let wanted = |process: &Process| wanted(process.life);
        members.into_iter().filter(wanted).collect()
    }

    fn judge(&self, process: &Process, above: Owner, runs: &Runs) -> Owner {
        let root = runs.iter().find(|(_, run)| run.root == process.id);
        if let Some((number, _)) = root {
            return Owner::Run(*number);
        }
        let run = match above {
            Owner::Run(number) => Some(number),
            Owner::Host => by_signs(process, runs, self.number, &self.learnt),
            // Everything that a run starts is a descendant of a process that has claimed it.
            Owner::Nobody if is_claimed() => None,
            Owner::Nobody => by_mark(process, runs),
        };
        run.map_or(above, Owner::Run)
    }

    fn learn(&mut self, members: &[Process]) {
        let identities = members.iter().map(Process::identity);
        self.learnt.members.extend(identities);
        // A process that is no descendant may be in anybody's session.
        if is_claimed() {
            let own = table::process(std::process::id()).map(|own| own.session);
            let sessions = members.iter().map(|process| process.session);
            let sessions = sessions.filter(|session| Some(*session) != own && *session != 0);
            self.learnt.sessions.extend(sessions);
        }
    }
}

/// A run's tree, while its root is there to be signaled.
struct WholeTree<'a> {
    tree: &'a mut Tree,
    root: &'a Root,
}

impl Prey for WholeTree<'_> {
    fn signal_group(&self, signal: Signal) {
        self.root.signal_group(signal);
    }

    fn look(&mut self) -> Vec<Process> {
        self.tree.members(&table::processes(), Life::is_alive)
    }

    fn includes(&self, child: &Process) -> bool {
        is_claimed() && self.tree.is_mine(child, &runs())
    }
}

impl Life {
    fn is_alive(self) -> bool {
        self != Self::Ended
    }
}

/// Where a run's processes are when its root has ended.
fn near() -> Table {
    if is_claimed() {
        table::family(&roots())
    } else {
        table::processes()
    }
}

/// Whether this process has children that are not roots of runs; also if one can't tell.
fn has_orphans() -> bool {
    // Held while looking: nothing is reaped meanwhile.
    let runs = runs();
    let is_root = |id: &u32| runs.values().any(|run| run.root == *id);
    !is_claimed() || table::own_children().is_none_or(|ids| !ids.iter().all(is_root))
}

fn describe(processes: &[Process]) -> Vec<Leftover> {
    let first = processes.iter().take(NAMED);
    first.map(Process::describe).collect()
}

fn reap(id: u32) {
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let _ = retry_on_intr(|| waitid(WaitId::Pid(id), options));
    }
}

/// The descendants of this process, without those in `spare` and what is below them.
fn descendants(spare: &[u32], wanted: impl Fn(Life) -> bool) -> Vec<Process> {
    let own = std::process::id();
    let all = table::processes();
    let owners = owners(&all, |process, above| match above {
        Owner::Host if spare.contains(&process.id) => Owner::Nobody,
        above => above,
    });
    let below = |process: &Process| {
        process.id != own && owners.get(&process.id) == Some(&Owner::Host) && wanted(process.life)
    };
    all.into_values().filter(below).collect()
}

/// Descendants of this process.
struct Descendants {
    spare: Vec<u32>,
}

impl Prey for Descendants {
    fn signal_group(&self, _: Signal) {}

    fn look(&mut self) -> Vec<Process> {
        descendants(&self.spare, Life::is_alive)
    }

    fn includes(&self, child: &Process) -> bool {
        !self.spare.contains(&child.id)
    }
}

fn kill_descendants(spare: &[u32]) -> Hunt {
    let spare = spare.to_vec();
    hunt(&mut Descendants { spare })
}

pub(super) fn sweep(spare: &[u32]) -> Vec<Leftover> {
    let mut spare = spare.to_vec();
    spare.extend(roots());
    // What has no children has no descendants. It is nearly always so, and looking at all processes is dear.
    if table::own_children().is_some_and(|ids| ids.iter().all(|id| spare.contains(id))) {
        return Vec::new();
    }
    let hunt = kill_descendants(&spare);
    let _still = runs();
    for process in descendants(&spare, |life| life == Life::Ended) {
        if process.parent == std::process::id() {
            reap(process.id);
        }
    }
    hunt.found.into_values().collect()
}

pub(super) fn kill_everything() {
    kill_descendants(&[]);
}
