//! The Test Anything Protocol, versions 12 to 14: its test points, those of subtests too.
//!
//! A test point that has subtests counts only if it failed and none of them did. Lines of subtests are indented more
//! than the point that they belong to, which stands below them, or above them and ends with `{`. The standard says by
//! four spaces; the kernel's runners indent by two, and others by a tab.

use std::collections::BTreeSet;

use super::TestCounts;
use super::error::ReportError;
use super::names::{self, Collector, Part, TestNames};
use super::text::{Line, leading_number, lines};

/// How wide a tab is at most.
const TAB: usize = 8;
/// Deeper than any runner nests its tests.
const DEPTH_LIMIT: usize = 64;

/// Counts the test points of one stream.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let tree = Stream::read(text)?;
    let mut counts = TestCounts::default();
    let mut names = Collector::default();
    for leaf in tree.leaves.iter().filter(|leaf| leaf.role == Role::Test) {
        let name = tree.name(leaf);
        let outcome = if leaf.excused {
            Outcome::Skipped
        } else {
            leaf.outcome
        };
        match outcome {
            Outcome::Passed => counts.passed += 1,
            Outcome::Skipped => counts.skipped += 1,
            Outcome::Failed => counts.fail(&name),
        }
        names.add(part(outcome), &name);
    }
    counts.names = names.finish();
    Ok(counts)
}

fn part(outcome: Outcome) -> Part {
    match outcome {
        Outcome::Skipped => Part::Skipped,
        Outcome::Passed | Outcome::Failed => Part::Ran,
    }
}

/// The names of all tests and suites in node's output, if it has as many of them as its footer says. There a test that
/// is still to be made work counts as one that did not run, even if it passes.
pub(super) fn names_of_node(text: &[u8], points: u64) -> Option<Box<TestNames>> {
    let tree = Stream::read(text).ok()?;
    let mut names = Collector::default();
    for leaf in &tree.leaves {
        let part = match leaf.directive {
            Directive::None => Part::Ran,
            Directive::Skip | Directive::Todo => Part::Skipped,
        };
        names.add(part, &tree.name(leaf));
    }
    names.if_total(points)
}

/// The test points, and what they are below.
#[derive(Default)]
struct Tree {
    leaves: Vec<Leaf>,
    groups: Vec<Group>,
}

struct Leaf {
    role: Role,
    group: usize,
    name: String,
    outcome: Outcome,
    directive: Directive,
    /// Whether it is below a test that is still to be made work, or that was left out.
    excused: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It counts.
    Test,
    /// Its subtests count in its place.
    Parent,
}

/// The subtests of one test point.
struct Group {
    /// The group of that point. The outermost one is its own.
    parent: usize,
    /// What that point is called. Empty where no point has claimed them.
    name: String,
}

impl Tree {
    /// A group for the subtests of a point that is in another one.
    fn open_group(&mut self, parent: usize) -> usize {
        let name = String::new();
        self.groups.push(Group { parent, name });
        self.groups.len() - 1
    }

    fn name(&self, leaf: &Leaf) -> String {
        let above = |at: usize| self.groups.get(at).filter(|_| at > 0);
        let groups = std::iter::successors(above(leaf.group), |group| above(group.parent));
        let names = groups.take(DEPTH_LIMIT).map(|group| group.name.as_str());
        let names = names.filter(|name| !name.is_empty());
        names::path(std::iter::once(leaf.name.as_str()).chain(names))
    }
}

struct Stream {
    tree: Tree,
    /// The open levels, the outermost first. There is always one.
    levels: Vec<Level>,
    /// The indentation of the end of a block of details, while lines are in one.
    details: Option<usize>,
    /// The indentation of the point in the line before, or of the end of its subtests.
    point_above: Option<usize>,
    /// Whether the line before is only `not`: its point is in the next one.
    negated: bool,
}

/// Test points with the same indentation, below the same point.
struct Level {
    indent: usize,
    group: usize,
    /// The first of its leaves.
    first_leaf: usize,
    plan: Option<Plan>,
    seen: u64,
    numbers: BTreeSet<u64>,
    /// The point above that these belong to, if that one has been read.
    opened_by: Option<Opener>,
    /// Subtests of a point that is still to come.
    waiting: Option<Closed>,
}

