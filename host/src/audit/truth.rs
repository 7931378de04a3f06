//! What checks that were run afterwards say about a loop's work. Pure: evidence in, truth out.

use crate::config::Terms;
use crate::engine::Outcome;
use crate::evidence::Evidence;
use crate::memory::course::Truth;

/// The truth, and why in a sentence.
///
/// One required check that fails is enough to know that the work is incomplete; one that could not be run is enough not
/// to know that it is complete. Without a required check nothing is known.
pub fn truth(terms: &Terms, evidence: &[Evidence]) -> (Truth, String) {
    let required: Vec<&str> = terms
        .completion_checks
        .iter()
        .filter(|check| check.required)
        .map(|check| check.id.as_str())
        .collect();
    let outcome = |id: &str| {
        let found = evidence.iter().find(|evidence| evidence.check == id);
        found.map_or(Outcome::Unknown, |evidence| evidence.outcome)
    };
    let those = |is_it: fn(Outcome) -> bool| -> Vec<&str> {
        let ids = required.iter().copied();
        ids.filter(|id| is_it(outcome(id))).collect()
    };
    let failed = those(|outcome| outcome == Outcome::Fail);
    let unclear = those(|outcome| !matches!(outcome, Outcome::Pass | Outcome::Fail));
    let all = counted(required.len());
    if required.is_empty() {
        let reason = "the contract names no required check, so nothing can be told";
        (Truth::Unknown, reason.to_owned())
    } else if !failed.is_empty() {
        let reason = format!("{} of {all} failed: {}", failed.len(), failed.join(", "));
        (Truth::Incomplete, reason)
    } else if !unclear.is_empty() {
        let reason = format!(
            "{} of {all} gave no result: {}",
            unclear.len(),
            unclear.join(", ")
        );
        (Truth::Unknown, reason)
    } else {
        (Truth::Complete, format!("{all} passed"))
    }
}

fn counted(count: usize) -> String {
    match count {
        1 => "1 required check".to_owned(),
        count => format!("{count} required checks"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks with an outcome each; those that begin with `-` are optional.
    fn judged(checks: &[(&str, Option<Outcome>)]) -> (Truth, String) {
        let named: Vec<serde_json::Value> = checks
            .iter()
            .map(|(id, _)| {
                let required = !id.starts_with('-');
                serde_json::json!({ "id": id, "required": required, "retries": 0 })
            })
            .collect();
        let terms = serde_json::json!({
            "completion_checks": named, "loop_max_iters": 1, "per_iter_timeout_ms": 1, "allow_override": true,
            "cost_budget_usd": null,
        });
        let evidence: Vec<Evidence> = checks
            .iter()
            .filter_map(|(id, outcome)| {
                Some(Evidence {
                    check: (*id).to_owned(),
                    kind: "command",
                    iteration: 0,
                    started_at_ms: 0,
                    duration_ms: 0,
                    tree: None,
                    outcome: (*outcome)?,
                    reason: String::new(),
                    tests: None,
                    code: None,
                    policy: None,
                    attempts: Vec::new(),
                })
            })
            .collect();
        truth(&Terms::read(&terms.to_string()).unwrap(), &evidence)
    }

    #[test]
    fn all_required_checks_must_pass_and_optional_ones_say_nothing() {
        let (truth, reason) = judged(&[
            ("a", Some(Outcome::Pass)),
            ("-b", Some(Outcome::Fail)),
            ("c", Some(Outcome::Pass)),
        ]);
        assert_eq!(truth, Truth::Complete);
        assert_eq!(reason, "2 required checks passed");
    }

    #[test]
    fn a_failure_outweighs_what_could_not_be_run() {
        let (truth, reason) = judged(&[
            ("a", Some(Outcome::Error)),
            ("b", Some(Outcome::Fail)),
            ("c", Some(Outcome::Pass)),
        ]);
        assert_eq!(truth, Truth::Incomplete);
        assert_eq!(reason, "1 of 3 required checks failed: b");
    }

    #[test]
    fn what_gave_no_result_leaves_it_unknown() {
        for outcome in [
            Some(Outcome::Error),
            Some(Outcome::Timeout),
            Some(Outcome::Unknown),
            Some(Outcome::Flaky),
            None,
        ] {
            let (truth, _) = judged(&[("a", Some(Outcome::Pass)), ("b", outcome)]);
            assert_eq!(truth, Truth::Unknown, "{outcome:?}");
        }
        assert_eq!(
            judged(&[("-a", Some(Outcome::Pass))]).0,
            Truth::Unknown,
            "nothing is required"
        );
    }
}
