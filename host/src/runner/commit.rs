//! An optional commit of each iteration's changes.

use super::Loop;
use super::events::word;
use super::watch::LoopEvent;
use crate::engine::Verdict;
use crate::worktree::{CommitOutcome, Identity};

impl Loop<'_> {
    /// Commits what the iteration changed, if that is wished for. What can't be committed is said, and stays.
    pub(super) fn commit(&self, iteration: u32, verdict: &Verdict) {
        if !self.config.git.commit {
            return;
        }
        let message = format!(
            "ralph-gate: iteration {iteration}, {}",
            verdict
                .stop_reason
                .map_or_else(|| word(&verdict.decision), |reason| word(&reason))
        );
        let warning = match self.try_commit(&message) {
            Ok(None) => return,
            Ok(Some(reason)) => format!("iteration {iteration} was not committed: {reason}"),
            Err(error) => format!("iteration {iteration} was not committed: {error}"),
        };
        self.watch.see(&LoopEvent::Warning(&warning));
    }

    /// Why nothing was committed, if so.
    fn try_commit(&self, message: &str) -> Result<Option<String>, super::RunError> {
        let Some(repository) = self.repository()? else {
            return Ok(Some("the workspace is in no git repository".to_owned()));
        };
        let somebody = Identity {
            name: "ralph-gate".to_owned(),
            email: "ralph-gate@localhost".to_owned(),
        };
        Ok(match repository.commit_all(message, &somebody)? {
            CommitOutcome::Committed(_) | CommitOutcome::Nothing => None,
            CommitOutcome::Refused(refusal) => Some(refusal.to_string()),
        })
    }
}