/// A point that ends with `{`.
struct Opener {
    line: u64,
    indent: usize,
    name: String,
    outcome: Outcome,
    directive: Directive,
}

/// The subtests of a point.
struct Closed {
    group: usize,
    first_leaf: usize,
    seen: u64,
}

struct Plan {
    line: u64,
    tests: u64,
}

impl Stream {
    fn new() -> Self {
        let group = Group {
            parent: 0,
            name: String::new(),
        };
        Self {
            tree: Tree {
                leaves: Vec::new(),
                groups: vec![group],
            },
            levels: vec![Level::new(0, 0, 0)],
            details: None,
            point_above: None,
            negated: false,
        }
    }

    fn read(text: &[u8]) -> Result<Tree, ReportError> {
        let mut stream = Self::new();
        let mut rest = lines(text);
        while let Some(line) = rest.next() {
            stream.take(&line, rest.clone())?;
        }
        stream.finish()
    }

    fn take<'a>(
        &mut self,
        line: &Line<'_>,
        rest: impl Iterator<Item = Line<'a>>,
    ) -> Result<(), ReportError> {
        let (indent, text) = split_indent(&line.text);
        // A comment may stand between `not` and its point.
        if text.trim_end().is_empty()
            || self.is_detail(text, indent, rest)
            || self.negated && text.starts_with('#')
        {
            return Ok(());
        }
        let negated = std::mem::take(&mut self.negated);
        self.point_above = None;
        if text.trim_end() == "not" {
            self.negated = true;
            return Ok(());
        }
        if text == "}" {
            return self.end_block(indent);
        }
        self.forgo_block(indent);
        if let Some(tests) = plan(text) {
            if self.enter(indent)? {
                self.take_plan(line.number, tests)?;
            }
        } else if let Some(mut point) = Point::parse(text) {
            if negated {
                point.status = Status::NotOk;
            }
            if self.enter(indent)? {
                self.take_point(line.number, indent, &point)?;
            } else if point.outcome() == Outcome::Failed {
                self.attach(&Opener::new(line.number, indent, 0, &point), None);
            }
        } else if let Some(reason) = bail_out(text) {
            return Err(ReportError::given_up(line.number, reason));
        }
        Ok(())
    }

    /// Whether a line is part of what is said about the point above it. A block without an end is none: it could hide
    /// the points below it.
    fn is_detail<'a>(
        &mut self,
        text: &str,
        indent: usize,
        rest: impl Iterator<Item = Line<'a>>,
    ) -> bool {
        if let Some(end) = self.details {
            if is_end_of_details(text, indent, end) {
                self.details = None;
            }
            return true;
        }
        let begins = text.trim_end() == "---"
            && self.point_above.is_some_and(|point| point < indent)
            && have_end(rest, indent);
        self.details = begins.then_some(indent);
        begins
    }

    /// A point that ends with `{` and has nothing that is indented below it has a name that ends so.
    fn forgo_block(&mut self, indent: usize) {
        let is_empty = |level: &mut Level| {
            let opener = level.opened_by.as_ref();
            opener.is_some_and(|opener| indent <= opener.indent) && level.is_untouched()
        };
        if let Some(level) = self.levels.pop_if(is_empty)
            && let Some(opener) = level.opened_by
        {
            self.attach(&opener, None);
        }
    }

    /// Goes to the level of a line. Whether there is one: what is nested deeper than any runner does has none.
    fn enter(&mut self, indent: usize) -> Result<bool, ReportError> {
        while self.indent() > indent {
            self.leave()?;
        }
        if self.indent() == indent {
            return Ok(true);
        }
        if self.levels.len() >= DEPTH_LIMIT {
            return Ok(false);
        }
        let parent = self.levels.last().map_or(0, |level| level.group);
        let group = self.tree.open_group(parent);
        let mut level = Level::new(indent, group, self.tree.leaves.len());
        // What was indented even more and has no point yet belongs to the next one of this level.
        level.waiting = self.levels.last_mut().and_then(|it| it.waiting.take());
        if let Some(waiting) = &level.waiting {
            level.first_leaf = waiting.first_leaf;
        }
        self.levels.push(level);
        Ok(true)
    }

    fn indent(&self) -> usize {
        self.levels.last().map_or(0, |level| level.indent)
    }

    /// Ends the innermost level. Its points belong to the next one above.
    fn leave(&mut self) -> Result<(), ReportError> {
        let Some(level) = self.pop() else {
            return Ok(());
        };
        if let Some(opener) = level.opened_by {
            return Err(ReportError::unfinished(opener.line, "this test's block"));
        }
        let closed = level.close()?;
        if let Some(parent) = self.levels.last_mut() {
            parent.waiting = Some(closed);
        }
        Ok(())
    }

    /// `}`, which ends the subtests of the point that opened them.
    fn end_block(&mut self, indent: usize) -> Result<(), ReportError> {
        let is_its_block = |level: &Level| {
            let opener = level.opened_by.as_ref();
            opener.is_some_and(|opener| opener.indent == indent)
        };
        let Some(at) = self.levels.iter().rposition(is_its_block) else {
            return Ok(());
        };
        while self.levels.len() > at + 1 {
            self.leave()?;
        }
        if let Some(mut level) = self.pop()
            && let Some(opener) = level.opened_by.take()
        {
            // However far its lines are indented, they are its own.
            let waiting = level.waiting.take();
            let closed = match waiting {
                Some(waiting) if level.is_untouched() => waiting,
                _ => level.close()?,
            };
            self.attach(&opener, Some(closed));
            self.point_above = Some(indent);
        }
        Ok(())
    }

    /// The innermost level, unless it is the outermost one too.
    fn pop(&mut self) -> Option<Level> {
        if self.levels.len() > 1 {
            self.levels.pop()
        } else {
            None
        }
    }

    fn take_plan(&mut self, line: u64, tests: u64) -> Result<(), ReportError> {
        match self.levels.last_mut() {
            Some(level) if level.plan.is_none() => level.plan = Some(Plan { line, tests }),
            _ => return Err(ReportError::malformed(line, "this is a second plan")),
        }
        Ok(())
    }

    fn take_point(
        &mut self,
        line: u64,
        indent: usize,
        point: &Point<'_>,
    ) -> Result<(), ReportError> {
        let Some(level) = self.levels.last_mut() else {
            return Ok(());
        };
        level.seen += 1;
        let number = point.number.unwrap_or(level.seen);
        if !level.numbers.insert(number) && point.number.is_some() {
            let what = format!("there is a second test {number}");
            return Err(ReportError::malformed(line, &what));
        }
        let opener = Opener::new(line, indent, number, point);
        let waiting = level.waiting.take();
        let parent = level.group;
        self.point_above = Some(indent);
        if !point.opens_subtests() || self.levels.len() >= DEPTH_LIMIT {
            self.attach(&opener, waiting);
            return Ok(());
        }
        let group = self.tree.open_group(parent);
        // Lines that are indented even more get a level of their own.
        let mut block = Level::new(indent + 1, group, self.tree.leaves.len());
        block.opened_by = Some(opener);
        self.levels.push(block);
        Ok(())
    }

    /// Takes a point with its subtests, if it has any.
    fn attach(&mut self, point: &Opener, closed: Option<Closed>) {
        let group = self.levels.last().map_or(0, |level| level.group);
        let Some(closed) = closed.filter(|closed| closed.seen > 0) else {
            self.push(Role::Test, group, point);
            return;
        };
        if let Some(named) = self.tree.groups.get_mut(closed.group) {
            named.name.clone_from(&point.name);
        }
        let below = self.tree.leaves.get_mut(closed.first_leaf..);
        let below = below.unwrap_or_default();
        if point.directive != Directive::None && point.outcome != Outcome::Failed {
            for leaf in below
                .iter_mut()
                .filter(|leaf| leaf.outcome == Outcome::Failed)
            {
                leaf.excused = true;
            }
        }
        let failed = |leaf: &Leaf| {
            leaf.role == Role::Test && leaf.outcome == Outcome::Failed && !leaf.excused
        };
        let role = if point.outcome == Outcome::Failed && !below.iter().any(failed) {
            Role::Test
        } else {
            Role::Parent
        };
        self.push(role, group, point);
    }

    fn push(&mut self, role: Role, group: usize, point: &Opener) {
        self.tree.leaves.push(Leaf {
            role,
            group,
            name: point.name.clone(),
            outcome: point.outcome,
            directive: point.directive,
            excused: false,
        });
    }

    fn finish(mut self) -> Result<Tree, ReportError> {
        while self.levels.len() > 1 {
            self.leave()?;
        }
        let Some(level) = self.levels.pop() else {
            return Ok(self.tree);
        };
        if level.plan.is_none() {
            return Err(ReportError::Missing { what: "plan" });
        }
        level.check()?;
        Ok(self.tree)
    }
}

