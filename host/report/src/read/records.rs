//! The parts of events that a report needs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::run::{Ending, Truth, Used, Witness};

/// A line.
#[derive(Deserialize)]
pub(super) struct Envelope<'l> {
    #[serde(borrow)]
    pub(super) event: Cow<'l, str>,
    #[serde(borrow)]
    pub(super) data: &'l RawValue,
    #[serde(default)]
    run: Option<Under>,
}

/// What an event happened under.
#[derive(Deserialize)]
struct Under {
    #[serde(default)]
    gate: Option<String>,
}

/// `loop_started`
#[derive(Deserialize)]
pub(super) struct Started {
    #[serde(default)]
    pub(super) session: Option<String>,
    pub(super) at_ms: Option<u64>,
    pub(super) mode: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) enforcement: Option<String>,
    pub(super) task_class: Option<String>,
    pub(super) contract_digest: Option<String>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    /// Of a loop whose agent's client asks by itself.
    #[serde(default)]
    attended: serde_json::Value,
    /// The command of the agent. A log may have digests in place of texts.
    #[serde(default)]
    argv: serde_json::Value,
}

/// Programs of clients, and what the clients are called.
const CLIENTS: &[(&str, &str)] = &[
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("copilot", "copilot"),
    ("cursor-agent", "cursor"),
    ("gemini", "gemini"),
    ("opencode", "opencode"),
];

impl Started {
    /// The client of the agent: that which asks, or the program that is run. None: a program that is not known.
    pub(super) fn client(&self) -> Option<&'static str> {
        let program = self.argv.get(0).and_then(serde_json::Value::as_str);
        let program = program.and_then(|path| path.rsplit(['/', '\\']).next());
        let harness = self
            .attended
            .get("harness")
            .and_then(serde_json::Value::as_str);
        let is_it = |(name, client): &&(&str, &str)| match harness {
            Some(harness) => *client == harness,
            None => program == Some(*name),
        };
        CLIENTS.iter().find(is_it).map(|(_, client)| *client)
    }
}

/// `audit`
#[derive(Debug, Deserialize)]
pub(super) struct Audited {
    pub(super) truth: Truth,
    pub(super) witness: Witness,
}

/// What the last verdict of a loop says.
pub(super) struct LastVerdict {
    pub(super) gate: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) ending: Ending,
    pub(super) detail: Option<String>,
    pub(super) overridden: bool,
    pub(super) truth: Truth,
    pub(super) used: Used,
}

#[derive(Deserialize)]
struct VerdictRecord {
    iteration: Turn,
    verdict: Verdict,
}

#[derive(Deserialize)]
struct Turn {
    action: String,
    #[serde(default)]
    canceled: bool,
}

#[derive(Deserialize)]
struct Verdict {
    decision: String,
    stop_reason: Option<Ending>,
    detail: Option<String>,
    overridden: bool,
    counters: Counters,
    mode: Option<String>,
    profile: Option<String>,
    #[serde(default)]
    shadow: Option<Shadow>,
    #[serde(default)]
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Shadow {
    stop_reason: Option<Ending>,
    detail: Option<String>,
}

impl Shadow {
    /// Why the agent ended its turn, where it said itself that it is not done: blocked, or in error. A limit that was
    /// reached has a detail.
    fn given_up(&self) -> Option<Ending> {
        let reason = self.stop_reason.filter(|_| self.detail.is_none());
        reason.filter(|reason| matches!(reason, Ending::Blocked | Ending::Error))
    }
}

#[derive(Deserialize)]
struct Check {
    required: bool,
    passed: bool,
    code: Option<String>,
}

#[derive(Deserialize)]
struct Counters {
    iteration: u32,
    elapsed_ms: u64,
    tool_calls: u64,
    tokens: u64,
    cost_usd: String,
}

impl LastVerdict {
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
        let record: VerdictRecord = serde_json::from_str(envelope.data.get()).ok()?;
        let verdict = record.verdict;
        let ending = match (verdict.decision.as_str(), verdict.stop_reason) {
            ("stop", Some(reason)) => reason,
            ("pass_through", _) => match record.iteration.action.as_str() {
                "final" => {
                    let given_up = verdict.shadow.as_ref().and_then(Shadow::given_up);
                    given_up.unwrap_or(Ending::Released)
                }
                "error" | "timeout" => Ending::Error,
                _ if record.iteration.canceled => Ending::ContextCanceled,
                // The agent went on, and nobody heard of it since.
                _ => Ending::Crashed,
            },
            // Nobody heard of it since.
            ("continue", _) => Ending::Crashed,
            _ => return None,
        };
        let truth = match &verdict.shadow {
            Some(_) => truth(&verdict.checks),
            None => Truth::Unknown,
        };
        let counters = verdict.counters;
        Some(Self {
            gate: envelope.run.and_then(|under| under.gate),
            mode: verdict.mode,
            profile: verdict.profile,
            ending,
            detail: verdict.detail,
            overridden: verdict.overridden,
            truth,
            used: Used {
                iterations: Some(counters.iteration),
                elapsed_ms: Some(counters.elapsed_ms),
                tool_calls: Some(counters.tool_calls),
                // Clients that don't tell leave nothing to add up.
                tokens: Some(counters.tokens).filter(|tokens| *tokens > 0),
                cost_usd: Some(counters.cost_usd).filter(|cost| is_some(cost)),
            },
        })
    }
}

/// What the required checks of a verdict that did not bind say of the work. What the agent promised says nothing of it.
fn truth(checks: &[Check]) -> Truth {
    let mut required = checks.iter().filter(|check| check.required).peekable();
    if required.peek().is_none() {
        return Truth::Unknown;
    }
    let mut truth = Truth::Complete;
    for check in required.filter(|check| !check.passed) {
        match check.code.as_deref() {
            Some("check_failed" | "check_flaky" | "evidence_tampered") => return Truth::Incomplete,
            _ => truth = Truth::Unknown,
        }
    }
    truth
}

/// Whether an amount is more than nothing.
fn is_some(amount: &str) -> bool {
    amount.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// `imported_run`
#[derive(Deserialize)]
pub(super) struct Imported {
    pub(super) id: String,
    #[serde(default)]
    pub(super) client: Option<String>,
    #[serde(default)]
    pub(super) task: Option<String>,
    #[serde(default)]
    pub(super) task_class: Option<String>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) started_at_ms: Option<u64>,
    pub(super) ending: Ending,
    pub(super) truth: Truth,
    #[serde(default)]
    pub(super) iterations: Option<u32>,
    #[serde(default)]
    pub(super) elapsed_ms: Option<u64>,
    #[serde(default)]
    pub(super) tool_calls: Option<u64>,
    #[serde(default)]
    pub(super) tokens: Option<u64>,
    #[serde(default)]
    pub(super) cost_usd: Option<String>,
}
