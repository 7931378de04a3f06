//! What is really done, found out after a loop has ended: hidden checks, whose file the agent never sees.

use std::sync::PoisonError;

use super::error::ExperimentError;
use super::order::RunId;
use super::record::{Audited, RunRecord};
use super::run::{Stage, is_full};
use crate::audit::{Auditor, Keeping};
use crate::memory::SessionKey;
use crate::runner::word;

/// Who says so.
const BY: &str = "ralph-gate experiment";
/// What is known where nobody could look.
const UNKNOWN: &str = "unknown";

impl Stage<'_> {
    /// Whether a run is to be audited.
    pub(super) fn wants_audit(&self, id: &RunId) -> bool {
        let task = self.prepared.tasks.get(&id.task);
        task.is_some_and(|task| task.audit.is_some())
    }

    /// Audits a run that has ended, and appends what is found out to its log. None if it was interrupted.
    pub(super) fn audit(
        &self,
        id: &RunId,
        record: &RunRecord,
    ) -> Result<Option<Audited>, ExperimentError> {
        let task = self.prepared.tasks.get(&id.task);
        let Some((task, file)) = task.and_then(|task| Some((task, task.audit.as_ref()?))) else {
            return Ok(None);
        };
        if record.ended.is_none() {
            return Ok(Some(unknown("the loop did not come to an end".to_owned())));
        }
        // Whatever the checks leave behind is swept away, and everything else that this process has started with it.
        let _alone = self.quiet.write().unwrap_or_else(PoisonError::into_inner);
        let workspace = self.layout.run(id).workspace();
        let audited = Auditor {
            gate: self.gate,
            root: &workspace.join(&task.memory),
            key: &SessionKey::Session(self.key(id)),
            folder: &workspace,
            config: Some(file),
            by: BY,
            policies: self.policies,
            stop: self.stop,
        }
        .audit(Keeping::Append);
        if self.stop.is_canceled() {
            return Ok(None);
        }
        match audited {
            Ok(audited) => Ok(Some(Audited {
                truth: word(&audited.record.truth),
                reason: audited.record.reason,
            })),
            Err(error) if is_full(&error.to_string()) => Err(ExperimentError::NotAudited {
                run: self.key(id),
                reason: error.to_string(),
            }),
            // An agent that broke its memory does not end the experiment.
            Err(error) => Ok(Some(unknown(error.to_string()))),
        }
    }
}

fn unknown(reason: String) -> Audited {
    let truth = UNKNOWN.to_owned();
    Audited { truth, reason }
}
