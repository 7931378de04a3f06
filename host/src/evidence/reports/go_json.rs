//! The output of `go test -json`: one event a line.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::TestCounts;
use super::error::ReportError;
use super::names::{Collector, Part};
use super::text::{Line, lines};

/// Counts the leaves among the tests of all packages.
pub(super) fn read(text: &[u8]) -> Result<TestCounts, ReportError> {
    let mut run = Run::default();
    for line in lines(text) {
        match Event::parse(&line) {
            Some(event) => run.take(&event),
            None => run.take_words(&line.text),
        }
    }
    run.finish()
}

/// Whether a line is one that only `go test -json` writes.
pub(super) fn is_mark(line: &Line<'_>) -> bool {
    Event::parse(line).is_some_and(|event| event.package.is_some())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow, default)]
    package: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    test: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    import_path: Option<Cow<'a, str>>,
}

impl<'a> Event<'a> {
    fn parse(line: &'a Line<'_>) -> Option<Self> {
        let text = line.text.trim();
        // Most of what is no event is seen at once.
        if !text.starts_with('{') {
            return None;
        }
        serde_json::from_str(text).ok()
    }
}

/// What older versions say in plain words: `FAIL example.org/demo [build failed]`.
fn broken_package(line: &str) -> Option<&str> {
    let (package, reason) = line.strip_prefix("FAIL\t")?.split_once(" [")?;
    reason.ends_with(" failed]").then_some(package)
}

#[derive(Default)]
struct Package {
    /// By name, with the separator changed into the least of all characters: so what is below a test follows it.
    tests: BTreeMap<String, Test>,
    end: PackageEnd,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum PackageEnd {
    #[default]
    Missing,
    Passed,
    Failed,
}

/// One test, which may have run several times.
#[derive(Default)]
struct Test {
    running: u64,
    worst: Option<Outcome>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Skipped,
    Passed,
    Failed,
}

impl Test {
    /// A test without an end failed: something stopped the run.
    fn outcome(&self) -> Outcome {
        match self.worst {
            Some(outcome) if self.running == 0 => outcome,
            _ => Outcome::Failed,
        }
    }

    fn end(&mut self, outcome: Outcome) {
        self.running = self.running.saturating_sub(1);
        self.worst = self.worst.max(Some(outcome));
    }
}

#[derive(Default)]
struct Run {
    packages: BTreeMap<String, Package>,
    /// How many events of packages there are.
    events: u64,
    /// The first that could not be built. The package that needed it fails after it.
    not_built: Option<String>,
}

impl Run {
    fn take(&mut self, event: &Event<'_>) {
        if let Some(name) = &event.package {
            self.events += 1;
            self.package(name).take(event);
        } else if event.action == "build-fail" && self.not_built.is_none() {
            let name = event.import_path.as_deref().unwrap_or("build");
            self.not_built = Some(name.to_owned());
        }
    }

    fn take_words(&mut self, line: &str) {
        if let Some(name) = broken_package(line) {
            self.package(name).end = PackageEnd::Failed;
        }
    }

    fn package(&mut self, name: &str) -> &mut Package {
        self.packages.entry(name.to_owned()).or_default()
    }

    fn finish(self) -> Result<TestCounts, ReportError> {
        if self.events == 0 {
            let what = "event of a test run";
            return Err(ReportError::Missing { what });
        }
        let mut counts = TestCounts::default();
        let mut names = Collector::default();
        for (name, package) in &self.packages {
            package.count(name, &mut counts);
            package.name(name, &mut names);
        }
        counts.names = names.finish();
        match &self.not_built {
            Some(name) if counts.failed == 0 => counts.fail(name),
            _ => {}
        }
        Ok(counts)
    }
}

impl Package {
    fn take(&mut self, event: &Event<'_>) {
        let outcome = match &*event.action {
            "pass" | "bench" => Some(Outcome::Passed),
            "fail" => Some(Outcome::Failed),
            "skip" => Some(Outcome::Skipped),
            _ => None,
        };
        match (event.test.as_deref(), outcome) {
            (Some(test), Some(outcome)) => self.test(test).end(outcome),
            (Some(test), None) if event.action == "run" => self.test(test).running += 1,
            (None, Some(outcome)) => self.finish(outcome),
            _ => {}
        }
    }

