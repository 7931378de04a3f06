//! The gate's formats, out of the gate's own crate: it is linked into this component.

use ralph_gate_component::error::GateError as Refusal;
use ralph_gate_component::{contract, json, prd, progress, session, snapshot};
use ralph_gate_types::{
    CallError, EngineError, Prd, PrdUpdate, ProgressEntry, ProgressLog, Resumption, SnapshotView,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::gate::Gate;

/// The gate, linked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linked;

impl Gate for Linked {
    /// Of the gate's component that was built beside this one: packages ship the two together.
    fn digest(&self) -> Option<&str> {
        option_env!("RALPH_GATE_DIGEST")
    }

    fn read_prd(&self, text: &str) -> Result<Prd, CallError> {
        prd::read(text)
            .map_err(|error| refused(&error))
            .and_then(|prd| same(&prd))
    }

    fn update_prd(&self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError> {
        let updates: Vec<prd::PrdUpdate> = updates.iter().map(update).collect();
        prd::update(text, &updates).map_err(|error| refused(&error))
    }

    fn read_progress(&self, text: &str) -> Result<ProgressLog, CallError> {
        same(&progress::read(text))
    }

    fn write_progress(&self, entry: &ProgressEntry) -> Result<String, CallError> {
        Ok(progress::write(&progress::ProgressEntry {
            iteration: entry.iteration,
            title: entry.title.clone(),
            body: entry.body.clone(),
        }))
    }

    fn read_snapshot(&self, text: &str) -> Result<SnapshotView, CallError> {
        snapshot::view(text)
            .map_err(|error| refused(&error))
            .and_then(|view| same(&view))
    }

    fn resume(
        &self,
        contract: &str,
        snapshot: &str,
        resumption: &Resumption,
    ) -> Result<String, CallError> {
        let resumption = session::Resumption {
            operator: resumption.operator.clone(),
            reason: resumption.reason.clone(),
            accept_contract: resumption.accept_contract,
        };
        let contract = contract::parse(contract).map_err(|error| refused(&error))?;
        session::resume(contract, snapshot, &resumption).map_err(|error| refused(&error))
    }
}

/// The digest of a contract, as snapshots pin it.
pub(super) fn digest(text: &str) -> Result<String, CallError> {
    let contract = contract::parse(text).map_err(|error| refused(&error))?;
    Ok(contract.digest())
}

fn update(update: &PrdUpdate) -> prd::PrdUpdate {
    prd::PrdUpdate {
        id: update.id.clone(),
        passes: update.passes,
        evidence: update.evidence.clone(),
    }
}

/// A record of the gate as the same record of its WIT: both have one JSON form.
fn same<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, CallError> {
    serde_json::from_str(&json::to_text(value)).map_err(|error| {
        CallError::Engine(EngineError::Trap {
            reason: error.to_string(),
        })
    })
}

fn refused(error: &Refusal) -> CallError {
    same(error).map_or_else(|error| error, CallError::Gate)
}
