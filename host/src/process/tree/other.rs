//! Other Unix systems: all that can be reached is a program's process group.

use rustix::process::{Pid, Signal, kill_process_group};

use super::Reach;
use crate::process::error::ClaimError;
use crate::process::program::Leftover;
use crate::process::registry::runs;
use crate::process::root::Root;

#[allow(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
pub(super) fn claim() -> Result<Reach, ClaimError> {
    Ok(Reach::Group)
}

/// The processes of one run.
#[derive(Debug)]
pub(in crate::process) struct Tree;

#[allow(
    clippy::unused_self,
    reason = "on Linux there is something to remember"
)]
impl Tree {
    pub(in crate::process) fn new(_: u64, _: &Root) -> Self {
        Self
    }

    /// Nothing can be found.
    pub(in crate::process) fn survey(&mut self) {}

    /// Nothing that could be told.
    pub(in crate::process) fn alive(&mut self) -> Vec<Leftover> {
        Vec::new()
    }

    /// Kills the process group.
    pub(in crate::process) fn kill(&mut self, root: &Root) -> Vec<Leftover> {
        root.signal_group(Signal::KILL);
        Vec::new()
    }

    /// Orphans are not children of this process here.
    pub(in crate::process) fn reap(&mut self) {}
}

pub(super) fn sweep(_: &[u32]) -> Vec<Leftover> {
    Vec::new()
}

pub(super) fn kill_everything() {
    for run in runs().values() {
        if let Some(root) = i32::try_from(run.root).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(root, Signal::KILL);
        }
    }
}
