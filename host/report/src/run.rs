//! One run: a loop, or a session of a client, as far as a report needs it.

use serde::{Deserialize, Serialize};

use crate::shared::{Labels, Text};

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Run {
    /// No other run of the report has it.
    pub id: String,
    /// What it worked on: runs of the same task in both arms are a pair.
    pub task: Option<String>,
    /// What kind of task it is.
    pub task_class: Option<Text>,
    /// What it was marked with.
    pub labels: Labels,
    /// Where it comes from.
    pub source: Source,
    /// The client of its agent, for example `claude-code`.
    pub client: Option<Text>,
    /// `standard` or `ralph`.
    pub mode: Option<Text>,
    /// The profile.
    pub profile: Option<Text>,
    /// `enforce` or `shadow`.
    pub enforcement: Option<Text>,
    /// Of its contract.
    pub contract_digest: Option<Text>,
    /// Of the gate that judged it.
    pub gate: Option<Text>,
    /// In milliseconds since 1970.
    pub started_at_ms: Option<u64>,
    /// How it ended.
    pub ending: Ending,
    /// Which limit, where the ending alone does not say.
    pub detail: Option<Text>,
    /// A person completed it by hand.
    pub overridden: bool,
    /// How often the agent said final and was not let go.
    pub interceptions: u32,
    /// Whether the work is really done.
    pub truth: Truth,
    /// Who says so.
    pub witness: Option<Witness>,
    /// What it used.
    pub used: Used,
    /// The log is not what was written.
    pub edited: bool,
}

/// What a run used. None: not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Used {
    /// Turns of the agent.
    pub iterations: Option<u32>,
    /// Time.
    pub elapsed_ms: Option<u64>,
    /// Calls of tools.
    pub tool_calls: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money, an exact decimal.
    pub cost_usd: Option<String>,
}

/// Where a run comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An event log of a loop.
    #[default]
    Log,
    /// The transcript of a client.
    Import,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The gate let the agent go: the contract was met, or a person overrode it.
    Completed,
    /// Nothing held the agent, and it said that it is done.
    Released,
    /// The last permitted iteration.
    MaxIters,
    /// Nothing changed any more.
    NoProgress,
    /// Money, time or calls were used up.
    BudgetExceeded,
    /// Somebody canceled it.
    ContextCanceled,
    /// The agent could not go on.
    Blocked,
    /// It failed.
    Error,
    /// The client let its agent stop although it was told to go on.
    ClientEnded,
    /// It ended without a word: killed, or its log was cut off.
    #[default]
    Crashed,
    /// Not known, as of an imported transcript that says nothing.
    Unknown,
}

/// Whether the work is really done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truth {
    /// It is.
    Complete,
    /// It is not.
    Incomplete,
    /// Nobody looked, or nobody could tell.
    #[default]
    Unknown,
}

/// Who says whether the work is really done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Witness {
    /// Checks that were run again after the loop had ended.
    Audit,
    /// A person.
    Label,
    /// The verdict that an enforcing gate would have given.
    Shadow,
    /// The last test run in a transcript.
    Transcript,
}

impl Source {
    /// As it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Import => "import",
        }
    }
}

impl Ending {
    /// Whether it counts as complete: the gate said so, or nothing held the agent and it said so itself.
    pub fn is_completed(self) -> bool {
        matches!(self, Self::Completed | Self::Released)
    }

    /// As it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Released => "released",
            Self::MaxIters => "max_iters",
            Self::NoProgress => "no_progress",
            Self::BudgetExceeded => "budget_exceeded",
            Self::ContextCanceled => "context_canceled",
            Self::Blocked => "blocked",
            Self::Error => "error",
            Self::ClientEnded => "client_ended",
            Self::Crashed => "crashed",
            Self::Unknown => "unknown",
        }
    }
}
