//! The loop's memory: what survives the process, the machine and the agent.
//!
//! [`FileStore`] keeps a session in a folder of its own, [`InMemoryStore`] in memory; both are a
//! [`LoopMemoryStore`]. What a save holds is on the disk when it returns. What is found to be missing, torn or edited
//! when a session is opened is restored, kept or set aside, and reported as [`Finding`]s; nothing is ever deleted
//! because it can't be read.
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

mod change;
mod checkpoint;
pub mod disk;
mod error;
mod events;
mod file;
mod finding;
pub(crate) mod foreign;
mod key;
mod lock;
mod look;
mod portable;
mod prd;
mod progress;
mod quarantine;
mod recovery;
mod seal;
mod store;
#[cfg(test)]
mod tests;
mod text;
mod view;
mod whole;
mod write;

pub use crate::digest::Digest;
pub use change::{Change, Handoff, Saved, Snapshot, Start, State};
pub use error::MemoryError;
pub use events::{Break, Event, Record};
pub use file::{DEFAULT_ROOT, FileStore, InMemoryStore};
pub use finding::{Finding, FindingCode, paragraph};
pub use key::SessionKey;
pub use lock::{Holder, Patience, holder};
pub use portable::{Imported, import};
pub use store::{Retention, Store};
pub(crate) use text::update_text;
pub use text::{create_text, replace_text, save_bytes, save_text};
pub use view::{FileReport, Listed, Reading, Standing, Verification, View, list};

use crate::engine::{Prd, ProgressLog};
use disk::Disk;

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
