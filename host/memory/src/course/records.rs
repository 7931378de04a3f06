//! What a loop writes into `events.jsonl`, as far as every harness writes it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ralph_gate_types::{Enforcement, Iteration, LoopFile, Mode, Outcome, Verdict};
use serde::{Deserialize, Serialize};

/// The names of events.
pub mod names {
    /// A loop began.
    pub const STARTED: &str = "loop_started";
    /// What things looked like when it began.
    pub const BASELINE: &str = "baseline";
    /// It went on after a stop.
    pub const RESUMED: &str = "loop_resumed";
    /// A turn of the agent ended.
    pub const AGENT: &str = "agent_ended";
    /// The agent of a client wanted to stop.
    pub const CLIENT_STOPPED: &str = "client_stopped";
    /// A client let its agent stop although it was told to go on.
    pub const CLIENT_ENDED: &str = "client_ended";
    /// A check was run.
    pub const EVIDENCE: &str = "evidence";
    /// Something was done that may not be done.
    pub const TRIPWIRE: &str = "tripwire";
    /// The gate judged an iteration.
    pub const VERDICT: &str = "verdict";
    /// What turned out after the loop had ended.
    pub const AUDIT: &str = "audit";

    /// All of them, as the schema lists them.
    pub const ALL: [&str; 10] = [
        STARTED,
        BASELINE,
        AGENT,
        CLIENT_STOPPED,
        CLIENT_ENDED,
        EVIDENCE,
        TRIPWIRE,
        VERDICT,
        RESUMED,
        AUDIT,
    ];
}

/// `loop_started`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoopRecord {
    /// The version of the host.
    pub version: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The session's key as text. None in logs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where the gate sent the request.
    pub mode: Mode,
    /// The profile that was applied.
    pub profile: Option<String>,
    /// Whether verdicts bind.
    pub enforcement: Enforcement,
    /// What kind of task it is.
    pub task_class: Option<String>,
    /// What the loop is marked with, for reports. `task`, `repeat`, `arm` and `experiment` have a meaning there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The pinned contract: with it the log can be replayed wherever it is taken.
    #[serde(default)]
    pub contract: String,
    /// Its digest.
    pub contract_digest: String,
    /// The digest of how checks are run: changed only by an operator, as the contract is.
    pub rules_digest: String,
    /// The agent.
    pub argv: Vec<String>,
    /// The task.
    pub prompt: String,
    /// The client that the agent's output is read as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The file with the request that the loop was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<PathBuf>,
    /// Of a loop whose agent's client asks by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<AttendedRecord>,
    /// Checks and limits that were given on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
}

/// Checks and limits that the command line adds to a configuration, or gives in place of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Commands that must succeed, as they were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// The most iterations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_max_iters: Option<u32>,
    /// The most that the loop may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_budget_usd: Option<String>,
    /// What is looked after where there is no configuration to say so: a configuration's `[tripwires]`, as TOML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<String>,
    /// How those of the commands are run that start a known test runner, where there is no configuration to say so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runners: BTreeMap<String, RunnerCommand>,
}

/// How a command that starts a test runner is run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerCommand {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How the results that it prints are read, by the name that a configuration has for it; absent where only its exit
    /// code counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

impl Given {
    /// Commands, the most iterations and the most that the loop may cost.
    pub fn new(checks: Vec<String>, iterations: Option<u32>, budget: Option<String>) -> Self {
        Self {
            checks,
            loop_max_iters: iterations,
            cost_budget_usd: budget,
            ..Self::default()
        }
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This, and of what it does not say the other one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            checks: if self.checks.is_empty() {
                other.checks
            } else {
                self.checks
            },
            loop_max_iters: self.loop_max_iters.or(other.loop_max_iters),
            cost_budget_usd: self.cost_budget_usd.or(other.cost_budget_usd),
            protection: self.protection.or(other.protection),
            runners: if self.runners.is_empty() {
                other.runners
            } else {
                self.runners
            },
        }
    }
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
    /// Whether the agent may have been at work before it began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
}

/// A loop file, as it was when the loop began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopFileRecord {
    /// Where it is.
    pub path: PathBuf,
    /// What was in it.
    pub file: LoopFile,
    /// Iterations before it that the loop does not count, because they would leave no room below the gate's limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncounted: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
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
    /// When the client says that it asked, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_ms: Option<u64>,
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
    /// The pinned contract from now on.
    #[serde(default)]
    pub contract: String,
    /// Its digest.
    pub contract_digest: String,
    /// The digest of how checks are run from now on.
    pub rules_digest: String,
    /// The agent from now on.
    pub argv: Vec<String>,
    /// The task from now on.
    pub prompt: String,
    /// The client that the agent's output is read as from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The file with the request from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<PathBuf>,
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

/// `verdict`: what the gate was given, and what it answered. With the contract, which is in `loop_started` and
/// `loop_resumed`, this is all that replaying needs.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictRecord<'v> {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What the gate was given.
    pub iteration: &'v Iteration,
    /// What it answered.
    pub verdict: &'v Verdict,
}

/// `audit`: what turned out after the loop had ended. The last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// Whether the work is what the loop was to prove.
    pub truth: Truth,
    /// How that is known.
    pub witness: Witness,
    /// Who says so.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The checks that were run, with what they said.
    pub checks: Vec<AuditedCheck>,
}

/// Whether a loop's work is complete, as it turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// It is.
    Complete,
    /// It is not.
    Incomplete,
    /// That can't be told.
    Unknown,
}

/// How a truth is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Witness {
    /// Checks were run afterwards.
    Audit,
    /// Somebody said so.
    Label,
}

/// One check that was run afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedCheck {
    /// Its id.
    pub id: String,
    /// What it gave.
    pub outcome: Outcome,
    /// Why, in words.
    pub reason: String,
}

/// A word of the specification as it is written in JSON.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_of_an_older_version_loads_and_is_written_as_it_was() {
        let old = r#"{"version":"0.1.0","at_ms":1,"mode":"ralph","profile":null,"enforcement":"enforce","task_class":null,"contract":"{}","contract_digest":"c","rules_digest":"r","argv":[],"prompt":""}"#;
        let record: LoopRecord = serde_json::from_str(old).unwrap();
        assert_eq!((record.session.as_ref(), record.labels.len()), (None, 0));
        assert_eq!(serde_json::to_string(&record).unwrap(), old);
    }
}
