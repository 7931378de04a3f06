//! The loop's memory: what survives the process, the machine and the agent.
//!
//! [`FileStore`] keeps a session in a folder of its own, [`InMemoryStore`] in memory; both are a
//! [`LoopMemoryStore`]. What a save holds is on the disk when it returns. What is found to be missing, torn or edited
//! when a session is opened is restored, kept or set aside, and reported as [`Finding`]s; nothing is ever deleted
//! because it can't be read. All of that is the crate `ralph-gate-memory`; here are the files, the lock and the clock.
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

pub mod disk;
mod file;
mod folders;
pub(crate) mod foreign;
mod gate;
mod lock;
mod portable;
pub(crate) mod private_directory;
#[cfg(test)]
mod tests;
mod text;
mod view;

pub use file::{DEFAULT_ROOT, FileStore};
pub use folders::{FolderLock, Piece, copy_piece, lock_folder, make_folder, move_folder};
pub use lock::{Patience, holder};
pub use portable::{Imported, import};
pub use ralph_gate_memory::{
    Break, Change, Digest, Event, Exported, FileReport, Finding, FindingCode, Gate, Handoff,
    Holder, InMemoryStore, Listed, LoopMemoryStore, MemoryError, Reading, Record, Recording,
    Retention, RunRecord, Saved, SessionKey, Snapshot, Standing, Start, State, Store, TextDigest,
    Under, Verification, course, inspect, paragraph,
};
pub(crate) use text::update_text;
pub use text::{create_text, replace_text, save_bytes, save_text};
pub use view::{View, list};
