//! What a store asks the gate: the formats of a session's files are the gate's.

use std::fmt;

use ralph_gate_types::{
    CallError, Prd, PrdUpdate, ProgressEntry, ProgressLog, Resumption, SnapshotView,
};

/// The gate, however it is run.
pub trait Gate: fmt::Debug + Sync {
    /// The BLAKE3 digest of its component, in hex, if that is known: it goes into every line of the event log.
    fn digest(&self) -> Option<&str>;

    /// Reads `prd.json`.
    fn read_prd(&self, text: &str) -> Result<Prd, CallError>;

    /// Changes lines of the checklist; everything else stays byte for byte.
    fn update_prd(&self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError>;

    /// Reads `progress.txt`. What is not an entry is kept.
    fn read_progress(&self, text: &str) -> Result<ProgressLog, CallError>;

    /// The bytes to append to `progress.txt` for an entry.
    fn write_progress(&self, entry: &ProgressEntry) -> Result<String, CallError>;

    /// Reads a snapshot.
    fn read_snapshot(&self, text: &str) -> Result<SnapshotView, CallError>;

    /// Goes on with a stopped loop, or with another contract. Gives the new snapshot.
    fn resume(
        &self,
        contract: &str,
        snapshot: &str,
        resumption: &Resumption,
    ) -> Result<String, CallError>;
}
