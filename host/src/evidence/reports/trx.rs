//! The results file of `dotnet test --logger trx`.
//!
//! A test with several rows of data has its results inside of one of its own. Those count in its place.

use std::collections::BTreeMap;

use quick_xml::events::BytesStart;

use super::TestCounts;
use super::error::ReportError;
use super::names::{Collector, Part};
use super::xml::{self, Elements, Place, attributes};

/// How many results are read.
const RESULTS_LIMIT: usize = 1_000_000;

/// Counts the results of all documents in the text.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut report = Report::default();
    xml::read(text, &mut report)?;
    report.finish()
}

#[derive(Default)]
struct Report {
    runs: u64,
    open: Vec<Element>,
    results: Vec<TestResult>,
    /// The classes of tests, by id. They stand below the results.
    classes: BTreeMap<String, String>,
    /// Where the summary says that the run did not succeed, and in which word.
    complaint: Option<(u64, String)>,
    /// How many tests failed, as the summary says.
    said: Option<(u64, u64)>,
}

/// An element whose end is still to come.
enum Element {
    Result { result: TestResult, below: u64 },
    Definition { id: String },
    Other,
}

struct TestResult {
    id: String,
    name: String,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

fn outcome(word: &str) -> Outcome {
    match word {
        "Passed" | "Warning" | "Completed" => Outcome::Passed,
        "NotExecuted" | "Pending" | "Inconclusive" => Outcome::Skipped,
        // Failed, Error, Timeout, Aborted, Disconnected, and what nobody has heard of.
        _ => Outcome::Failed,
    }
}

impl Elements for Report {
    fn depth(&self) -> usize {
        self.open.len()
    }

    fn start(
        &mut self,
        name: &str,
        start: &BytesStart<'_>,
        place: &Place<'_>,
    ) -> Result<(), ReportError> {
        if self.open.is_empty() {
            if name != "TestRun" {
                return Err(place.malformed(&format!("there can't be a <{name}> here")));
            }
            self.runs += 1;
        }
        let element = match name {
            "UnitTestResult" | "TestResultAggregation" => result(start, place)?,
            "UnitTest" => Element::Definition {
                id: attribute(start, place, "id")?,
            },
            "TestMethod" => {
                if let Some(Element::Definition { id }) = self.open.last() {
                    let class = attribute(start, place, "className")?;
                    self.classes.insert(id.clone(), class);
                }
                Element::Other
            }
            "ResultSummary" => {
                let word = attribute(start, place, "outcome")?;
                if !matches!(word.as_str(), "" | "Completed" | "Passed" | "Warning") {
                    self.complaint = Some((place.line(), word));
                }
                Element::Other
            }
            "Counters" => {
                self.counters(start, place)?;
                Element::Other
            }
            _ => Element::Other,
        };
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self, place: &Place<'_>) -> Result<(), ReportError> {
        let Some(Element::Result { result, below }) = self.open.pop() else {
            return Ok(());
        };
        let parent = self
            .open
            .iter_mut()
            .rev()
            .find_map(|element| match element {
                Element::Result { below, .. } => Some(below),
                _ => None,
            });
        if let Some(parent) = parent {
            *parent += 1;
        }
        if below > 0 && result.outcome != Outcome::Failed {
            return Ok(());
        }
        if self.results.len() >= RESULTS_LIMIT {
            let what = format!("there are more than {RESULTS_LIMIT} results");
            return Err(place.malformed(&what));
        }
        // A row that failed has already been counted.
        let is_told = below > 0 && {
            let below = usize::try_from(below).unwrap_or(usize::MAX);
            let rows = self.results.iter().rev().take(below);
            rows.into_iter().any(|row| row.outcome == Outcome::Failed)
        };
        if !is_told {
            self.results.push(result);
        }
        Ok(())
    }
}

fn result(start: &BytesStart<'_>, place: &Place<'_>) -> Result<Element, ReportError> {
    let mut result = TestResult {
        id: String::new(),
        name: String::new(),
        outcome: Outcome::Failed,
    };
    attributes(start, place, |name, value| {
        match name {
            "testId" => result.id = value.into_owned(),
            "testName" => result.name = value.into_owned(),
            "outcome" => result.outcome = outcome(&value),
            _ => {}
        }
        Ok(())
    })?;
    Ok(Element::Result { result, below: 0 })
}

fn attribute(
    start: &BytesStart<'_>,
    place: &Place<'_>,
    wanted: &str,
) -> Result<String, ReportError> {
    let mut found = String::new();
    attributes(start, place, |name, value| {
        if name == wanted {
            found = value.into_owned();
        }
        Ok(())
    })?;
    Ok(found)
}

impl Report {
    fn counters(&mut self, start: &BytesStart<'_>, place: &Place<'_>) -> Result<(), ReportError> {
        let mut failed = 0;
        attributes(start, place, |name, value| {
            if matches!(name, "failed" | "error" | "timeout" | "aborted") {
                failed += place.number(name, &value)?.unwrap_or(0);
            }
            Ok(())
        })?;
        self.said = Some((place.line(), failed));
        Ok(())
    }

