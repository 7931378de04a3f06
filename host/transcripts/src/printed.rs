//! What a test command printed about its tests, where its exit status is not told.
//!
//! Only lines that test runners write at the end of a run, or of a part of it, are looked at. A runner that knows of a
//! failure is believed; one that knows of none only if it counted tests. Runners that disagree leave it open.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// What was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Printed {
    /// No summary.
    Nothing,
    /// Tests ran, and none failed. With the line that says so.
    Passed(String),
    /// Something failed.
    Failed(String),
    /// A summary of no tests at all.
    NoTests(String),
    /// One runner says passed, another one failed.
    Mixed,
}

/// What one line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    runner: Runner,
    passed: u64,
    failed: bool,
    /// It replaces what the same runner said before, instead of adding to it.
    last_counts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Runner {
    Cargo,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    Node,
    Go,
    Rspec,
    Minitest,
    Phpunit,
    Ctest,
    Dotnet,
    Maven,
    Gradle,
    Deno,
    Bun,
    Prove,
    Swift,
    Gotestsum,
    GoogleTest,
    Sbt,
    Dart,
    Playwright,
}

#[derive(Debug, Default)]
struct Sum {
    passed: u64,
    failed: Option<String>,
    line: String,
}

/// The longest line that is looked at, and how much of it is quoted, in bytes.
const LONGEST: usize = 1000;
const QUOTED: usize = 200;

/// The last lines of an output that is no known test's: a summary has to be among them.
const LAST_LINES: usize = 30;

/// Reads what was printed by a command that is not known to run tests. None: its output does not end in a summary.
///
/// Any failure counts, also where the same runner passed later: it may have run on something else.
pub(crate) fn read_end(text: &str) -> Option<Printed> {
    let last = text
        .rsplit(['\n', '\r'])
        .filter(|line| !line.trim().is_empty());
    let ends = last
        .take(LAST_LINES)
        .filter(|line| line.len() <= LONGEST)
        .any(|line| mark(&without_colours(line)).is_some());
    ends.then(|| read_with(text, false))
}

/// Reads what was printed.
pub(crate) fn read(text: &str) -> Printed {
    read_with(text, true)
}

fn read_with(text: &str, may_replace: bool) -> Printed {
    let mut runners: BTreeMap<Runner, Sum> = BTreeMap::new();
    for line in text.split(['\n', '\r']) {
        if line.len() > LONGEST {
            continue;
        }
        let line = without_colours(line);
        let Some(mark) = mark(&line) else { continue };
        let sum = runners.entry(mark.runner).or_default();
        if mark.last_counts && may_replace {
            *sum = Sum::default();
        }
        sum.passed = sum.passed.saturating_add(mark.passed);
        if sum.line.is_empty() || mark.passed > 0 {
            cut(line.trim(), QUOTED).clone_into(&mut sum.line);
        }
        if mark.failed && sum.failed.is_none() {
            sum.failed = Some(cut(line.trim(), QUOTED).to_owned());
        }
    }
    let failed = runners.values().find_map(|sum| sum.failed.clone());
    if !may_replace && let Some(line) = failed {
        return Printed::Failed(line);
    }
    let passed = runners
        .values()
        .find(|sum| sum.failed.is_none() && sum.passed > 0);
    match (failed, passed) {
        (Some(_), Some(_)) => Printed::Mixed,
        (Some(line), None) => Printed::Failed(line),
        (None, Some(sum)) => Printed::Passed(sum.line.clone()),
        (None, None) => match runners.into_values().next() {
            Some(sum) => Printed::NoTests(sum.line),
            None => Printed::Nothing,
        },
    }
}

/// At most so many bytes of a text.
pub(crate) fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn mark(line: &str) -> Option<Mark> {
    cargo(line)
        .or_else(|| nextest(line))
        .or_else(|| pytest(line))
        .or_else(|| unittest(line))
        .or_else(|| javascript(line))
        .or_else(|| node(line))
        .or_else(|| go(line))
        .or_else(|| ruby(line))
        .or_else(|| phpunit(line))
        .or_else(|| ctest(line))
        .or_else(|| dotnet(line))
        .or_else(|| java(line))
        .or_else(|| others(line))
        .or_else(|| more(line))
}

