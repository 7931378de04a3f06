//! The part of a verdict that a loop obeys, and how a loop stands after it.

use serde::{Deserialize, Serialize};

use crate::{amount, text};

/// What a verdict decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// `continue`, `stop` or `pass_through`.
    pub decision: String,
    /// Why the loop ended.
    pub stop_reason: Option<String>,
    /// Which limit it was.
    pub detail: Option<String>,
    /// The signal of the loop.
    pub signal: Option<String>,
    /// The agent said final and was not let go.
    pub intercepted: bool,
    /// What stands in the way, a line each.
    pub failures: Vec<String>,
    /// Up to and with this iteration.
    pub totals: Totals,
}

/// What a loop has used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Iterations.
    pub iterations: u32,
    /// Time.
    pub elapsed_ms: u32,
    /// Calls of tools.
    pub tool_calls: u32,
    /// Tokens.
    pub tokens: u32,
    /// Money, an exact decimal.
    pub cost_usd: String,
}

/// How a loop stands after its last iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Whether it is over, as far as the log tells.
    pub ended: bool,
    /// The last iteration.
    pub iteration: u32,
    /// What was decided in it.
    pub decided: Decided,
}

/// The fields of a verdict that are looked at.
#[derive(Deserialize)]
pub(crate) struct Verdict {
    decision: String,
    stop_reason: Option<String>,
    detail: Option<String>,
    signal: Option<String>,
    intercepted: bool,
    pub(crate) failures: Vec<Failure>,
    #[serde(default, deserialize_with = "text::or_none")]
    pub(crate) feedback: Option<String>,
    counters: Counters,
    #[serde(default, deserialize_with = "text::or_none")]
    pub(crate) snapshot: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) check: Option<String>,
}

#[derive(Deserialize)]
struct Counters {
    iteration: u32,
    elapsed_ms: u32,
    tool_calls: u32,
    cost_usd: String,
    tokens: u32,
}

impl Verdict {
    /// What it decided.
    pub(crate) fn decided(&self) -> Decided {
        let failure = |failure: &Failure| match &failure.check {
            Some(check) => format!("{check}: {}", failure.code),
            None => failure.code.clone(),
        };
        Decided {
            decision: self.decision.clone(),
            stop_reason: self.stop_reason.clone(),
            detail: self.detail.clone(),
            signal: self.signal.clone(),
            intercepted: self.intercepted,
            failures: self.failures.iter().map(failure).collect(),
            totals: Totals {
                iterations: self.counters.iteration,
                elapsed_ms: self.counters.elapsed_ms,
                tool_calls: self.counters.tool_calls,
                tokens: self.counters.tokens,
                cost_usd: self.counters.cost_usd.clone(),
            },
        }
    }
}

impl Decided {
    /// Whether a harness lets its agent go.
    pub fn ends(&self) -> bool {
        self.decision != "continue"
    }

    /// Whether a loop that ended so is over for good.
    pub fn is_complete(&self) -> bool {
        self.stop_reason.as_deref() == Some("completed")
    }

    /// Whether the harness was told something else.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let told = |it: &Self| {
            (
                it.decision.clone(),
                it.stop_reason.clone(),
                it.detail.clone(),
            )
        };
        told(self) != told(other)
    }
}

impl Totals {
    /// What is left of these after others.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        Self {
            iterations: self.iterations.saturating_sub(other.iterations),
            elapsed_ms: self.elapsed_ms.saturating_sub(other.elapsed_ms),
            tool_calls: self.tool_calls.saturating_sub(other.tool_calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            cost_usd: amount::minus(&self.cost_usd, &other.cost_usd).unwrap_or_default(),
        }
    }
}
