//! Evidence: what the host saw itself, check by check. Nothing here is claimed by the agent.
//!
//! Each kind of check has a file of its own that turns what it looks at into a [`Finding`]; [`gather`] runs the checks
//! that a contract names, in parallel where they don't depend on each other, and keeps a record of each.

mod command;
mod environment;
mod file;
mod gather;
mod git;
mod no_high_risk;
mod policy;
mod prd_all_pass;
mod preflight;
mod program;
mod record;
mod report_files;
pub mod reports;
mod stories;
#[cfg(test)]
mod tests;
mod tests_green;

pub use environment::{Environment, Withheld, secrets};
pub use gather::{CheckEvent, Scene, Wanted, gather, look_at_stories, now_ms};
pub(crate) use gather::{may_take_time, needs_a_policy};
pub use policy::{PolicyComponent, PolicyQuestion, PolicyRecord, PolicyRunner};
pub use preflight::{PolicyTrial, preflight};
pub(crate) use record::name_leftover;
pub use record::{Attempt, Evidence, Stream};
pub use stories::{Known, Proofs, Rules, Stories, Story, Unproven, settle};

use crate::engine::{FailureCode, Outcome};
use crate::process::Redactor;
use reports::TestCounts;

/// What one look at a condition gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) outcome: Outcome,
    /// For the agent and for people: why it did not pass, or what passed.
    pub(crate) reason: String,
    /// Of a test run.
    pub(crate) tests: Option<TestCounts>,
    /// What the gate is told of a policy that gave no judgement.
    pub(crate) code: Option<FailureCode>,
    /// Of a policy.
    pub(crate) policy: Option<Box<PolicyRecord>>,
}

/// The longest reason, in bytes. The work is the agent's, and so may be what is said about it.
const LONGEST_REASON: usize = 4000;

impl Finding {
    fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self {
            outcome,
            reason: beginning_of(reason.into(), LONGEST_REASON),
            tests: None,
            code: None,
            policy: None,
        }
    }

    fn pass(reason: impl Into<String>) -> Self {
        Self::new(Outcome::Pass, reason)
    }

    fn fail(reason: impl Into<String>) -> Self {
        Self::new(Outcome::Fail, reason)
    }

    /// The check itself did not work: says nothing about the work.
    fn error(reason: impl Into<String>) -> Self {
        Self::new(Outcome::Error, reason)
    }

    /// Removes secrets from what is remembered.
    fn redact(&mut self, redactor: &Redactor) {
        let failures = self.tests.iter_mut().flat_map(|tests| &mut tests.failures);
        let log = self.policy.iter_mut().map(|policy| &mut policy.log);
        for text in failures.chain(log).chain([&mut self.reason]) {
            redactor.apply(text);
        }
    }
}

/// The beginning of a text, at most so many bytes of it.
pub(crate) fn beginning_of(mut text: String, most: usize) -> String {
    if text.len() > most {
        let mut end = most;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}
