//! An iteration was judged.

use serde::Deserialize;

use ralph_gate_types::{Decision, Iteration, PrdUpdate, ProgressEntry, StopReason, Verdict};

use super::handoff::{Circumstances, Run, handoff};
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
    /// Further arguments of the command that resumes the loop.
    pub arguments: Vec<String>,
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
        let problem = problem(&events);
        let circumstances = Circumstances {
            runs: &self.runs,
            problem: problem.as_deref(),
            arguments: &self.arguments,
        };
        let handoff = fate(key, index, self.verdict, circumstances);
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
            handoff,
            run: None,
        })
    }
}

/// What went wrong in the agent's turn, as its event says.
fn problem(events: &[Event]) -> Option<String> {
    #[derive(Deserialize)]
    struct Turn {
        problem: Option<String>,
    }
    let turn = events.iter().find(|event| event.name() == names::AGENT)?;
    serde_json::from_str::<Turn>(turn.data().get())
        .ok()?
        .problem
}

/// What becomes of the handoff: only a loop that stopped without being complete leaves something to do.
fn fate(
    key: &SessionKey,
    index: u32,
    verdict: &Verdict,
    circumstances: Circumstances<'_>,
) -> Handoff {
    match (verdict.decision, verdict.stop_reason) {
        (Decision::Stop, Some(StopReason::Completed)) => Handoff::Withdraw,
        (Decision::Stop, _) => Handoff::Write(handoff(key, index, verdict, circumstances)),
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
