//! `policy`: what a component that somebody else wrote makes of the evidence.
//!
//! This is the seam between the checks and whatever runs policies: the component is read here and must be the pinned
//! one; a [`PolicyRunner`] judges.

use std::fmt::Debug;

use super::Finding;
use super::file::read;
use super::gather::Scene;
use super::record::Evidence;
use crate::config::PolicyCheck;
use crate::engine::Outcome;
use crate::visible::is_hidden;

/// Runs policies.
pub trait PolicyRunner: Debug + Send + Sync {
    /// Lets a policy judge. It fails with what kept it from that, which counts as not passed.
    fn judge(&self, question: &PolicyQuestion<'_>) -> Result<PolicyAnswer, String>;
}

/// What a policy is asked.
#[derive(Debug, Clone, Copy)]
pub struct PolicyQuestion<'q> {
    /// The check's id.
    pub check: &'q str,
    /// The component, whose digest is the pinned one.
    pub component: &'q [u8],
    /// Its settings, as JSON.
    pub settings: &'q str,
    /// What the other checks found.
    pub evidence: &'q [Evidence],
}

/// What it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyAnswer {
    /// Whether the work is as it must be; none if that can't be told.
    pub passed: Option<bool>,
    /// Why.
    pub reasons: Vec<String>,
}

pub(super) fn look(
    scene: &Scene<'_>,
    id: &str,
    check: &PolicyCheck,
    evidence: &[Evidence],
) -> Finding {
    let Some(runner) = scene.policies else {
        return Finding::error("there is nothing here that runs policies");
    };
    let component = match read(scene.workspace, &check.component) {
        Ok(component) => component,
        Err(reason) => return Finding::error(format!("{}: {reason}", check.component)),
    };
    let digest = blake3::hash(&component).to_hex();
    if !check.blake3.eq_ignore_ascii_case(digest.as_str()) {
        return Finding::error(format!(
            "{} has the digest {digest}, not {}",
            check.component, check.blake3
        ));
    }
    let answer = runner.judge(&PolicyQuestion {
        check: id,
        component: &component,
        settings: &check.settings,
        evidence,
    });
    match answer {
        Ok(answer) => finding(&answer),
        Err(reason) => Finding::error(seen(&reason)),
    }
}

fn finding(answer: &PolicyAnswer) -> Finding {
    let outcome = match answer.passed {
        Some(true) => Outcome::Pass,
        Some(false) => Outcome::Fail,
        None => Outcome::Unknown,
    };
    let reasons: Vec<String> = answer.reasons.iter().map(|reason| seen(reason)).collect();
    Finding::new(outcome, reasons.join("; "))
}

/// A stranger's words, without what a person can't see or what does something to a terminal.
fn seen(text: &str) -> String {
    let shown = |character| if is_hidden(character) { ' ' } else { character };
    text.chars().map(shown).collect()
}
