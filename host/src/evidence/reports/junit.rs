//! `JUnit` XML: its test cases, and whether its suites say the same.

use std::borrow::Cow;

use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::TestCounts;
use super::error::ReportError;
use super::text::{number, without_mark};

/// Deeper than any runner nests its suites.
const DEPTH_LIMIT: usize = 64;
/// More attributes than any runner writes.
const ATTRIBUTES_LIMIT: usize = 64;

/// Counts the test cases of all documents in the text.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let text = String::from_utf8_lossy(without_mark(text));
    let mut reader = Reader::from_str(&text);
    let mut report = Report::default();
    let place = |at: u64| Place { text: &text, at };
    loop {
        let at = place(reader.buffer_position());
        let event = reader.read_event();
        let event = event.map_err(|error| at.malformed(&error.to_string()))?;
        if matches!(event, Event::Eof) {
            return report.finish(&at);
        }
        report.take(&event, &at)?;
    }
}

/// A byte of the text. Its line is counted only if a message needs it.
struct Place<'a> {
    text: &'a str,
    at: u64,
}

impl Place<'_> {
    fn line(&self) -> u64 {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        let before = self.text.bytes().take(at);
        1 + before.filter(|byte| *byte == b'\n').map(|_| 1).sum::<u64>()
    }

    fn malformed(&self, what: &str) -> ReportError {
        ReportError::malformed(self.line(), what)
    }
}

#[derive(Default)]
struct Report {
    counts: TestCounts,
    documents: u64,
    open: Vec<Element>,
}

/// An element whose end is still to come.
enum Element {
    Suite(Box<Suite>),
    Case(Box<Case>),
    /// One that decides nothing, or whose presence has already decided.
    Other,
}

impl Report {
    fn take(&mut self, event: &Event<'_>, place: &Place<'_>) -> Result<(), ReportError> {
        match event {
            Event::Start(element) => self.start(element, place),
            Event::Empty(element) => {
                self.start(element, place)?;
                self.end(place)
            }
            Event::End(_) => self.end(place),
            Event::Text(text) => self.text(text.trim_ascii(), place),
            Event::CData(text) => self.text(text, place),
            Event::GeneralRef(name) => {
                self.text(name, place)?;
                entity(name, place)
            }
            Event::DocType(_) => Err(place.malformed("a document type is not allowed")),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::Eof => Ok(()),
        }
    }

    fn text(&self, text: &str, place: &Place<'_>) -> Result<(), ReportError> {
        if self.open.is_empty() && !text.is_empty() {
            return Err(place.malformed("there is text outside of the document"));
        }
        Ok(())
    }

    fn start(&mut self, start: &BytesStart<'_>, place: &Place<'_>) -> Result<(), ReportError> {
        if self.open.len() >= DEPTH_LIMIT {
            let what = format!("elements are nested deeper than {DEPTH_LIMIT}");
            return Err(place.malformed(&what));
        }
        let name = start.local_name();
        let element = self.element(name.as_ref(), start, place)?;
        self.open.push(element);
        Ok(())
    }

    fn element(
        &mut self,
        name: &str,
        start: &BytesStart<'_>,
        place: &Place<'_>,
    ) -> Result<Element, ReportError> {
        let is_suite = matches!(name, "testsuites" | "testsuite");
        match self.open.last_mut() {
            None | Some(Element::Suite(_)) if is_suite => {
                self.documents += u64::from(self.open.is_empty());
                Ok(Element::Suite(Box::new(Suite::open(start, place)?)))
            }
            Some(Element::Suite(_)) if name == "testcase" => {
                Ok(Element::Case(Box::new(Case::open(start, place)?)))
            }
            Some(Element::Suite(suite)) if matches!(name, "failure" | "error") => {
                // A suite that could not be set up. No test case stands for it.
                self.counts.fail(&suite.name);
                Ok(Element::Other)
            }
            Some(Element::Case(case)) if name != "testcase" && !is_suite => {
                case.take(name, start, place)?;
                Ok(Element::Other)
            }
            Some(Element::Suite(_)) => Ok(Element::Other),
            Some(Element::Other) if name != "testcase" && !is_suite => Ok(Element::Other),
            _ => Err(place.malformed(&format!("there can't be a <{name}> here"))),
        }
    }

