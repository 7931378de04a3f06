//! An iteration was judged.

use ralph_gate_types::{Decision, Iteration, PrdUpdate, ProgressEntry, StopReason, Verdict};

use super::handoff::{Run, handoff};
use super::records::{VerdictRecord, names, word};
use crate::change::{Change, Handoff, Snapshot};
use crate::error::MemoryError;
use crate::events::Event;
use crate::key::SessionKey;

/// How many failures the progress log names.
const NAMED: usize = 10;

/// An iteration that the gate has judged, and what else is to be remembered with it.
#[derive(Debug)]
pub struct Evaluated<'e> {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// What the gate was given.
    pub iteration: &'e Iteration,
    /// What it answered.
    pub verdict: &'e Verdict,
    /// What happened before that, in this iteration.
    pub events: Vec<Event>,
    /// What changes in the checklist.
    pub prd: Vec<PrdUpdate>,
    /// How a person runs the checks.
    pub runs: Vec<Run>,
}

impl Evaluated<'_> {
    /// What is saved: all of it before anybody hears of the verdict.
    pub fn change(self, key: &SessionKey) -> Result<Change, MemoryError> {
        let index = self.iteration.index;
        let record = VerdictRecord {
            at_ms: self.at_ms,
            iteration: self.iteration,
            verdict: self.verdict,
        };
        let mut events = self.events;
        events.push(Event::new(names::VERDICT, &record)?);
        Ok(Change {
            snapshot: self.verdict.snapshot.clone().map(|text| Snapshot {
                iteration: index,
                text,
            }),
            contract: None,
            progress: Some(entry(index, self.verdict)),
            prd: self.prd,
            events,
            handoff: fate(key, index, self.verdict, &self.runs),
            run: None,
        })
    }
}

/// What becomes of the handoff: only a loop that stopped without being complete leaves something to do.
fn fate(key: &SessionKey, index: u32, verdict: &Verdict, runs: &[Run]) -> Handoff {
    match (verdict.decision, verdict.stop_reason) {
        (Decision::Stop, Some(StopReason::Completed)) => Handoff::Withdraw,
        (Decision::Stop, _) => Handoff::Write(handoff(key, index, verdict, runs)),
        (Decision::Continue | Decision::PassThrough, _) => Handoff::Keep,
    }
}

/// What the progress log says about an iteration.
fn entry(iteration: u32, verdict: &Verdict) -> ProgressEntry {
    let title = match verdict.stop_reason {
        Some(reason) => format!("stopped: {}", word(&reason)),
        None => word(&verdict.decision),
    };
    let mut body = String::new();
    for failure in verdict.failures.iter().take(NAMED) {
        let check = failure.subject();
        let reason = failure.reason.lines().next().unwrap_or_default();
        body.push_str(&format!("- {check}: {} ({reason})\n", word(&failure.code)));
    }
    if body.is_empty() {
        body.push_str("every check that was asked for passed\n");
    }
    ProgressEntry {
        iteration,
        title,
        body,
    }
}
