//! What a loop writes into `events.jsonl`. What every harness writes is in the memory; here is what this host sees beside it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::test_baseline::TestBaseline;
use crate::evidence::{Known, Stream};
use crate::worktree::Baseline as ProtectedBaseline;

pub use crate::memory::course::{
    AttendedRecord, ClientEndedRecord, ClientRecord, Heard, LoopFileRecord, LoopRecord,
    ResumeRecord, VerdictRecord,
};
pub(crate) use crate::memory::course::{Tripped, names, word};

/// `baseline`: what things looked like when the loop began. The newest one counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// The commit.
    pub(super) first_commit: Option<String>,
    /// Files that may not change.
    pub(super) protected: ProtectedBaseline,
    /// Test files, where none of them is protected: what changed of them is named when the loop completes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) test_files: Option<ProtectedBaseline>,
    /// The files that say what is to be proven, by path: their digests.
    pub(super) gate_files: BTreeMap<String, String>,
    /// The tests that each check had.
    pub(super) tests: BTreeMap<String, TestBaseline>,
    /// The stories, and which of them were proven since.
    pub(super) stories: Known,
}

/// `agent_ended`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// The iteration.
    pub iteration: u32,
    /// When it was started, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// How long it ran.
    pub duration_ms: u64,
    /// The program and its arguments, without the prompt.
    pub argv: Vec<String>,
    /// The exit code, if it ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because it ran too long.
    pub timed_out: bool,
    /// Whether it was ended because the loop was canceled.
    pub canceled: bool,
    /// What the client itself reported as an error.
    pub error: Option<String>,
    /// What went wrong in the turn, in a few lines for a person: the client's error, the end of what a failed process
    /// printed, and the tools that were denied to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Calls of tools.
    pub tool_calls: u32,
    /// Tokens, read and written.
    pub tokens: u32,
    /// What it cost, if the client says so.
    pub cost_usd: Option<String>,
    /// What it printed.
    pub stdout: Stream,
    /// What it complained about.
    pub stderr: Stream,
    /// Processes that it left running; they were killed.
    pub leftovers: Vec<String>,
    /// What could not be read of its output.
    pub warnings: Vec<String>,
}

impl AgentRecord {
    /// How it ended, as a shell says it: 128 and the number of a signal, 124 where it took too long as `timeout` does,
    /// 130 where it was interrupted, 127 where it could not be started.
    pub fn exit_code(&self) -> i32 {
        match (self.exit, self.signal) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) if self.timed_out => 124,
            (None, None) if self.canceled => 130,
            (None, None) => 127,
        }
    }
}