    fn end(&mut self, place: &Place<'_>) -> Result<(), ReportError> {
        match self.open.pop() {
            Some(Element::Case(case)) => self.end_case(&case),
            Some(Element::Suite(suite)) => self.end_suite(&suite, place)?,
            Some(Element::Other) | None => {}
        }
        Ok(())
    }

    fn end_case(&mut self, case: &Case) {
        match case.outcome() {
            Outcome::Passed => self.counts.passed += 1,
            Outcome::Skipped => self.counts.skipped += 1,
            Outcome::Failed => self.counts.fail(&case.name),
        }
        if let Some(Element::Suite(suite)) = self.open.last_mut() {
            suite.add_case(&case.tally());
        }
    }

    fn end_suite(&mut self, suite: &Suite, place: &Place<'_>) -> Result<(), ReportError> {
        suite.check(place)?;
        if let Some(Element::Suite(parent)) = self.open.last_mut() {
            parent.add_suite(suite);
        }
        Ok(())
    }

    fn finish(self, place: &Place<'_>) -> Result<TestCounts, ReportError> {
        if !self.open.is_empty() {
            return Err(ReportError::unfinished(place.line(), "the document"));
        }
        match self.documents {
            0 => Err(ReportError::Missing { what: "test suite" }),
            _ => Ok(self.counts),
        }
    }
}

/// Nothing is expanded but what XML itself defines.
fn entity(name: &BytesRef<'_>, place: &Place<'_>) -> Result<(), ReportError> {
    if name.is_char_ref() || resolve_predefined_entity(name).is_some() {
        return Ok(());
    }
    Err(place.malformed(&format!("the entity {} is not known", &**name)))
}

/// Calls `take` with each attribute's name and value.
fn attributes(
    start: &BytesStart<'_>,
    place: &Place<'_>,
    mut take: impl FnMut(&str, Cow<'_, str>) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    for (attribute, index) in start.attributes().zip(1_usize..) {
        if index > ATTRIBUTES_LIMIT {
            let what = format!("an element has more than {ATTRIBUTES_LIMIT} attributes");
            return Err(place.malformed(&what));
        }
        let attribute = attribute.map_err(|error| place.malformed(&error.to_string()))?;
        let value = unescape(&attribute.value);
        let value = value.map_err(|error| place.malformed(&error.to_string()))?;
        take(attribute.key.local_name().as_ref(), value)?;
    }
    Ok(())
}

struct Case {
    name: String,
    /// What the element itself says, without a child.
    status: Outcome,
    failures: u64,
    errors: u64,
    skipped: Skipped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipped {
    No,
    Yes,
    /// It ran and is allowed to fail.
    Todo,
}

impl Case {
    fn open(start: &BytesStart<'_>, place: &Place<'_>) -> Result<Self, ReportError> {
        let mut class = String::new();
        let mut case = Self {
            name: String::new(),
            status: Outcome::Passed,
            failures: 0,
            errors: 0,
            skipped: Skipped::No,
        };
        attributes(start, place, |name, value| {
            match name {
                "classname" => class = value.into_owned(),
                "name" => case.name = value.into_owned(),
                "status" => case.status = status(&value),
                _ => {}
            }
            Ok(())
        })?;
        if !class.is_empty() {
            case.name = format!("{class}::{}", case.name);
        }
        Ok(case)
    }

