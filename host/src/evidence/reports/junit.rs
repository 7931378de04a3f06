//! `JUnit` XML: its test cases, and whether its suites say the same.
//!
//! Runners don't agree on what the `tests` of a suite counts: pytest counts subtests, which have no test case, and
//! jest leaves out what is still to be written. So a document that has its end is whole, and its test cases are what
//! counts. A suite that says that tests failed and shows none that did is an error.
//!
//! Some runners write each attempt of a test that they rerun as a test case of its own. A document can't tell them from
//! different tests of the same name, so a failed attempt that a later one supersedes is counted, and told.

use std::collections::BTreeMap;

use quick_xml::events::BytesStart;

use super::TestCounts;
use super::error::ReportError;
use super::names::{Collector, Part};
use super::xml::{self, Elements, Place, attributes};

/// How many tests of one suite are kept, in case that they are rerun. Of any other, each failed attempt counts.
const ATTEMPTS_LIMIT: usize = 100_000;

/// Counts the test cases of all documents in the text.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut report = Report::default();
    xml::read(text, &mut report)?;
    report.finish()
}

#[derive(Default)]
struct Report {
    counts: TestCounts,
    names: Collector,
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
        let element = self.element(name, start, place)?;
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self, place: &Place<'_>) -> Result<(), ReportError> {
        match self.open.pop() {
            Some(Element::Case(case)) => self.end_case(*case),
            Some(Element::Suite(suite)) => self.end_suite(*suite, place)?,
            Some(Element::Other) | None => {}
        }
        Ok(())
    }
}