    fn test(&mut self, name: &str) -> &mut Test {
        self.tests.entry(name.replace('/', "\0")).or_default()
    }

    fn finish(&mut self, outcome: Outcome) {
        self.end = match outcome {
            Outcome::Passed | Outcome::Skipped if self.end != PackageEnd::Failed => {
                PackageEnd::Passed
            }
            _ => PackageEnd::Failed,
        };
    }

    /// Names tests, those with others below them too: they are there as long as any of these is.
    fn name(&self, package: &str, names: &mut Collector) {
        names.add_group(package);
        // Its tests are not known, and it must not go before they are.
        if self.tests.is_empty() && self.end == PackageEnd::Failed {
            names.add(Part::Ran, package);
        }
        for (key, test) in &self.tests {
            let part = match test.outcome() {
                Outcome::Skipped => Part::Skipped,
                Outcome::Passed | Outcome::Failed => Part::Ran,
            };
            names.add(part, &format!("{package}.{}", key.replace('\0', "/")));
        }
    }

    fn count(&self, name: &str, counts: &mut TestCounts) {
        let before = counts.failed;
        let mut above = Vec::new();
        for (key, test) in &self.tests {
            while let Some(node) = above.pop_if(|node: &mut Node<'_>| !node.is_above(key)) {
                leave(&mut above, &node, counts);
            }
            if let Some(parent) = above.last_mut() {
                parent.place = Place::Parent;
            }
            above.push(Node::new(key, test.outcome()));
        }
        while let Some(node) = above.pop() {
            leave(&mut above, &node, counts);
        }
        // Something outside of its tests failed, or it never came to its end.
        if self.end != PackageEnd::Passed && counts.failed == before {
            counts.fail(name);
        }
    }
}

/// Counts a test below which nothing more comes, and tells the one above it.
fn leave(above: &mut [Node<'_>], node: &Node<'_>, counts: &mut TestCounts) {
    let below = node.count(counts);
    if let Some(parent) = above.last_mut() {
        parent.below = parent.below.max(below);
    }
}

/// A test with what is known about those below it.
struct Node<'a> {
    key: &'a str,
    outcome: Outcome,
    place: Place,
    below: Below,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Leaf,
    Parent,
}

/// Whether a failure was counted at a test or below it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Below {
    Good,
    Failed,
}

impl<'a> Node<'a> {
    const fn new(key: &'a str, outcome: Outcome) -> Self {
        Self {
            key,
            outcome,
            place: Place::Leaf,
            below: Below::Good,
        }
    }

    fn is_above(&self, key: &str) -> bool {
        key.strip_prefix(self.key)
            .is_some_and(|rest| rest.starts_with('\0'))
    }

