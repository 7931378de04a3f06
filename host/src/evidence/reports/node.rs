//! The output of `node --test`, as TAP or for people: the last footer, which counts the leaves.
//!
//! In the TAP form a test's own output is a comment, so nothing that a test prints can stand below a plan, where the
//! footer does. In the form for people it could; there a footer without failures contradicts any failure shown.

use super::TestCounts;
use super::error::ReportError;
use super::names::{self, Collector, Part, TestNames};
use super::tap::{self, Outcome, Point, plan};
use super::text::{Line, lines, number};

const DURATION: &str = "duration_ms";
/// What stands above the failed tests in the form for people.
const FAILED_TESTS: &str = "✖ failing tests:";
/// Deeper than anybody nests suites.
const DEPTH_LIMIT: usize = 64;

/// Reads the last footer.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut output = Output::default();
    for line in lines(text) {
        output.take(&line);
    }
    let points = output.last.as_ref().and_then(Footer::points);
    let form = output.last.as_ref().map(|footer| footer.form);
    let mut counts = output.finish()?;
    counts.names = match form {
        Some(Form::Tap) => tap::names_of_node(text, points.unwrap_or_default()),
        Some(Form::People) => names_for_people(text, points.unwrap_or_default()),
        None => None,
    };
    Ok(counts)
}

/// The names of tests and suites in the form for people, if there are as many of them as the footer says.
fn names_for_people(text: &[u8], points: u64) -> Option<Box<TestNames>> {
    let mut names = Collector::default();
    let mut above: Vec<(usize, String)> = Vec::new();
    for line in lines(text) {
        let shown = line.text.trim_start_matches(' ');
        if shown == FAILED_TESTS {
            break;
        }
        let indent = line.text.len() - shown.len();
        above.truncate(above.partition_point(|(own, _)| *own <= indent));
        let Some((mark, name)) = shown.split_once(' ') else {
            continue;
        };
        let (name, rest) = timed(name).unwrap_or((name, ""));
        let ends = matches!(mark, "✔" | "✖" | "﹣" | "▶") && !rest.is_empty();
        let opened = above.pop_if(|(own, _)| *own == indent && (ends || mark == "▶"));
        let is_end_of = opened.is_some_and(|(_, opened)| opened == name);
        if mark == "▶" && !(ends && is_end_of) {
            if above.len() >= DEPTH_LIMIT {
                return None;
            }
            above.push((indent, name.to_owned()));
        } else if ends {
            let above = above.iter().rev().map(|(_, name)| name.as_str());
            let path = names::path(std::iter::once(name).chain(above));
            let is_skipped = mark == "﹣" || rest.contains(" # ");
            let part = if is_skipped { Part::Skipped } else { Part::Ran };
            names.add(part, &path);
        }
    }
    names.if_total(points)
}

/// A name before the time that a test took, and the time with what stands behind it.
fn timed(text: &str) -> Option<(&str, &str)> {
    let end = text.rfind("ms)")?;
    let at = text.get(..end)?.rfind(" (")?;
    let (name, time) = text.split_at(at);
    let digits = time.strip_prefix(" (")?.split_once("ms)")?.0;
    let is_time = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_time.then_some((name, time))
}

/// Whether a line is one that only node writes.
pub(super) fn is_mark(line: &str) -> bool {
    Entry::parse(line).is_some_and(|entry| entry.key == DURATION)
}

#[derive(Default)]
struct Output {
    last: Option<Footer>,
    begun: Option<Footer>,
    /// Whether the line before is a plan.
    below: Below,
    /// The last line that shows a failure.
    shown: Option<u64>,
    details: Details,
    failures: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Below {
    #[default]
    Text,
    Plan,
}

/// Which part of the output a line is in.
#[derive(Clone, PartialEq, Eq, Default)]
enum Details {
    #[default]
    None,
    /// What the TAP form says about one test, to an end that is indented in the same way.
    Block { indent: usize },
    /// The list of failed tests at the end of the form for people.
    FailedTests,
}

impl Output {
    fn take(&mut self, line: &Line<'_>) {
        let below = std::mem::replace(&mut self.below, Below::Text);
        match Entry::parse(&line.text) {
            Some(entry) => self.take_entry(line.number, &entry, below),
            None => self.begun = None,
        }
        if plan(&line.text).is_some() {
            self.below = Below::Plan;
        }
        self.take_failure(line);
    }

