//! The names of tests: what a later report is compared with, so that a test which is gone or newly skipped is named.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::text::clean;

/// How long one name may be, in bytes. Of a longer one the beginning and a digest are kept.
const NAME_LIMIT: usize = 200;
/// How many bytes a digest at the end of a shortened name takes.
const DIGEST_CHARS: usize = 16;
/// How many names of one report are read.
const READ_LIMIT: usize = 200_000;
/// How many bytes of names of one report are read.
const READ_BYTES_LIMIT: usize = 32 << 20;
/// How many names are kept for comparison.
const KEPT_LIMIT: usize = 10_000;
/// How many bytes of names are kept for comparison.
const KEPT_BYTES_LIMIT: usize = 1 << 20;

/// The names of the tests of a report. Each is at most 200 bytes, without control characters, and stands once, in
/// the order of bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestNames {
    /// Tests that ran, whatever their outcome.
    pub ran: BTreeSet<String>,
    /// Tests that are there and did not run. Not every format names them.
    pub skipped: BTreeSet<String>,
    /// What is there and holds tests, such as a package: a later report need not have it.
    #[serde(skip)]
    pub groups: BTreeSet<String>,
}

impl TestNames {
    /// Those that are not among the names of a later report.
    pub fn gone<'a>(&'a self, now: &'a Self) -> impl Iterator<Item = &'a str> {
        let now = [&now.ran, &now.skipped, &now.groups];
        let is_gone = move |name: &&String| !now.iter().any(|names| names.contains(*name));
        let all: BTreeSet<&String> = self.ran.union(&self.skipped).collect();
        all.into_iter().filter(is_gone).map(String::as_str)
    }

    /// Those that ran, and are skipped in a later report.
    pub fn newly_skipped<'a>(&'a self, now: &'a Self) -> impl Iterator<Item = &'a str> {
        let is_skipped = |name: &&String| now.skipped.contains(*name) && !now.ran.contains(*name);
        self.ran.iter().filter(is_skipped).map(String::as_str)
    }

    /// The names, unless they are more than are kept for comparison.
    pub(crate) fn kept(&self) -> Option<&Self> {
        let all = || self.ran.iter().chain(&self.skipped);
        let bytes: usize = all().map(String::len).sum();
        (all().count() <= KEPT_LIMIT && bytes <= KEPT_BYTES_LIMIT).then_some(self)
    }

    fn len(&self) -> usize {
        self.ran.len() + self.skipped.len() + self.groups.len()
    }
}

/// Whether a test ran.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Ran,
    Skipped,
}

/// Collects names while a report is read.
#[derive(Default)]
pub(super) struct Collector {
    names: TestNames,
    bytes: usize,
    /// How many tests were to be named, those of equal names too.
    ran: u64,
    skipped: u64,
    /// Whether a test had no name, or there were too many of them.
    incomplete: bool,
}

impl Collector {
    /// Whether names are still collected.
    pub(super) fn is_open(&self) -> bool {
        !self.incomplete
    }

    pub(super) fn add(&mut self, part: Part, name: &str) {
        let (names, tests) = match part {
            Part::Ran => (&mut self.names.ran, &mut self.ran),
            Part::Skipped => (&mut self.names.skipped, &mut self.skipped),
        };
        *tests += 1;
        if self.incomplete {
            return;
        }
        let name = identity(name);
        if name.is_empty() {
            self.incomplete = true;
            return;
        }
        let bytes = name.len();
        if names.insert(name) {
            self.bytes += bytes;
        }
        if self.bytes > READ_BYTES_LIMIT || self.names.len() > READ_LIMIT {
            self.incomplete = true;
            self.names = TestNames::default();
        }
    }

    /// Adds what holds tests.
    pub(super) fn add_group(&mut self, name: &str) {
        let name = identity(name);
        self.bytes += name.len();
        if self.bytes > READ_BYTES_LIMIT || self.names.len() > READ_LIMIT {
            self.incomplete = true;
            self.names = TestNames::default();
        }
        if !self.incomplete {
            self.names.groups.insert(name);
        }
    }

    /// The names, if every test had one.
    pub(super) fn finish(self) -> Option<Box<TestNames>> {
        let has_tests = !self.names.ran.is_empty() || !self.names.skipped.is_empty();
        (!self.incomplete && has_tests).then(|| Box::new(self.names))
    }

    /// The names, if there are as many as the report counts.
    pub(super) fn if_total(self, tests: u64) -> Option<Box<TestNames>> {
        let fits = self.ran + self.skipped == tests;
        if fits { self.finish() } else { None }
    }

    /// The same for formats that need not name what was skipped.
    pub(super) fn if_ran(self, ran: u64) -> Option<Box<TestNames>> {
        if self.ran == ran { self.finish() } else { None }
    }
}

/// Puts the names of another report to these, if both are known.
pub(super) fn join(
    one: Option<Box<TestNames>>,
    other: Option<Box<TestNames>>,
) -> Option<Box<TestNames>> {
    let (mut one, other) = (one?, other?);
    one.ran.extend(other.ran);
    one.skipped.extend(other.skipped);
    one.groups.extend(other.groups);
    (one.len() <= READ_LIMIT).then_some(one)
}

