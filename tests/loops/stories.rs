//! Loops over the stories of a checklist, without checks of their own for each.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Outcome, Workplace};
use crate::kit::{append, move_on, replace, simple, work, write};

const TWO: &str = r#"{"userStories": [{"id": "US-1", "passes": false, "mine": 1.50}, {"id": "US-2", "passes": false}]}"#;
const FIRST: &str = r#"{"userStories": [{"id": "US-1", "passes": true, "mine": 1.50}, {"id": "US-2", "passes": false}]}"#;
const BOTH: &str = r#"{"userStories": [{"id": "US-1", "passes": true, "mine": 1.50}, {"id": "US-2", "passes": true}]}"#;

/// A loop that is complete when the work is done and every story passes.
fn stories(named: &str, terms: &str) -> String {
    simple(terms)
        .replace("completion_token = \"COMPLETE\"\n", "")
        .replace("[\"work\"]", named)
        + "\n[checks.stories]\nkind = \"prd_all_pass\"\n\n[memory]\nprd = \"prd.json\"\n"
}

fn workplace(terms: &str) -> Workplace {
    let config = stories("[\"work\", \"stories\"]", terms);
    Workplace::new(&config, &[("prd.json", TWO)])
}

fn mark(text: &str) -> ralph_gate_tests::agent_script::Step {
    write("{memory}/prd.json", text)
}

/// The checklist as the loop left it.
fn prd(workplace: &Workplace) -> Value {
    let file = workplace.memory().unwrap().join("prd.json");
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Why the checklist was refused, iteration by iteration.
fn reasons(outcome: &Outcome) -> Vec<String> {
    let verdicts = outcome.verdicts().into_iter();
    let reason = |verdict: Value| {
        let failures = verdict["failures"].as_array().unwrap().clone();
        let failure = failures
            .into_iter()
            .find(|failure| failure["check"] == "stories");
        failure.map_or_else(String::new, |it| it["reason"].as_str().unwrap().to_owned())
    };
    verdicts.map(reason).collect()
}

#[test]
fn stories_complete_one_by_one_where_the_required_checks_pass() {
    let workplace = workplace("");
    let second = replace(
        "{memory}/prd.json",
        r#"{"id": "US-2", "passes": false}"#,
        r#"{"id": "US-2", "passes": true}"#,
    );
    let turns = [vec![work(), mark(FIRST)], vec![move_on(), second]];
    let outcome = workplace.run(&turns);
    outcome.stopped("completed", None, 2);
    let prd = prd(&workplace);
    assert_eq!(prd["userStories"][0]["mine"], json!(1.5));
    assert_eq!(
        prd["userStories"][0]["evidence"],
        "work passed in iteration 1"
    );
    assert_eq!(
        prd["userStories"][1]["evidence"],
        "work passed in iteration 2"
    );
}

#[test]
fn a_mark_where_the_prompt_asks_for_it_is_no_tampering() {
    let workplace = workplace("loop_max_iters = 1");
    let outcome = workplace.run(&[vec![mark(FIRST), move_on()]]);
    outcome.stopped("max_iters", None, 1);
    let codes = Outcome::failures_of(&outcome.verdict());
    assert!(
        codes.iter().all(|(code, _)| code != "evidence_tampered"),
        "{codes:?}"
    );
    assert!(outcome.events("tripwire").is_empty());
}

#[test]
fn a_mark_that_is_reset_comes_with_the_way_to_prove_it() {
    let workplace = workplace("loop_max_iters = 2");
    let outcome = workplace.run(&[
        vec![mark(FIRST), move_on()],
        vec![append("notes.txt", "more\n")],
    ]);
    let reasons = reasons(&outcome);
    assert!(
        reasons[0].contains("Marked without proof, and reset: US-1"),
        "{reasons:?}"
    );
    assert!(
        reasons[0].contains("a mark counts when these pass in the same iteration: work"),
        "{reasons:?}"
    );
    // The mark is gone, and nobody is blamed for it again.
    assert!(!reasons[1].contains("Marked"), "{reasons:?}");
    assert_eq!(prd(&workplace)["userStories"][0]["passes"], false);
}

#[test]
fn a_checklist_alone_is_accepted_with_a_warning_and_believed() {
    let config = stories("[\"stories\"]", "");
    let workplace = Workplace::new(&config, &[("prd.json", TWO)]);
    let said = workplace.gate(&["config", "check"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout
            .contains("warning: checks.stories: no check proves a story"),
        "{said:?}"
    );
    let outcome = workplace.run(&[vec![mark(FIRST)], vec![move_on(), mark(BOTH)]]);
    outcome.stopped("completed", None, 2);
}

#[test]
fn a_loop_begins_with_the_progress_that_is_there() {
    let config = format!(
        "{}progress = \"progress.txt\"\n",
        stories("[\"work\", \"stories\"]", "")
    );
    let files = [
        ("prd.json", TWO),
        ("progress.txt", "# Learned\n\nThe parser is slow.\n"),
    ];
    let workplace = Workplace::new(&config, &files);
    let turn = vec![work(), mark(BOTH)];
    workplace.run(&[turn]).stopped("completed", None, 1);
    let progress = fs::read_to_string(workplace.memory().unwrap().join("progress.txt")).unwrap();
    assert!(progress.contains("The parser is slow."), "{progress}");
    assert!(
        progress.starts_with("\n## Iteration 0: before this loop\n"),
        "{progress}"
    );
}