    /// A parent doesn't count, unless it failed and nothing below it did.
    fn count(&self, counts: &mut TestCounts) -> Below {
        match (self.place, self.outcome, self.below) {
            (_, Outcome::Failed, Below::Good) => {
                counts.fail(&self.key.replace('\0', "/"));
                Below::Failed
            }
            (Place::Parent, _, below) => below,
            (Place::Leaf, Outcome::Skipped, below) => {
                counts.skipped += 1;
                below
            }
            (Place::Leaf, _, below) => {
                counts.passed += 1;
                below
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TestNames;
    use super::*;

    fn counts(text: &[u8]) -> (u64, u64, u64, Vec<String>) {
        let counts = read(text).unwrap();
        (
            counts.passed,
            counts.failed,
            counts.skipped,
            counts.failures,
        )
    }

    fn events(events: &[(&str, &str)]) -> Vec<u8> {
        let line = |(action, test): &(&str, &str)| match *test {
            "" => format!("{{\"Action\":\"{action}\",\"Package\":\"p\"}}\n"),
            test => format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\"}}\n"),
        };
        events.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn leaves_count_and_their_parents_do_not() {
        let read = counts(include_bytes!("fixtures/go_failed.txt"));
        assert_eq!(read, (2, 1, 1, vec!["TestTable/a/b".to_owned()]));
    }

    #[test]
    fn tests_are_named_with_their_package() {
        let names = read(include_bytes!("fixtures/go_failed.txt"))
            .unwrap()
            .names;
        let names = names.unwrap();
        assert!(
            names.ran.contains("example.org/demo.TestTable/a/b"),
            "{names:?}"
        );
    }

    #[test]
    fn a_package_that_could_not_be_built_may_not_go_without_its_tests() {
        let report = |events: &[(&str, &str, &str)]| {
            let line = |(package, action, test): &(&str, &str, &str)| match *test {
                "" => format!("{{\"Action\":\"{action}\",\"Package\":\"{package}\"}}\n"),
                test => format!(
                    "{{\"Action\":\"{action}\",\"Package\":\"{package}\",\"Test\":\"{test}\"}}\n"
                ),
            };
            let text: String = events.iter().map(line).collect();
            *read(text.as_bytes()).unwrap().names.unwrap()
        };
        let other = [
            ("b", "run", "TestB"),
            ("b", "pass", "TestB"),
            ("b", "pass", ""),
        ];
        let with = |events: &[(&str, &str, &str)]| report(&[&other, events].concat());
        let gone = |before: &TestNames, now: &TestNames| -> Vec<String> {
            before.gone(now).map(str::to_owned).collect()
        };
        let broken = with(&[("a", "fail", "")]);
        let built = [
            ("a", "run", "TestA"),
            ("a", "pass", "TestA"),
            ("a", "pass", ""),
        ];
        assert!(gone(&broken, &with(&built)).is_empty());
        assert!(gone(&broken, &with(&[("a", "skip", "")])).is_empty());
        assert_eq!(gone(&broken, &with(&[])), ["a"]);
        // One without tests may go.
        assert!(gone(&with(&[("a", "skip", "")]), &with(&[])).is_empty());
    }

    #[test]
    fn a_broken_package_is_one_failure_and_a_test_without_an_end_too() {
        let (passed, failed, skipped, names) = counts(include_bytes!("fixtures/go_broken.txt"));
        assert_eq!((passed, failed, skipped), (0, 3, 0));
        let expected = [
            "example.org/demo/broken",
            "example.org/demo/old",
            "TestPanics",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_parent_that_failed_by_itself_counts() {
        let text = events(&[
            ("run", "T"),
            ("run", "T/a"),
            ("pass", "T/a"),
            ("fail", "T"),
            ("fail", ""),
        ]);
        assert_eq!(counts(&text), (1, 1, 0, vec!["T".to_owned()]));
    }

    #[test]
    fn a_package_that_failed_after_its_tests_passed_is_one_failure() {
        let text = events(&[("run", "T"), ("pass", "T"), ("fail", "")]);
        assert_eq!(counts(&text), (1, 1, 0, vec!["p".to_owned()]));
    }

    #[test]
    fn a_package_without_an_end_is_one_failure() {
        let text = events(&[("run", "T"), ("pass", "T")]);
        assert_eq!(counts(&text), (1, 1, 0, vec!["p".to_owned()]));
    }

    #[test]
    fn a_test_that_failed_once_of_twice_failed() {
        let text = events(&[
            ("run", "T"),
            ("fail", "T"),
            ("run", "T"),
            ("pass", "T"),
            ("fail", ""),
        ]);
        assert_eq!(counts(&text), (0, 1, 0, vec!["T".to_owned()]));
    }

    #[test]
    fn lines_that_are_no_events_are_passed_over_unless_there_are_no_others() {
        let mut text = b"go: downloading\n{\n[]\n".to_vec();
        let what = "event of a test run";
        assert_eq!(read(&text), Err(ReportError::Missing { what }));
        text.extend(events(&[("run", "T"), ("skip", "T"), ("pass", "")]));
        assert_eq!(counts(&text), (0, 0, 1, vec![]));
    }

    #[test]
    fn a_build_that_failed_is_a_failure_even_if_no_package_says_so() {
        let mut text = events(&[("run", "T"), ("pass", "T"), ("pass", "")]);
        text.extend(b"{\"ImportPath\":\"q\",\"Action\":\"build-fail\"}\n");
        assert_eq!(counts(&text), (1, 1, 0, vec!["q".to_owned()]));
    }

    #[test]
    fn a_package_without_tests_is_a_report() {
        assert_eq!(
            counts(&events(&[("start", ""), ("skip", "")])),
            (0, 0, 0, vec![])
        );
    }
}
