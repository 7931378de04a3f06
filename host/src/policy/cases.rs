//! Evidence and expectations in files: what `policy run`, `policy test` and `policy bench` read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::types::{Artifact, Judgement, PolicyFinding, PolicyInput, PolicyOutcome};
use crate::plain_file;

/// The most that is read of a file that stands for an artifact.
const LIMIT: u64 = 64 << 20;

/// Why evidence or cases can't be used.
#[derive(Debug, Error)]
pub enum CaseError {
    /// Not what it should be.
    #[error("line {line}, column {column}: {reason}")]
    Invalid {
        /// Where.
        line: usize,
        /// Where in the line.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// An artifact has both a text and a file, or neither.
    #[error("the artifact {name} must have `text` or `file`, and not both")]
    Content {
        /// Its name.
        name: String,
    },
    /// An artifact's file can't be read.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        reason: String,
    },
}

/// One case: what a policy is asked, and what it must answer.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// What the policy is asked.
    pub input: PolicyInput,
    /// What it must answer, if anything is expected.
    pub expected: Option<Expected>,
}

/// What a policy must answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The outcome.
    pub outcome: PolicyOutcome,
    /// The reasons; any when absent.
    #[serde(default)]
    pub reasons: Option<Vec<String>>,
}

impl Expected {
    /// Whether a judgement is the expected one.
    pub fn is_met_by(&self, judgement: &Judgement) -> bool {
        let reasons = self.reasons.as_ref();
        self.outcome == judgement.outcome && reasons.is_none_or(|it| *it == judgement.reasons)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    cases: Vec<WrittenCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    name: String,
    #[serde(default)]
    settings: Option<Value>,
    #[serde(default)]
    evidence: WrittenEvidence,
    #[serde(default)]
    expect: Option<Expected>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenEvidence {
    iteration: Option<u32>,
    findings: Vec<PolicyFinding>,
    artifacts: Vec<WrittenArtifact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArtifact {
    name: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    file: Option<PathBuf>,
    #[serde(default)]
    fresh: bool,
}

/// Reads a file of cases. Artifacts that are files are looked for in `folder`.
pub fn read_cases(text: &str, folder: &Path) -> Result<Vec<Case>, CaseError> {
    let file: CaseFile = serde_json::from_str(text).map_err(|error| invalid(&error))?;
    let case = |written: WrittenCase| {
        let settings = written.settings.map(|settings| settings.to_string());
        Ok(Case {
            name: written.name,
            input: written
                .evidence
                .read(folder, settings.unwrap_or_default())?,
            expected: written.expect,
        })
    };
    file.cases.into_iter().map(case).collect()
}

/// Reads evidence. An empty text is empty evidence.
pub fn read_evidence(text: &str, folder: &Path, settings: &str) -> Result<PolicyInput, CaseError> {
    let evidence = if text.trim().is_empty() {
        WrittenEvidence::default()
    } else {
        serde_json::from_str(text).map_err(|error| invalid(&error))?
    };
    evidence.read(folder, settings.to_owned())
}

impl WrittenEvidence {
    fn read(self, folder: &Path, settings: String) -> Result<PolicyInput, CaseError> {
        let artifacts = self.artifacts.into_iter().map(|it| it.read(folder));
        Ok(PolicyInput {
            iteration: self.iteration.unwrap_or(1),
            findings: self.findings,
            artifacts: artifacts.collect::<Result<_, _>>()?,
            settings,
        })
    }
}

impl WrittenArtifact {
    fn read(self, folder: &Path) -> Result<Artifact, CaseError> {
        let bytes = match (self.text, self.file) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(file)) => {
                let path = folder.join(file);
                plain_file::read(&path, LIMIT).map_err(|reason| CaseError::File {
                    path,
                    reason: reason.to_string(),
                })?
            }
            _ => return Err(CaseError::Content { name: self.name }),
        };
        Ok(Artifact {
            name: self.name,
            bytes: Arc::from(bytes),
            fresh: self.fresh,
        })
    }
}

fn invalid(error: &serde_json::Error) -> CaseError {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    CaseError::Invalid {
        line: error.line(),
        column: error.column(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_empty_and_an_empty_text_is_empty_evidence() {
        let nowhere = Path::new(".");
        let empty = read_evidence(" \n", nowhere, "").unwrap();
        assert_eq!(empty, read_evidence("{}", nowhere, "").unwrap());
        assert_eq!((empty.iteration, empty.settings()), (1, "{}"));
        let case = read_cases(r#"{"cases": [{"name": "a"}]}"#, nowhere).unwrap();
        assert_eq!(case[0].input, empty);
        assert_eq!(case[0].expected, None);
    }

    #[test]
    fn artifacts_are_texts_or_files_beside_the_cases() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), [0xff]).unwrap();
        let read = |text: &str| read_evidence(text, folder.path(), "");
        let text = r#"{"artifacts": [{"name": "t", "text": "x", "fresh": true}, {"name": "f", "file": "f"}]}"#;
        let artifacts = read(text).unwrap().artifacts;
        assert_eq!(
            (&*artifacts[0].bytes, artifacts[0].fresh),
            (&b"x"[..], true)
        );
        assert_eq!(
            (&*artifacts[1].bytes, artifacts[1].fresh),
            (&[0xff][..], false)
        );
        for (text, reason) in [
            (
                r#"{"artifacts": [{"name": "t"}]}"#,
                "must have `text` or `file`",
            ),
            (
                r#"{"artifacts": [{"name": "t", "file": "none"}]}"#,
                "it is not there",
            ),
            ("{\n \"findigns\": []}", "line 2, column 11: unknown field"),
            (r#"{"findings": [{"id": "a"}]}"#, "missing field `outcome`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn reasons_that_nobody_expects_are_not_compared() {
        let judgement = Judgement {
            outcome: PolicyOutcome::Fail,
            reasons: vec!["a".to_owned()],
        };
        let expected = |outcome, reasons: Option<&[&str]>| Expected {
            outcome,
            reasons: reasons.map(|it| it.iter().map(|it| (*it).to_owned()).collect()),
        };
        assert!(expected(PolicyOutcome::Fail, None).is_met_by(&judgement));
        assert!(expected(PolicyOutcome::Fail, Some(&["a"])).is_met_by(&judgement));
        assert!(!expected(PolicyOutcome::Fail, Some(&[])).is_met_by(&judgement));
        assert!(!expected(PolicyOutcome::Pass, Some(&["a"])).is_met_by(&judgement));
    }
}
