//! The output of `pytest`: its last summary line.
//!
//! Tests can print such lines. pytest shows what failed tests printed above its own summary, so a text that shows
//! failures and whose last summary knows of none is an error: that summary is not pytest's, or not of the whole.

use super::TestCounts;
use super::error::ReportError;
use super::names::{Collector, Part};
use super::text::{leading_number, lines};

/// Reads the last summary.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut last = None;
    let mut shown = None;
    let mut failed = Vec::new();
    let mut names = Collector::default();
    for line in lines(text) {
        if shown.is_none()
            && let Some((part, name)) = verbose(&line.text)
        {
            names.add(part, name);
        }
        if let Some(counts) = summary(&line.text) {
            last = Some((line.number, counts));
        } else if is_failures_title(&line.text) {
            shown = Some(line.number);
        } else if let Some(name) = failed_test(&line.text)
            && failed.len() < super::NAMES_LIMIT
        {
            failed.push(name.to_owned());
        }
    }
    let (line, mut counts) = last.ok_or(ReportError::Missing { what: "summary" })?;
    if let Some(shown) = shown
        && counts.failed == 0
    {
        let found = format!("failures in line {shown}");
        return Err(ReportError::contradiction(
            line,
            "the summary",
            "no test failed",
            &found,
        ));
    }
    counts.names = names.if_total(counts.total());
    if counts.failed > 0 {
        for name in &failed {
            counts.name_failure(name);
        }
    }
    Ok(counts)
}

/// Whether a line is one that only pytest writes.
pub(super) fn is_mark(line: &str) -> bool {
    title(line) == Some("test session starts") || summary(line).is_some()
}

/// What stands between two rules of `=`.
fn title(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('=')?.strip_suffix('=')?;
    let inner = inner.trim_matches('=');
    inner.strip_prefix(' ')?.strip_suffix(' ')
}

fn is_failures_title(line: &str) -> bool {
    matches!(title(line), Some("FAILURES" | "ERRORS"))
}

/// `path::test PASSED [ 14%]`, as `-v` shows each test. What it shows of subtests names none.
fn verbose(line: &str) -> Option<(Part, &str)> {
    let (line, _) = line.strip_suffix("%]")?.rsplit_once('[')?;
    let line = line.trim_end();
    let (name, status) = match line.rsplit_once(" (") {
        // Why it was skipped.
        Some((test, _)) if line.ends_with(')') => test.rsplit_once(' ')?,
        _ => line.rsplit_once(' ')?,
    };
    let part = match status {
        "PASSED" | "FAILED" | "ERROR" | "XPASS" => Part::Ran,
        "SKIPPED" | "XFAIL" => Part::Skipped,
        _ => return None,
    };
    name.contains("::").then_some((part, name))
}

/// `FAILED path::test - reason`, as the list above the summary has it.
fn failed_test(line: &str) -> Option<&str> {
    let (status, rest) = line.split_once(' ')?;
    let is_status = matches!(status, "FAILED" | "ERROR");
    let name = rest.split_once(" - ").map_or(rest, |(name, _)| name);
    (is_status && !name.is_empty()).then_some(name)
}

/// `2 failed, 3 passed, 1 warning in 0.12s`, between rules or, in quiet mode, by itself.
fn summary(line: &str) -> Option<TestCounts> {
    let text = title(line).unwrap_or(line);
    let (outcomes, time) = text.split_once(" in ")?;
    let is_time = time.starts_with(|c: char| c.is_ascii_digit()) && time.ends_with(['s', ')']);
    if !is_time {
        return None;
    }
    let mut counts = TestCounts::default();
    if outcomes == "no tests ran" {
        return Some(counts);
    }
    for outcome in outcomes.split(", ") {
        let (tests, words) = leading_number(outcome)?;
        add(&mut counts, tests, words.strip_prefix(' ')?)?;
    }
    Some(counts)
}

/// The last word decides, for plugins put others in front. Words that name no outcome are passed over: whatever
/// failed is always said to have failed too.
fn add(counts: &mut TestCounts, tests: u64, words: &str) -> Option<()> {
    let is_word = |c: char| c.is_alphabetic() || c == ' ' || c == '-' || c == '_';
    if words.is_empty() || !words.chars().all(is_word) {
        return None;
    }
    // Subtests that did not fail are told again by the test that they belong to.
    let outcome = words.rsplit(' ').next()?;
    if words.starts_with("subtest") && outcome != "failed" {
        return Some(());
    }
    match outcome {
        "passed" | "xpassed" => counts.passed += tests,
        "failed" | "error" | "errors" => counts.failed += tests,
        "skipped" | "xfailed" => counts.skipped += tests,
        _ => {}
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &[u8]) -> (u64, u64, u64) {
        let counts = read(text).unwrap();
        (counts.passed, counts.failed, counts.skipped)
    }

    #[test]
    fn errors_are_failed_and_expected_failures_skipped() {
        let read = read(include_bytes!("fixtures/pytest_failed.txt")).unwrap();
        assert_eq!((read.passed, read.failed, read.skipped), (3, 3, 2));
        assert_eq!(
            read.failures,
            [
                "test_demo.py::test_fails",
                "test_demo.py::test_text[<&>]",
                "test_demo.py::test_error"
            ]
        );
    }

    #[test]
    fn the_quiet_form_and_colours_are_read_too() {
        assert_eq!(
            counts(include_bytes!("fixtures/pytest_quiet.txt")),
            (1, 0, 1)
        );
        assert_eq!(
            counts(include_bytes!("fixtures/pytest_coloured.txt")),
            (2, 0, 1)
        );
    }

    #[test]
    fn modules_that_can_not_be_collected_are_failed() {
        let text = include_bytes!("fixtures/pytest_collection_error.txt");
        assert_eq!(counts(text), (0, 1, 0));
        assert_eq!(
            counts(include_bytes!("fixtures/pytest_double.txt")),
            (1, 5, 0)
        );
    }

    #[test]
    fn subtests_are_told_but_not_counted() {
        let green = read(include_bytes!("fixtures/pytest_subtests.txt")).unwrap();
        assert_eq!((green.passed, green.failed, green.skipped), (5, 0, 2));
        let names = green.names.unwrap();
        assert_eq!((names.ran.len(), names.skipped.len()), (5, 2));
        let failed = counts(include_bytes!("fixtures/pytest_subtests_failed.txt"));
        assert_eq!(failed, (4, 2, 2));
    }

    #[test]
    fn no_tests_at_all_is_a_report() {
        assert_eq!(
            counts(include_bytes!("fixtures/pytest_none.txt")),
            (0, 0, 0)
        );
    }

    #[test]
    fn only_the_last_summary_counts() {
        assert_eq!(
            counts(b"9 passed in 0.1s\n==== 1 failed in 75.30s (0:01:15) ====\n"),
            (0, 1, 0)
        );
    }

    #[test]
    fn a_green_summary_below_shown_failures_is_an_error() {
        let text = b"=== FAILURES ===\nCaptured\n=== 8 passed in 0.01s ===\n";
        let error = read(text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: the summary says no test failed and has failures in line 1"
        );
    }

    #[test]
    fn a_text_without_a_summary_is_an_error() {
        for text in [
            "",
            "3 passed",
            "3 passed in a moment",
            "x passed in 0.1s",
            "3 in 0.1s",
        ] {
            assert_eq!(
                read(text.as_bytes()),
                Err(ReportError::Missing { what: "summary" }),
                "{text}"
            );
        }
    }
}
