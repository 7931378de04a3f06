//! Where the gate is known to differ from the specification. Empty is the goal.
//!
//! The comparison allows for what is listed here and for nothing else, and a test fails as soon as
//! a listed defect is gone, so that the list can't outlive the defects.

use crate::reference::{Mistake, Rules};
use crate::situation::{Contract, Iteration};

/// One defect of the gate: the wrong rule that it follows.
pub(crate) struct Open {
    pub(crate) mistake: Mistake,
    pub(crate) story: &'static str,
}

pub(crate) const OPEN: &[Open] = &[];

/// The rules that the gate follows, as far as is known.
pub(crate) fn rules() -> Rules {
    Rules {
        mistakes: OPEN.iter().map(|open| open.mistake).collect(),
        ..Rules::default()
    }
}

/// Whether an open defect explains a completion without evidence: an attempt beyond the bound.
pub(crate) fn excuses(contract: &Contract, iteration: &Iteration) -> bool {
    OPEN.iter()
        .any(|open| open.mistake == Mistake::LateFailureForgotten)
        && contract.checks.iter().any(|check| {
            let bound = check.retries.unwrap_or(contract.max_check_retries) as usize;
            iteration
                .results
                .iter()
                .any(|result| result.id == check.id && result.attempts.len() > bound + 1)
        })
}
