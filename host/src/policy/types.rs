//! The types of the WIT interface `policy`, and the JSON form of what a policy is asked.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

use crate::engine::Outcome;

/// What a policy says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ComponentType, Lift)]
#[component(record)]
pub struct Description {
    /// For people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it checks.
    pub summary: String,
    /// JSON Schema of its settings. Empty when it takes none.
    #[component(name = "settings-schema")]
    pub settings_schema: String,
    /// Names of the artifacts it can't do without.
    pub wants: Vec<String>,
}

/// What a policy makes of the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(enum)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum PolicyOutcome {
    /// The work is as it must be.
    #[component(name = "pass")]
    Pass,
    /// It is not.
    #[component(name = "fail")]
    Fail,
    /// That can't be told.
    #[component(name = "unknown")]
    Unknown,
}

impl From<PolicyOutcome> for Outcome {
    fn from(outcome: PolicyOutcome) -> Self {
        match outcome {
            PolicyOutcome::Pass => Self::Pass,
            PolicyOutcome::Fail => Self::Fail,
            PolicyOutcome::Unknown => Self::Unknown,
        }
    }
}

/// A policy's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ComponentType, Lift)]
#[component(record)]
pub struct Judgement {
    /// Whether the work passes.
    pub outcome: PolicyOutcome,
    /// Why.
    pub reasons: Vec<String>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(enum)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum FindingOutcome {
    /// It passed.
    #[component(name = "pass")]
    Pass,
    /// It failed.
    #[component(name = "fail")]
    Fail,
    /// It can't be told.
    #[component(name = "unknown")]
    Unknown,
    /// The check itself did not work.
    #[component(name = "error")]
    Error,
    /// It took too long.
    #[component(name = "timeout")]
    Timeout,
    /// It gave different outcomes for the same work.
    #[component(name = "flaky")]
    Flaky,
}

impl From<Outcome> for FindingOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Pass,
            Outcome::Fail => Self::Fail,
            Outcome::Unknown => Self::Unknown,
            Outcome::Error => Self::Error,
            Outcome::Timeout => Self::Timeout,
            Outcome::Flaky => Self::Flaky,
        }
    }
}

/// What a test run counted.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower,
)]
#[component(record)]
#[serde(deny_unknown_fields, default)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u32,
    /// Tests that failed.
    pub failed: u32,
    /// Tests that were skipped.
    pub skipped: u32,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct PolicyFinding {
    /// The check's id.
    pub id: String,
    /// The check's kind.
    #[serde(default = "command")]
    pub kind: String,
    /// What came of it.
    pub outcome: FindingOutcome,
    /// Why, in words.
    #[serde(default)]
    pub reason: String,
    /// Of a test run.
    #[serde(default)]
    pub tests: Option<Counts>,
    /// The exit code of its program.
    #[serde(default)]
    pub exit: Option<i32>,
}

fn command() -> String {
    "command".to_owned()
}

/// What a policy is told about an artifact.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lower)]
#[component(record)]
pub(super) struct ArtifactInfo {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) digest: String,
    pub(super) fresh: bool,
}

/// What a policy is told.
#[derive(Debug, Clone, PartialEq, Eq, ComponentType, Lower)]
#[component(record)]
pub(super) struct Evidence {
    pub(super) iteration: u32,
    pub(super) findings: Vec<PolicyFinding>,
    pub(super) artifacts: Vec<ArtifactInfo>,
}

/// Something that a policy may look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// As the check calls it.
    pub name: String,
    /// What is in it.
    pub bytes: Arc<[u8]>,
    /// Whether it was written while the checks of this iteration ran.
    pub fresh: bool,
}

/// What a policy is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyInput {
    /// The iteration.
    pub iteration: u32,
    /// What the other checks found.
    pub findings: Vec<PolicyFinding>,
    /// What it may look at.
    pub artifacts: Vec<Artifact>,
    /// Its settings, as JSON. Empty means none.
    pub settings: String,
}

impl PolicyInput {
    /// What the policy is handed.
    pub(super) fn evidence(&self) -> Evidence {
        let info = |artifact: &Artifact| ArtifactInfo {
            name: artifact.name.clone(),
            size: u64::try_from(artifact.bytes.len()).unwrap_or(u64::MAX),
            digest: blake3::hash(&artifact.bytes).to_hex().to_string(),
            fresh: artifact.fresh,
        };
        let mut artifacts: Vec<ArtifactInfo> = self.artifacts.iter().map(info).collect();
        artifacts.sort_by(|one, other| one.name.cmp(&other.name));
        Evidence {
            iteration: self.iteration,
            findings: self.findings.clone(),
            artifacts,
        }
    }

    /// The settings as the policy gets them.
    pub(super) fn settings(&self) -> &str {
        if self.settings.is_empty() {
            "{}"
        } else {
            &self.settings
        }
    }
}
