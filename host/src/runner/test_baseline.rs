//! What is known of a check's tests when the loop begins, and which of them later results miss or skip.

use serde::{Deserialize, Serialize};

use crate::evidence::reports::{TestCounts, TestNames};

/// How many tests are named in a reason.
const NAMED: usize = 5;

/// The tests of one check when the loop began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestBaseline {
    /// With those that were skipped.
    pub(super) total: u64,
    pub(super) skipped: u64,
    /// Where the results have them, and they are not too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) names: Option<TestNames>,
}

impl TestBaseline {
    pub(super) fn of(counts: &TestCounts) -> Self {
        Self {
            total: counts.total(),
            skipped: counts.skipped,
            names: counts.names.as_deref().and_then(TestNames::kept).cloned(),
        }
    }

    /// Why tests are compared by their number alone, if they are.
    pub(super) fn why_unnamed(counts: &TestCounts) -> Option<&'static str> {
        match &counts.names {
            None if counts.total() == 0 => None,
            None => Some("its results do not name each test"),
            Some(names) if names.kept().is_none() => Some("they are too many to be kept by name"),
            Some(_) => None,
        }
    }

    /// What is missing of the tests, if anything is. A run in which tests failed may not have reached all of them, so
    /// there only their number is compared.
    pub(super) fn missing(&self, check: &str, now: &TestCounts) -> Option<String> {
        let gone: Vec<&str> = match (&self.names, &now.names) {
            (Some(before), Some(now)) => before.gone(now).collect(),
            _ => Vec::new(),
        };
        let total = now.total();
        if total < self.total {
            let before = self.total;
            let reason = format!("{check} has {total} tests, and had {before} when the loop began");
            return Some(match gone.as_slice() {
                [] => reason,
                gone => format!("{reason}; missing: {}", list(gone)),
            });
        }
        if now.failed > 0 {
            return None;
        }
        if !gone.is_empty() {
            return Some(format!(
                "{check} no longer has tests that it had when the loop began: {}; a renamed test counts as missing, so restore its name",
                list(&gone)
            ));
        }
        (self.names.is_some() && now.names.is_none()).then(|| {
            format!(
                "the results of {check} no longer name each test, so it is not known whether those that it had when \
                 the loop began are still there; restore how the results are written"
            )
        })
    }

    /// What is skipped now and was not, if anything is.
    pub(super) fn newly_skipped(&self, check: &str, now: &TestCounts) -> Option<String> {
        let names = self.names.as_ref().zip(now.names.as_ref());
        if now.skipped > self.skipped {
            let (skipped, before) = (now.skipped, self.skipped);
            let reason =
                format!("{check} skips {skipped} tests, and skipped {before} when the loop began");
            let added: Vec<&str> = names.map_or_else(Vec::new, |(before, now)| {
                let added = now.skipped.difference(&before.skipped);
                added.map(String::as_str).collect()
            });
            return Some(match added.as_slice() {
                [] => reason,
                added => format!("{reason}; newly skipped: {}", list(added)),
            });
        }
        let (before, now) = names?;
        let skipped: Vec<&str> = before.newly_skipped(now).collect();
        (!skipped.is_empty()).then(|| {
            format!(
                "{check} skips tests that ran when the loop began: {}",
                list(&skipped)
            )
        })
    }
}

/// The first of some names, and how many there are more.
fn list(names: &[&str]) -> String {
    let shown = names.get(..NAMED).unwrap_or(names);
    let shown = shown.join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names with a `-` in front are skipped, those with a `!` failed.
    fn counts(names: &[&str]) -> TestCounts {
        let mut counts = TestCounts::default();
        let mut known = TestNames::default();
        for name in names {
            if let Some(name) = name.strip_prefix('-') {
                counts.skipped += 1;
                known.skipped.insert(name.to_owned());
            } else if let Some(name) = name.strip_prefix('!') {
                counts.failed += 1;
                known.ran.insert(name.to_owned());
            } else {
                counts.passed += 1;
                known.ran.insert((*name).to_owned());
            }
        }
        counts.names = Some(Box::new(known));
        counts
    }

    fn unnamed(names: &[&str]) -> TestCounts {
        TestCounts {
            names: None,
            ..counts(names)
        }
    }

    fn missing(before: &TestCounts, now: &TestCounts) -> Option<String> {
        TestBaseline::of(before).missing("t", now)
    }

    fn skipped(before: &TestCounts, now: &TestCounts) -> Option<String> {
        TestBaseline::of(before).newly_skipped("t", now)
    }

    #[test]
    fn added_tests_are_fine() {
        let (before, now) = (counts(&["a", "-b"]), counts(&["a", "-b", "c", "d"]));
        assert_eq!(missing(&before, &now), None);
        assert_eq!(skipped(&before, &now), None);
    }

    #[test]
    fn a_missing_test_is_named_even_if_there_are_as_many() {
        let reason = missing(&counts(&["a", "b"]), &counts(&["a", "c"])).unwrap();
        assert!(
            reason.contains("when the loop began: b; a renamed test"),
            "{reason}"
        );
        let reason = missing(&counts(&["a", "b"]), &counts(&["a"])).unwrap();
        assert_eq!(
            reason,
            "t has 1 tests, and had 2 when the loop began; missing: b"
        );
    }

    #[test]
    fn a_newly_skipped_test_is_named_even_if_as_many_are_skipped() {
        let before = counts(&["a", "-b"]);
        assert_eq!(
            skipped(&before, &counts(&["-a", "b"])).unwrap(),
            "t skips tests that ran when the loop began: a"
        );
        assert_eq!(
            skipped(&before, &counts(&["a", "-b", "-c"])).unwrap(),
            "t skips 2 tests, and skipped 1 when the loop began; newly skipped: c"
        );
    }

    #[test]
    fn names_are_not_compared_in_a_run_in_which_tests_failed() {
        assert_eq!(missing(&counts(&["a", "b"]), &counts(&["!a", "c"])), None);
    }

    #[test]
    fn results_that_no_longer_name_their_tests_are_noticed() {
        let (before, now) = (counts(&["a"]), unnamed(&["a", "b"]));
        assert!(missing(&before, &now).unwrap().contains("no longer name"));
        assert_eq!(missing(&unnamed(&["a"]), &now), None);
        assert!(TestBaseline::why_unnamed(&now).is_some());
        assert_eq!(TestBaseline::why_unnamed(&before), None);
    }

    #[test]
    fn only_some_of_many_names_are_told() {
        let many = ["a", "b", "c", "d", "e", "f", "g"];
        let reason = missing(&counts(&many), &counts(&[])).unwrap();
        assert!(
            reason.ends_with("missing: a, b, c, d, e and 2 more"),
            "{reason}"
        );
    }

    #[test]
    fn a_baseline_without_names_is_still_read() {
        let old: TestBaseline = serde_json::from_str(r#"{"total":2,"skipped":1}"#).unwrap();
        assert_eq!(old.missing("t", &counts(&["a", "b"])), None);
        let named = TestBaseline::of(&counts(&["a"]));
        let text = serde_json::to_string(&named).unwrap();
        assert_eq!(
            text,
            r#"{"total":1,"skipped":0,"names":{"ran":["a"],"skipped":[]}}"#
        );
    }
}
