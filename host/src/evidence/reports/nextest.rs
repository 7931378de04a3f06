//! The output of `cargo nextest run`: its summary line.
//!
//! The summary stands below a rule at the very left, where the shown output of a test is indented; so a test that
//! prints one is not mistaken for it. Each run that announces how many tests it starts must have its summary.

use std::collections::BTreeSet;

use super::TestCounts;
use super::error::ReportError;
use super::names::{Collector, Part};
use super::text::{Line, leading_number, lines};

/// How many tests are told apart by their names.
const NAMES_LIMIT: usize = 200_000;

/// Sums the summaries of all runs.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut output = Output::default();
    for line in lines(text) {
        output.take(&line)?;
    }
    output.finish()
}

/// Whether a line is one that only nextest writes.
pub(super) fn is_mark(line: &str) -> bool {
    line.starts_with(" Nextest run ") || Summary::parse(line).is_some()
}

#[derive(Default)]
struct Output {
    counts: TestCounts,
    /// Of tests that have a line of their own.
    names: Collector,
    named: BTreeSet<String>,
    /// Tests that were not reached.
    not_run: u64,
    summaries: u64,
    /// The run that goes on.
    announced: Option<Announced>,
    /// Whether the line before is a rule.
    below: Below,
    /// How many failed tests the list below a summary still has to name.
    unnamed: u64,
    /// A summary outside of its place, which counts if nothing else is there.
    stray: Option<(u64, Summary)>,
    strays: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Below {
    #[default]
    Text,
    Rule,
}

struct Announced {
    line: u64,
    tests: u64,
}

impl Output {
    fn take(&mut self, line: &Line<'_>) -> Result<(), ReportError> {
        let below = std::mem::replace(&mut self.below, Below::Text);
        self.take_name(&line.text);
        if is_rule(&line.text) {
            self.below = Below::Rule;
        } else if let Some(tests) = announced(&line.text) {
            self.start(line.number, tests)?;
        } else if let Some(summary) = Summary::parse(&line.text) {
            match below {
                Below::Rule => self.end(line.number, &summary)?,
                Below::Text => {
                    self.strays += 1;
                    self.stray = Some((line.number, summary));
                }
            }
        } else if let Some(name) = self.failed_test(&line.text) {
            self.unnamed -= 1;
            self.counts.name_failure(name);
        }
        Ok(())
    }

    /// Each test has a line for its last attempt, and one that failed is listed again below the summary.
    fn take_name(&mut self, line: &str) {
        if let Some((outcome, name)) = status(line)
            && self.named.len() < NAMES_LIMIT
            && self.named.insert(name.to_owned())
        {
            let part = match first_word(outcome) {
                "SKIP" => Part::Skipped,
                _ => Part::Ran,
            };
            self.names.add(part, name);
        }
    }

    fn start(&mut self, line: u64, tests: u64) -> Result<(), ReportError> {
        match self.announced.replace(Announced { line, tests }) {
            Some(announced) => Err(announced.unfinished()),
            None => Ok(()),
        }
    }

    fn end(&mut self, line: u64, summary: &Summary) -> Result<(), ReportError> {
        match self.announced.take() {
            Some(announced) if announced.tests == summary.planned => {}
            None if self.summaries == 0 => {}
            Some(announced) => {
                let said = format!("{} tests", summary.planned);
                let found = announced.tests.to_string();
                return Err(ReportError::contradiction(
                    line,
                    "the summary",
                    &said,
                    &found,
                ));
            }
            None => {
                let what = "this summary belongs to no run";
                return Err(ReportError::malformed(line, what));
            }
        }
        self.add(line, summary)
    }

    fn add(&mut self, line: u64, summary: &Summary) -> Result<(), ReportError> {
        let not_run = summary.not_run(line)?;
        self.summaries += 1;
        self.unnamed = summary.failed;
        self.counts.passed += summary.passed;
        self.counts.failed += summary.failed;
        self.counts.skipped += summary.skipped + not_run;
        self.not_run += not_run;
        Ok(())
    }