impl Opener {
    fn new(line: u64, indent: usize, number: u64, point: &Point<'_>) -> Self {
        Self {
            line,
            indent,
            name: point.name(number),
            outcome: point.outcome(),
            directive: point.directive,
        }
    }
}

impl Level {
    fn new(indent: usize, group: usize, first_leaf: usize) -> Self {
        Self {
            indent,
            group,
            first_leaf,
            plan: None,
            seen: 0,
            numbers: BTreeSet::new(),
            opened_by: None,
            waiting: None,
        }
    }

    /// Whether nothing was read of it.
    fn is_untouched(&self) -> bool {
        self.seen == 0 && self.plan.is_none()
    }

    fn close(self) -> Result<Closed, ReportError> {
        self.check()?;
        Ok(Closed {
            group: self.group,
            first_leaf: self.first_leaf,
            seen: self.seen,
        })
    }

    /// As many tests as the plan says, and none that it doesn't know. Subtests may have no plan.
    fn check(&self) -> Result<(), ReportError> {
        let Some(plan) = &self.plan else {
            return Ok(());
        };
        let said = format!("{} tests", plan.tests);
        if plan.tests != self.seen {
            let found = self.seen.to_string();
            return Err(ReportError::contradiction(
                plan.line, "the plan", &said, &found,
            ));
        }
        match self.numbers.last() {
            Some(last) if *last > plan.tests => Err(ReportError::contradiction(
                plan.line,
                "the plan",
                &said,
                &format!("test {last}"),
            )),
            _ => Ok(()),
        }
    }
}