const fn says(runner: Runner, passed: u64, failed: bool) -> Mark {
    Mark {
        runner,
        passed,
        failed,
        last_counts: false,
    }
}

const fn in_all(runner: Runner, passed: u64, failed: bool) -> Mark {
    Mark {
        runner,
        passed,
        failed,
        last_counts: true,
    }
}

/// `test result: ok. 2 passed; 0 failed; …`
fn cargo(line: &str) -> Option<Mark> {
    if let Some(result) = line.strip_prefix("test result: ") {
        let (verdict, counts) = result.split_once(". ")?;
        let passed = before(counts, " passed")?;
        return Some(says(Runner::Cargo, passed, verdict != "ok"));
    }
    let error = line.strip_prefix("error: ")?;
    let is_failure = error.starts_with("test failed")
        || error.starts_with("doctest failed")
        || error.starts_with("could not compile")
        || error.contains(" target failed:")
        || error.contains(" targets failed:");
    is_failure.then_some(says(Runner::Cargo, 0, true))
}

/// `     Summary [   0.1s] 5 tests run: 4 passed, 1 failed, 0 skipped`
fn nextest(line: &str) -> Option<Mark> {
    let rest = line.trim_start().strip_prefix("Summary [")?;
    let (_, counts) = rest.split_once(" run: ")?;
    let failed = ["failed", "timed out", "exec failed"];
    let failed = failed.iter().any(|word| counts.contains(word));
    Some(in_all(
        Runner::Nextest,
        before(counts, " passed").unwrap_or(0),
        failed,
    ))
}

/// `==== 2 failed, 3 passed, 1 warning in 0.12s ====`, or the same by itself.
fn pytest(line: &str) -> Option<Mark> {
    let text = line.trim().trim_matches('=').trim();
    let (outcomes, time) = text.rsplit_once(" in ")?;
    let is_time = time.starts_with(|c: char| c.is_ascii_digit())
        && time
            .split(' ')
            .next()
            .is_some_and(|time| time.ends_with('s'));
    if !is_time {
        return None;
    }
    if outcomes == "no tests ran" {
        return Some(in_all(Runner::Pytest, 0, false));
    }
    let (mut passed, mut failed) = (0, false);
    for outcome in outcomes.split(", ") {
        let (count, word) = outcome.split_once(' ')?;
        let count: u64 = count.parse().ok()?;
        match word {
            "passed" | "xpassed" => passed += count.min(1 << 32),
            "failed" | "error" | "errors" | "subtests failed" | "subtest failed" => {
                failed |= count > 0;
            }
            "skipped" | "xfailed" | "deselected" | "warning" | "warnings" | "rerun" | "reruns"
            | "subtests passed" | "subtest passed" | "subtests skipped" | "subtest skipped" => {}
            _ => return None,
        }
    }
    Some(in_all(Runner::Pytest, passed, failed))
}

/// `Ran 5 tests in 0.001s`, then `OK` or `FAILED (failures=1)`.
fn unittest(line: &str) -> Option<Mark> {
    if line.starts_with("FAILED (failures=") || line.starts_with("FAILED (errors=") {
        return Some(says(Runner::Unittest, 0, true));
    }
    let rest = line.strip_prefix("Ran ")?;
    let (count, rest) = rest.split_once(" test")?;
    let is_end = rest.trim_start_matches('s').starts_with(" in ");
    let count: u64 = count.parse().ok()?;
    // It is the verdict below that tells whether they passed; where it is missing, the failure is printed instead.
    is_end.then_some(says(Runner::Unittest, count, false))
}