    fn take(
        &mut self,
        child: &str,
        start: &BytesStart<'_>,
        place: &Place<'_>,
    ) -> Result<(), ReportError> {
        match child {
            "failure" => self.failures += 1,
            "error" => self.errors += 1,
            "skipped" => {
                let mut skipped = Skipped::Yes;
                attributes(start, place, |name, value| {
                    if name == "type" && value == "todo" {
                        skipped = Skipped::Todo;
                    }
                    Ok(())
                })?;
                self.skipped = skipped;
            }
            _ => {}
        }
        Ok(())
    }

    fn outcome(&self) -> Outcome {
        let failed = self.failures + self.errors > 0 || self.status == Outcome::Failed;
        match (self.skipped, failed) {
            (Skipped::No | Skipped::Yes, true) => Outcome::Failed,
            (Skipped::No, false) => self.status,
            (Skipped::Yes, false) | (Skipped::Todo, _) => Outcome::Skipped,
        }
    }

    fn tally(&self) -> Tally {
        let outcome = self.outcome();
        let by_status = u64::from(self.failures + self.errors == 0 && outcome == Outcome::Failed);
        Tally {
            tests: 1,
            surplus: self.surplus(),
            failures: u64::from(self.failures > 0) + by_status,
            failure_elements: self.failures + by_status,
            errors: u64::from(self.errors > 0),
            error_elements: self.errors,
            failed: u64::from(outcome == Outcome::Failed),
            skipped: u64::from(outcome == Outcome::Skipped),
        }
    }

    /// Some runners count a test again when it is torn down with an error, and each failure within one test.
    fn surplus(&self) -> u64 {
        let torn_down = u64::from(self.errors > 0 && self.failures == 0);
        (self.failures + self.errors).saturating_sub(1) + torn_down
    }
}

fn status(word: &str) -> Outcome {
    match word.to_ascii_lowercase().as_str() {
        "fail" | "failed" | "failure" | "error" | "broken" => Outcome::Failed,
        "notrun" | "disabled" | "skipped" | "ignored" | "pending" => Outcome::Skipped,
        _ => Outcome::Passed,
    }
}

/// What test cases add up to.
#[derive(Clone, Copy, Default)]
struct Tally {
    tests: u64,
    surplus: u64,
    failures: u64,
    failure_elements: u64,
    errors: u64,
    error_elements: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.tests += other.tests;
        self.surplus += other.surplus;
        self.failures += other.failures;
        self.failure_elements += other.failure_elements;
        self.errors += other.errors;
        self.error_elements += other.error_elements;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// What a suite says about itself. Any of it may be absent.
#[derive(Clone, Copy, Default)]
struct Said {
    tests: Option<u64>,
    failures: Option<u64>,
    errors: Option<u64>,
    skipped: Option<u64>,
    disabled: Option<u64>,
}

/// Which of the numbers is not what was counted.
#[derive(Clone, Copy)]
enum Misfit {
    Tests,
    Failed,
    Skipped,
}

impl Said {
    fn misfit(&self, tally: &Tally) -> Option<Misfit> {
        let most = tally.tests + tally.surplus;
        if self
            .tests
            .is_some_and(|tests| !(tally.tests..=most).contains(&tests))
        {
            return Some(Misfit::Tests);
        }
        if !self.failed_fits(tally) {
            return Some(Misfit::Failed);
        }
        let skipped = self.skipped.unwrap_or(tally.skipped);
        let with_disabled = skipped + self.disabled.unwrap_or(0);
        let fits = skipped == tally.skipped || with_disabled == tally.skipped;
        (!fits).then_some(Misfit::Skipped)
    }

