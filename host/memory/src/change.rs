//! What a caller asks a store to remember, and what it gets back.

use ralph_gate_types::{PrdUpdate, ProgressEntry};
use serde::{Deserialize, Serialize};

use super::events::Event;
use super::finding::Finding;
use super::under::{Recording, Under};

/// What a session begins with.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The pinned contract, as it was given.
    pub contract: String,
    /// The checklist, if there is one.
    pub prd: Option<String>,
    /// What is already known when the loop begins.
    pub progress: Option<ProgressEntry>,
    /// The first events.
    pub events: Vec<Event>,
    /// What the loop runs under; without it, the lines of its log don't say so.
    pub run: Option<Under>,
}

impl Start {
    /// The same, with so much recorded of what happens.
    #[must_use]
    pub fn recorded(mut self, record: Recording) -> Self {
        if let Some(run) = &mut self.run {
            run.record = record;
        }
        self
    }
}

/// The loop's state after an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The iteration that it was made in.
    pub iteration: u32,
    /// The gate's text.
    pub text: String,
}

/// What one save remembers. All of it, or nothing.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The new state. None leaves it as it is.
    pub snapshot: Option<Snapshot>,
    /// Another contract, which an operator accepted. None leaves it as it is.
    pub contract: Option<String>,
    /// A learning or log entry.
    pub progress: Option<ProgressEntry>,
    /// Lines of the checklist to change, each with what proves it.
    pub prd: Vec<PrdUpdate>,
    /// What happened.
    pub events: Vec<Event>,
    /// What a person must know to go on.
    pub handoff: Handoff,
    /// What the loop runs under from now on, these events included. None leaves it as it is.
    pub run: Option<Under>,
}

/// What becomes of the handoff.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handoff {
    /// It stays as it is, or absent.
    #[default]
    Keep,
    /// The loop has stopped: this is what a person must know.
    Write(String),
    /// The loop is complete: there is nothing to do any more.
    Withdraw,
}

/// A save that is on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// Counts saves.
    pub revision: u64,
    /// What others did to the files since the last look, and what could not be brought up to date.
    pub findings: Vec<Finding>,
}

/// What a session holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct State {
    /// Counts saves.
    pub revision: u64,
    /// The last iteration that was evaluated; 0 before the first.
    pub iteration: u32,
    /// The pinned contract.
    pub contract: String,
    /// The loop's state. None before the first iteration.
    pub snapshot: Option<String>,
    /// The checklist as it was last saved.
    pub prd: Option<String>,
    /// What a person must know to go on.
    pub handoff: Option<String>,
    /// How many events there are.
    pub events: u64,
}
