//! The evidence, and the one JSON document that it becomes.

use serde_json::{Map, Value, json};

use crate::artifacts::{Artifacts, LoadError, Loader};

/// The names that no artifact can take.
pub const NAMES: [&str; 4] = ["iteration", "checks", "tests", "artifacts"];

/// What the host knows of the iteration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Its number.
    pub iteration: u32,
    /// Of every check that is not a policy.
    pub findings: Vec<Finding>,
    /// By name.
    pub artifacts: Vec<ArtifactInfo>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check's id in the contract.
    pub id: String,
    /// The check's kind.
    pub kind: String,
    /// What came of it.
    pub outcome: FindingOutcome,
    /// Why, in words.
    pub reason: String,
    /// Of a test run.
    pub tests: Option<TestCounts>,
    /// The exit code of the program that was run.
    pub exit: Option<i32>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingOutcome {
    /// It passed.
    Pass,
    /// It failed.
    Fail,
    /// It can't be told.
    Unknown,
    /// It could not be done.
    Error,
    /// It took too long.
    Timeout,
    /// It did not always give the same.
    Flaky,
}

impl FindingOutcome {
    fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Flaky => "flaky",
        }
    }
}

/// What a test run counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
    /// Skipped.
    pub skipped: u32,
}

/// An artifact, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactInfo {
    /// As the contract calls it.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// BLAKE3, in hex.
    pub digest: String,
    /// Whether it was written while the checks of this iteration ran.
    pub fresh: bool,
}

/// The evidence by the names that a policy uses.
pub type Document = Map<String, Value>;

/// Makes the document, with the content of the artifacts that are mentioned.
pub fn document(
    evidence: &Evidence,
    artifacts: &dyn Artifacts,
    is_mentioned: impl Fn(&str) -> bool,
) -> Result<Document, LoadError> {
    let mut document = Document::new();
    document.insert("iteration".to_owned(), evidence.iteration.into());
    document.insert("checks".to_owned(), checks(&evidence.findings));
    if let Some(tests) = tests(&evidence.findings) {
        document.insert("tests".to_owned(), tests);
    }
    document.insert("artifacts".to_owned(), infos(&evidence.artifacts));
    let mut loader = Loader::new(artifacts);
    for info in &evidence.artifacts {
        if has_variable(&info.name) && is_mentioned(&info.name) {
            document.insert(info.name.clone(), loader.load(info)?);
        }
    }
    Ok(document)
}

fn checks(findings: &[Finding]) -> Value {
    let checks = findings.iter().map(|finding| {
        let mut check = json!({
            "kind": finding.kind,
            "outcome": finding.outcome.word(),
            "passed": finding.outcome == FindingOutcome::Pass,
            "reason": finding.reason,
        });
        if let (Some(counts), Value::Object(members)) = (finding.tests, &mut check) {
            members.insert("tests".to_owned(), counted(&[counts]));
        }
        if let (Some(exit), Value::Object(members)) = (finding.exit, &mut check) {
            members.insert("exit".to_owned(), exit.into());
        }
        (finding.id.clone(), check)
    });
    Value::Object(checks.collect())
}

/// The sum over all checks that counted.
fn tests(findings: &[Finding]) -> Option<Value> {
    let counts: Vec<TestCounts> = findings
        .iter()
        .filter_map(|finding| finding.tests)
        .collect();
    (!counts.is_empty()).then(|| counted(&counts))
}

fn counted(counts: &[TestCounts]) -> Value {
    let sum = |field: fn(&TestCounts) -> u32| counts.iter().map(|c| u64::from(field(c))).sum();
    let (passed, failed, skipped): (u64, u64, u64) =
        (sum(|c| c.passed), sum(|c| c.failed), sum(|c| c.skipped));
    json!({
        "passed": passed,
        "failed": failed,
        "skipped": skipped,
        "total": passed + failed + skipped,
    })
}

fn infos(artifacts: &[ArtifactInfo]) -> Value {
    let infos = artifacts.iter().map(|info| {
        let value = json!({"size": info.size, "digest": info.digest, "fresh": info.fresh});
        (info.name.clone(), value)
    });
    Value::Object(infos.collect())
}

fn has_variable(name: &str) -> bool {
    is_identifier(name) && !NAMES.contains(&name)
}

/// Whether a name is an ASCII letter or `_`, followed by any number of these and of digits.
pub fn is_identifier(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part) && name.starts_with(|c: char| !c.is_ascii_digit())
}