impl Report {
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
                let mut suite = Suite::open(start, place)?;
                if name == "testsuite" {
                    suite.path = self.path_of(&suite.name);
                }
                Ok(Element::Suite(Box::new(suite)))
            }
            Some(Element::Suite(_)) if name == "testcase" => {
                Ok(Element::Case(Box::new(Case::open(start, place)?)))
            }
            Some(Element::Suite(suite)) if matches!(name, "failure" | "error") => {
                // A suite that could not be set up. No test case stands for it.
                suite.shown += 1;
                suite.remaining += 1;
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

    /// The names of the suites that a suite is in, and its own.
    fn path_of(&self, name: &str) -> String {
        match self.open.last() {
            Some(Element::Suite(parent)) => below(&parent.path, name),
            _ => below("", name),
        }
    }

    fn end_case(&mut self, case: Case) {
        let Some(Element::Suite(suite)) = self.open.last_mut() else {
            return;
        };
        let outcome = case.outcome();
        let part = match outcome {
            Outcome::Skipped => Part::Skipped,
            Outcome::Passed | Outcome::Failed => Part::Ran,
        };
        if self.names.is_open() {
            let path = below(&suite.path, &case.class);
            self.names.add(part, &below(&path, &case.name));
        }
        suite.shown += u64::from(outcome == Outcome::Failed) + case.other_failures;
        match outcome {
            Outcome::Passed => {
                self.counts.passed += 1;
                suite.keep_passed(&case);
            }
            Outcome::Skipped => self.counts.skipped += 1,
            Outcome::Failed => {
                if let Some(case) = suite.keep_failed(case) {
                    suite.remaining += 1;
                    self.counts.fail(&case.name_with_class());
                }
            }
        }
    }

    fn end_suite(&mut self, mut suite: Suite, place: &Place<'_>) -> Result<(), ReportError> {
        let attempts = std::mem::take(&mut suite.attempts);
        let mut failed = Vec::new();
        for attempts in attempts.into_values() {
            self.counts.superseded += attempts.superseded();
            failed.extend(attempts.remaining());
        }
        suite.remaining += failed.len() as u64;
        suite.check(place)?;
        if let Some(Element::Suite(parent)) = self.open.last_mut() {
            parent.shown += suite.shown;
            parent.remaining += suite.remaining;
        }
        failed.sort_by_key(|(order, _)| *order);
        for (_, case) in failed {
            self.counts.fail(&case.name_with_class());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<TestCounts, ReportError> {
        if self.documents == 0 {
            return Err(ReportError::Missing { what: "test suite" });
        }
        self.counts.names = self.names.finish();
        Ok(self.counts)
    }
}

/// A name below others. One that repeats the last of them, or begins with it, takes its place.
fn below(path: &str, name: &str) -> String {
    /// More than is kept of a name.
    const PATH_LIMIT: usize = 512;
    let last = path.rsplit(SEPARATOR).next().unwrap_or_default();
    if path.is_empty() || path.len() > PATH_LIMIT {
        return name.to_owned();
    }
    if name.is_empty() {
        return path.to_owned();
    }
    if name.starts_with(path) {
        return name.to_owned();
    }
    if name.starts_with(last) {
        let above = path.strip_suffix(last).unwrap_or_default();
        return format!("{above}{name}");
    }
    format!("{path}{SEPARATOR}{name}")
}

const SEPARATOR: &str = "::";

struct Case {
    class: String,
    name: String,
    /// The file, where that is said: in one suite, two of them may have tests of the same name.
    file: String,
    /// What the element itself says, without a child.
    status: Outcome,
    failed: bool,
    /// How many failures of other attempts it shows.
    other_failures: u64,
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
        let mut case = Self {
            class: String::new(),
            name: String::new(),
            file: String::new(),
            status: Outcome::Passed,
            failed: false,
            other_failures: 0,
            skipped: Skipped::No,
        };
        attributes(start, place, |name, value| {
            match name {
                "classname" => case.class = value.into_owned(),
                "name" => case.name = value.into_owned(),
                "file" => case.file = value.into_owned(),
                "status" => case.status = status(&value),
                _ => {}
            }
            Ok(())
        })?;
        Ok(case)
    }

    fn take(
        &mut self,
        child: &str,
        start: &BytesStart<'_>,
        place: &Place<'_>,
    ) -> Result<(), ReportError> {
        match child {
            "failure" | "error" => self.failed = true,
            // Attempts before or after the one that the test case stands for.
            "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => {
                self.other_failures += 1;
            }
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
        let failed = self.failed || self.status == Outcome::Failed;
        match (self.skipped, failed) {
            (Skipped::No | Skipped::Yes, true) => Outcome::Failed,
            (Skipped::No, false) => self.status,
            (Skipped::Yes, false) | (Skipped::Todo, _) => Outcome::Skipped,
        }
    }

    /// What two attempts have in common.
    fn key(&self) -> String {
        format!("{}\0{}\0{}", self.file, self.class, self.name)
    }

    fn name_with_class(&self) -> String {
        match self.class.as_str() {
            "" => self.name.clone(),
            class => format!("{class}{SEPARATOR}{}", self.name),
        }
    }
}

fn status(word: &str) -> Outcome {
    match word.to_ascii_lowercase().as_str() {
        "fail" | "failed" | "failure" | "error" | "broken" => Outcome::Failed,
        "notrun" | "disabled" | "skipped" | "ignored" | "pending" => Outcome::Skipped,
        _ => Outcome::Passed,
    }
}

struct Suite {
    /// Where it begins.
    at: u64,
    name: String,
    /// Its own name and those of the suites that it is in.
    path: String,
    /// How many tests failed, and how many broke, as it says. Some runners count the same ones as both.
    failures: u64,
    errors: u64,
    /// How many failures it shows, those of superseded attempts too.
    shown: u64,
    /// How many of them are superseded by none.
    remaining: u64,
    attempts: BTreeMap<String, Attempts>,
    order: u64,
}

/// The test cases of one suite that have the same file, class and name.
#[derive(Default)]
struct Attempts {
    passed: u64,
    failed: u64,
    /// The last one, if it failed, with how many failed in the suite before it.
    last: Option<(u64, Case)>,
    /// One that failed before another passed, of several that passed.
    other: Option<(u64, Case)>,
}

impl Attempts {
    fn pass(&mut self) {
        self.passed += 1;
        self.other = self.last.take().or(self.other.take());
    }

    fn fail(&mut self, order: u64, case: Case) {
        self.failed += 1;
        self.last = Some((order, case));
    }

    /// Failed attempts that a later one takes the place of.
    fn superseded(&self) -> u64 {
        self.failed - u64::from(self.failed > 0 && (self.last.is_some() || self.are_tests()))
    }

    /// What counts as a failure.
    fn remaining(self) -> Option<(u64, Case)> {
        if self.are_tests() {
            return self.last.or(self.other);
        }
        self.last
    }

    /// Whether they are different tests: a test that passed is not rerun.
    fn are_tests(&self) -> bool {
        self.passed > 1
    }
}

impl Suite {
    fn open(start: &BytesStart<'_>, place: &Place<'_>) -> Result<Self, ReportError> {
        let mut suite = Self {
            at: place.offset(),
            name: String::new(),
            path: String::new(),
            failures: 0,
            errors: 0,
            shown: 0,
            remaining: 0,
            attempts: BTreeMap::new(),
            order: 0,
        };
        attributes(start, place, |name, value| {
            match name {
                "name" => suite.name = value.into_owned(),
                "failures" => suite.failures = place.number(name, &value)?.unwrap_or(0),
                "errors" => suite.errors = place.number(name, &value)?.unwrap_or(0),
                "tests" | "skipped" | "disabled" => {
                    place.number(name, &value)?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(suite)
    }

    /// The attempts of a test, unless there are too many tests.
    fn attempts(&mut self, case: &Case) -> Option<&mut Attempts> {
        let key = case.key();
        if case.name.is_empty()
            || self.attempts.len() >= ATTEMPTS_LIMIT && !self.attempts.contains_key(&key)
        {
            return None;
        }
        Some(self.attempts.entry(key).or_default())
    }

    fn keep_passed(&mut self, case: &Case) {
        if let Some(attempts) = self.attempts(case) {
            attempts.pass();
        }
    }

    /// Keeps a failed attempt until the suite ends; gives it back where there are too many.
    fn keep_failed(&mut self, case: Case) -> Option<Case> {
        self.order += 1;
        let order = self.order;
        let Some(attempts) = self.attempts(&case) else {
            return Some(case);
        };
        attempts.fail(order, case);
        None
    }

    /// A report that says that tests failed, and shows none that did, is no evidence. Neither is one that says so of more
    /// than it shows, where all of those passed later.
    fn check(&self, end: &Place<'_>) -> Result<(), ReportError> {
        let is_said = match self.shown {
            0 => self.failures + self.errors == 0,
            shown => self.remaining > 0 || self.failures.max(self.errors) <= shown,
        };
        if is_said {
            return Ok(());
        }
        Err(ReportError::contradiction(
            end.at(self.at).line(),
            &format!("the suite \"{}\"", self.name),
            &format!("{} failed tests", self.failures + self.errors),
            &self.shown.to_string(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::TestNames;
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
            (0, 3, 0)
        );
        assert_eq!(
            counts(include_bytes!("fixtures/junit_nextest.xml")),
            (3, 3, 0)
        );
        assert_eq!(counts(include_bytes!("fixtures/junit_node.xml")), (2, 1, 2));
    }

    fn names(text: &[u8]) -> TestNames {
        *read(text).unwrap().names.unwrap()
    }

    #[test]
    fn a_document_with_its_end_is_whole_however_many_tests_it_announces() {
        let cases = "<testcase name='a'/>".repeat(13);
        for announced in [12, 13, 14] {
            let text = format!("<testsuite tests='{announced}'>{cases}</testsuite>");
            assert_eq!(counts(text.as_bytes()), (13, 0, 0), "{announced}");
        }
        let skipped =
            b"<testsuite skipped='2'><testcase name='a'><skipped/></testcase></testsuite>";
        assert_eq!(counts(skipped), (0, 0, 1));
        refused("<testsuite tests='many'/>");
    }

    #[test]
    fn a_suite_that_says_that_tests_failed_and_shows_none_is_an_error() {
        assert_eq!(
            refused(
                "\n<testsuite name='s' failures='1' errors='2'><testcase name='a'/></testsuite>"
            ),
            "line 2: the suite \"s\" says 3 failed tests and has 0"
        );
        refused(
            "<testsuites failures='1'><testsuite><testcase name='a'/></testsuite></testsuites>",
        );
        assert_eq!(
            counts(b"<testsuite failures='0'><testcase name='a'><failure/></testcase></testsuite>"),
            (0, 1, 0)
        );
    }

    #[test]
    fn green_pytest_with_subtests_passes() {
        let text = include_bytes!("fixtures/junit_pytest_subtests.xml");
        assert_eq!(counts(text), (5, 0, 2));
        let failed = read(include_bytes!("fixtures/junit_pytest_subtests_failed.xml")).unwrap();
        assert_eq!((failed.passed, failed.failed, failed.skipped), (4, 1, 2));
        assert_eq!(failed.failures, ["test_sum::test_with_subtests"]);
        assert_eq!(*failed.names.unwrap(), names(text));
    }

    #[test]
    fn green_jest_with_tests_to_be_written_passes() {
        let text = include_bytes!("fixtures/junit_jest.xml");
        assert_eq!(counts(text), (5, 0, 1));
        let failed = counts(include_bytes!("fixtures/junit_jest_failed.xml"));
        assert_eq!(failed, (4, 1, 1));
        let ran = names(text).ran.into_iter().collect::<Vec<_>>();
        assert_eq!(
            ran,
            [
                "sum adds",
                "sum holds what the work says",
                "sum is its own: 1",
                "sum is its own: 2",
                "sum multiplies"
            ]
        );
    }

    #[test]
    fn vitest_mocha_and_node_are_read_as_junit_too() {
        for (green, failed, counted) in [
            (
                include_bytes!("fixtures/junit_vitest.xml").as_slice(),
                include_bytes!("fixtures/junit_vitest_failed.xml").as_slice(),
                (6, 0, 2),
            ),
            (
                include_bytes!("fixtures/junit_mocha.xml"),
                include_bytes!("fixtures/junit_mocha_failed.xml"),
                (3, 0, 2),
            ),
        ] {
            assert_eq!(counts(green), counted);
            assert_eq!(counts(failed), (counted.0 - 1, 1, counted.2));
            assert_eq!(names(green), names(failed));
        }
        let node = include_bytes!("fixtures/junit_node_nested_failed.xml");
        assert_eq!(counts(node), (2, 1, 2));
        assert!(names(node).ran.contains("nested::test::works"));
    }

    #[test]
    fn the_last_attempt_of_a_test_counts() {
        let suite = |cases: &str| format!("<testsuite failures='1'>{cases}</testsuite>");
        let (good, bad) = (
            "<testcase classname='c' name='a'/>",
            "<testcase classname='c' name='a'><failure/></testcase>",
        );
        let of = |cases: &str| counts(suite(cases).as_bytes());
        assert_eq!(of(&format!("{bad}{good}")), (1, 0, 0));
        assert_eq!(of(&format!("{bad}{bad}{good}")), (1, 0, 0));
        assert_eq!(of(&format!("{bad}{bad}")), (0, 1, 0));
        assert_eq!(of(&format!("{good}{bad}")), (1, 1, 0));
        let skipped = "<testcase classname='c' name='a'><skipped/></testcase>";
        assert_eq!(of(&format!("{bad}{skipped}")), (0, 1, 1));
        let superseded = |cases: &str| read(suite(cases).as_bytes()).unwrap().superseded;
        assert_eq!(superseded(&format!("{bad}{bad}{good}")), 2);
        assert_eq!(superseded(&format!("{bad}{bad}")), 1);
        assert_eq!(superseded(&format!("{good}{bad}")), 0);
    }

    #[test]
    fn a_test_that_passed_twice_is_two_tests_and_supersedes_no_failure() {
        let good = "<testcase name='a'/>";
        let bad = "<testcase name='a'><failure/></testcase>";
        for cases in [[good, bad, good], [bad, good, good]] {
            let text = format!("<testsuite failures='1'>{}</testsuite>", cases.concat());
            let read = read(text.as_bytes()).unwrap();
            assert_eq!((read.passed, read.failed), (2, 1), "{text}");
            assert_eq!(read.superseded, 0);
        }
    }

    #[test]
    fn a_suite_that_says_that_more_failed_than_passed_later_is_an_error() {
        let cases = "<testcase name='a'><failure/></testcase><testcase name='a'/>";
        assert_eq!(
            refused(&format!(
                "<testsuite name='s' failures='2'>{cases}</testsuite>"
            )),
            "line 1: the suite \"s\" says 2 failed tests and has 1"
        );
        refused(&format!(
            "<testsuites failures='2'><testsuite failures='1'>{cases}</testsuite></testsuites>"
        ));
    }

    #[test]
    fn web_test_runner_says_of_each_failure_that_it_is_an_error_too() {
        let failed = read(include_bytes!("fixtures/junit_web_test_runner.xml")).unwrap();
        assert_eq!((failed.passed, failed.failed, failed.skipped), (3, 1, 1));
        assert_eq!(failed.failures, ["sum rounds::halves"]);
        let rerun = include_bytes!("fixtures/junit_web_test_runner_rerun.xml");
        assert_eq!(
            (counts(rerun), read(rerun).unwrap().superseded),
            ((2, 0, 0), 1)
        );
    }

    #[test]
    fn a_test_that_passed_when_gotestsum_ran_it_again_passed() {
        let text = include_bytes!("fixtures/junit_gotestsum_rerun.xml");
        assert_eq!(
            (counts(text), read(text).unwrap().superseded),
            ((4, 0, 1), 1)
        );
        assert!(names(text).ran.contains("example.org/demo::TestFlaky"));
    }

    #[test]
    fn a_test_of_the_same_name_in_another_suite_or_file_is_no_attempt() {
        let bad = "<testsuite name='s'><testcase name='a'><failure/></testcase></testsuite>";
        let good = "<testsuite name='s'><testcase name='a'/></testsuite>";
        let text = format!("<testsuites>{bad}{good}</testsuites>");
        assert_eq!(counts(text.as_bytes()), (1, 1, 0));
        let text = b"<testsuite><testcase file='1' name='a'><error/></testcase><testcase file='2' name='a'/></testsuite>";
        assert_eq!(counts(text), (1, 1, 0));
    }

    #[test]
    fn attempts_inside_a_test_case_change_nothing_about_its_outcome() {
        let text = b"<testsuite failures='0' flakes='1'><testcase name='a'><flakyFailure/><flakyError/></testcase>\
            <testcase name='b'><failure/><rerunFailure/><rerunError/></testcase></testsuite>";
        assert_eq!(counts(text), (1, 1, 0));
    }

    #[test]
    fn a_name_has_the_suites_and_the_class_that_it_is_in_each_once() {
        let name = |text: &str| names(text.as_bytes()).ran.pop_first().unwrap();
        let nested = "<testsuites name='all'><testsuite name='one'><testsuite name='two'><testcase name='a'/></testsuite></testsuite></testsuites>";
        assert_eq!(name(nested), "one::two::a");
        let class =
            "<testsuite name='org.Demo'><testcase classname='org.Demo' name='a'/></testsuite>";
        assert_eq!(name(class), "org.Demo::a");
        let crate_name = "<testsuite name='demo::liar'><testcase classname='demo::liar' name='t::a'/></testsuite>";
        assert_eq!(name(crate_name), "demo::liar::t::a");
        assert_eq!(
            read(b"<testsuite><testcase/></testsuite>").unwrap().names,
            None
        );
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