    fn finish(self) -> Result<TestCounts, ReportError> {
        if self.runs == 0 {
            return Err(ReportError::Missing { what: "test run" });
        }
        let mut counts = TestCounts::default();
        let mut names = Collector::default();
        for result in &self.results {
            let name = self.name(result);
            let part = match result.outcome {
                Outcome::Passed => {
                    counts.passed += 1;
                    Part::Ran
                }
                Outcome::Skipped => {
                    counts.skipped += 1;
                    Part::Skipped
                }
                Outcome::Failed => {
                    counts.fail(&name);
                    Part::Ran
                }
            };
            names.add(part, &name);
        }
        counts.names = names.finish();
        self.check(&counts)?;
        Ok(counts)
    }

    /// Most frameworks write the class into the name, and some don't.
    fn name(&self, result: &TestResult) -> String {
        match self.classes.get(&result.id) {
            Some(class) if !class.is_empty() && !result.name.starts_with(class) => {
                format!("{class}.{}", result.name)
            }
            _ => result.name.clone(),
        }
    }

    /// A summary that knows of a failure that no result shows: the host of the tests may have crashed.
    fn check(&self, counts: &TestCounts) -> Result<(), ReportError> {
        if counts.failed > 0 {
            return Ok(());
        }
        if let Some((line, failed)) = self.said.filter(|(_, failed)| *failed > 0) {
            let said = format!("{failed} failed tests");
            return Err(ReportError::contradiction(line, "the summary", &said, "0"));
        }
        match &self.complaint {
            Some((line, word)) => {
                let reason = format!("its outcome is {word}");
                Err(ReportError::given_up(*line, &reason))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(results: &str, summary: &str) -> String {
        format!(
            "<?xml version=\"1.0\"?>\n<TestRun xmlns='x'><Results>{results}</Results>\
             <TestDefinitions><UnitTest id='1' name='Adds'><TestMethod className='Demo.Sum' name='Adds'/></UnitTest></TestDefinitions>\
             <ResultSummary {summary}</ResultSummary></TestRun>"
        )
    }

    fn counts(results: &str) -> (u64, u64, u64) {
        let counts = read(run(results, "outcome='Completed'>").as_bytes()).unwrap();
        (counts.passed, counts.failed, counts.skipped)
    }

    fn of(outcome: &str) -> String {
        format!("<UnitTestResult testId='1' testName='Adds' outcome='{outcome}'/>")
    }

    #[test]
    fn each_outcome_has_one_meaning() {
        assert_eq!(counts(&of("Passed")), (1, 0, 0));
        for skipped in ["NotExecuted", "Inconclusive", "Pending"] {
            assert_eq!(counts(&of(skipped)), (0, 0, 1));
        }
        for failed in ["Failed", "Error", "Timeout", "Aborted", "", "Unheard"] {
            assert_eq!(counts(&of(failed)), (0, 1, 0), "{failed}");
        }
    }

    #[test]
    fn a_file_as_dotnet_writes_it_is_read() {
        let counts = read(include_bytes!("fixtures/dotnet.trx")).unwrap();
        assert_eq!((counts.passed, counts.failed, counts.skipped), (2, 1, 1));
        assert_eq!(
            counts.failures,
            ["Demo.Tests.SumTests.HoldsWhatTheWorkSays"]
        );
        let names = counts.names.unwrap();
        assert_eq!((names.ran.len(), names.skipped.len()), (3, 1));
    }

    #[test]
    fn rows_of_data_count_in_place_of_their_test() {
        let outer = |outcome: &str, rows: &str| {
            format!(
                "<UnitTestResult testName='T' outcome='{outcome}'><InnerResults>{rows}</InnerResults></UnitTestResult>"
            )
        };
        let rows = |last: &str| format!("{}{}", of("Passed"), of(last));
        assert_eq!(counts(&outer("Passed", &rows("Passed"))), (2, 0, 0));
        assert_eq!(counts(&outer("Failed", &rows("Failed"))), (1, 1, 0));
        assert_eq!(counts(&outer("Failed", &rows("Passed"))), (2, 1, 0));
    }

    #[test]
    fn tests_are_named_with_their_class() {
        let text = run(&of("Failed"), ">");
        let counts = read(text.as_bytes()).unwrap();
        assert_eq!(counts.failures, ["Demo.Sum.Adds"]);
        assert!(counts.names.unwrap().ran.contains("Demo.Sum.Adds"));
    }

    #[test]
    fn a_summary_that_knows_of_more_failures_than_the_results_is_an_error() {
        let text = run(&of("Passed"), "outcome='Failed'>");
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: the run was given up: its outcome is Failed"
        );
        let text = run(
            &of("Passed"),
            "outcome='Completed'><Counters total='2' failed='1'/>",
        );
        let error = read(text.as_bytes()).unwrap_err();
        assert!(
            error.to_string().contains("1 failed tests and has 0"),
            "{error}"
        );
    }

    #[test]
    fn a_torn_document_and_another_one_are_errors() {
        let whole = run(&of("Passed"), ">");
        for end in 0..whole.len() {
            assert!(read(&whole.as_bytes()[..end]).is_err(), "cut at {end}");
        }
        read(b"<testsuite/>").unwrap_err();
    }
}
