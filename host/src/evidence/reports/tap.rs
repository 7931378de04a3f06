//! The Test Anything Protocol, versions 12 to 14: what stands at the outermost level.

use super::TestCounts;
use super::error::ReportError;
use super::text::{Line, leading_number, lines};

/// Counts the test points of one stream.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut stream = Stream::default();
    for line in lines(text) {
        stream.take(&line)?;
    }
    stream.finish()
}

#[derive(Default)]
struct Stream {
    counts: TestCounts,
    seen: u64,
    plan: Option<Plan>,
}

struct Plan {
    line: u64,
    tests: u64,
}

impl Stream {
    fn take(&mut self, line: &Line<'_>) -> Result<(), ReportError> {
        if let Some(tests) = plan(&line.text) {
            return self.take_plan(line.number, tests);
        }
        if let Some(point) = Point::parse(&line.text) {
            return self.take_point(line.number, &point);
        }
        match bail_out(&line.text) {
            Some(reason) => Err(ReportError::given_up(line.number, reason)),
            None => Ok(()),
        }
    }

    fn take_plan(&mut self, line: u64, tests: u64) -> Result<(), ReportError> {
        if self.plan.is_some() {
            return Err(ReportError::malformed(line, "this is a second plan"));
        }
        self.plan = Some(Plan { line, tests });
        Ok(())
    }

    fn take_point(&mut self, line: u64, point: &Point<'_>) -> Result<(), ReportError> {
        self.seen += 1;
        if let Some(number) = point.number.filter(|number| *number != self.seen) {
            let what = format!("test {number} stands where test {} belongs", self.seen);
            return Err(ReportError::malformed(line, &what));
        }
        match point.outcome() {
            Outcome::Passed => self.counts.passed += 1,
            Outcome::Skipped => self.counts.skipped += 1,
            Outcome::Failed => self.counts.fail(&point.name(self.seen)),
        }
        Ok(())
    }

    fn finish(self) -> Result<TestCounts, ReportError> {
        let plan = self.plan.ok_or(ReportError::Missing { what: "plan" })?;
        if plan.tests == self.seen {
            return Ok(self.counts);
        }
        let said = format!("{} tests", plan.tests);
        let found = self.seen.to_string();
        Err(ReportError::contradiction(
            plan.line, "the plan", &said, &found,
        ))
    }
}

/// The number of tests that a line announces: `1..N`.
pub(super) fn plan(line: &str) -> Option<u64> {
    let (tests, rest) = leading_number(line.strip_prefix("1..")?)?;
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(tests)
}

/// Why a stream was given up: `Bail out!`, in any case.
fn bail_out(line: &str) -> Option<&str> {
    const WORDS: &str = "bail out!";
    let head = line.get(..WORDS.len())?;
    head.eq_ignore_ascii_case(WORDS).then_some(line)
}

/// What a test point means for the whole.
pub(super) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    None,
    Skip,
    Todo,
}

/// What a test point's first word says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Ok,
    NotOk,
}

/// `not ok 3 - name # TODO reason`.
pub(super) struct Point<'a> {
    status: Status,
    number: Option<u64>,
    description: &'a str,
    directive: Directive,
}

impl<'a> Point<'a> {
    /// The test point that a line is, if it is one.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (status, rest) = match line.strip_prefix("not ") {
            Some(rest) => (Status::NotOk, rest.trim_start()),
            None => (Status::Ok, line),
        };
        let rest = rest.strip_prefix("ok")?;
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return None;
        }
        let rest = rest.trim_start();
        let (number, text) = match leading_number(rest) {
            Some((number, text)) if text.is_empty() || text.starts_with(char::is_whitespace) => {
                (Some(number), text)
            }
            _ => (None, rest),
        };
        let (description, directive) = split_directive(text);
        Some(Self {
            status,
            number,
            description,
            directive,
        })
    }

    /// A test that is still to be made work may fail. One that was left out may not: then it was not left out.
    pub(super) fn outcome(&self) -> Outcome {
        match (self.status, self.directive) {
            (Status::NotOk, Directive::Todo) | (Status::Ok, Directive::Skip) => Outcome::Skipped,
            (Status::NotOk, Directive::None | Directive::Skip) => Outcome::Failed,
            (Status::Ok, Directive::None | Directive::Todo) => Outcome::Passed,
        }
    }

    /// What the test is called, or its number if it has no name.
    pub(super) fn name(&self, number: u64) -> String {
        let name = self.description.trim();
        let name = name.strip_prefix('-').unwrap_or(name);
        let name = name.strip_suffix(" {").unwrap_or(name).trim();
        if name.is_empty() {
            return format!("test {number}");
        }
        name.replace("\\#", "#")
    }
}

