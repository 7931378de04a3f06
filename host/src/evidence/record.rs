//! The record of a check: when, what, with which result, and for which iteration.

use ralph_gate_component::Word as _;
use serde::{Deserialize, Serialize};

use super::policy::PolicyRecord;
use super::reports::TestCounts;
use crate::config::KindName;
use crate::engine::{CheckResult, FailureCode, Outcome};
use crate::process::{Captured, Leftover, Redactor};

/// What is known of one check in one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The check's id.
    pub check: String,
    /// What gave the result.
    pub kind: &'static str,
    /// The iteration that it was gathered for.
    pub iteration: u32,
    /// When, in milliseconds since 1970.
    pub started_at_ms: u64,
    /// How long it took in all.
    pub duration_ms: u64,
    /// What the work looked like.
    pub tree: Option<String>,
    /// The last attempt's outcome.
    pub outcome: Outcome,
    /// Why, in words.
    pub reason: String,
    /// Of a test run.
    pub tests: Option<TestCounts>,
    /// What the gate is told of a policy that gave no judgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<FailureCode>,
    /// Of a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyRecord>,
    /// Each run of the check.
    pub attempts: Vec<Attempt>,
}

/// One run of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// Its outcome.
    pub outcome: Outcome,
    /// The program and its arguments. Empty where none was run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The exit code, if it ended by itself.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// What it printed.
    pub stdout: Option<Stream>,
    /// What it complained about.
    pub stderr: Option<Stream>,
    /// Processes that it left running; they were killed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<String>,
}

impl Evidence {
    /// What it says of something that the files of the work don't show: commits, stories, a file that git ignores. None of
    /// other checks.
    pub(crate) fn beside_the_files(&self) -> Option<(&str, Outcome, &str)> {
        let kinds = [KindName::PrdAllPass, KindName::Git, KindName::File];
        let looks_only = kinds.iter().any(|kind| kind.as_str() == self.kind);
        looks_only.then_some((&self.check, self.outcome, &self.reason))
    }
}

impl Attempt {
    /// An attempt in which no program was run.
    pub(super) fn plain(outcome: Outcome, duration_ms: u64) -> Self {
        Self {
            outcome,
            argv: Vec::new(),
            exit: None,
            signal: None,
            duration_ms,
            stdout: None,
            stderr: None,
            leftovers: Vec::new(),
        }
    }

    /// Removes secrets from what is remembered.
    pub(super) fn redact(&mut self, redactor: &Redactor) {
        let streams = self.stdout.iter_mut().chain(&mut self.stderr);
        let texts = streams.map(|stream| &mut stream.text);
        for text in texts.chain(&mut self.argv).chain(&mut self.leftovers) {
            redactor.apply(text);
        }
    }
}

/// What a program wrote to one stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// How much it was.
    pub bytes: u64,
    /// The BLAKE3 digest of all of it.
    pub digest: String,
    /// Its beginning and its end.
    pub text: String,
}

impl Stream {
    /// Of a program that printed nothing.
    pub(crate) fn empty() -> Self {
        Self {
            bytes: 0,
            digest: blake3::hash(b"").to_hex().to_string(),
            text: String::new(),
        }
    }

    /// Of what was captured, at most so many bytes from each end.
    pub(crate) fn of(captured: &Captured, most: usize) -> Self {
        Self {
            bytes: captured.total,
            digest: blake3::Hash::from_bytes(captured.digest)
                .to_hex()
                .to_string(),
            text: captured.shortened(most).text(),
        }
    }
}

/// How a leftover process is named.
pub(crate) fn name_leftover(leftover: &Leftover) -> String {
    format!("{} ({})", leftover.pid, leftover.command)
}

impl Evidence {
    /// What the gate is told.
    pub fn result(&self) -> CheckResult {
        CheckResult {
            id: self.check.clone(),
            outcome: self.outcome,
            reason: Some(self.reason.clone()),
            code: self.code,
            attempts: self
                .attempts
                .iter()
                .map(|attempt| attempt.outcome)
                .collect(),
            iteration: Some(self.iteration),
            fingerprint: None,
            failing: self
                .tests
                .as_ref()
                .map(|tests| u32::try_from(tests.failed).unwrap_or(u32::MAX)),
        }
    }
}