    fn failed_test<'a>(&self, line: &'a str) -> Option<&'a str> {
        match self.unnamed {
            0 => None,
            _ => failed_test(line),
        }
    }

    fn finish(mut self) -> Result<TestCounts, ReportError> {
        if let Some(announced) = self.announced {
            return Err(announced.unfinished());
        }
        if self.summaries > 0 {
            let ran = self.counts.passed + self.counts.failed;
            self.counts.names = self.names.if_ran(ran).filter(|_| self.not_run == 0);
            return Ok(self.counts);
        }
        match self.stray.take() {
            Some((line, summary)) if self.strays == 1 => {
                self.add(line, &summary)?;
                Ok(self.counts)
            }
            _ => Err(ReportError::Missing { what: "summary" }),
        }
    }
}

impl Announced {
    fn unfinished(&self) -> ReportError {
        ReportError::unfinished(self.line, "this run of nextest")
    }
}

fn is_rule(line: &str) -> bool {
    line.len() > 3 && (line.chars().all(|c| c == '─') || line.chars().all(|c| c == '-'))
}

/// `    Starting 5 tests across 4 binaries (1 test skipped)`.
fn announced(line: &str) -> Option<u64> {
    let (tests, rest) = leading_number(line.strip_prefix("    Starting ")?)?;
    let rest = rest.strip_prefix(" test")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    rest.starts_with(" across ").then_some(tests)
}

/// `  TRY 2 FAIL [   0.019s] (2/5) demo::liar lies`, which the list below a summary has for each failed test.
fn failed_test(line: &str) -> Option<&str> {
    let (outcome, name) = status(line)?;
    let is_harmless = ["PASS", "FLAKY", "LEAK", "SLOW", "SKIP"].contains(&first_word(outcome));
    (!is_harmless).then_some(name)
}

