//! The component: exports a policy through WIT. Marshalling only.
//!
//! A policy crate exports an alias of `Component<ItsPolicy>` with `bindings::export!`.

use std::marker::PhantomData;

use crate::{
    ArtifactInfo, Artifacts, Evidence, Finding, FindingOutcome, Judgement, Outcome, Policy,
    ReadError, TestCounts,
};

#[allow(
    unsafe_code,
    unused_qualifications,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated from the WIT"
)]
pub mod bindings {
    //! Generated from `wit/check-policy.wit`.
    wit_bindgen::generate!({
        path: "../../../wit",
        world: "check-policy",
        pub_export_macro: true,
        default_bindings_module: "ralph_gate_policy_evidence::component::bindings",
    });
}

use bindings::exports::ralph::gate::policy as wit;
use bindings::ralph::gate::artifacts as host;

/// The component of a policy.
#[derive(Debug)]
pub struct Component<P>(PhantomData<P>);

impl<P: Policy> wit::Guest for Component<P> {
    fn describe() -> wit::Description {
        wit::Description {
            name: P::NAME.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            summary: P::SUMMARY.to_owned(),
            settings_schema: P::schema(),
            wants: Vec::new(),
        }
    }

    fn evaluate(evidence: wit::Evidence, settings: String) -> wit::Judgement {
        P::evaluate(&evidence.into(), &OfTheHost, &settings).into()
    }
}

/// The artifacts as the host gives them.
struct OfTheHost;

impl Artifacts for OfTheHost {
    fn read(&self, name: &str, offset: u64, length: u32) -> Result<Vec<u8>, ReadError> {
        host::read(name, offset, length).map_err(|error| match error {
            host::ReadError::UnknownName => ReadError::UnknownName,
            host::ReadError::LimitReached => ReadError::LimitReached,
        })
    }
}

impl From<wit::Evidence> for Evidence {
    fn from(evidence: wit::Evidence) -> Self {
        Self {
            iteration: evidence.iteration,
            findings: evidence.findings.into_iter().map(Finding::from).collect(),
            artifacts: evidence
                .artifacts
                .into_iter()
                .map(ArtifactInfo::from)
                .collect(),
        }
    }
}

impl From<wit::Finding> for Finding {
    fn from(finding: wit::Finding) -> Self {
        Self {
            id: finding.id,
            kind: finding.kind,
            outcome: finding.outcome.into(),
            reason: finding.reason,
            tests: finding.tests.map(|counts| TestCounts {
                passed: counts.passed,
                failed: counts.failed,
                skipped: counts.skipped,
            }),
            exit: finding.exit,
        }
    }
}

impl From<wit::FindingOutcome> for FindingOutcome {
    fn from(outcome: wit::FindingOutcome) -> Self {
        match outcome {
            wit::FindingOutcome::Pass => Self::Pass,
            wit::FindingOutcome::Fail => Self::Fail,
            wit::FindingOutcome::Unknown => Self::Unknown,
            wit::FindingOutcome::Error => Self::Error,
            wit::FindingOutcome::Timeout => Self::Timeout,
            wit::FindingOutcome::Flaky => Self::Flaky,
        }
    }
}

impl From<wit::ArtifactInfo> for ArtifactInfo {
    fn from(info: wit::ArtifactInfo) -> Self {
        Self {
            name: info.name,
            size: info.size,
            digest: info.digest,
            fresh: info.fresh,
        }
    }
}

impl From<Judgement> for wit::Judgement {
    fn from(judgement: Judgement) -> Self {
        Self {
            outcome: match judgement.outcome {
                Outcome::Pass => wit::PolicyOutcome::Pass,
                Outcome::Fail => wit::PolicyOutcome::Fail,
                Outcome::Unknown => wit::PolicyOutcome::Unknown,
            },
            reasons: judgement.reasons,
        }
    }
}
