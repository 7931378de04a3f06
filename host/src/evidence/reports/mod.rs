//! What test runners and scanners report, read as counts and findings: pure functions from bytes.
//!
//! A report is evidence only if it is whole and agrees with itself. One that is torn, has no end or contradicts its
//! own numbers is an error, never a pass.

mod cargo;
mod error;
pub mod findings;
mod go_json;
mod junit;
mod names;
mod nextest;
mod node;
mod pytest;
mod recognise;
mod tap;
#[cfg(test)]
mod tests;
mod text;
mod trx;
mod xml;

pub use self::error::ReportError;
pub use self::findings::{Finding, Severity, read_findings};
pub use self::names::TestNames;
pub use self::recognise::recognise;

use serde::Serialize;

use self::text::clean;
use crate::words::words;

/// How many failed tests are named.
const NAMES_LIMIT: usize = 20;
/// How long a name may be, in bytes.
const NAME_LIMIT: usize = 200;

words! {
    /// How a test command's results are written.
    TestFormat {
        /// `JUnit` XML, which most runners can write.
        Junit = "junit",
        /// The Test Anything Protocol, versions 12 to 14.
        Tap = "tap",
        /// The output of `cargo test`.
        Cargo = "cargo",
        /// The output of `cargo nextest run`.
        Nextest = "nextest",
        /// The output of `pytest`.
        Pytest = "pytest",
        /// The output of `node --test`, as TAP or for people.
        Node = "node",
        /// The output of `go test -json`.
        GoJson = "go_json",
        /// The results file of `dotnet test --logger trx`.
        Trx = "trx",
    }
}

/// How many tests there are, by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TestCounts {
    /// Ran and were as they should be.
    pub passed: u64,
    /// Were not as they should be, or did not get to their end.
    pub failed: u64,
    /// Did not run, or are allowed to fail.
    pub skipped: u64,
    /// Names of failed tests: the first 20, each at most 200 bytes, without control characters. Not every report
    /// names what failed, so there may be fewer than `failed`.
    pub failures: Vec<String>,
    /// Failed attempts that count no more, because a later one of the same test follows.
    #[serde(skip)]
    pub superseded: u64,
    /// The names of all tests, where the report has them.
    #[serde(skip)]
    pub names: Option<Box<TestNames>>,
}

impl TestCounts {
    /// All tests that the report knows, whatever their outcome.
    pub const fn total(&self) -> u64 {
        self.passed
            .saturating_add(self.failed)
            .saturating_add(self.skipped)
    }

    /// Adds those of another report of the same run.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.superseded = self.superseded.saturating_add(other.superseded);
        let room = NAMES_LIMIT.saturating_sub(self.failures.len());
        self.failures.extend(other.failures.into_iter().take(room));
        self.names = names::join(self.names.take(), other.names);
    }

    fn fail(&mut self, name: &str) {
        self.failed += 1;
        self.name_failure(name);
    }

    fn name_failure(&mut self, name: &str) {
        if self.failures.len() < NAMES_LIMIT {
            self.failures.push(clean(name.trim(), NAME_LIMIT));
        }
    }
}

/// Reads the results of a test command. No tests at all is a report too: whether that is enough, the caller decides.
///
/// ```
/// use ralph_gate::evidence::reports::{TestFormat, read};
///
/// let counts = read(TestFormat::Tap, b"1..2\nok 1 - adds\nnot ok 2 - subtracts\n")?;
/// assert_eq!((counts.passed, counts.failed), (1, 1));
/// assert_eq!(counts.failures, ["subtracts"]);
/// # Ok::<(), ralph_gate::evidence::reports::ReportError>(())
/// ```
pub fn read(format: TestFormat, text: &[u8]) -> Result<TestCounts, ReportError> {
    match format {
        TestFormat::Junit => junit::read(text),
        TestFormat::Tap => tap::read(text),
        TestFormat::Cargo => cargo::read(text),
        TestFormat::Nextest => nextest::read(text),
        TestFormat::Pytest => pytest::read(text),
        TestFormat::Node => node::read(text),
        TestFormat::GoJson => go_json::read(text),
        TestFormat::Trx => trx::read(text),
    }
}