    /// Runners differ in what they call a failure and what an error, and whether they count tests or elements.
    fn failed_fits(&self, tally: &Tally) -> bool {
        let failures = self.failures.is_none_or(|failures| {
            [tally.failures, tally.failure_elements, tally.failed].contains(&failures)
        });
        let errors = self.errors.is_none_or(|errors| {
            [tally.errors, tally.error_elements, tally.failed].contains(&errors)
        });
        let sum = self.failures.zip(self.errors).map(|(a, b)| a + b);
        (failures && errors) || sum == Some(tally.failed)
    }
}

struct Suite {
    /// Where it begins.
    at: u64,
    name: String,
    said: Said,
    /// Its own test cases.
    own: Tally,
    /// Those of the suites in it too.
    all: Tally,
    /// Its own, and each suite in it as one, which is how node counts: one that failed as skipped too.
    children: Tally,
}

impl Suite {
    fn open(start: &BytesStart<'_>, place: &Place<'_>) -> Result<Self, ReportError> {
        let mut suite = Self {
            at: place.at,
            name: String::new(),
            said: Said::default(),
            own: Tally::default(),
            all: Tally::default(),
            children: Tally::default(),
        };
        attributes(start, place, |name, value| {
            let said = match name {
                "name" => {
                    suite.name = value.into_owned();
                    return Ok(());
                }
                "tests" => &mut suite.said.tests,
                "failures" => &mut suite.said.failures,
                "errors" => &mut suite.said.errors,
                "skipped" => &mut suite.said.skipped,
                "disabled" => &mut suite.said.disabled,
                _ => return Ok(()),
            };
            *said = said_number(name, &value, place)?;
            Ok(())
        })?;
        Ok(suite)
    }

    fn add_case(&mut self, case: &Tally) {
        self.own.add(case);
        self.all.add(case);
        self.children.add(case);
    }

    fn add_suite(&mut self, suite: &Self) {
        self.all.add(&suite.all);
        let failed = u64::from(suite.said.failures.is_some_and(|failures| failures > 0));
        self.children.add(&Tally {
            tests: 1,
            failures: failed,
            failure_elements: failed,
            skipped: failed,
            ..Tally::default()
        });
    }