/// The column at which a line begins, and the line from there on.
fn split_indent(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches([' ', '\t']);
    let blank = line.strip_suffix(text).unwrap_or_default();
    let column = |column: usize, c| {
        if c == '\t' {
            (column / TAB + 1) * TAB
        } else {
            column + 1
        }
    };
    (blank.chars().fold(0, column), text)
}

/// Whether a block of details whose beginning is indented so has an end before a line that can't be part of it.
fn have_end<'a>(rest: impl Iterator<Item = Line<'a>>, begin: usize) -> bool {
    for line in rest {
        let (indent, text) = split_indent(&line.text);
        if is_end_of_details(text, indent, begin) {
            return true;
        }
        if indent < begin && !text.trim_end().is_empty() {
            return false;
        }
    }
    false
}

fn is_end_of_details(text: &str, indent: usize, begin: usize) -> bool {
    text.trim_end() == "..." && indent == begin
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
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Whether it ends with `{`.
    opens: bool,
}

/// How a point ends whose subtests follow.
const BLOCK: &str = " {";

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
            opens: text.ends_with(BLOCK),
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

    /// Whether its subtests follow in a block.
    fn opens_subtests(&self) -> bool {
        self.opens
    }

    /// What the test is called, or its number if it has no name.
    pub(super) fn name(&self, number: u64) -> String {
        let name = self.description.trim();
        let name = name.strip_prefix('-').unwrap_or(name);
        let name = name.strip_suffix(BLOCK).unwrap_or(name).trim();
        // How long it took is no part of its name.
        let name = match name.rsplit_once(" # time=") {
            Some((name, _)) => name.trim_end(),
            None => name,
        };
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

    fn refused(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    fn all_names(text: &str) -> Vec<String> {
        let names = read(text.as_bytes()).unwrap().names.unwrap();
        names.ran.into_iter().chain(names.skipped).collect()
    }

    #[test]
    fn subtests_count_in_place_of_their_parent() {
        let read = read(include_bytes!("fixtures/tap_14.txt")).unwrap();
        assert_eq!((read.passed, read.failed, read.skipped), (4, 1, 2));
        assert_eq!(read.failures, ["group > inner fails"]);
    }

    #[test]
    fn vitest_has_eight_tests_and_not_one() {
        let text = include_str!("fixtures/tap_vitest.txt");
        assert_eq!(counts(text), (7, 0, 1));
        let failed = read(include_bytes!("fixtures/tap_vitest_failed.txt")).unwrap();
        assert_eq!((failed.passed, failed.failed, failed.skipped), (6, 1, 1));
        let name = "sum.test.mjs > sum > nested > holds what the work says";
        assert_eq!(failed.failures, [name]);
        assert_eq!(all_names(text).len(), 8);
        assert!(all_names(text).contains(&name.to_owned()));
    }

    #[test]
    fn mocha_is_read_whatever_a_failure_says() {
        assert_eq!(counts(include_str!("fixtures/tap_mocha.txt")), (3, 0, 2));
        let failed = counts(include_str!("fixtures/tap_mocha_failed.txt"));
        assert_eq!(failed, (2, 1, 2));
    }

    #[test]
    fn a_failing_subtest_under_an_ok_point_fails() {
        assert_eq!(
            counts("1..1\n    1..2\n    ok 1\n    not ok 2 - inner\nok 1 - outer\n"),
            (1, 1, 0)
        );
        assert_eq!(
            counts("1..1\nok 1 - outer {\n    1..1\n    not ok 1 - inner\n}\n"),
            (0, 1, 0)
        );
        let deep = "1..1\n        not ok 1 - deep\n    ok 1\nok 1\n";
        assert_eq!(counts(deep), (0, 1, 0));
        for (subtests, expected) in [
            ("  1..2\n  ok 1 a\n  not ok 2 b\nok 1 suite\n", (1, 1, 0)),
            ("\t1..2\n\tok 1 a\n\tnot ok 2 b\nok 1 suite\n", (1, 1, 0)),
            (" ok 1 a\n \tnot ok 1 b\n ok 2 c\nok 1 suite\n", (1, 1, 0)),
            ("    ok 1 a\n  not ok 1 b\nok 1 suite\n", (1, 1, 0)),
            ("ok 1 - suite {\n  ok 1 a\n  not ok 2 b\n}\n", (1, 1, 0)),
            ("ok 1 - suite {\n\t\tnot ok 1 b\n\tok 1 a\n}\n", (0, 1, 0)),
        ] {
            assert_eq!(counts(&format!("1..1\n{subtests}")), expected, "{subtests}");
        }
        let bottomless: String = (0..=100)
            .map(|level| " ".repeat(level) + "ok 1\n")
            .collect();
        let text = format!("1..1\n{bottomless}{}not ok 2 - b\n", " ".repeat(101));
        assert_eq!(read(text.as_bytes()).unwrap().failed, 1);
    }

    #[test]
    fn a_test_has_the_names_of_what_it_is_below_however_far_it_is_indented() {
        let kernel = "KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n    # Subtest: a\n    ok 1 b\n  ok 1 a\nok 1 suite\n";
        assert_eq!(all_names(kernel), ["suite > a > b"]);
        let block = "1..1\nok 1 - suite {\n  ok 1 - a {\n\tok 1 - b\n  }\n}\n";
        assert_eq!(all_names(block), ["suite > a > b"]);
    }

    #[test]
    fn a_parent_that_failed_by_itself_counts() {
        assert_eq!(
            counts("1..1\n    ok 1 - inner\n    1..1\nnot ok 1 - outer\n"),
            (1, 1, 0)
        );
        assert_eq!(counts("1..1\n    1..0\nok 1 - empty\n"), (1, 0, 0));
    }

    #[test]
    fn subtests_of_a_test_that_is_to_be_made_work_may_fail() {
        let text = "1..1\n    not ok 1 - inner\n    ok 2\nnot ok 1 - outer # TODO\n";
        assert_eq!(counts(text), (1, 0, 1));
    }

    #[test]
    fn a_point_with_a_line_break_in_not_ok_fails() {
        assert_eq!(counts("1..2\nok 1\nnot \nok 2 - b\n"), (1, 1, 0));
        assert_eq!(counts("1..1\nnot\n\nok 1\n"), (0, 1, 0));
        assert_eq!(counts("1..2\nnot\n# a\nok 1\nok 2\n"), (1, 1, 0));
        assert_eq!(counts("1..2\nnot\na\nok 1\nok 2\n"), (2, 0, 0));
    }

    #[test]
    fn numbers_may_stand_in_any_order_but_only_once() {
        assert_eq!(counts("1..3\nok 3\nok 1\nnot ok 2\n"), (2, 1, 0));
        assert_eq!(
            refused("1..2\nok 1\nok 1\n"),
            "line 3: there is a second test 1"
        );
        assert_eq!(
            refused("1..2\nok 1\nok 3\n"),
            "line 1: the plan says 2 tests and has test 3"
        );
    }

    #[test]
    fn details_are_no_points_and_hide_none() {
        let text = "1..2\nnot ok 1 - a\n    ---\n    not ok 9 - b\n    ...\nok 2\n";
        assert_eq!(counts(text), (1, 1, 0));
        let open = "1..2\nok 1 - a\n  ---\n  message: b\nnot ok 2\n";
        assert_eq!(counts(open), (1, 1, 0));
        let stray = "1..2\nok 1 - a\n# b\n  ---\n    not ok 1 - c\nok 2\n";
        assert_eq!(counts(stray), (1, 1, 0));
        for endless in [
            "ok 1 - a\n  ---\n  m: x\n    not ok 1 - inner\nok 2\n",
            "ok 1 - a\n  ---\n    not ok 1 - inner\n      ---\n      ...\nok 2\n",
            "ok 1 - a\n  ---\n  ok 1 - b\n  ---\n    not ok 1 - c\n  ok 2 - d\nok 2\n",
        ] {
            let read = read(format!("1..2\n{endless}").as_bytes()).unwrap();
            assert_eq!(read.failed, 1, "{endless}");
        }
        let quoted = "1..2\nok 1 - a # TODO\n  ---\n  m: |\n    not ok 1 - b\n  ...\nok 2\n";
        assert_eq!(counts(quoted), (2, 0, 0));
    }

    #[test]
    fn a_torn_block_is_an_error_and_a_name_that_ends_with_a_brace_none() {
        assert_eq!(
            refused("1..1\nok 1 - outer {\n"),
            "line 2: this test's block has no end"
        );
        refused("1..1\nok 1 - outer {\n    ok 1 - inner\n");
        refused("1..2\nok 1 - outer {\n    ok 1 - inner\nok 2\n");
        refused("1..1\nok 1 - outer {\n    1..2\n    ok 1 - inner\n}\n");
        assert_eq!(counts("ok 1 - opens {\nnot ok 2 - b {\n1..2\n"), (1, 1, 0));
    }

    #[test]
    fn how_long_a_test_took_is_no_part_of_its_name() {
        let text = "1..2\nok 1 - a # time=3.03ms\nok 2 - b # SKIP # time=1ms\n";
        assert_eq!(all_names(text), ["a", "b"]);
    }

    #[test]
    fn depth_is_bounded() {
        let line = |point: &str, level| format!("{}{point}\n", "    ".repeat(level));
        let lines = |point: &str| -> String {
            let lines: Vec<String> = (0..1000).map(|level| line(point, level)).collect();
            lines.concat()
        };
        let deep = lines("ok 1");
        assert!(read(format!("1..1\n{deep}").as_bytes()).is_ok());
        let nested = lines("ok 1 - a {");
        refused(&format!("1..1\n{nested}"));
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
    fn a_second_plan_is_an_error() {
        refused("1..1\nok 1\n1..1\n");
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
