//! `policy`, `cel`, `rego`: what a component that somebody else wrote makes of the evidence.
//!
//! This is the seam between the checks and whatever runs policies: files are read here and must be the pinned ones; a
//! [`PolicyRunner`] judges.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::Finding;
use super::file::{read, was_written_since};
use super::gather::Scene;
use super::record::Evidence;
use crate::config::{Judge, PinnedFile, PolicyCheck, WasiGrant};
use crate::engine::{FailureCode, Outcome};
use crate::policy::{
    Artifact, Counts, Judgement, PolicyError, PolicyFinding, PolicyInput, PolicyLimits, Run,
    Shipped, Wasi,
};
use crate::process::Stop;
use crate::visible::is_hidden;

/// Runs policies.
pub trait PolicyRunner: Debug + Send + Sync {
    /// Lets a policy judge. It fails only where it can't be run at all.
    fn judge(&self, question: &PolicyQuestion<'_>) -> Result<Run<Judgement>, PolicyError>;
}

/// What a policy is asked.
#[derive(Debug, Clone, Copy)]
pub struct PolicyQuestion<'q> {
    /// The check's id.
    pub check: &'q str,
    /// What judges.
    pub component: PolicyComponent<'q>,
    /// What it gets of WASI.
    pub wasi: Wasi,
    /// The evidence, and its settings.
    pub input: &'q PolicyInput,
    /// What it may use.
    pub limits: &'q PolicyLimits,
    /// Ends what takes its time.
    pub stop: &'q Stop,
}

/// What judges.
#[derive(Debug, Clone, Copy)]
pub enum PolicyComponent<'q> {
    /// A component, whose digest is the pinned one.
    Pinned(&'q [u8]),
    /// One that the host carries.
    Shipped(Shipped),
}

impl PolicyComponent<'_> {
    /// The component itself.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Pinned(bytes) => bytes,
            Self::Shipped(shipped) => shipped.component(),
        }
    }
}

/// What is kept of a policy's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyRecord {
    /// The component's digest.
    pub digest: String,
    /// Units of fuel that it used.
    pub fuel: u64,
    /// Bytes of memory that it used.
    pub memory: usize,
    /// Why it gave no judgement.
    pub outcome: Option<&'static str>,
    /// What it printed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub log: String,
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
    match ask(scene, runner, id, check, evidence) {
        Ok(finding) => finding,
        Err(refused) => refused,
    }
}

fn ask(
    scene: &Scene<'_>,
    runner: &dyn PolicyRunner,
    id: &str,
    check: &PolicyCheck,
    evidence: &[Evidence],
) -> Result<Finding, Finding> {
    let mut settings = check.settings.clone();
    let component = match &check.judge {
        Judge::Component(file) => Some(pinned(scene.workspace, file)?),
        Judge::Cel | Judge::Rego(None) => None,
        Judge::Rego(Some(file)) => {
            settings = with_module(&settings, pinned(scene.workspace, file)?)?;
            None
        }
    };
    let component = match (&component, &check.judge) {
        (Some(bytes), _) => PolicyComponent::Pinned(bytes),
        (None, Judge::Rego(_)) => PolicyComponent::Shipped(Shipped::Rego),
        (None, _) => PolicyComponent::Shipped(Shipped::Cel),
    };
    let input = PolicyInput {
        iteration: scene.iteration,
        findings: evidence.iter().map(finding).collect(),
        artifacts: artifacts(scene, check)?,
        settings,
    };
    let run = runner.judge(&PolicyQuestion {
        check: id,
        component,
        wasi: match check.wasi {
            WasiGrant::None => Wasi::Absent,
            WasiGrant::DenyAll => Wasi::DenyAll,
        },
        input: &input,
        limits: &limits(check),
        stop: scene.stop,
    });
    Ok(judged(&component, run.unwrap_or_else(Run::refused)))
}

/// What is wrong with a policy whatever the evidence: a file that is not the pinned one, a component that is refused or
/// that this program was built without, a text that can't be parsed.
pub(super) fn mistake(
    scene: &Scene<'_>,
    runner: &dyn PolicyRunner,
    id: &str,
    check: &PolicyCheck,
) -> Option<String> {
    let finding = match ask(scene, runner, id, check, &[]) {
        Err(refused) => return Some(refused.reason),
        Ok(finding) => finding,
    };
    // Words of the shipped policies, which have one outcome for a mistake and for evidence that is missing.
    let is_mistake = match &check.judge {
        Judge::Component(_) => false,
        Judge::Cel => ["is too long", "is refused", "has a mistake"]
            .iter()
            .any(|what| {
                finding
                    .reason
                    .starts_with(&format!("the expression {what}"))
            }),
        Judge::Rego(_) => {
            let of_text = |part: &str| {
                let reason = &finding.reason;
                reason.starts_with(&format!("the {part} "))
                    || (reason.contains("(line ") && reason.ends_with(&format!(" of the {part})")))
            };
            of_text("module") || of_text("query") || of_text("package")
        }
    };
    let outcome = finding.policy.as_ref().and_then(|record| record.outcome);
    let is_absent = outcome == Some(PolicyError::NOT_INCLUDED);
    // An artifact that the agent is to make.
    let mut files = check.artifacts.values();
    let is_to_come = outcome == Some(PolicyError::ARTIFACT_MISSING)
        && files.any(|path| scene.workspace.join(path).symlink_metadata().is_err());
    let is_refused = finding.code == Some(FailureCode::PolicyRejected) && !is_to_come;
    let is_unknown = finding.outcome == Outcome::Unknown;
    (is_refused || is_absent || (is_unknown && is_mistake)).then_some(finding.reason)
}

