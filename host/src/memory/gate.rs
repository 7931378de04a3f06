//! The gate that a store asks about formats: the component.

use super::Gate;
use crate::engine::{
    CallError, GATE, GateEngine, Prd, PrdUpdate, ProgressEntry, ProgressLog, Resumption,
    SnapshotView,
};

impl Gate for GateEngine {
    fn digest(&self) -> Option<&str> {
        Some(GATE.digest)
    }

    fn read_prd(&self, text: &str) -> Result<Prd, CallError> {
        self.read_prd(text)
    }

    fn update_prd(&self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError> {
        self.update_prd(text, updates)
    }

    fn read_progress(&self, text: &str) -> Result<ProgressLog, CallError> {
        Ok(self.read_progress(text)?)
    }

    fn write_progress(&self, entry: &ProgressEntry) -> Result<String, CallError> {
        Ok(self.write_progress(entry)?)
    }

    fn read_snapshot(&self, text: &str) -> Result<SnapshotView, CallError> {
        self.read_snapshot(text)
    }

    fn resume(
        &self,
        contract: &str,
        snapshot: &str,
        resumption: &Resumption,
    ) -> Result<String, CallError> {
        self.resume(contract, snapshot, resumption)
    }
}
