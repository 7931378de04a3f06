//! What is really done, found out after a loop has ended: hidden checks, whose file the agent never sees.

use super::error::ExperimentError;
use super::order::RunId;
use super::record::Audited;
use super::run::Stage;

impl Stage<'_> {
    /// Audits a run that has ended. None if the plan asks for none, or if it was interrupted.
    pub(super) fn audit(&self, id: &RunId) -> Result<Option<Audited>, ExperimentError> {
        let _ = (self, id);
        Ok(None)
    }

    /// Whether a run is to be audited.
    pub(super) fn wants_audit(&self, id: &RunId) -> bool {
        let task = self.prepared.tasks.get(&id.task);
        task.is_some_and(|task| task.audit.is_some())
    }
}