/// Jest, Vitest and Mocha.
fn javascript(line: &str) -> Option<Mark> {
    let text = line.trim();
    if let Some(counts) = text
        .strip_prefix("Tests:")
        .or_else(|| text.strip_prefix("Test Suites:"))
        && counts.ends_with(" total")
    {
        let failed = before(counts, " failed").unwrap_or(0) > 0;
        let is_of_tests = text.starts_with("Tests:");
        let passed = before(counts, " passed").filter(|_| is_of_tests);
        let passed = passed.unwrap_or(0);
        return Some(says(Runner::Jest, passed, failed));
    }
    if let Some(counts) = text
        .strip_prefix("Tests  ")
        .or_else(|| text.strip_prefix("Test Files  "))
        && counts.ends_with(')')
    {
        let failed = before(counts, " failed").unwrap_or(0) > 0;
        let is_of_tests = text.starts_with("Tests  ");
        let passed = before(counts, " passed").filter(|_| is_of_tests);
        let passed = passed.unwrap_or(0);
        return Some(says(Runner::Vitest, passed, failed));
    }
    let (count, word) = text.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    match word {
        "failing" => Some(says(Runner::Mocha, 0, count > 0)),
        word if word.starts_with("passing (") => Some(says(Runner::Mocha, count, false)),
        _ => None,
    }
}

/// `# pass 1` and `# fail 0`, or with `ℹ` for people.
fn node(line: &str) -> Option<Mark> {
    let rest = line
        .strip_prefix("# ")
        .or_else(|| line.strip_prefix("ℹ "))?;
    let (word, count) = rest.split_once(' ')?;
    let count: u64 = count.trim().parse().ok()?;
    match word {
        "pass" => Some(says(Runner::Node, count, false)),
        "fail" | "cancelled" => Some(says(Runner::Node, 0, count > 0)),
        _ => None,
    }
}

/// Lines that begin with `ok`, two spaces and a tab, or with `FAIL`, alone or before a tab.
fn go(line: &str) -> Option<Mark> {
    if let Some(rest) = line.strip_prefix("ok  \t") {
        let ran = !rest.contains("[no tests to run]");
        return Some(says(Runner::Go, u64::from(ran), false));
    }
    let failed = line == "FAIL" || line.starts_with("FAIL\t") || line.starts_with("--- FAIL: ");
    failed.then_some(says(Runner::Go, 0, true))
}

/// `5 examples, 0 failures` of `RSpec`, `1 doctest, 5 tests, 0 failures` of `ExUnit`, `5 runs, 9 assertions, 0 failures, 0 errors,
/// 0 skips` of Minitest.
fn ruby(line: &str) -> Option<Mark> {
    let text = line.trim();
    if let Some((count, rest)) = text.split_once(" runs, ").or(text.split_once(" tests, "))
        && rest.contains(" assertions, ")
    {
        let count: u64 = count.parse().ok()?;
        let failed = before(rest, " failure")?.saturating_add(before(rest, " error")?);
        let passed = count.saturating_sub(failed);
        return Some(in_all(Runner::Minitest, passed, failed > 0));
    }
    let is_doctest = |(count, word): &(&str, &str)| {
        count.bytes().all(|byte| byte.is_ascii_digit()) && matches!(*word, "doctest" | "doctests")
    };
    let text = match text.split_once(", ") {
        Some((first, rest)) if first.split_once(' ').as_ref().is_some_and(is_doctest) => rest,
        _ => text,
    };
    let (count, rest) = text.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    let words = ["examples, ", "example, ", "tests, ", "test, "];
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?;
    let failures = before(rest, " failure")?;
    Some(in_all(
        Runner::Rspec,
        count.saturating_sub(failures),
        failures > 0,
    ))
}

/// `OK (5 tests, 7 assertions)`, `Tests: 5, Assertions: 7, Failures: 1.`
fn phpunit(line: &str) -> Option<Mark> {
    if let Some(counts) = line.strip_prefix("OK (") {
        let passed = before(counts, " test")?;
        return counts
            .contains("assertion")
            .then_some(in_all(Runner::Phpunit, passed, false));
    }
    if line == "FAILURES!" || line == "ERRORS!" {
        return Some(says(Runner::Phpunit, 0, true));
    }
    let counts = line.strip_prefix("Tests: ")?;
    counts.contains(", Assertions: ").then(|| {
        let failed = counts.contains("Failures: ") || counts.contains("Errors: ");
        let all = counts
            .split(',')
            .next()
            .and_then(|count| count.trim().parse().ok());
        let passed = all.filter(|_| !failed).unwrap_or(0);
        says(Runner::Phpunit, passed, failed)
    })
}

