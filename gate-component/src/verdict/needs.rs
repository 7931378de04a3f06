//! Needs: the smallest set of facts that would have completed the loop.

use serde::Serialize;

use super::{CheckAssessment, Failure};
use crate::contract::Contract;
use crate::iteration::{Action, FailureCode, Iteration};
use crate::promise::PromiseReport;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// What kind of fact is missing.
    NeedKind {
        /// The agent ends its turn with a final.
        Final = "final",
        /// A check passes.
        CheckPass = "check_pass",
        /// Some of the optional checks pass.
        OptionalChecksPass = "optional_checks_pass",
        /// The output ends with a promise.
        Promise = "promise",
        /// No signal to the contrary.
        NoContrarySignal = "no_contrary_signal",
        /// Nothing is tampered with.
        Untampered = "untampered",
    }
}

/// One fact that has to become true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Need {
    /// What kind.
    pub kind: NeedKind,
    /// The check that has to pass.
    pub check: Option<String>,
    /// The optional checks to choose from.
    pub checks: Vec<String>,
    /// How many of them.
    pub count: u32,
    /// The promise text.
    pub text: Option<String>,
}

impl Need {
    fn of(kind: NeedKind) -> Self {
        Self {
            kind,
            check: None,
            checks: Vec::new(),
            count: 0,
            text: None,
        }
    }
}

/// What is missing, in the order in which it is best done.
pub(super) fn of(
    contract: &Contract,
    iteration: &Iteration<'_>,
    checks: &[CheckAssessment],
    failures: &[Failure],
    promise: &PromiseReport,
    token: Option<&str>,
) -> Vec<Need> {
    let mut needs: Vec<Need> = checks
        .iter()
        .filter(|check| check.required && !check.passed)
        .map(|check| Need {
            check: Some(check.id.clone()),
            ..Need::of(NeedKind::CheckPass)
        })
        .collect();
    needs.extend(optional(contract, checks));
    if failures
        .iter()
        .any(|failure| failure.code == FailureCode::EvidenceTampered)
    {
        needs.push(Need::of(NeedKind::Untampered));
    }
    if iteration.action != Action::Final {
        needs.push(Need::of(NeedKind::Final));
    }
    match token {
        Some(text) if iteration.action != Action::Final || is_unkept(failures, promise) => needs
            .push(Need {
                text: Some(text.to_owned()),
                ..Need::of(NeedKind::Promise)
            }),
        None if promise.contrary.is_some() => needs.push(Need::of(NeedKind::NoContrarySignal)),
        _ => {}
    }
    needs
}

/// Whether the promise of a final is missing or wrong.
fn is_unkept(failures: &[Failure], promise: &PromiseReport) -> bool {
    promise.contrary.is_some()
        || failures.iter().any(|failure| {
            matches!(
                failure.code,
                FailureCode::TokenMissing
                    | FailureCode::TokenMismatch
                    | FailureCode::PromiseConflict
                    | FailureCode::PromiseMisplaced
                    | FailureCode::PromiseContinue
            )
        })
}

fn optional(contract: &Contract, checks: &[CheckAssessment]) -> Option<Need> {
    let optional = || checks.iter().filter(|check| !check.required);
    let passed = optional().filter(|check| check.passed).count();
    let total = optional().count();
    let ratio = contract.optional_pass_ratio;
    let missing = (0..=total).find(|more| ratio.is_met_by(passed + more, total))?;
    if missing == 0 {
        return None;
    }
    Some(Need {
        checks: optional()
            .filter(|check| !check.passed)
            .map(|check| check.id.clone())
            .collect(),
        count: u32::try_from(missing).unwrap_or(u32::MAX),
        ..Need::of(NeedKind::OptionalChecksPass)
    })
}