    fn take_entry(&mut self, line: u64, entry: &Entry<'_>, below: Below) {
        let begun = match entry.key {
            "tests" if entry.form == Form::People || below == Below::Plan => {
                Some(Footer::new(line, entry.form))
            }
            _ => self.begun.take(),
        };
        match begun.and_then(|footer| footer.with(entry)) {
            Some(footer) if footer.is_whole() => self.last = Some(footer),
            footer => self.begun = footer,
        }
    }

    fn take_failure(&mut self, line: &Line<'_>) {
        let text = line.text.trim_start();
        let indent = line.text.len() - text.len();
        match &self.details {
            Details::Block { indent: own } => self.take_block(text, indent, *own),
            _ if text == "---" => self.details = Details::Block { indent },
            _ if text == FAILED_TESTS => {
                self.failures.clear();
                self.details = Details::FailedTests;
            }
            _ => self.take_test(line.number, text, indent),
        }
    }

    fn take_block(&mut self, text: &str, indent: usize, own: usize) {
        if text == "..." && indent == own {
            self.details = Details::None;
        } else if text == "failureType: 'subtestsFailed'" && indent == own {
            // The parent of a failed test is no leaf.
            self.failures.pop();
        }
    }

    fn take_test(&mut self, line: u64, text: &str, indent: usize) {
        if let Some(point) = Point::parse(text) {
            if matches!(point.outcome(), Outcome::Failed) {
                self.name(point.name(line));
                // Deeper ones may be text; whatever contains a failed test failed too.
                self.shown = self.shown.or((indent == 0).then_some(line));
            }
        } else if let Some(name) = failed_test(text) {
            self.shown = Some(line);
            if indent == 0 && self.details == Details::FailedTests {
                self.name(name.to_owned());
            }
        }
    }

    fn name(&mut self, name: String) {
        // One more than is kept, because the last may be taken back.
        if self.failures.len() <= super::NAMES_LIMIT {
            self.failures.push(name);
        }
    }

    fn finish(self) -> Result<TestCounts, ReportError> {
        if let Some(begun) = self.begun {
            return Err(ReportError::unfinished(begun.line, "this footer"));
        }
        let footer = self.last.ok_or(ReportError::Missing { what: "footer" })?;
        let mut counts = footer.counts()?;
        match self.shown {
            Some(shown) if counts.failed == 0 => {
                let found = format!("a failure in line {shown}");
                let said = "no test failed";
                Err(ReportError::contradiction(
                    footer.line,
                    "the footer",
                    said,
                    &found,
                ))
            }
            None if counts.failed == 0 => Ok(counts),
            _ => {
                self.failures
                    .iter()
                    .for_each(|name| counts.name_failure(name));
                Ok(counts)
            }
        }
    }
}

/// `✖ name (1.57334ms)`. One that may fail has a mark behind the time.
fn failed_test(text: &str) -> Option<&str> {
    let (name, time) = text.strip_prefix("✖ ")?.rsplit_once(" (")?;
    let time = time.strip_suffix("ms)")?;
    let is_time = time
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_time.then_some(name)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Tap,
    People,
}

/// `# pass 2` or `ℹ pass 2`.
struct Entry<'a> {
    form: Form,
    key: &'a str,
    value: &'a str,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (form, rest) = match line.strip_prefix("# ") {
            Some(rest) => (Form::Tap, rest),
            None => (Form::People, line.strip_prefix("ℹ ")?),
        };
        let (key, value) = rest.split_once(' ')?;
        let is_number = value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_key = key == DURATION || key == SUITES || KEYS.contains(&key);
        (is_key && is_number && !value.is_empty()).then_some(Self { form, key, value })
    }
}

/// The counts of a footer, in their order. Older versions don't count suites.
const KEYS: [&str; 6] = ["tests", "pass", "fail", "cancelled", "skipped", "todo"];
const SUITES: &str = "suites";

struct Footer {
    line: u64,
    form: Form,
    /// The values of as many of the keys as were read.
    values: Vec<u64>,
    suites: Option<u64>,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    Reached,
}

impl Footer {
    const fn new(line: u64, form: Form) -> Self {
        Self {
            line,
            form,
            values: Vec::new(),
            suites: None,
            end: End::Open,
        }
    }

    /// The footer with one line more, if it is the one that belongs there.
    fn with(mut self, entry: &Entry<'_>) -> Option<Self> {
        if entry.form != self.form {
            return None;
        }
        match KEYS.get(self.values.len()) {
            Some(key) if *key == entry.key => self.values.push(number(entry.value)?),
            Some(_) if self.values.len() == 1 && entry.key == SUITES => {
                self.suites = Some(number(entry.value)?);
            }
            None if entry.key == DURATION => self.end = End::Reached,
            _ => return None,
        }
        Some(self)
    }