/// The description, and what the mark behind it says. An escaped mark has a backslash and no space before it.
fn split_directive(text: &str) -> (&str, Directive) {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == '#' && before.is_whitespace() {
            let (description, mark) = text.split_at(at);
            let directive = directive(mark.trim_start_matches('#').trim_start());
            if directive != Directive::None {
                return (description, directive);
            }
        }
        before = c;
    }
    (text, Directive::None)
}

fn directive(text: &str) -> Directive {
    let is = |word: &str| {
        let head = text.get(..word.len());
        let rest = text.get(word.len()..).unwrap_or_default();
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
            && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    };
    if is("skip") {
        Directive::Skip
    } else if is("todo") {
        Directive::Todo
    } else {
        Directive::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> (u64, u64, u64) {
        let counts = read(text.as_bytes()).unwrap();
        (counts.passed, counts.failed, counts.skipped)
    }

    #[test]
    fn only_the_outermost_level_counts() {
        let read = read(include_bytes!("fixtures/tap_14.txt")).unwrap();
        assert_eq!((read.passed, read.failed, read.skipped), (3, 1, 2));
        assert_eq!(read.failures, ["group"]);
    }

    #[test]
    fn the_plan_may_stand_at_the_end_and_numbers_may_be_left_out() {
        let read = read(include_bytes!("fixtures/tap_12.txt")).unwrap();
        assert_eq!((read.passed, read.failed, read.skipped), (2, 1, 1));
        assert_eq!(read.failures, ["third"]);
    }

    #[test]
    fn a_failing_todo_is_skipped_and_a_passing_one_passed() {
        assert_eq!(
            counts("1..2\nnot ok 1 # todo\nok 2 - x # TODO y\n"),
            (1, 0, 1)
        );
    }

    #[test]
    fn a_failing_skip_is_failed() {
        assert_eq!(counts("1..1\nnot ok 1 # SKIP\n"), (0, 1, 0));
    }

    #[test]
    fn an_escaped_mark_or_another_word_is_no_directive() {
        assert_eq!(
            counts("1..3\nnot ok 1 - \\# TODO\nnot ok 2 a#TODO\nnot ok 3 # TODOS\n"),
            (0, 3, 0)
        );
    }

    #[test]
    fn a_stream_without_a_plan_is_an_error() {
        assert_eq!(read(b"ok 1\n"), Err(ReportError::Missing { what: "plan" }));
    }

    #[test]
    fn missing_and_surplus_tests_are_errors() {
        let error = read(b"1..5\nok 1\nok 2\nok 3\nok 4\n").unwrap_err();
        assert_eq!(error.to_string(), "line 1: the plan says 5 tests and has 4");
        read(b"1..1\nok 1\nok 2\n").unwrap_err();
    }

    #[test]
    fn a_number_out_of_its_turn_and_a_second_plan_are_errors() {
        read(b"1..2\nok 1\nok 1\n").unwrap_err();
        read(b"1..1\nok 1\n1..1\n").unwrap_err();
    }

    #[test]
    fn a_stream_that_was_given_up_is_an_error() {
        let error = read(b"1..1\nok 1\nBail out! no database\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 3: the run was given up: Bail out! no database"
        );
    }

    #[test]
    fn no_tests_at_all_is_a_report() {
        assert_eq!(
            counts("TAP version 14\n1..0 # SKIP nothing to do\n"),
            (0, 0, 0)
        );
    }
}
