//! What a loop writes into `events.jsonl`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::engine::{Enforcement, Iteration, LoopFile, Mode, Verdict};
use crate::evidence::{Known, Stream};
use crate::worktree::Baseline as ProtectedBaseline;

/// The names of events.
pub(super) mod names {
    pub(in crate::runner) const STARTED: &str = "loop_started";
    pub(in crate::runner) const BASELINE: &str = "baseline";
    pub(in crate::runner) const RESUMED: &str = "loop_resumed";
    pub(in crate::runner) const AGENT: &str = "agent_ended";
    pub(in crate::runner) const CLIENT_STOPPED: &str = "client_stopped";
    pub(in crate::runner) const CLIENT_ENDED: &str = "client_ended";
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
    /// Of a loop whose agent's client asks by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<AttendedRecord>,
}

/// Whose client asks, and the configuration that the loop began with: the files may change meanwhile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AttendedRecord {
    /// The client.
    pub harness: String,
    /// The session, as the client names it.
    pub session: String,
    /// The configuration.
    pub config_file: PathBuf,
    /// What was in it.
    pub config: String,
    /// What was asked for beside it, as JSON.
    pub request: Option<String>,
    /// The loop file that it began with.
    pub loop_file: Option<LoopFileRecord>,
}

/// A loop file, as it was when the loop began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopFileRecord {
    /// Where it is.
    pub path: PathBuf,
    /// What was in it.
    pub file: LoopFile,
}

/// `client_stopped`: the agent of a client wanted to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// The iteration that it ended.
    pub iteration: u32,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// How often in a row the client was told to go on, up to this time.
    pub blocks: u32,
    /// How much of an answer was judged that the client gives again and again.
    pub heard: Option<Heard>,
}

/// The beginning of an answer that was judged before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// Its length.
    pub bytes: usize,
    /// The BLAKE3 digest of it.
    pub digest: String,
}

impl Heard {
    /// All of an answer.
    pub fn of(text: &str) -> Self {
        Self {
            bytes: text.len(),
            digest: blake3::hash(text.as_bytes()).to_hex().to_string(),
        }
    }

    /// What an answer adds to it. None if it begins otherwise.
    pub fn rest_of<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (begin, rest) = text.split_at_checked(self.bytes)?;
        (Self::of(begin) == *self).then_some(rest)
    }
}

/// `client_ended`: the client let its agent stop although it was told to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientEndedRecord {
    /// The last iteration.
    pub iteration: u32,
    /// How often in a row it was told to go on.
    pub blocks: u32,
    /// How often the client takes that, if it is known.
    pub cap: Option<u32>,
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
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