/// `100% tests passed, 0 tests failed out of 5`
fn ctest(line: &str) -> Option<Mark> {
    let (_, rest) = line.split_once("% tests passed, ")?;
    let (failed, all) = rest.split_once(" tests failed out of ")?;
    let failed: u64 = failed.parse().ok()?;
    let all: u64 = all.trim().parse().ok()?;
    Some(in_all(
        Runner::Ctest,
        all.saturating_sub(failed),
        failed > 0,
    ))
}

/// `Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5`, or
/// `Test summary: total: 5, failed: 0, succeeded: 5, skipped: 0, duration: 1.2s`
fn dotnet(line: &str) -> Option<Mark> {
    let text = line.trim_start();
    if let Some(counts) = text.strip_prefix("Test summary: total: ") {
        let after = |name: &str| {
            let (_, rest) = counts.split_once(name)?;
            rest.split(',').next()?.trim().parse::<u64>().ok()
        };
        let (failed, passed) = (after("failed: ")?, after("succeeded: ")?);
        return Some(says(Runner::Dotnet, passed, failed > 0));
    }
    let counts = text
        .strip_prefix("Passed!")
        .or_else(|| text.strip_prefix("Failed!"))?;
    let after = |name: &str| {
        let (_, rest) = counts.split_once(name)?;
        rest.trim_start().split(',').next()?.parse::<u64>().ok()
    };
    let (failed, passed) = (after("Failed:")?, after("Passed:")?);
    Some(says(
        Runner::Dotnet,
        passed,
        failed > 0 || text.starts_with("Failed!"),
    ))
}

/// `[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0` of Maven, `BUILD FAILED` of Gradle.
fn java(line: &str) -> Option<Mark> {
    if line == "BUILD FAILED" || line.starts_with("BUILD FAILED in ") {
        return Some(says(Runner::Gradle, 0, true));
    }
    let text = ["[INFO] ", "[ERROR] ", "[WARNING] "];
    let text = text
        .iter()
        .find_map(|level| line.strip_prefix(level))
        .unwrap_or(line);
    if text.trim() == "BUILD FAILURE" {
        return Some(says(Runner::Maven, 0, true));
    }
    let counts = text.strip_prefix("Tests run: ")?;
    let after = |name: &str| {
        let (_, rest) = counts.split_once(name)?;
        rest.split(',').next()?.trim().parse::<u64>().ok()
    };
    let all: u64 = counts.split(',').next()?.trim().parse().ok()?;
    let failed = after("Failures: ")?.saturating_add(after("Errors: ")?);
    Some(says(Runner::Maven, all.saturating_sub(failed), failed > 0))
}

/// Playwright, Dart, gotestsum, Google Test and sbt.
fn more(line: &str) -> Option<Mark> {
    let text = line.trim();
    if let Some(rest) = text.strip_prefix("DONE ")
        && let Some((count, rest)) = rest.split_once(" test")
        && rest.contains(" in ")
    {
        let count: u64 = count.parse().ok()?;
        let failed = rest.contains(" failure") || rest.contains(" error");
        return Some(says(
            Runner::Gotestsum,
            if failed { 0 } else { count },
            failed,
        ));
    }
    if let Some(rest) = text.strip_prefix("[  PASSED  ] ") {
        return Some(says(Runner::GoogleTest, before(rest, " test")?, false));
    }
    if text.starts_with("[  FAILED  ] ") {
        return Some(says(Runner::GoogleTest, 0, true));
    }
    for (prefix, failed) in [
        ("[info] Passed: Total ", false),
        ("[error] Failed: Total ", true),
    ] {
        if let Some(rest) = text.strip_prefix(prefix) {
            let count: u64 = rest.split(',').next()?.parse().ok()?;
            return Some(says(Runner::Sbt, if failed { 0 } else { count }, failed));
        }
    }
    // `00:01 +5 -1: Some tests failed.`
    if let Some((head, rest)) = text.split_once(": ")
        && let Some((_, count)) = head.split_once(" +")
    {
        let count = count.split(' ').next().and_then(|count| count.parse().ok());
        match rest {
            "All tests passed!" => return Some(says(Runner::Dart, count?, false)),
            "Some tests failed." => return Some(says(Runner::Dart, 0, true)),
            _ => {}
        }
    }
    // `  3 passed (2.1s)`, below `  1 failed` where there is one.
    let (count, word) = line.strip_prefix("  ")?.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    match word {
        "failed" | "flaky" => Some(says(Runner::Playwright, 0, word == "failed" && count > 0)),
        word if word.starts_with("passed (") && word.ends_with(')') => {
            Some(says(Runner::Playwright, count, false))
        }
        _ => None,
    }
}

