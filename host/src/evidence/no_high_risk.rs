//! `no_high_risk`: the findings of a scanner, below a severity.

use ralph_gate_component::Word as _;

use super::Finding;
use super::gather::Scene;
use super::program;
use super::record::Attempt;
use super::reports::{Finding as Risk, Severity, read_findings};
use crate::config::CheckProgram;
use crate::engine::Outcome;
use crate::process::{Ended, Status};

/// The most that is read of findings on standard output.
const FINDINGS: usize = 16 << 20;
/// How many findings are named.
const NAMED: usize = 10;

/// Which findings count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Threshold {
    /// From this severity on.
    pub(super) severity: Severity,
    /// The severity of those for which the report gives none; what is usual for it when absent.
    pub(super) level_default: Option<Severity>,
}

pub(super) fn look(
    scene: &Scene<'_>,
    program: Option<&CheckProgram>,
    report: Option<&str>,
    threshold: Threshold,
) -> (Finding, Option<Attempt>) {
    let Some(program) = program else {
        let bytes = report.map_or(Err("there is none".to_owned()), |name| {
            super::file::read(scene.workspace, name)
        });
        let finding = match bytes {
            Ok(bytes) => judge(&bytes, threshold),
            Err(reason) => Finding::error(format!("the report can't be used: {reason}")),
        };
        return (finding, None);
    };
    if let Some(name) = report
        && let Err(reason) = super::file::remove(scene.workspace, name)
    {
        let reason = format!("the old report {name} can't be removed: {reason}");
        return (Finding::error(reason), None);
    }
    let printed = if report.is_some() { 0 } else { FINDINGS };
    match program::run(scene, program, printed) {
        Ok(run) => (
            scanned(scene, program, report, threshold, &run.ended),
            Some(run.attempt),
        ),
        Err(finding) => (finding, None),
    }
}

/// Scanners exit with 0 or 1, whether they find something or not, and with more when they could not do their work:
/// what they report then is not all there is.
fn scanned(
    scene: &Scene<'_>,
    program: &CheckProgram,
    report: Option<&str>,
    threshold: Threshold,
    ended: &Ended,
) -> Finding {
    let failed = program::failed(program, ended);
    match ended.status {
        Status::Exited(0 | 1) => {}
        Status::Exited(code) => {
            let reason = format!(
                "the scanner failed with exit code {code}{}",
                program::told(ended)
            );
            return Finding::error(reason);
        }
        _ => return failed.unwrap_or_else(|| Finding::error("it did not end")),
    }
    match program::report(scene.workspace, report, ended) {
        Ok(bytes) => match judge(&bytes, threshold) {
            finding if finding.outcome == Outcome::Error => failed.unwrap_or(finding),
            finding => finding,
        },
        Err(problem) => failed.unwrap_or(problem),
    }
}

fn judge(bytes: &[u8], threshold: Threshold) -> Finding {
    let severity = threshold.severity;
    let risks = match read_findings(bytes, threshold.level_default) {
        Ok(risks) => risks,
        Err(error) => return Finding::error(format!("the findings can't be used: {error}")),
    };
    let high: Vec<&Risk> = risks
        .iter()
        .filter(|risk| risk.severity >= severity)
        .collect();
    if high.is_empty() {
        return Finding::pass(format!(
            "{} findings, all below {}",
            risks.len(),
            severity.as_str()
        ));
    }
    let mut reason = format!(
        "{} findings of severity {} or higher",
        high.len(),
        severity.as_str()
    );
    for risk in high.iter().take(NAMED) {
        let place = risk
            .place
            .as_ref()
            .map_or_else(String::new, |place| format!(" in {place}"));
        reason.push_str(&format!(
            "\n{} {}{place}: {}",
            risk.severity.as_str(),
            risk.rule,
            risk.message
        ));
    }
    Finding::fail(reason)
}
