//! A loop goes on: after a kill, or after a stop that a person has looked into.

use ralph_gate_types::{CallError, Resumption, StopReason};

use super::records::{ResumeRecord, names};
use crate::change::{Change, Snapshot, State};
use crate::error::MemoryError;
use crate::events::Event;
use crate::gate::Gate;
use crate::under::Under;

/// The state to go on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reopened {
    /// Before the first iteration.
    New,
    /// After one: the snapshot.
    At(String),
    /// It is complete, and there is nothing to go on with.
    Completed {
        /// The last iteration.
        iteration: u32,
    },
}

/// Finds the state to go on from. The gate decides whether that may be.
pub fn reopen(
    gate: &dyn Gate,
    state: &State,
    contract: &str,
    resumption: &Resumption,
) -> Result<Reopened, CallError> {
    let Some(snapshot) = &state.snapshot else {
        return Ok(Reopened::New);
    };
    let view = gate.read_snapshot(snapshot)?;
    if view.stopped == Some(StopReason::Completed) {
        return Ok(Reopened::Completed {
            iteration: view.iteration,
        });
    }
    // A loop that was killed was never stopped.
    if view.stopped.is_none() && state.contract == contract {
        return Ok(Reopened::At(snapshot.clone()));
    }
    gate.resume(contract, snapshot, resumption)
        .map(Reopened::At)
}

impl ResumeRecord {
    /// What is saved: the state to go on from, the contract if it is another one, what the loop runs under if that is
    /// known anew, and that it went on.
    pub fn change(
        &self,
        state: &State,
        snapshot: Option<String>,
        run: Option<Under>,
    ) -> Result<Change, MemoryError> {
        Ok(Change {
            snapshot: snapshot.map(|text| Snapshot {
                iteration: state.iteration,
                text,
            }),
            contract: (state.contract != self.contract).then(|| self.contract.clone()),
            events: vec![Event::new(names::RESUMED, self)?],
            run,
            ..Change::default()
        })
    }
}
