//! How many tests ran: read from what the test runners print.

use std::process::ExitStatus;

use anyhow::{Result, bail};

use crate::setup::Skip;

/// The outcome of a step in numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skips: Vec<Skip>,
}

impl Counts {
    /// One thing that passed.
    pub(super) fn passed() -> Self {
        Self {
            passed: 1,
            ..Self::default()
        }
    }

    /// One thing that failed.
    pub(super) fn failed() -> Self {
        Self {
            failed: 1,
            ..Self::default()
        }
    }

    /// The counts must fit the runner's exit status: a runner that failed before its tests ran, or
    /// whose output can't be read, never counts as passed.
    pub(super) fn checked(self, status: ExitStatus) -> Result<Self> {
        if !status.success() && self.failed == 0 {
            bail!("the test runner ended with {status}");
        }
        if self.passed + self.failed == 0 {
            bail!("the test runner reported no tests");
        }
        Ok(self)
    }
}

/// A test that is marked as ignored has failed: nobody would run it.
///
/// `Summary [ 1.2s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped`
pub(super) fn of_nextest(lines: &[String]) -> Counts {
    let mut counts = Counts::default();
    let summary = lines.iter().rev().find_map(|line| {
        let (_, rest) = line.split_once("Summary [")?;
        rest.split_once(" run: ")
    });
    let Some((_, outcomes)) = summary else {
        return counts;
    };
    for outcome in without_brackets(outcomes).split(',') {
        let Some((count, kind)) = number_first(outcome) else {
            continue;
        };
        match kind {
            "passed" => counts.passed += count,
            _ => counts.failed += count,
        }
    }
    counts
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; …`, once per test binary.
pub(super) fn of_cargo_test(lines: &[String]) -> Counts {
    let mut counts = Counts::default();
    for line in lines {
        if let Some((_, outcomes)) = line
            .strip_prefix("test result: ")
            .and_then(|s| s.split_once(". "))
        {
            for (count, kind) in outcomes.split(';').filter_map(number_first) {
                match kind {
                    "passed" => counts.passed += count,
                    "failed" | "ignored" => counts.failed += count,
                    _ => {}
                }
            }
        }
    }
    counts
}

fn number_first(text: &str) -> Option<(usize, &str)> {
    let (number, kind) = text.trim().split_once(' ')?;
    Some((number.parse().ok()?, kind.trim()))
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn status(code: &str) -> ExitStatus {
        Command::new("sh")
            .args(["-c", &format!("exit {code}")])
            .status()
            .unwrap()
    }

    #[test]
    fn a_nextest_summary_is_read_with_every_kind_of_failure() {
        let text = "     Summary [   5.123s] 42 tests run: 39 passed (1 slow, 2 flaky), 1 failed, \
                    1 timed out, 1 exec failed, 3 skipped";
        let counts = of_nextest(&lines(text));
        assert_eq!((counts.passed, counts.failed), (39, 6));
        let one = of_nextest(&lines(
            "     Summary [   0.1s] 1 test run: 1 passed, 0 skipped",
        ));
        assert_eq!((one.passed, one.failed), (1, 0));
    }

    #[test]
    fn cargo_test_results_add_up_and_ignored_tests_have_failed() {
        let text = "test a::b ... ok\ntest a::slow ... ignored\ntest a::c ... ignored, too slow\n\
                    test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out\n\
                    test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        let counts = of_cargo_test(&lines(text));
        assert_eq!((counts.passed, counts.failed), (4, 4));
    }

    #[test]
    fn a_runner_that_fails_without_a_failed_test_is_an_error() {
        let broken = of_nextest(&lines("error: could not compile"));
        assert!(broken.checked(status("101")).is_err());
        assert!(Counts::passed().checked(status("1")).is_err());
        assert!(Counts::failed().checked(status("1")).is_ok());
    }

    #[test]
    fn a_runner_without_tests_never_counts_as_passed() {
        assert!(of_nextest(&[]).checked(status("0")).is_err());
    }
}
