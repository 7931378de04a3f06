//! The output of `cargo test`: one section for each test binary, from `running N tests` to its `test result:`.
//!
//! A test can print anything, lines of this very form too. So a section's result must fit the number of tests that
//! the section announced, and what stands in a part that shows output of tests is taken for output, until a result
//! that fits. Lines that leave open which of them is real make an error.

use super::TestCounts;
use super::error::ReportError;
use super::names::{Collector, Part};
use super::text::{Line, leading_number, lines, number};

/// Sums the results of all test binaries and doc tests.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut run = Run::default();
    for line in lines(text) {
        run.take(&line)?;
    }
    run.finish()
}

/// Whether a line is one that only `cargo test` writes.
pub(super) fn is_mark(line: &str) -> bool {
    matches!(Mark::of(line), Mark::Announced(_) | Mark::Result(_))
}

#[derive(Default)]
struct Run {
    counts: TestCounts,
    names: Collector,
    state: State,
    /// Binaries of which cargo says that it starts them. It says so elsewhere than where the results stand, so
    /// the order of both is not to be relied on.
    started: u64,
    results: u64,
    /// The last line in which cargo says that a binary failed.
    complaint: Option<(u64, String)>,
}

#[derive(Default)]
enum State {
    #[default]
    Between,
    /// Tests run.
    Open(Section),
    /// Output of tests is shown. The last result that fits is the section's: what follows a real one is the
    /// next section or the end.
    Showing(Section, Option<Totals>),
}

#[derive(Clone, Copy)]
struct Section {
    line: u64,
    announced: u64,
    failed: u64,
}

#[derive(Clone, Copy)]
struct Totals {
    verdict: Verdict,
    passed: u64,
    failed: u64,
    ignored: u64,
    measured: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Failed,
}

enum Mark<'a> {
    /// Cargo starts a test binary or the doc tests.
    Started,
    /// `running N tests`.
    Announced(u64),
    FailedTest(&'a str),
    /// Output of tests follows.
    Shown,
    Result(Totals),
    NotCompiled,
    Complaint,
    Other,
}

impl<'a> Mark<'a> {
    fn of(line: &'a str) -> Self {
        if let Some(tests) = announced(line) {
            return Self::Announced(tests);
        }
        if let Some(totals) = Totals::parse(line) {
            return Self::Result(totals);
        }
        if let Some(name) = failed_test(line) {
            return Self::FailedTest(name);
        }
        if is_start(line) {
            return Self::Started;
        }
        match line {
            "failures:" | "successes:" => Self::Shown,
            line if line.starts_with("error: could not compile") => Self::NotCompiled,
            line if is_complaint(line) => Self::Complaint,
            _ => Self::Other,
        }
    }
}

fn announced(line: &str) -> Option<u64> {
    let (tests, rest) = leading_number(line.strip_prefix("running ")?)?;
    let rest = rest.strip_prefix(" test")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    (rest.is_empty() || rest.starts_with(" (")).then_some(tests)
}

/// `test NAME ... ok`, `... FAILED` or `... ignored, reason`. A doc test's line in its file is no part of its name.
fn test_line(line: &str) -> Option<(Part, &str)> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let part = match outcome.split([',', ' ']).next()? {
        "ok" | "FAILED" => Part::Ran,
        "ignored" => Part::Skipped,
        _ => return None,
    };
    let remarks = [" - should panic", " - compile fail", " - compile"];
    let remark = remarks.iter().find_map(|remark| name.strip_suffix(remark));
    let name = remark.unwrap_or(name);
    let place = name
        .strip_suffix(')')
        .and_then(|it| it.rsplit_once(" (line "));
    Some((part, place.map_or(name, |(name, _)| name)))
}