/// Deno, Bun, prove and Swift.
fn others(line: &str) -> Option<Mark> {
    let text = line.trim();
    if let Some((verdict, counts)) = text.split_once(" | ")
        && matches!(verdict, "ok" | "FAILED")
        && counts.contains(" passed | ")
    {
        let passed = before(counts, " passed").unwrap_or(0);
        return Some(in_all(Runner::Deno, passed, verdict == "FAILED"));
    }
    match text {
        "Result: PASS" => return Some(says(Runner::Prove, 1, false)),
        "Result: FAIL" => return Some(says(Runner::Prove, 0, true)),
        _ => {}
    }
    if let Some(counts) = text.strip_prefix("Executed ")
        && let Some((all, rest)) = counts.split_once(" test")
        && let Some((_, failures)) = rest.split_once("with ")
    {
        let all: u64 = all.parse().ok()?;
        let failed = before(failures, " failure")?;
        return Some(in_all(
            Runner::Swift,
            all.saturating_sub(failed),
            failed > 0,
        ));
    }
    let (count, word) = line.strip_prefix(' ')?.split_once(' ')?;
    let count: u64 = count.parse().ok()?;
    match word {
        "pass" => Some(says(Runner::Bun, count, false)),
        "fail" => Some(says(Runner::Bun, 0, count > 0)),
        _ => None,
    }
}

/// The number that stands right before a word.
fn before(text: &str, word: &str) -> Option<u64> {
    let (head, _) = text.split_once(word)?;
    let start = head.rfind(|c: char| !c.is_ascii_digit());
    let digits = head.get(start.map_or(0, |at| at + 1)..)?;
    // The character before may be of several bytes.
    let digits = digits.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}

