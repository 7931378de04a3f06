//! What a loop writes into `events.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::{Enforcement, Iteration, Mode, Verdict};
use crate::evidence::{Known, Stream};
use crate::worktree::Baseline as ProtectedBaseline;

/// The names of events.
pub(super) mod names {
    pub(in crate::runner) const STARTED: &str = "loop_started";
    pub(in crate::runner) const BASELINE: &str = "baseline";
    pub(in crate::runner) const RESUMED: &str = "loop_resumed";
    pub(in crate::runner) const AGENT: &str = "agent_ended";
    pub(in crate::runner) const EVIDENCE: &str = "evidence";
    pub(in crate::runner) const TRIPWIRE: &str = "tripwire";
    pub(in crate::runner) const VERDICT: &str = "verdict";
}

/// `loop_started`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoopRecord {
    /// The version of the host.
    pub version: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Where the gate sent the request.
    pub mode: Mode,
    /// The profile that was applied.
    pub profile: Option<String>,
    /// Whether verdicts bind.
    pub enforcement: Enforcement,
    /// What kind of task it is.
    pub task_class: Option<String>,
    /// The digest of the pinned contract.
    pub contract_digest: String,
    /// The digest of how checks are run: changed only by an operator, as the contract is.
    pub rules_digest: String,
    /// The agent.
    pub argv: Vec<String>,
    /// The task.
    pub prompt: String,
}

/// `loop_resumed`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResumeRecord {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Who.
    pub operator: String,
    /// Why.
    pub reason: String,
    /// The digest of the pinned contract from now on.
    pub contract_digest: String,
    /// The digest of how checks are run from now on.
    pub rules_digest: String,
    /// The agent from now on.
    pub argv: Vec<String>,
    /// The task from now on.
    pub prompt: String,
}

/// `baseline`: what things looked like when the loop began. The newest one counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// The commit.
    pub(super) first_commit: Option<String>,
    /// Files that may not change.
    pub(super) protected: ProtectedBaseline,
    /// The files that say what is to be proven, by path: their digests.
    pub(super) gate_files: BTreeMap<String, String>,
    /// How many tests each check had.
    pub(super) tests: BTreeMap<String, TestBaseline>,
    /// The stories, and which of them were proven since.
    pub(super) stories: Known,
}

/// How many tests there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestBaseline {
    /// With those that were skipped.
    pub(super) total: u64,
    pub(super) skipped: u64,
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

/// `tripwire`: something was done that may not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tripped {
    /// The iteration.
    pub iteration: u32,
    /// The tripwire.
    pub tripwire: String,
    /// What was done.
    pub reason: String,
}

/// `verdict`: what the gate was given, and what it answered. With the contract this is all that replaying needs.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictRecord<'v> {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What the gate was given.
    pub iteration: &'v Iteration,
    /// What it answered.
    pub verdict: &'v Verdict,
}

/// A word of the specification as it is written in JSON.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