/// `test NAME ... FAILED`, or `NAME --- FAILED` in quiet mode.
fn failed_test(line: &str) -> Option<&str> {
    let name = match line.strip_suffix(" --- FAILED") {
        Some(name) => name,
        None => {
            let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
            let rest = outcome.strip_prefix("FAILED")?;
            if !rest.is_empty() && !rest.starts_with(' ') {
                return None;
            }
            name
        }
    };
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

/// With `--verbose`, cargo shows its commands instead, also those of the compiler.
fn is_start(line: &str) -> bool {
    let binary = line.strip_prefix("     Running ");
    binary.is_some_and(|binary| !binary.starts_with('`') && binary.ends_with(')'))
        || line.starts_with("   Doc-tests ")
}

fn is_complaint(line: &str) -> bool {
    let Some(error) = line.strip_prefix("error: ") else {
        return false;
    };
    let targets = leading_number(error).map(|(_, rest)| rest);
    error.starts_with("test failed")
        || error.starts_with("doctest failed")
        || targets.is_some_and(|rest| {
            rest.starts_with(" target failed") || rest.starts_with(" targets failed")
        })
}

impl Totals {
    /// `test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.16s`.
    fn parse(line: &str) -> Option<Self> {
        let (verdict, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let verdict = match verdict {
            "ok" => Verdict::Ok,
            "FAILED" => Verdict::Failed,
            _ => return None,
        };
        let mut parts = numbers.split("; ");
        let mut next = |word: &str| number(parts.next()?.strip_suffix(word)?);
        let totals = Self {
            verdict,
            passed: next(" passed")?,
            failed: next(" failed")?,
            ignored: next(" ignored")?,
            measured: next(" measured")?,
        };
        next(" filtered out").map(|_| totals)
    }

    const fn tests(self) -> u64 {
        self.passed + self.failed + self.ignored + self.measured
    }

    fn fits(self, section: Section) -> bool {
        let verdict = match self.failed {
            0 => Verdict::Ok,
            _ => Verdict::Failed,
        };
        self.verdict == verdict
            && self.tests() == section.announced
            && self.failed >= section.failed
    }
}

impl Run {
    fn take(&mut self, line: &Line<'_>) -> Result<(), ReportError> {
        let mark = Mark::of(&line.text);
        match std::mem::take(&mut self.state) {
            State::Between => self.between(line, &mark),
            State::Open(section) => self.open(line, &mark, section),
            State::Showing(section, totals) => self.showing(line, &mark, section, totals),
        }
    }

    fn between(&mut self, line: &Line<'_>, mark: &Mark<'_>) -> Result<(), ReportError> {
        match mark {
            Mark::Started => self.started += 1,
            Mark::Announced(tests) => {
                self.state = State::Open(Section {
                    line: line.number,
                    announced: *tests,
                    failed: 0,
                });
            }
            Mark::Result(_) => {
                let what = "this result belongs to no test binary";
                return Err(ReportError::malformed(line.number, what));
            }
            Mark::NotCompiled => return Err(ReportError::given_up(line.number, &line.text)),
            Mark::Complaint => self.complaint = Some((line.number, line.text.clone().into_owned())),
            Mark::FailedTest(_) | Mark::Shown | Mark::Other => {}
        }
        Ok(())
    }

    fn open(
        &mut self,
        line: &Line<'_>,
        mark: &Mark<'_>,
        mut section: Section,
    ) -> Result<(), ReportError> {
        if let Some((part, name)) = test_line(&line.text) {
            self.names.add(part, name);
        }
        match mark {
            Mark::Result(totals) if totals.fits(section) => {
                self.add(*totals);
                return Ok(());
            }
            Mark::Result(totals) => return Err(misfit(line.number, *totals, section)),
            Mark::Announced(_) => return Err(section.unfinished()),
            Mark::Shown => {
                self.state = State::Showing(section, None);
                return Ok(());
            }
            Mark::FailedTest(name) => {
                section.failed += 1;
                self.counts.name_failure(name);
            }
            Mark::Started => self.started += 1,
            Mark::NotCompiled | Mark::Complaint | Mark::Other => {}
        }
        self.state = State::Open(section);
        Ok(())
    }

    fn showing(
        &mut self,
        line: &Line<'_>,
        mark: &Mark<'_>,
        section: Section,
        totals: Option<Totals>,
    ) -> Result<(), ReportError> {
        let found = match (mark, totals) {
            (Mark::Result(found), _) if found.fits(section) => Some(*found),
            (Mark::Announced(_), Some(totals)) => {
                self.add(totals);
                return self.between(line, mark);
            }
            (Mark::Started | Mark::NotCompiled | Mark::Complaint, Some(totals)) => {
                self.between(line, mark)?;
                Some(totals)
            }
            _ => totals,
        };
        self.state = State::Showing(section, found);
        Ok(())
    }

    fn add(&mut self, totals: Totals) {
        self.results += 1;
        self.counts.passed += totals.passed;
        self.counts.failed += totals.failed;
        self.counts.skipped += totals.ignored;
    }

    fn finish(mut self) -> Result<TestCounts, ReportError> {
        match std::mem::take(&mut self.state) {
            State::Between => {}
            State::Open(section) | State::Showing(section, None) => {
                return Err(section.unfinished());
            }
            State::Showing(_, Some(totals)) => self.add(totals),
        }
        if self.results == 0 {
            let what = "result of a test binary";
            return Err(ReportError::Missing { what });
        }
        if self.started > self.results {
            let said = format!("{} test binaries", self.started);
            let found = format!("results of {}", self.results);
            return Err(ReportError::contradiction(1, "cargo", &said, &found));
        }
        match self.complaint {
            Some((line, text)) if self.counts.failed == 0 => {
                Err(ReportError::given_up(line, &text))
            }
            _ => {
                self.counts.names = self.names.if_total(self.counts.total());
                Ok(self.counts)
            }
        }
    }
}

impl Section {
    fn unfinished(self) -> ReportError {
        ReportError::unfinished(self.line, "this test binary's run")
    }
}

fn misfit(line: u64, totals: Totals, section: Section) -> ReportError {
    let failed = totals.failed;
    let said = format!("{} tests, {failed} of them failed,", totals.tests());
    let found = format!("{}, {} of them failed", section.announced, section.failed);
    ReportError::contradiction(line, "the result", &said, &found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &str = "0 measured; 0 filtered out; finished in 0.00s";

    fn counts(text: &[u8]) -> (u64, u64, u64, Vec<String>) {
        let counts = read(text).unwrap();
        (
            counts.passed,
            counts.failed,
            counts.skipped,
            counts.failures,
        )
    }

    #[test]
    fn all_binaries_and_doc_tests_are_summed() {
        let failed = counts(include_bytes!("fixtures/cargo_failed.txt"));
        assert_eq!(failed, (5, 1, 2, vec!["lies".to_owned()]));
        let passed = counts(include_bytes!("fixtures/cargo_passed.txt"));
        assert_eq!(passed, (3, 0, 1, vec![]));
    }

    #[test]
    fn tests_are_named_where_the_mode_shows_them() {
        let names = |text: &[u8]| read(text).unwrap().names;
        let failed = names(include_bytes!("fixtures/cargo_failed.txt")).unwrap();
        let ran = [
            "crash",
            "honest",
            "lies",
            "src/lib.rs - add",
            "tests::adds",
            "tests::panics",
        ];
        assert!(failed.ran.iter().eq(ran), "{failed:?}");
        assert!(failed.skipped.contains("tests::waits"));
        assert_eq!(names(include_bytes!("fixtures/cargo_quiet.txt")), None);
    }

    #[test]
    fn captured_output_is_not_counted_whatever_the_mode() {
        let quiet = counts(include_bytes!("fixtures/cargo_quiet.txt"));
        assert_eq!(quiet, (1, 1, 0, vec!["lies".to_owned()]));
        let shown = counts(include_bytes!("fixtures/cargo_show_output.txt"));
        assert_eq!(shown, (2, 1, 0, vec!["lies".to_owned()]));
    }

    #[test]
    fn colours_and_carriage_returns_change_nothing() {
        let coloured = counts(include_bytes!("fixtures/cargo_coloured.txt"));
        assert_eq!(coloured, (3, 1, 1, vec!["lies".to_owned()]));
        let text = include_str!("fixtures/cargo_failed.txt").replace('\n', "\r\n");
        assert_eq!(
            counts(text.as_bytes()),
            counts(include_bytes!("fixtures/cargo_failed.txt"))
        );
    }

    #[test]
    fn a_binary_that_crashed_is_an_error() {
        let error = read(include_bytes!("fixtures/cargo_crashed.txt")).unwrap_err();
        assert!(error.to_string().ends_with("has no end"), "{error}");
        let text = format!(
            "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; {OK}\n     Running tests/a.rs (a)\n     Running tests/b.rs (b)\n"
        );
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: cargo says 2 test binaries and has results of 1"
        );
    }

    #[test]
    fn a_crate_that_did_not_compile_is_an_error() {
        let error = read(include_bytes!("fixtures/cargo_not_compiled.txt")).unwrap_err();
        assert!(matches!(error, ReportError::GivenUp { .. }), "{error}");
        assert_eq!(
            read(b""),
            Err(ReportError::Missing {
                what: "result of a test binary"
            })
        );
    }

    #[test]
    fn an_uncaptured_result_that_does_not_fit_is_an_error() {
        let error = read(include_bytes!("fixtures/cargo_uncaptured.txt")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 8: the result says 99 tests, 0 of them failed, and has 2, 0 of them failed"
        );
    }

    #[test]
    fn an_uncaptured_result_that_fits_is_an_error_when_the_real_one_follows() {
        let text = format!(
            "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; {OK}\ntest a ... FAILED\n\nfailures:\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; {OK}\n"
        );
        read(text.as_bytes()).unwrap_err();
    }

    #[test]
    fn a_shown_result_that_fits_gives_way_to_the_real_one() {
        let text = format!(
            "running 2 tests\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\ntest result: ok. 2 passed; 0 failed; 0 ignored; {OK}\ntest result: FAILED. 0 passed; 2 failed; 0 ignored; {OK}\n\n\nfailures:\n    a\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; {OK}\n"
        );
        assert_eq!(counts(text.as_bytes()), (1, 1, 0, vec!["a".to_owned()]));
    }

    #[test]
    fn a_complaint_without_a_failed_test_is_an_error() {
        let text = format!(
            "running 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; {OK}\nerror: 1 target failed:\n    `--test b`\n"
        );
        read(text.as_bytes()).unwrap_err();
    }

    #[test]
    fn benchmarks_and_tests_filtered_out_do_not_count() {
        let text = b"running 2 tests (shuffle seed: 1)\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 1 measured; 7 filtered out\n";
        assert_eq!(counts(text), (1, 0, 0, vec![]));
    }
}
