//! A line of `events.jsonl`, as far as spans are made of it. Whatever a line does not say is unknown, not wrong: logs
//! come from other versions and other languages.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// One event, and what binds it to the others.
#[derive(Debug, Deserialize)]
pub(super) struct Line<'t> {
    #[serde(borrow)]
    pub(super) event: Cow<'t, str>,
    #[serde(default, borrow)]
    pub(super) prev: Cow<'t, str>,
    #[serde(default, borrow)]
    pub(super) digest: Cow<'t, str>,
    pub(super) run: Option<Run>,
    #[serde(borrow)]
    pub(super) data: &'t RawValue,
}

impl<'t> Line<'t> {
    /// Reads a line. None if it is no event.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// What belongs to the event. None if it has another shape.
    pub(super) fn data<T: Deserialize<'t>>(&self) -> Option<T> {
        serde_json::from_str(self.data.get()).ok()
    }
}

/// Under what the event happened.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Run {
    pub(super) mode: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) enforcement: Option<String>,
    /// The digest of the gate component.
    pub(super) gate: Option<String>,
}

/// `loop_started`, and what `loop_resumed` has of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Begun {
    pub(super) version: Option<String>,
    pub(super) at_ms: u64,
    pub(super) mode: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) enforcement: Option<String>,
    pub(super) task_class: Option<String>,
    pub(super) contract_digest: Option<String>,
    pub(super) rules_digest: Option<String>,
    pub(super) argv: Vec<String>,
    pub(super) prompt: Option<String>,
    pub(super) session: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) attended: Option<Attended>,
    /// Who went on with it.
    pub(super) operator: Option<String>,
}

/// Whose client asks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attended {
    pub(super) harness: String,
    pub(super) session: Option<String>,
}

/// `agent_ended`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentEnded {
    pub(super) started_at_ms: u64,
    pub(super) duration_ms: u64,
    pub(super) exit: Option<i64>,
    pub(super) signal: Option<i64>,
    pub(super) timed_out: bool,
    pub(super) leftovers: Vec<serde::de::IgnoredAny>,
}

/// `evidence`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Evidence {
    pub(super) check: String,
    pub(super) kind: Option<String>,
    pub(super) started_at_ms: u64,
    pub(super) duration_ms: u64,
    pub(super) outcome: String,
    pub(super) reason: Option<String>,
    pub(super) code: Option<String>,
    pub(super) tests: Option<Tests>,
    pub(super) attempts: Vec<Attempt>,
}

/// Of a test run.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tests {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

/// One run of a check.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attempt {
    pub(super) exit: Option<i64>,
}

/// `tripwire`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tripped {
    pub(super) tripwire: String,
    pub(super) reason: Option<String>,
}

/// `client_ended`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClientEnded {
    pub(super) blocks: u64,
    pub(super) cap: Option<u64>,
}

/// `verdict`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Judged {
    pub(super) at_ms: u64,
    pub(super) recorded: Option<String>,
    pub(super) iteration: Iteration,
    pub(super) verdict: Verdict,
}

/// What the gate was given.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Iteration {
    pub(super) index: u64,
    pub(super) action: String,
    pub(super) canceled: bool,
    /// Absent or no text where only digests were recorded.
    pub(super) output: Option<serde_json::Value>,
    pub(super) checks: Vec<CheckResult>,
    pub(super) usage: Usage,
}

/// What a check gave.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct CheckResult {
    pub(super) id: String,
    pub(super) outcome: String,
    /// Absent or no text where only digests were recorded.
    pub(super) reason: Option<serde_json::Value>,
}

/// What an iteration used.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) elapsed_ms: Option<u64>,
    pub(super) tool_calls: Option<u64>,
    pub(super) cost_usd: Option<String>,
    pub(super) tokens: Option<u64>,
}

/// What the gate answered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Verdict {
    pub(super) decision: String,
    pub(super) stop_reason: Option<String>,
    pub(super) detail: Option<String>,
    pub(super) signal: Option<String>,
    pub(super) intercepted: Option<bool>,
    pub(super) overridden: bool,
    pub(super) mode: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) failures: Vec<Failure>,
    pub(super) counters: Counters,
    pub(super) shadow: Option<Shadow>,
}

/// What it would have answered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Shadow {
    pub(super) decision: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) detail: Option<String>,
}

/// Why a loop is not complete.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) check: Option<String>,
    /// Absent or no text where only digests were recorded.
    pub(super) reason: Option<serde_json::Value>,
}

/// What was used over the whole loop.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Counters {
    pub(super) iteration: Option<u64>,
    pub(super) elapsed_ms: Option<u64>,
    pub(super) tool_calls: Option<u64>,
    pub(super) cost_usd: Option<String>,
    pub(super) tokens: Option<u64>,
    pub(super) consecutive_failures: Option<u64>,
    pub(super) check_retries: Option<u64>,
}

/// `audit`: what turned out to be true.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Audited {
    pub(super) at_ms: u64,
    pub(super) truth: String,
    pub(super) witness: Option<String>,
    pub(super) by: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) checks: Vec<CheckResult>,
}