/// A line without the escape sequences that colour it.
fn without_colours(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
        } else if chars.next() == Some('[') {
            // To the letter that ends the sequence.
            for c in chars.by_ref() {
                if matches!(c, '@'..='~') {
                    break;
                }
            }
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> &'static str {
        verdict_of(&read(text))
    }

    fn verdict_of(printed: &Printed) -> &'static str {
        match printed {
            Printed::Nothing => "nothing",
            Printed::Passed(_) => "passed",
            Printed::Failed(_) => "failed",
            Printed::NoTests(_) => "no tests",
            Printed::Mixed => "mixed",
        }
    }

    #[test]
    fn summaries_of_runs_that_passed_are_known() {
        for text in [
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.16s",
            "     Summary [   0.009s] 5 tests run: 5 passed, 0 skipped",
            "==== 3 passed, 1 warning in 0.12s ====",
            "3 passed in 75.30s (0:01:15)",
            "Ran 5 tests in 0.001s\n\nOK",
            "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\nTime: 1 s",
            " Test Files  1 passed (1)\n      Tests  3 passed (3)",
            "  5 passing (10ms)",
            "# tests 1\n# pass 1\n# fail 0",
            "ℹ pass 4\nℹ fail 0",
            "ok  \texample.com/a\t0.1s\n?   \texample.com/b\t[no test files]",
            "5 examples, 0 failures",
            "OK (5 tests, 7 assertions)",
            "100% tests passed, 0 tests failed out of 5",
            "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 9 ms",
            "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
            "ok | 5 passed | 0 failed (10ms)",
            " 5 pass\n 0 fail",
            "Result: PASS",
            "3 passed, 4 subtests passed in 0.02s",
            "5 runs, 9 assertions, 0 failures, 0 errors, 0 skips",
            "1 doctest, 5 tests, 0 failures",
            "OK, but incomplete, skipped, or risky tests!\nTests: 5, Assertions: 7, Skipped: 1.",
            "Test summary: total: 5, failed: 0, succeeded: 5, skipped: 0, duration: 1.2s",
            "DONE 5 tests, 1 skipped in 0.102s",
            "[==========] 3 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 3 tests.",
            "[info] Passed: Total 3, Failed 0, Errors 0, Passed 3",
            "00:01 +5: All tests passed!",
            "  3 passed (2.1s)",
            "\u{1b}[32m===== \u{1b}[1m2 passed\u{1b}[0m in 0.01s =====\u{1b}[0m",
        ] {
            assert_eq!(verdict(text), "passed", "{text}");
        }
    }

    #[test]
    fn summaries_of_runs_that_failed_are_known() {
        for text in [
            "test result: ok. 2 passed; 0 failed; 0 ignored\ntest result: FAILED. 1 passed; 1 failed; 0 ignored",
            "error: could not compile `x` (lib test) due to 2 previous errors",
            "error: test failed, to rerun pass `--lib`",
            "     Summary [   0.009s] 5 tests run: 4 passed, 1 failed, 0 skipped",
            "==== 1 failed, 2 passed in 0.10s ====",
            "Ran 5 tests in 0.001s\n\nFAILED (failures=1)",
            "Tests:       1 failed, 2 passed, 3 total",
            "      Tests  1 failed | 2 passed (3)",
            "  5 passing (10ms)\n  1 failing",
            "# pass 1\n# fail 1",
            "--- FAIL: TestX (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s",
            "5 examples, 1 failure",
            "FAILURES!\nTests: 5, Assertions: 7, Failures: 1.",
            "80% tests passed, 1 tests failed out of 5",
            "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5",
            "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0",
            "BUILD FAILED in 2s",
            "FAILED | 1 passed | 1 failed (10ms)",
            " 5 pass\n 1 fail",
            "1 subtests failed, 2 passed in 0.02s",
            "5 runs, 9 assertions, 1 failures, 0 errors, 0 skips",
            "1 doctest, 5 tests, 1 failure",
            "Test summary: total: 5, failed: 1, succeeded: 4, skipped: 0, duration: 1.2s",
            "DONE 5 tests, 1 failure in 0.102s",
            "[  PASSED  ] 2 tests.\n[  FAILED  ] 1 test, listed below:",
            "[error] Failed: Total 3, Failed 1, Errors 0, Passed 2",
            "00:01 +4 -1: Some tests failed.",
            "  1 failed\n    a.spec.ts:3:1\n  3 passed (2.1s)",
        ] {
            assert_eq!(verdict(text), "failed", "{text}");
        }
    }

    #[test]
    fn no_tests_and_no_summary_are_neither() {
        for (text, expected) in [
            ("", "nothing"),
            ("All tests passed! 5 passed.", "nothing"),
            ("built in 3s", "nothing"),
            ("test result: ok. 0 passed; 0 failed; 0 ignored", "no tests"),
            ("no tests ran in 0.01s", "no tests"),
            ("Ran 0 tests in 0.000s", "no tests"),
            (
                "3 passed in 0.1s\ntest result: FAILED. 0 passed; 1 failed; 0 ignored",
                "mixed",
            ),
        ] {
            assert_eq!(verdict(text), expected, "{text}");
        }
    }

    #[test]
    fn an_output_ends_in_a_summary_only_if_it_is_among_the_last_lines_and_any_failure_counts() {
        let end = |text: &str| read_end(text).as_ref().map(verdict_of);
        assert_eq!(end("3 passed in 0.1s\n\nbuilt\n"), Some("passed"));
        assert_eq!(
            end(&format!("3 passed in 0.1s\n{}", "built\n".repeat(40))),
            None
        );
        assert_eq!(end("1 failed in 0.1s\n2 passed in 0.1s"), Some("failed"));
        assert_eq!(end("no summary"), None);
    }

    #[test]
    fn the_last_summary_of_pytest_counts() {
        assert_eq!(verdict("1 failed in 0.1s\n2 passed in 0.1s"), "passed");
        assert_eq!(verdict("2 passed in 0.1s\n1 failed in 0.1s"), "failed");
    }
}
