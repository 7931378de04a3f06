//! Fingerprints: what the work looks like, so that two equal iterations can be recognised.

mod canonical;

use std::borrow::Cow;

use ralph_gate_text::tags::is_blank;
use serde::Serialize;

use crate::digest::Digest;
use crate::iteration::{ArtifactKind, Iteration, Outcome};
use crate::order::sort;
use crate::vocabulary::Word;

/// One part of the fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FingerprintPart {
    /// `artifact:NAME`, `tool:NAME`, `output` or `checks`.
    pub name: String,
    /// Its digest.
    pub digest: String,
    /// How many iterations in a row it has been the same, this one included.
    pub unchanged_for: u32,
    /// Set when the content could not be parsed as its kind.
    pub note: Option<String>,
}

/// The fingerprint of an iteration's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fingerprint {
    /// Over all parts.
    pub digest: String,
    /// Over the artifacts alone.
    pub state: Option<String>,
    /// False when there was nothing to compare.
    pub counted: bool,
    /// What it is made of.
    pub parts: Vec<FingerprintPart>,
    /// Equal iterations in a row, this one included.
    pub equal_in_a_row: u32,
    /// What has stayed the same, since when.
    pub diagnosis: String,
}

impl Fingerprint {
    /// Leave it out of what tells progress from no progress.
    pub(crate) fn leave_out(&mut self) {
        self.counted = false;
        self.equal_in_a_row = 0;
    }
}

/// Fingerprint an iteration by itself.
pub fn of(iteration: &Iteration<'_>) -> Fingerprint {
    within(iteration, None, &|_| true)
}

/// Fingerprint an iteration of a loop. `nonce` is a token that changes each iteration and therefore is
/// left out of the agent's output. Results for checks that are not `named` change nothing.
pub(crate) fn within(
    iteration: &Iteration<'_>,
    nonce: Option<&str>,
    named: &dyn Fn(&str) -> bool,
) -> Fingerprint {
    let mut parts = artifact_parts(iteration);
    let state = (!parts.is_empty()).then(|| combine("state", &parts));
    parts.extend(iteration.tool_outputs.iter().map(|tool| FingerprintPart {
        name: format!("tool:{}", tool.name),
        digest: normal(&tool.content),
        unchanged_for: 1,
        note: None,
    }));
    // Only where the host gives nothing better does the agent's own text stand in.
    if parts.is_empty() && !is_blank(&iteration.output) {
        parts.push(output_part(&iteration.output, nonce));
    }
    let counted = !parts.is_empty();
    parts.push(checks_part(iteration, named));
    sort_parts(&mut parts);
    Fingerprint {
        digest: combine("fingerprint", &parts),
        state,
        counted,
        parts,
        equal_in_a_row: 1,
        diagnosis: String::new(),
    }
}

fn artifact_parts(iteration: &Iteration<'_>) -> Vec<FingerprintPart> {
    let mut parts: Vec<FingerprintPart> = iteration
        .artifacts
        .iter()
        .map(|artifact| {
            let (digest, note) = match artifact.kind {
                ArtifactKind::Yaml => canonical::yaml(&artifact.content),
                ArtifactKind::Json => canonical::json(&artifact.content),
                ArtifactKind::Text => (normal(&artifact.content), None),
                ArtifactKind::Digest => (
                    crate::digest::of("as given", artifact.content.trim().as_bytes()),
                    None,
                ),
            };
            FingerprintPart {
                name: format!("artifact:{}", artifact.name),
                digest,
                unchanged_for: 1,
                note,
            }
        })
        .collect();
    sort_parts(&mut parts);
    parts
}

/// The digest of a text's normal form.
fn normal(text: &str) -> String {
    let mut digest = Digest::new("text");
    ralph_gate_text::normal::write(text, &mut |piece| {
        digest.stream(piece);
    });
    digest.hex()
}

/// The order in which the host lists things must not matter.
fn sort_parts(parts: &mut Vec<FingerprintPart>) {
    sort(parts, |a, b| {
        (&a.name, &a.digest).cmp(&(&b.name, &b.digest))
    });
}

fn output_part(output: &str, nonce: Option<&str>) -> FingerprintPart {
    let output = match nonce {
        Some(token) if output.contains(token) => Cow::Owned(output.replace(token, "<token>")),
        _ => Cow::Borrowed(output),
    };
    FingerprintPart {
        name: "output".to_owned(),
        digest: normal(&output),
        unchanged_for: 1,
        note: None,
    }
}

/// The tuple of check results. Reasons are left out: they may hold volatile text.
fn checks_part(iteration: &Iteration<'_>, named: &dyn Fn(&str) -> bool) -> FingerprintPart {
    let mut results: Vec<(&str, Outcome)> = iteration
        .checks
        .iter()
        .map(|check| (check.id.as_ref(), check.outcome))
        .filter(|(id, _)| named(id))
        .collect();
    sort(&mut results, Ord::cmp);
    results.dedup();
    let mut digest = Digest::new("checks");
    digest.number(results.len());
    for (id, outcome) in results {
        digest
            .bytes(id.as_bytes())
            .bytes(outcome.as_str().as_bytes());
    }
    FingerprintPart {
        name: "checks".to_owned(),
        digest: digest.hex(),
        unchanged_for: 1,
        note: None,
    }
}

fn combine(domain: &str, parts: &[FingerprintPart]) -> String {
    let mut digest = Digest::new(domain);
    digest.number(parts.len());
    for part in parts {
        digest
            .bytes(part.name.as_bytes())
            .bytes(part.digest.as_bytes());
    }
    digest.hex()
}
