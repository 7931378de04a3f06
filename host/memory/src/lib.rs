//! A loop's memory: what survives the process, the machine and the agent, on any [`disk`].
//!
//! No files, no clock, no locks: whoever has them implements [`disk::Disk`]. `ralph_gate::memory` does so for a folder,
//! and the component that this crate becomes lets other languages do so.
//!
//! What a save holds is on the disk when it returns. What is found to be missing, torn or edited when a session is
//! opened is restored, kept or set aside, and reported as [`Finding`]s; nothing is ever deleted because it can't be read.
//!
//! | file | content |
//! | --- | --- |
//! | `contract.json` | the pinned contract |
//! | `prd.json` | the checklist |
//! | `progress.txt` | learnings and log |
//! | `events.jsonl` | every event, each line bound to the one before by digests |
//! | `handoff.md` | what a person must know to go on |
//! | `checkpoints/` | the newest states, each of which can restore the others |
//! | `quarantine/` | what could not be used, with the reason |
//! | `lock` | held by the one process that writes |

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod change;
mod checkpoint;
#[cfg(feature = "component")]
mod component;
pub mod course;
pub mod digest;
mod digested;
pub mod disk;
mod error;
mod events;
mod finding;
mod gate;
mod holder;
mod key;
mod look;
mod portable;
mod prd;
mod progress;
mod quarantine;
mod recovery;
mod seal;
mod store;
mod under;
mod view;
mod whole;
mod write;

pub use change::{Change, Handoff, Saved, Snapshot, Start, State};
pub use digest::Digest;
pub use digested::TextDigest;
pub use error::MemoryError;
pub use events::{Break, Event, Record, inspect};
pub use finding::{Finding, FindingCode, paragraph};
pub use gate::Gate;
pub use holder::Holder;
pub use key::SessionKey;
pub use portable::Exported;
pub use seal::sealed;
pub use store::{InMemoryStore, Retention, Store};
pub use under::{Recording, RunRecord, Under};
pub use view::{FileReport, Listed, Reading, Standing, Verification, View};

use disk::Disk;
use ralph_gate_types::{Prd, ProgressLog};

/// Where a loop's state is kept between two iterations.
pub trait LoopMemoryStore {
    /// What the session holds.
    fn state(&self) -> State;

    /// What was found when it was opened.
    fn findings(&self) -> &[Finding];

    /// Remembers a change, all of it or nothing. When this returns, it is as durable as the store can make it.
    fn save(&mut self, change: &Change) -> Result<Saved, MemoryError>;

    /// The checklist as it is now, with what an agent changed. None if there is none.
    fn prd(&self) -> Result<Option<Prd>, MemoryError>;

    /// The progress log as it is now, with what an agent wrote into it.
    fn progress(&self) -> Result<ProgressLog, MemoryError>;
}

impl<D: Disk> LoopMemoryStore for Store<'_, D> {
    fn state(&self) -> State {
        self.state()
    }

    fn findings(&self) -> &[Finding] {
        self.findings()
    }

    fn save(&mut self, change: &Change) -> Result<Saved, MemoryError> {
        self.save(change)
    }

    fn prd(&self) -> Result<Option<Prd>, MemoryError> {
        self.prd()
    }

    fn progress(&self) -> Result<ProgressLog, MemoryError> {
        self.progress()
    }
}
