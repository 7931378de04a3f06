//! The stories of the checklist: which of them are proven, and which were only said to pass.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::record::Evidence;
use crate::engine::{Outcome, Prd, PrdItem, PrdUpdate};

/// For a story, the checks that prove it.
pub type Proofs = BTreeMap<String, Vec<String>>;

/// What is known of the stories beyond what their file says, which an agent can edit.
pub type Known = BTreeMap<String, Story>;

/// What is known of one story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Story {
    /// Whether it was there when the loop began: then it has to stay.
    pub first: bool,
    /// Whether it passed when the loop began, or was proven since.
    pub proven: bool,
}

/// What the checks of an iteration say about the stories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stories {
    /// The checklist as it is to be judged: with the stories that somebody removed.
    pub prd: Prd,
    /// What has to be changed in the file.
    pub updates: Vec<PrdUpdate>,
    /// Stories that somebody marked as passed and that are not proven: their marks are taken back.
    pub unproven: Vec<Unproven>,
    /// Stories that were there when the loop began, are not proven, and are gone.
    pub removed: Vec<String>,
    /// What is known from now on.
    pub known: Known,
}

/// A mark that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unproven {
    /// The story.
    pub id: String,
    /// The checks that prove it.
    pub proofs: Vec<String>,
    /// What came of them.
    pub reason: String,
}

/// Which checks prove which stories.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'r> {
    /// For some stories, their own checks.
    pub proofs: &'r Proofs,
    /// For all others: these together.
    pub required: &'r [&'r str],
    /// Whether a story may only pass with proof.
    pub strict: bool,
}

/// Compares the checklist with what is known, in the light of the evidence.
///
/// A story with checks of its own passes when they do, and no longer when one of them fails. Any other story is
/// marked by the agent; the mark stands if every required check about the work itself passed in the same iteration, and
/// from then on. Where there is no such check, the mark stands by itself: the contract asks for no more.
pub fn settle(known: &Known, found: &Prd, rules: Rules<'_>, evidence: &[Evidence]) -> Stories {
    let mut stories = Stories {
        prd: found.clone(),
        updates: Vec::new(),
        unproven: Vec::new(),
        removed: Vec::new(),
        known: first_ones(known),
    };
    for item in &mut stories.prd.items {
        let before = known.get(&item.id);
        let was = before.is_some_and(|before| before.proven);
        let tied = rules.proofs.get(&item.id);
        let proof = proof(tied, rules.required, evidence);
        let passes = match (tied, item.passes) {
            (Some(_), claimed) => proof.is_proven() || claimed && was && !proof.is_refuted(),
            (None, claimed) => claimed && (was || proof.is_enough() || !rules.strict),
        };
        if item.passes && !passes && !was && rules.strict {
            stories.unproven.push(Unproven {
                id: item.id.clone(),
                proofs: names(tied, rules.required).map(str::to_owned).collect(),
                reason: proof.words(),
            });
        }
        if passes != item.passes || passes && !was {
            stories.updates.push(PrdUpdate {
                id: item.id.clone(),
                passes,
                evidence: Some(proof.words()),
            });
        }
        item.passes = passes;
        let story = Story {
            first: before.is_some_and(|before| before.first),
            proven: passes,
        };
        stories.known.insert(item.id.clone(), story);
    }
    if rules.strict {
        stories.miss(found);
    }
    stories.prd.passed = count(&stories.prd);
    stories
}

fn first_ones(known: &Known) -> Known {
    let first = known.iter().filter(|(_, story)| story.first);
    first.map(|(id, story)| (id.clone(), *story)).collect()
}

impl Stories {
    /// What is no longer in the list is not done by that.
    fn miss(&mut self, found: &Prd) {
        let there: BTreeSet<&str> = found.items.iter().map(|item| item.id.as_str()).collect();
        for (id, story) in &self.known {
            if story.proven || there.contains(id.as_str()) {
                continue;
            }
            self.removed.push(id.clone());
            self.prd.items.push(PrdItem {
                id: id.clone(),
                title: "removed from the checklist".to_owned(),
                passes: false,
            });
            self.prd.total += 1;
        }
    }
}

fn count(prd: &Prd) -> u32 {
    let passed = prd.items.iter().filter(|item| item.passes).count();
    u32::try_from(passed).unwrap_or(u32::MAX)
}

/// What the evidence says about one story.
enum Proof {
    /// These checks passed.
    Proven(String),
    /// This check did not pass.
    Refuted(String),
    /// There is no check that could prove it.
    Absent,
}

