//! A disk that loses power.
//!
//! [`disk`] records every operation and knows which of them a sync made durable. [`crash`] makes the disks that a
//! power cut can leave behind: of what was not synced, each operation is applied, dropped, or torn. [`explore`] runs
//! a script of saves, edits and restarts, cuts the power at every point of it and of the recovery that follows, and
//! checks what [`check`] demands. [`broken`] are protocols with a mistake, which it must find.

pub(crate) mod broken;
mod check;
mod crash;
mod disk;
pub(crate) mod explore;
mod script;

pub(crate) use disk::{Image, SimDisk};
pub(crate) use explore::{Extent, Tally};
pub(crate) use script::{Script, Step, snapshot};