/// Why a file is not the one that was meant. None where it is.
pub(super) fn not_pinned(workspace: &Path, file: &PinnedFile) -> Option<String> {
    pinned(workspace, file).err().map(|finding| finding.reason)
}

/// A file that must be the one that was meant.
fn pinned(workspace: &Path, file: &PinnedFile) -> Result<Vec<u8>, Finding> {
    let PinnedFile { path, blake3 } = file;
    let bytes = read(workspace, path)
        .map_err(|reason| rejected(Finding::error(format!("{path}: {reason}"))))?;
    let digest = blake3::hash(&bytes).to_hex();
    if !blake3.eq_ignore_ascii_case(digest.as_str()) {
        let reason = format!("{path} has the digest {digest}, not {blake3}");
        return Err(rejected(Finding::error(reason)));
    }
    Ok(bytes)
}

fn rejected(mut finding: Finding) -> Finding {
    finding.code = Some(FailureCode::PolicyRejected);
    finding
}

/// Settings with the module of a file.
fn with_module(settings: &str, module: Vec<u8>) -> Result<String, Finding> {
    let module = String::from_utf8(module)
        .map_err(|_| rejected(Finding::error("the module is not UTF-8 text")))?;
    let mut settings: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(settings).unwrap_or_default();
    settings.insert("module".to_owned(), module.into());
    Ok(serde_json::Value::Object(settings).to_string())
}

/// What another check found, as policies are told.
fn finding(evidence: &Evidence) -> PolicyFinding {
    PolicyFinding {
        id: evidence.check.clone(),
        kind: evidence.kind.to_owned(),
        outcome: evidence.outcome.into(),
        reason: evidence.reason.clone(),
        tests: evidence.tests.as_ref().map(|tests| Counts {
            passed: narrow(tests.passed),
            failed: narrow(tests.failed),
            skipped: narrow(tests.skipped),
        }),
        exit: evidence.attempts.last().and_then(|attempt| attempt.exit),
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The files that a policy may look at. One that is not there is left out: that is for the policy to judge.
fn artifacts(scene: &Scene<'_>, check: &PolicyCheck) -> Result<Vec<Artifact>, Finding> {
    let mut artifacts = Vec::new();
    for (name, path) in &check.artifacts {
        if scene.workspace.join(path).symlink_metadata().is_err() {
            continue;
        }
        let bytes = read(scene.workspace, path)
            .map_err(|reason| Finding::error(format!("{path}: {reason}")))?;
        artifacts.push(Artifact {
            name: name.clone(),
            bytes: Arc::from(bytes),
            fresh: was_written_since(&scene.workspace.join(path), scene.begun),
        });
    }
    Ok(artifacts)
}

fn limits(check: &PolicyCheck) -> PolicyLimits {
    let usual = PolicyLimits::default();
    PolicyLimits {
        fuel: check.fuel.map_or(usual.fuel, u64::from),
        time: check
            .timeout_ms
            .map_or(usual.time, |ms| Duration::from_millis(ms.into())),
        memory: check
            .max_memory_bytes
            .and_then(|bytes| usize::try_from(bytes).ok())
            .unwrap_or(usual.memory),
        ..usual
    }
}

fn judged(component: &PolicyComponent<'_>, run: Run<Judgement>) -> Finding {
    let record = PolicyRecord {
        digest: blake3::hash(component.bytes()).to_hex().to_string(),
        fuel: run.fuel,
        memory: run.memory,
        outcome: run.result.as_ref().err().map(PolicyError::code),
        log: seen(&String::from_utf8_lossy(&run.log.text)),
    };
    let mut finding = match run.result {
        Ok(judgement) => {
            let reasons: Vec<String> = judgement.reasons.iter().map(|it| seen(it)).collect();
            Finding::new(judgement.outcome.into(), reasons.join("; "))
        }
        Err(error) => failed(&error),
    };
    finding.policy = Some(Box::new(record));
    finding
}

fn failed(error: &PolicyError) -> Finding {
    let mut finding = Finding::error(seen(&error.to_string()));
    finding.code = error.failure();
    finding
}

/// A stranger's words, without what a person can't see or what does something to a terminal.
fn seen(text: &str) -> String {
    let shown = |character| if is_hidden(character) { ' ' } else { character };
    text.chars().map(shown).collect()
}