    /// All numbers must agree with one way to count. A report that lies is no evidence.
    fn check(&self, end: &Place<'_>) -> Result<(), ReportError> {
        let readings = [&self.all, &self.own, &self.children];
        let Some(misfit) = self.said.misfit(&self.all) else {
            return Ok(());
        };
        if readings
            .iter()
            .any(|tally| self.said.misfit(tally).is_none())
        {
            return Ok(());
        }
        let said = |number: Option<u64>| number.unwrap_or(0);
        let (said, what, found) = match misfit {
            Misfit::Tests => (said(self.said.tests), "tests", self.all.tests),
            Misfit::Failed => {
                let failed = said(self.said.failures) + said(self.said.errors);
                (failed, "failed tests", self.all.failed)
            }
            Misfit::Skipped => (said(self.said.skipped), "skipped tests", self.all.skipped),
        };
        let start = Place {
            text: end.text,
            at: self.at,
        };
        let place = format!("the suite \"{}\"", self.name);
        let said = format!("{said} {what}");
        Err(ReportError::contradiction(
            start.line(),
            &place,
            &said,
            &found.to_string(),
        ))
    }
}

fn said_number(name: &str, value: &str, place: &Place<'_>) -> Result<Option<u64>, ReportError> {
    match value.trim() {
        "" => Ok(None),
        value => number(value).map(Some).ok_or_else(|| {
            place.malformed(&format!(
                "the attribute {name} is \"{value}\", not a number"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &[u8]) -> (u64, u64, u64) {
        let counts = read(text).unwrap();
        (counts.passed, counts.failed, counts.skipped)
    }

    fn refused(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn several_documents_are_summed_and_text_is_no_markup() {
        let read = read(include_bytes!("fixtures/junit_several.xml")).unwrap();
        assert_eq!((read.passed, read.failed, read.skipped), (2, 2, 1));
        assert_eq!(
            read.failures,
            ["org.example.Two::fails", "org.example.Two::breaks"]
        );
    }

    #[test]
    fn reports_of_real_runners_agree_with_themselves() {
        assert_eq!(
            counts(include_bytes!("fixtures/junit_pytest.xml")),
            (3, 3, 2)
        );
        assert_eq!(
            counts(include_bytes!("fixtures/junit_pytest_double.xml")),
            (0, 4, 0)
        );
        assert_eq!(
            counts(include_bytes!("fixtures/junit_nextest.xml")),
            (3, 3, 0)
        );
        assert_eq!(counts(include_bytes!("fixtures/junit_node.xml")), (2, 1, 2));
    }

    #[test]
    fn a_suite_that_says_other_numbers_is_an_error() {
        let cases = "<testcase name='a'/>".repeat(13);
        assert_eq!(
            refused(&format!(
                "\n<testsuite name='s' tests='14'>{cases}</testsuite>"
            )),
            "line 2: the suite \"s\" says 14 tests and has 13"
        );
        assert_eq!(
            refused(
                "<testsuite failures='0' errors='0'><testcase><failure/></testcase></testsuite>"
            ),
            "line 1: the suite \"\" says 0 failed tests and has 1"
        );
        assert_eq!(
            refused("<testsuite skipped='2'><testcase><skipped/></testcase></testsuite>"),
            "line 1: the suite \"\" says 2 skipped tests and has 1"
        );
        let suite = "<testsuite tests='1'><testcase/></testsuite>";
        assert_eq!(
            refused(&format!(
                "<testsuites tests='3'>{suite}{suite}</testsuites>"
            )),
            "line 1: the suite \"\" says 3 tests and has 2"
        );
        refused("<testsuite tests='many'/>");
    }

    #[test]
    fn runners_that_call_every_failure_an_error_are_believed() {
        let text = b"<testsuite tests='1' failures='0' errors='1' skipped=''><testcase><failure/></testcase></testsuite>";
        assert_eq!(counts(text), (0, 1, 0));
    }

    #[test]
    fn a_test_that_was_not_run_did_not_pass() {
        let text = b"<testsuite tests='3' failures='1' disabled='1' skipped='0'><testcase status='notrun'/><testcase status='failed'/><testcase status='run'/></testsuite>";
        assert_eq!(counts(text), (1, 1, 1));
    }

    #[test]
    fn a_suite_that_broke_is_one_failure() {
        let read = read(b"<testsuite name='setup'><error/></testsuite>").unwrap();
        assert_eq!((read.failed, read.failures), (1, vec!["setup".to_owned()]));
    }

    #[test]
    fn a_torn_report_is_an_error() {
        assert_eq!(
            refused("<testsuite><testcase name='a'/>\n"),
            "line 2: the document has no end"
        );
        for text in [
            "<testsuite",
            "<testsuite><testcase></testsuite>",
            "",
            "<testsuite/>x",
            "<html/>",
            "<testsuite/></testsuite>",
        ] {
            refused(text);
        }
    }

    #[test]
    fn document_types_and_unknown_entities_are_refused() {
        refused("<!DOCTYPE testsuite [<!ENTITY a 'b'>]><testsuite/>");
        refused("<testsuite>&a;</testsuite>");
        refused("<testsuite name='&a;'/>");
    }

    #[test]
    fn depth_and_attributes_are_bounded() {
        let deep = "<testsuite>".repeat(100_000);
        assert_eq!(refused(&deep), "line 1: elements are nested deeper than 64");
        let wide = (0..1000)
            .map(|i| format!("a{i}=''"))
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(
            refused(&format!("<testsuite {wide}/>")),
            "line 1: an element has more than 64 attributes"
        );
    }

    #[test]
    fn a_test_case_where_none_can_be_is_an_error() {
        refused("<testcase/>");
        refused("<testsuite><properties><testcase/></properties></testsuite>");
        refused("<testsuite><testcase><testcase/></testcase></testsuite>");
    }

    #[test]
    fn no_tests_at_all_is_a_report() {
        assert_eq!(counts(b"<testsuites tests=\"0\"/>"), (0, 0, 0));
    }
}
