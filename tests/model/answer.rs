//! What is compared: the answer to one iteration, in the names of the JSON form.

use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Continue,
    Stop,
    PassThrough,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopReason {
    Completed,
    MaxIters,
    NoProgress,
    BudgetExceeded,
    ContextCanceled,
    Blocked,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Detail {
    CostBudgetUsd,
    MaxTokens,
    MaxToolCalls,
    MaxDurationMs,
    NoProgressLimit,
    Oscillation,
    PlateauLimit,
    MaxConsecutiveFailures,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum LoopSignal {
    #[serde(rename = "LOOP_DONE")]
    Done,
    #[serde(rename = "LOOP_CONTINUE")]
    Continue,
    #[serde(rename = "LOOP_BLOCKED")]
    Blocked,
    #[serde(rename = "LOOP_ERROR")]
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureCode {
    CheckFailed,
    CheckErrored,
    CheckTimedOut,
    CheckFlaky,
    MissingEvidence,
    StaleEvidence,
    EvidenceTampered,
    TokenMissing,
    TokenMismatch,
    PromiseConflict,
    PromiseMisplaced,
    PromiseContinue,
    PolicyTrapped,
    PolicyOutOfFuel,
    PolicyOutOfMemory,
    PolicyRejected,
    RatioNotMet,
    ControlFailed,
    CheckUnavailable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoutedMode {
    Standard,
    Ralph,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorCode {
    IterationOutOfOrder,
    LoopStopped,
    /// Never expected. Named so that a difference reads well.
    #[serde(other)]
    Another,
}

/// One failure: code and check, in the order of the derive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) struct Failure {
    pub(crate) code: FailureCode,
    pub(crate) check: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Assessment {
    pub(crate) id: String,
    pub(crate) required: bool,
    pub(crate) passed: bool,
    pub(crate) flaky: bool,
    pub(crate) code: Option<FailureCode>,
}

/// What the first line of the decision table that applies says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Ruling {
    pub(crate) decision: Decision,
    pub(crate) stop_reason: Option<StopReason>,
    pub(crate) detail: Option<Detail>,
    pub(crate) signal: Option<LoopSignal>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub(crate) struct Counters {
    pub(crate) elapsed_ms: u32,
    pub(crate) tool_calls: u32,
    pub(crate) cost_usd: String,
    pub(crate) tokens: u32,
    pub(crate) consecutive_failures: u32,
    pub(crate) check_retries: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub(crate) struct Standstill {
    pub(crate) counted: bool,
    pub(crate) equal_in_a_row: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) ruling: Ruling,
    pub(crate) intercepted: bool,
    pub(crate) overridden: bool,
    pub(crate) mode: RoutedMode,
    pub(crate) shadow: Option<Ruling>,
    /// Sorted; each once.
    pub(crate) failures: Vec<Failure>,
    pub(crate) checks: Vec<Assessment>,
    pub(crate) unused_checks: Vec<String>,
    pub(crate) waived: Vec<String>,
    pub(crate) fingerprint: Standstill,
    pub(crate) counters: Counters,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Verdict(Box<Verdict>),
    Error(ErrorCode),
}

impl Verdict {
    /// What an enforcing gate says: the shadow, where there is one.
    pub(crate) fn enforced(&self) -> Ruling {
        self.shadow.unwrap_or(self.ruling)
    }
}
