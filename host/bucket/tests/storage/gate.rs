// The gate for tests: its own crate, without a component around it.

use ralph_gate_component::error::GateError;
use ralph_gate_component::{contract, json, prd, progress, session, snapshot};
use ralph_gate_memory::Gate;
use ralph_gate_types::{
    CallError, EngineError, Prd, PrdUpdate, ProgressEntry, ProgressLog, Resumption, SnapshotView,
};

/// The gate, linked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Native;

impl Gate for Native {
    fn digest(&self) -> Option<&str> {
        None
    }

    fn read_prd(&self, text: &str) -> Result<Prd, CallError> {
        let read = prd::read(text).map_err(|error| refused(&error));
        read.and_then(|prd| same(&prd))
    }

    fn update_prd(&self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError> {
        let updates = updates.iter().map(|update| prd::PrdUpdate {
            id: update.id.clone(),
            passes: update.passes,
            evidence: update.evidence.clone(),
        });
        let updates: Vec<prd::PrdUpdate> = updates.collect();
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
        let view = snapshot::view(text).map_err(|error| refused(&error));
        view.and_then(|view| same(&view))
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

/// A record of the gate as the same record of its WIT: both have one JSON form.
fn same<T: serde::de::DeserializeOwned>(value: &impl serde::Serialize) -> Result<T, CallError> {
    serde_json::from_str(&json::to_text(value)).map_err(|error| {
        CallError::Engine(EngineError::Trap {
            reason: error.to_string(),
        })
    })
}

fn refused(error: &GateError) -> CallError {
    same(error).map_or_else(|error| error, CallError::Gate)
}