impl Proof {
    fn is_proven(&self) -> bool {
        matches!(self, Self::Proven(_))
    }

    /// Whether nothing more is asked for.
    fn is_enough(&self) -> bool {
        matches!(self, Self::Proven(_) | Self::Absent)
    }

    fn is_refuted(&self) -> bool {
        matches!(self, Self::Refuted(_))
    }

    fn words(&self) -> String {
        match self {
            Self::Proven(words) | Self::Refuted(words) => words.clone(),
            Self::Absent => "no check proves it".to_owned(),
        }
    }
}

/// The checks that prove a story.
fn names<'n>(tied: Option<&'n Vec<String>>, required: &'n [&str]) -> impl Iterator<Item = &'n str> {
    let tied_names = tied.into_iter().flatten().map(String::as_str);
    let others = required.iter().copied().filter(move |_| tied.is_none());
    tied_names.chain(others)
}

fn proof(tied: Option<&Vec<String>>, required: &[&str], evidence: &[Evidence]) -> Proof {
    let checks: Vec<&str> = names(tied, required).collect();
    let result = |check: &str| evidence.iter().find(|evidence| evidence.check == check);
    for check in &checks {
        match result(check) {
            Some(evidence) if evidence.outcome == Outcome::Pass => {}
            Some(evidence) => {
                let iteration = evidence.iteration;
                return Proof::Refuted(format!("{check} did not pass in iteration {iteration}"));
            }
            None => return Proof::Refuted(format!("{check} was not run")),
        }
    }
    match checks.first().and_then(|check| result(check)) {
        Some(evidence) => Proof::Proven(format!(
            "{} passed in iteration {}",
            checks.join(", "),
            evidence.iteration
        )),
        None => Proof::Absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PrdShape;

    fn prd(stories: &[(&str, bool)]) -> Prd {
        let items = stories
            .iter()
            .map(|(id, passes)| PrdItem {
                id: (*id).to_owned(),
                title: String::new(),
                passes: *passes,
            })
            .collect();
        let mut prd = Prd {
            shape: PrdShape::Items,
            items,
            passed: 0,
            total: u32::try_from(stories.len()).unwrap(),
            warnings: Vec::new(),
        };
        prd.passed = count(&prd);
        prd
    }

    fn evidence(check: &str, outcome: Outcome) -> Evidence {
        Evidence {
            check: check.to_owned(),
            kind: "command",
            iteration: 3,
            started_at_ms: 0,
            duration_ms: 0,
            tree: None,
            outcome,
            reason: String::new(),
            tests: None,
            code: None,
            policy: None,
            attempts: Vec::new(),
        }
    }

    /// What is known of a loop that began with this checklist.
    fn known(prd: &Prd) -> Known {
        let story = |item: &PrdItem| Story {
            first: true,
            proven: item.passes,
        };
        let items = prd.items.iter();
        items.map(|item| (item.id.clone(), story(item))).collect()
    }

    fn unproven(stories: &Stories) -> Vec<&str> {
        let unproven = stories.unproven.iter();
        unproven.map(|unproven| unproven.id.as_str()).collect()
    }

    fn passes(stories: &Stories) -> Vec<bool> {
        stories.prd.items.iter().map(|item| item.passes).collect()
    }

    fn rules<'r>(proofs: &'r Proofs, required: &'r [&'r str]) -> Rules<'r> {
        Rules {
            proofs,
            required,
            strict: true,
        }
    }

    #[test]
    fn a_mark_that_the_required_checks_prove_stands() {
        let none = Proofs::new();
        let (saved, found) = (prd(&[("a", false)]), prd(&[("a", true)]));
        let gathered = [evidence("tests", Outcome::Pass)];
        let stories = settle(&known(&saved), &found, rules(&none, &["tests"]), &gathered);
        assert_eq!((passes(&stories), unproven(&stories)), (vec![true], vec![]));
        assert_eq!(
            stories.updates[0].evidence.as_deref(),
            Some("tests passed in iteration 3")
        );
    }

    #[test]
    fn a_mark_without_proof_is_taken_back_and_named() {
        let none = Proofs::new();
        let (saved, found) = (
            prd(&[("a", false), ("b", true)]),
            prd(&[("a", true), ("b", true)]),
        );
        for gathered in [vec![evidence("tests", Outcome::Fail)], Vec::new()] {
            let stories = settle(&known(&saved), &found, rules(&none, &["tests"]), &gathered);
            assert_eq!(passes(&stories), [false, true]);
            assert_eq!(unproven(&stories), ["a"]);
            assert_eq!(stories.unproven[0].proofs, ["tests"]);
            assert!(!stories.updates[0].passes);
        }
    }

    #[test]
    fn a_mark_stands_by_itself_where_no_check_could_prove_it() {
        let none = Proofs::new();
        let (saved, found) = (prd(&[("a", false)]), prd(&[("a", true)]));
        let stories = settle(&known(&saved), &found, rules(&none, &[]), &[]);
        assert_eq!((passes(&stories), unproven(&stories)), (vec![true], vec![]));
        // Nor does an empty list of proofs prove anything.
        let empty = Proofs::from([("a".to_owned(), Vec::new())]);
        let stories = settle(&known(&saved), &found, rules(&empty, &[]), &[]);
        assert_eq!(
            (passes(&stories), unproven(&stories)),
            (vec![false], vec!["a"])
        );
    }

    #[test]
    fn stories_are_proven_one_by_one_and_stay_so() {
        let none = Proofs::new();
        let begun = prd(&[("a", false), ("b", false)]);
        let (pass, fail) = (
            [evidence("tests", Outcome::Pass)],
            [evidence("tests", Outcome::Fail)],
        );
        let required = ["tests"];
        let first = prd(&[("a", true), ("b", false)]);
        let first = settle(&known(&begun), &first, rules(&none, &required), &pass);
        assert_eq!(passes(&first), [true, false]);
        let both = prd(&[("a", true), ("b", true)]);
        let second = settle(&first.known, &both, rules(&none, &required), &fail);
        assert_eq!(
            (passes(&second), unproven(&second)),
            (vec![true, false], vec!["b"])
        );
        let third = settle(&second.known, &both, rules(&none, &required), &pass);
        assert_eq!(passes(&third), [true, true]);
    }

    #[test]
    fn a_story_with_checks_of_its_own_follows_them() {
        let proofs = Proofs::from([("a".to_owned(), vec!["unit".to_owned()])]);
        let open = prd(&[("a", false)]);
        let done = prd(&[("a", true)]);
        let pass = [evidence("unit", Outcome::Pass)];
        let fail = [evidence("unit", Outcome::Flaky)];
        let proven = settle(&known(&open), &open, rules(&proofs, &["other"]), &pass);
        assert_eq!((passes(&proven), proven.updates.len()), (vec![true], 1));
        let fallen = settle(&known(&done), &done, rules(&proofs, &["other"]), &fail);
        assert_eq!((passes(&fallen), fallen.unproven.len()), (vec![false], 0));
    }

    #[test]
    fn nothing_is_written_where_nothing_changed() {
        let none = Proofs::new();
        let both = prd(&[("a", true), ("b", false)]);
        let stories = settle(&known(&both), &both, rules(&none, &["tests"]), &[]);
        assert_eq!((stories.updates, stories.prd), (vec![], both));
    }

    #[test]
    fn a_story_that_is_not_proven_stays_open_when_it_is_removed_or_renamed() {
        let none = Proofs::new();
        let begun = known(&prd(&[("a", false), ("b", true)]));
        let gathered = [evidence("tests", Outcome::Pass)];
        for found in [prd(&[]), prd(&[("a2", true)])] {
            let stories = settle(&begun, &found, rules(&none, &["tests"]), &gathered);
            assert_eq!(stories.removed, ["a"]);
            assert_eq!(stories.prd.total, stories.prd.passed + 1);
            let again = settle(&stories.known, &found, rules(&none, &["tests"]), &gathered);
            assert_eq!(again.removed, ["a"]);
        }
    }

    #[test]
    fn a_mark_is_no_proof_although_it_stood_in_the_file_before() {
        let none = Proofs::new();
        let begun = known(&prd(&[("a", false)]));
        let found = prd(&[("a", true)]);
        let first = settle(&begun, &found, rules(&none, &["tests"]), &[]);
        let second = settle(&first.known, &found, rules(&none, &["tests"]), &[]);
        assert_eq!(
            (unproven(&first), unproven(&second)),
            (vec!["a"], vec!["a"])
        );
    }

    #[test]
    fn a_story_that_somebody_adds_may_go_again() {
        let none = Proofs::new();
        let begun = known(&prd(&[("a", true)]));
        let more = settle(
            &begun,
            &prd(&[("a", true), ("b", false)]),
            rules(&none, &[]),
            &[],
        );
        let fewer = settle(&more.known, &prd(&[("a", true)]), rules(&none, &[]), &[]);
        assert_eq!((fewer.removed, fewer.known), (vec![], begun));
    }
}
