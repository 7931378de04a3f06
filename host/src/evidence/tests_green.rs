//! `tests_green`: a test program and the results that it reports. Both must say that everything passed.

use std::time::SystemTime;

use super::Finding;
use super::gather::Scene;
use super::program::{self, Run};
use super::record::Attempt;
use super::report_files;
use super::reports::{self, TestCounts, TestFormat};
use crate::config::CheckProgram;
use crate::engine::Outcome;
use crate::process::{Ended, Status};

/// The most that is read of results on standard output.
const RESULTS: usize = 16 << 20;

/// What counts as green.
pub(super) struct Expectation<'e> {
    pub(super) format: Option<TestFormat>,
    pub(super) report: Option<&'e str>,
    pub(super) min_tests: u32,
    pub(super) allow_skipped: bool,
}

pub(super) fn look(
    scene: &Scene<'_>,
    program: &CheckProgram,
    expected: &Expectation<'_>,
) -> (Finding, Option<Attempt>) {
    // A report of an earlier run is no evidence for this one.
    if let Some(report) = expected.report
        && !report_files::are_several(scene.workspace, report)
        && let Err(reason) = super::file::remove(scene.workspace, report)
    {
        let reason = format!("the old report {report} can't be removed: {reason}");
        return (Finding::error(reason), None);
    }
    let printed = if expected.report.is_some() {
        0
    } else {
        RESULTS
    };
    let since = SystemTime::now();
    let Run { ended, attempt } = match program::run(scene, program, printed) {
        Ok(run) => run,
        Err(finding) => return (finding, None),
    };
    let results = || results(scene, expected, &ended, since);
    (judge(program, expected, &ended, results), Some(attempt))
}

fn judge(
    program: &CheckProgram,
    expected: &Expectation<'_>,
    ended: &Ended,
    results: impl FnOnce() -> Result<TestCounts, Finding>,
) -> Finding {
    let failed = program::failed(program, ended);
    if matches!(ended.status, Status::TimedOut | Status::Canceled) {
        return failed.unwrap_or_else(|| Finding::error("it did not end"));
    }
    let counts = match results() {
        Ok(counts) => counts,
        // Without results how it ended is all there is; without either there is no evidence.
        Err(problem) => return failed.unwrap_or(problem),
    };
    let finding = match verdict(&counts, expected) {
        Err(reason) => Finding::fail(format!("{reason}{}", program::told(ended))),
        Ok(reason) => match failed {
            Some(failed) => {
                Finding::new(failed.outcome, format!("{reason}, but {}", failed.reason))
            }
            None => Finding::pass(reason),
        },
    };
    Finding {
        tests: Some(counts),
        ..finding
    }
}

/// What all reports of a run say.
fn results(
    scene: &Scene<'_>,
    expected: &Expectation<'_>,
    ended: &Ended,
    since: SystemTime,
) -> Result<TestCounts, Finding> {
    let workspace = scene.workspace;
    let several = expected
        .report
        .filter(|report| report_files::are_several(workspace, report));
    let Some(report) = several else {
        let bytes = program::report(workspace, expected.report, ended)?;
        return counts(expected, &bytes, "", ended);
    };
    let ending = match expected.format {
        Some(TestFormat::Trx) => "trx",
        _ => "xml",
    };
    let files = report_files::read(workspace, report, ending, since).map_err(|reason| {
        let told = program::told(ended);
        Finding::error(format!(
            "the reports {report} can't be used: {reason}{told}"
        ))
    })?;
    let mut all: Option<TestCounts> = None;
    for (name, bytes) in files {
        let counts = counts(expected, &bytes, &format!(" in {name}"), ended)?;
        match &mut all {
            Some(all) => all.add(counts),
            None => all = Some(counts),
        }
    }
    Ok(all.unwrap_or_default())
}

/// What one report says. `place` says where it is, if that has to be said.
fn counts(
    expected: &Expectation<'_>,
    bytes: &[u8],
    place: &str,
    ended: &Ended,
) -> Result<TestCounts, Finding> {
    let Some(format) = expected.format.or_else(|| reports::recognise(bytes)) else {
        let reason = match place {
            "" => "no test results were found in what it printed; set `format`".to_owned(),
            place => format!("no test results were found{place}; set `format`"),
        };
        return Err(Finding::error(format!("{reason}{}", program::told(ended))));
    };
    reports::read(format, bytes).map_err(|error| {
        let reason = format!(
            "the test results{place} can't be used: {error}{}",
            program::told(ended)
        );
        Finding::new(Outcome::Error, reason)
    })
}

/// What the counts say, or why they are not green.
fn verdict(counts: &TestCounts, expected: &Expectation<'_>) -> Result<String, String> {
    let TestCounts {
        passed,
        failed,
        skipped,
        failures,
        superseded,
        names: _,
    } = counts;
    let total = counts.total();
    if *failed > 0 {
        let names = match failures.as_slice() {
            [] => String::new(),
            names => format!(": {}", names.join(", ")),
        };
        return Err(format!("{failed} of {total} failed{names}"));
    }
    if total - skipped < u64::from(expected.min_tests) {
        let least = expected.min_tests;
        return Err(format!(
            "{} tests ran, and at least {least} must",
            total - skipped
        ));
    }
    if *skipped > 0 && !expected.allow_skipped {
        return Err(format!(
            "{skipped} of {total} were skipped, and none may be"
        ));
    }
    let skipped = match skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    // Nothing in a report shows whether they are attempts, or different tests of the same name.
    let superseded = match superseded {
        0 => String::new(),
        1 => "; 1 failed attempt was followed by one of the same name that passed".to_owned(),
        several => format!(
            "; {several} failed attempts were followed by ones of the same name that passed"
        ),
    };
    Ok(format!("{passed} passed{skipped}{superseded}"))
}
