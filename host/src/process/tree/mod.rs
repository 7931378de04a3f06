//! Everything that a program started, directly or not: found, killed and reaped.

#[cfg(target_os = "linux")]
mod hunt;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(target_os = "linux")]
mod owner;
#[cfg(target_os = "linux")]
mod table;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

#[cfg(target_os = "linux")]
pub(super) use owner::Inode;
pub(super) use system::Tree;
#[cfg(target_os = "linux")]
pub(super) use table::{process, read};

use super::error::ClaimError;
use super::program::Leftover;

/// What can be killed with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Everything that it started, directly or not.
    Tree,
    /// What stayed in its process group: this system can't do better, or its `/proc` can't be read.
    Group,
}

/// Makes this process the parent of everything that programs leave behind, and says how far it can reach from now on.
/// Call it once, before the first [`run`](super::run()). It concerns all children of this process, so it is for a
/// program and not for a library.
///
/// Without it, [`run`](super::run()) still looks for a program's processes, but more slowly, and it can miss some.
pub fn claim() -> Result<Reach, ClaimError> {
    system::claim()
}

/// Kills and reaps all descendants of this process, and gives those that were alive: at most 64 of them, by process
/// id. This gets the orphans that can't be told to belong to a run. Call it while no [`run`](super::run()) is under
/// way.
///
/// `spare` are processes that stay alive, with everything below them. Children that another part of this process
/// waits for belong there, even if they have ended already. On systems other than Linux it does nothing.
pub fn sweep(spare: &[u32]) -> Vec<Leftover> {
    system::sweep(spare)
}

/// Kills all descendants of this process, those of runs too, and reaps none: the end of this process does.
pub(super) fn kill_everything() {
    system::kill_everything();
}
