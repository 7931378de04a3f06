//! How a run ended: the file by which it is known to be done.

use serde::{Deserialize, Serialize};

use crate::memory::{MemoryError, save_text};
use crate::plain_file;

use super::layout::RunFolder;

/// More than a record ever has.
const LIMIT: u64 = 1 << 20;

/// `run.json`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// `experiment/arm/task/repeat`, also the session's key.
    pub id: String,
    /// How often it was begun: 1 unless it was interrupted before.
    pub attempt: u32,
    /// In milliseconds since 1970.
    pub started_at_ms: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// The exit code of `ralph-gate run`.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How the loop ended. None: it crashed, and counts all the same.
    pub ended: Option<LoopEnd>,
    /// What `ralph-gate run` said when it could not go on.
    pub error: Option<String>,
    /// The log, from this file's folder.
    pub log: String,
    /// What was found out afterwards. None: nobody looked.
    #[serde(default)]
    pub audit: Option<Audited>,
}

/// How a loop ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopEnd {
    /// Its iterations.
    pub iteration: u32,
    /// `stop` or `pass_through`.
    pub decision: String,
    /// Why it stopped.
    pub stop_reason: Option<String>,
    /// Which limit.
    pub detail: Option<String>,
}

/// What an audit found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audited {
    /// `complete`, `incomplete` or `unknown`.
    pub truth: String,
    /// Why, in a sentence.
    pub reason: String,
}

impl RunRecord {
    /// Reads the record of a run. None where there is none, or none of this run: then it is not done.
    pub(super) fn load(folder: &RunFolder, id: &str) -> Option<Self> {
        let bytes = plain_file::read(&folder.record(), LIMIT).ok()?;
        let record: Self = serde_json::from_slice(&bytes).ok()?;
        (record.id == id).then_some(record)
    }

    /// Makes it durable.
    pub(super) fn save(&self, folder: &RunFolder) -> Result<(), MemoryError> {
        let text = serde_json::to_string_pretty(self)?;
        save_text(&folder.record(), &format!("{text}\n"))
    }
}