/// What a line says of one test, and of which.
fn status(line: &str) -> Option<(&str, &str)> {
    let (status, rest) = line.split_once(" [")?;
    let right = status.trim_start();
    let outcome = match right.strip_prefix("TRY ") {
        Some(attempt) => attempt.split_once(' ')?.1,
        None => right,
    };
    // Statuses are set flush right against the time; output of tests has four spaces and anything.
    let is_status = status.len() >= 12
        && outcome
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || b"-+ 0123456789".contains(&byte));
    if !is_status {
        return None;
    }
    let name = rest.split_once("] ")?.1;
    let name = match name
        .strip_prefix('(')
        .and_then(|name| name.split_once(") "))
    {
        Some((_, name)) => name,
        None => name.trim_start(),
    };
    Some((outcome, name))
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// `     Summary [   2.079s] 2/5 tests run: 1 passed (1 flaky, 1 leaky), 1 failed, 0 skipped`.
struct Summary {
    planned: u64,
    run: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Summary {
    fn parse(line: &str) -> Option<Self> {
        let rest = line.trim_start().strip_prefix("Summary [")?;
        let (run, rest) = leading_number(rest.split_once("] ")?.1)?;
        let (planned, rest) = match rest.strip_prefix('/') {
            Some(rest) => leading_number(rest)?,
            None => (run, rest),
        };
        let rest = rest.strip_prefix(" test")?;
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let mut summary = Self {
            planned,
            run,
            passed: 0,
            failed: 0,
            skipped: 0,
        };
        summary.parse_outcomes(rest.strip_prefix(" run: ")?)?;
        (run <= planned).then_some(summary)
    }

    fn parse_outcomes(&mut self, text: &str) -> Option<()> {
        for outcome in without_brackets(text)?.split(',') {
            let (tests, word) = leading_number(outcome.trim())?;
            match word.trim() {
                "passed" => self.passed += tests,
                "skipped" => self.skipped += tests,
                "failed" | "exec failed" | "timed out" => self.failed += tests,
                _ => return None,
            }
        }
        Some(())
    }

    /// How many tests the run was to have and did not get to. That is only honest after a failure.
    fn not_run(&self, line: u64) -> Result<u64, ReportError> {
        let counted = self.passed + self.failed;
        if counted != self.run {
            let said = format!("{} tests", self.run);
            let found = counted.to_string();
            return Err(ReportError::contradiction(
                line,
                "the summary",
                &said,
                &found,
            ));
        }
        match self.planned - self.run {
            not_run if not_run > 0 && self.failed == 0 => {
                let reason = format!("{} of {} tests were run", self.run, self.planned);
                Err(ReportError::given_up(line, &reason))
            }
            not_run => Ok(not_run),
        }
    }
}

/// A text without remarks like `(1 slow, 2 flaky)`; none if one has no end.
fn without_brackets(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, remark)) = rest.split_once('(') {
        plain.push_str(before);
        rest = remark.split_once(')')?.1;
    }
    plain.push_str(rest);
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &[u8]) -> (u64, u64, u64) {
        let counts = read(text).unwrap();
        (counts.passed, counts.failed, counts.skipped)
    }

    #[test]
    fn the_summary_is_what_counts() {
        let read = read(include_bytes!("fixtures/nextest_passed_and_failed.txt")).unwrap();
        assert_eq!((read.passed, read.failed, read.skipped), (4, 1, 1));
        assert_eq!(read.failures, ["demo::liar lies"]);
        assert_eq!(
            counts(include_bytes!("fixtures/nextest_passed.txt")),
            (3, 0, 1)
        );
        assert_eq!(
            counts(include_bytes!("fixtures/nextest_coloured.txt")),
            (2, 0, 1)
        );
    }

    #[test]
    fn flaky_and_leaky_tests_passed_and_those_out_of_time_failed() {
        let read = read(include_bytes!("fixtures/nextest_variants.txt")).unwrap();
        assert_eq!((read.passed, read.failed, read.skipped), (3, 3, 0));
        assert_eq!(
            read.failures,
            [
                "demo::liar lies",
                "demo::slow summarises",
                "demo::slow sleeps"
            ]
        );
    }

    #[test]
    fn tests_that_ran_are_named() {
        let variants = read(include_bytes!("fixtures/nextest_variants.txt")).unwrap();
        let ran = [
            "demo::liar honest",
            "demo::liar lies",
            "demo::slow flaky",
            "demo::slow leaks",
        ];
        let names = variants.names.unwrap();
        assert!(ran.iter().all(|name| names.ran.contains(*name)));
        assert_eq!(names.ran.len(), 6);
        let canceled = read(include_bytes!("fixtures/nextest_cancelled.txt")).unwrap();
        assert_eq!(canceled.names, None);
    }

    #[test]
    fn tests_that_were_not_reached_after_a_failure_are_skipped() {
        assert_eq!(
            counts(include_bytes!("fixtures/nextest_cancelled.txt")),
            (1, 1, 4)
        );
    }

    #[test]
    fn a_run_that_stopped_without_a_failure_is_an_error() {
        let error = read(b" Summary [ 0.5s] 2/6 tests run: 2 passed, 0 skipped\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: the run was given up: 2 of 6 tests were run"
        );
    }

    #[test]
    fn a_lonely_summary_counts_and_two_of_them_do_not() {
        let line = b"Summary [ 0.5s] 4 tests run: 2 passed (1 slow, 2 flaky), 1 failed (1 due to being leaky), 1 exec failed, 1 skipped\n";
        assert_eq!(counts(line), (2, 2, 1));
        assert_eq!(
            read(&line.repeat(2)),
            Err(ReportError::Missing { what: "summary" })
        );
    }

    #[test]
    fn a_summary_that_does_not_add_up_is_an_error() {
        let error = read(b" Summary [ 0.5s] 14 tests run: 13 passed\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: the summary says 14 tests and has 13"
        );
    }

    #[test]
    fn a_run_without_its_summary_is_an_error() {
        let text = include_str!("fixtures/nextest_passed.txt");
        let whole = text.lines().count();
        let torn: String = text.split_inclusive('\n').take(whole - 1).collect();
        read(torn.as_bytes()).unwrap_err();
        read(b"").unwrap_err();
    }

    #[test]
    fn several_runs_are_summed() {
        let text = include_bytes!("fixtures/nextest_passed.txt");
        assert_eq!(counts(&text.repeat(2)), (6, 0, 2));
    }
}