    /// Tests and suites.
    fn points(&self) -> Option<u64> {
        Some(self.values.first()? + self.suites?)
    }

    fn is_whole(&self) -> bool {
        self.end == End::Reached
    }

    fn counts(&self) -> Result<TestCounts, ReportError> {
        let [tests, passed, failed, cancelled, skipped, todo] = *self.values.as_slice() else {
            return Err(ReportError::unfinished(self.line, "this footer"));
        };
        let counts = TestCounts {
            passed,
            failed: failed + cancelled,
            skipped: skipped + todo,
            failures: Vec::new(),
            superseded: 0,
            names: None,
        };
        if counts.total() == tests {
            return Ok(counts);
        }
        let said = format!("{tests} tests");
        let found = counts.total().to_string();
        Err(ReportError::contradiction(
            self.line,
            "the footer",
            &said,
            &found,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOOTER: &str = "ℹ tests 2\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 1.5\n";

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
    fn both_forms_say_the_same() {
        let names = ["fails # here", "inner fails", "cancelled"].map(String::from);
        let expected = (3, 4, 2, names.to_vec());
        assert_eq!(counts(include_bytes!("fixtures/node_tap.txt")), expected);
        assert_eq!(counts(include_bytes!("fixtures/node_spec.txt")), expected);
    }

    #[test]
    fn both_forms_name_the_same_tests() {
        for (tap, people) in [
            (
                include_bytes!("fixtures/node_tap.txt").as_slice(),
                include_bytes!("fixtures/node_spec.txt").as_slice(),
            ),
            (
                include_bytes!("fixtures/node_nested_tap.txt"),
                include_bytes!("fixtures/node_nested_spec.txt"),
            ),
        ] {
            let names = read(tap).unwrap().names;
            assert!(names.is_some());
            assert_eq!(read(people).unwrap().names, names);
        }
        let names = read(include_bytes!("fixtures/node_nested_tap.txt")).unwrap();
        let names = names.names.unwrap();
        assert!(names.ran.contains("nested > works"));
        assert!(names.skipped.contains("multiplies") && names.skipped.contains("divides"));
    }

    #[test]
    fn a_run_without_failures_passed() {
        let expected = (1, 0, 0, vec![]);
        assert_eq!(
            counts(include_bytes!("fixtures/node_passed_tap.txt")),
            expected
        );
        assert_eq!(
            counts(include_bytes!("fixtures/node_passed_spec.txt")),
            expected
        );
    }

    #[test]
    fn a_missing_or_torn_footer_is_an_error() {
        assert_eq!(
            read(b"TAP version 13\n1..0\n"),
            Err(ReportError::Missing { what: "footer" })
        );
        let error = read(b"1..1\n# tests 1\n# pass 1\n# fail 0").unwrap_err();
        assert_eq!(error.to_string(), "line 2: this footer has no end");
    }

    #[test]
    fn a_printed_footer_is_none_in_the_tap_form() {
        let printed = FOOTER.replace('ℹ', "#");
        assert_eq!(
            read(printed.as_bytes()),
            Err(ReportError::Missing { what: "footer" })
        );
        let below_plan = format!("1..2\n{printed}");
        assert_eq!(counts(below_plan.as_bytes()), (2, 0, 0, vec![]));
    }

    #[test]
    fn the_last_footer_counts() {
        let text = format!("{}{FOOTER}", FOOTER.replace('2', "3"));
        assert_eq!(counts(text.as_bytes()), (2, 0, 0, vec![]));
    }

    #[test]
    fn a_footer_without_failures_below_a_failure_is_an_error() {
        let text = format!("✖ breaks (1.5ms)\n{FOOTER}");
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: the footer says no test failed and has a failure in line 1"
        );
        let allowed = format!("✖ breaks (1.5ms) # TODO\n✖ not a test\n{FOOTER}");
        assert_eq!(counts(allowed.as_bytes()), (2, 0, 0, vec![]));
    }

    #[test]
    fn a_footer_that_does_not_add_up_is_an_error() {
        let text = FOOTER.replace("tests 2", "tests 3");
        let error = read(text.as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: the footer says 3 tests and has 2"
        );
    }

    #[test]
    fn footers_of_older_versions_have_no_suites() {
        let text = FOOTER.replace("ℹ suites 0\n", "");
        assert_eq!(counts(text.as_bytes()), (2, 0, 0, vec![]));
    }
}