/// The name of a test below others, the innermost first. Of a long path the outer part is left out, so that few long names
/// above many tests take no more time than they have bytes.
pub(super) fn path<'a>(innermost_first: impl Iterator<Item = &'a str>) -> String {
    const PATH_LIMIT: usize = 1024;
    let mut bytes = 0;
    let mut parts = Vec::new();
    for part in innermost_first {
        if !parts.is_empty() && bytes + part.len() > PATH_LIMIT {
            break;
        }
        bytes += part.len();
        parts.push(part);
    }
    parts.reverse();
    parts.join(" > ")
}

/// A name as it is compared: bounded, fit to be shown, and without what changes from run to run.
fn identity(name: &str) -> String {
    let steady = steady(name.trim());
    let cleaned = clean(&steady, NAME_LIMIT);
    if cleaned.chars().count() == steady.chars().count() {
        return cleaned;
    }
    let digest = blake3::hash(name.as_bytes()).to_hex();
    let digest = digest.get(..DIGEST_CHARS).unwrap_or_default();
    let beginning = clean(&steady, NAME_LIMIT - DIGEST_CHARS - 1);
    format!("{beginning}~{digest}")
}

/// A name with addresses and numbers as long as a time stamp masked.
fn steady(name: &str) -> String {
    const STAMP: usize = 10;
    const ADDRESS: usize = 6;
    let mut masked = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let (run, mark, least) = match rest.strip_prefix("0x") {
            Some(after) => {
                let digits = count(after, |byte| byte.is_ascii_hexdigit());
                (2 + digits, "0x*", 2 + ADDRESS)
            }
            None => (count(rest, |byte| byte.is_ascii_digit()), "*", STAMP),
        };
        let run = run.max(first.len_utf8());
        let (taken, after) = rest.split_at(run);
        masked.push_str(if run >= least { mark } else { taken });
        rest = after;
    }
    masked
}

fn count(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is(*byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ran: &[&str], skipped: &[&str]) -> TestNames {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        TestNames {
            ran: owned(ran),
            skipped: owned(skipped),
            groups: BTreeSet::new(),
        }
    }

    #[test]
    fn a_test_that_is_gone_or_renamed_is_named_even_if_there_are_as_many() {
        let before = names(&["a", "b"], &["c"]);
        let now = names(&["a", "b2"], &["d"]);
        assert_eq!(before.gone(&now).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(before.gone(&before).count(), 0);
    }

    #[test]
    fn new_tests_are_neither_gone_nor_newly_skipped() {
        let before = names(&["a"], &["b"]);
        let now = names(&["a", "b", "c"], &["d"]);
        assert_eq!(before.gone(&now).count(), 0);
        assert_eq!(before.newly_skipped(&now).count(), 0);
    }

    #[test]
    fn a_test_that_ran_and_is_skipped_is_named() {
        let before = names(&["a", "b"], &["c"]);
        let now = names(&["c"], &["a", "b"]);
        assert_eq!(before.newly_skipped(&now).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn long_names_stay_different_and_no_name_has_control_characters() {
        let long = "x".repeat(300);
        let (one, other) = (identity(&format!("{long}a")), identity(&format!("{long}b")));
        assert_ne!(one, other);
        assert_eq!(one.len(), NAME_LIMIT);
        assert_eq!(identity(" a\u{1b}[1m\u{202e}\n "), "a\u{fffd}[1m\u{fffd}");
    }

    #[test]
    fn addresses_and_time_stamps_are_no_part_of_a_name() {
        assert_eq!(identity("at <a 0x7f34de77e490>"), "at <a 0x*>");
        assert_eq!(identity("at 1795027853485"), "at *");
        assert_eq!(
            identity("port 8080 of 0x1F, 2026"),
            "port 8080 of 0x1F, 2026"
        );
    }

    #[test]
    fn of_a_long_path_the_outer_part_is_left_out() {
        let long = "x".repeat(2000);
        assert_eq!(path(["a", "b", &long, "c"].into_iter()), "b > a");
        assert_eq!(path([long.as_str(), "b"].into_iter()), long);
    }

    #[test]
    fn names_beyond_the_bound_are_not_kept() {
        let numbered = |count: usize| TestNames {
            ran: (0..count).map(|number| format!("test {number}")).collect(),
            ..TestNames::default()
        };
        assert!(numbered(KEPT_LIMIT).kept().is_some());
        assert!(numbered(KEPT_LIMIT + 1).kept().is_none());
        let long: BTreeSet<String> = (0..6000).map(|number| format!("{number:0200}")).collect();
        let long = TestNames {
            ran: long,
            ..TestNames::default()
        };
        assert!(long.kept().is_none());
    }

    #[test]
    fn a_test_without_a_name_leaves_the_names_incomplete() {
        let mut collector = Collector::default();
        collector.add(Part::Ran, "a");
        collector.add(Part::Skipped, "\t");
        assert_eq!(collector.finish(), None);
    }
}
