//! What scanners found, from a SARIF report or a plain JSON list.

mod plain;
mod sarif;
mod value;

use serde::Deserialize;

use self::plain::{List, Listed};
use self::sarif::Run;
use self::value::{Bounded, Word};
use super::error::ReportError;
use super::text::{clean, without_mark};
use crate::words::words;

const RULE_LIMIT: usize = 200;
const MESSAGE_LIMIT: usize = 500;
const PLACE_LIMIT: usize = 300;

words! {
    /// How bad a finding is, from least to worst.
    Severity {
        /// Nothing to do about it.
        Info = "info",
        /// Little harm.
        Low = "low",
        /// Some harm.
        Medium = "medium",
        /// Great harm.
        High = "high",
        /// The greatest harm.
        Critical = "critical",
    }
}

/// One thing that a scanner found. The texts are bounded and have no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What the scanner calls such findings; empty if it has no name for them.
    pub rule: String,
    /// What it says about this one; empty if it says nothing.
    pub message: String,
    /// In which file, and in which line if that is known.
    pub place: Option<String>,
}

impl Finding {
    fn new(severity: Severity, rule: &str, message: &str, place: Option<&str>) -> Self {
        Self {
            severity,
            rule: clean(rule.trim(), RULE_LIMIT),
            message: clean(message.trim(), MESSAGE_LIMIT),
            place: place.map(|place| clean(place, PLACE_LIMIT)),
        }
    }
}

/// Reads what a scanner found, in the order in which it stands.
///
/// `level_default` is the severity of findings for which the report gives none. Without it those of SARIF are medium,
/// as the standard says, and others are high. A severity in an unknown word is high, and a report of neither form is
/// an error: nothing is dropped quietly.
///
/// ```
/// use ralph_gate::evidence::reports::{Severity, read_findings};
///
/// let found = read_findings(br#"[{"severity": "moderate", "id": "R1", "title": "Weak hash", "file": "a.c"}]"#, None)?;
/// assert_eq!(found[0].severity, Severity::Medium);
/// assert_eq!(found[0].place.as_deref(), Some("a.c"));
/// # Ok::<(), ralph_gate::evidence::reports::ReportError>(())
/// ```
pub fn read_findings(
    text: &[u8],
    level_default: Option<Severity>,
) -> Result<Vec<Finding>, ReportError> {
    let text = without_mark(text).trim_ascii_start();
    if text.starts_with(b"[") {
        let list: Bounded<Listed> = parse(text)?;
        return Ok(list
            .items
            .iter()
            .map(|item| item.finding("", level_default))
            .collect());
    }
    let document: Document = parse(text)?;
    document.findings(level_default)
}

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, ReportError> {
    serde_json::from_slice(text).map_err(|error| ReportError::findings(&error.to_string()))
}

/// A report of either form.
#[derive(Deserialize)]
#[serde(expecting = "a list of findings, or an object with one")]
struct Document {
    #[serde(default)]
    version: Option<Word>,
    #[serde(default)]
    runs: Option<Bounded<Run>>,
    #[serde(default)]
    findings: Option<List>,
    #[serde(default)]
    results: Option<List>,
    #[serde(default)]
    issues: Option<List>,
    #[serde(default)]
    vulnerabilities: Option<List>,
}

impl Document {
    fn findings(&self, level_default: Option<Severity>) -> Result<Vec<Finding>, ReportError> {
        let mut findings = Vec::new();
        let mut forms = 0;
        if let Some(runs) = &self.runs {
            forms += 1;
            let version = self.version.as_ref().and_then(Word::text);
            let level = level_default.unwrap_or(Severity::Medium);
            sarif::findings(version, &runs.items, level, &mut findings)?;
        }
        let lists = [
            &self.findings,
            &self.results,
            &self.issues,
            &self.vulnerabilities,
        ];
        for list in lists.into_iter().flatten() {
            forms += 1;
            findings.extend(list.findings(level_default));
        }
        match forms {
            0 => Err(ReportError::findings(
                "there is neither a SARIF run nor a list of findings",
            )),
            _ => Ok(findings),
        }
    }
}

#[cfg(test)]
mod tests;
