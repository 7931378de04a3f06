//! What a store does to files, and the real folder that it does it to.

mod folder;

pub use folder::SessionFolder;
pub(super) use folder::{Missing, folders};
pub use ralph_gate_memory::disk::{
    Action, Disk, DiskError, DiskResult, Durability, Folder, Place, READ_LIMIT, Ram, Refusal, Stamp,
};
