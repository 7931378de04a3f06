//! How a loop ended, in words for a person. The codes are in the JSON.

use crate::engine::{Failure, FailureCode, StopReason, Verdict};
use crate::visible::clean;

pub use crate::memory::course::{iterations, why, words};

/// The most characters of a reason that fit into a story of one line per iteration.
pub const MAX_REASON: usize = 160;

/// Exact enough for something that is over: `0.4 s`, `1 min 12 s`, `2 h 5 min`.
pub fn seconds(milliseconds: u64) -> String {
    match milliseconds {
        0..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => running(milliseconds),
    }
}

/// For something that still runs: changes once a second at most.
pub fn running(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// The first line of a text that others wrote, harmless.
pub fn first_line(text: &str) -> String {
    clean(text.lines().next().unwrap_or_default())
}

/// A reason that fits into one line.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// How many failures are named.
const MAX_NAMED: usize = 3;

/// What became of the loop: `stopped, not done: limit of 3 iterations reached; tests: 2 of 14 failed`.
pub fn ending(verdict: &Verdict, iteration: u32) -> String {
    let after = format!("after {}", iterations(iteration));
    match verdict.stop_reason {
        Some(StopReason::Completed) if verdict.overridden => {
            format!("completed by an operator {after}")
        }
        Some(StopReason::Completed) => format!("completed {after}"),
        Some(reason) => {
            let why = match reason {
                StopReason::BudgetExceeded => budget(verdict),
                StopReason::NoProgress if !verdict.fingerprint.diagnosis.is_empty() => {
                    format!("no progress, {}", clean(&verdict.fingerprint.diagnosis))
                }
                reason => why(verdict, reason, iteration),
            };
            // What was not looked at any more says nothing about the work.
            let failures = match reason {
                StopReason::ContextCanceled => &[],
                _ => verdict.failures.as_slice(),
            };
            format!("stopped, not done: {why}{}", missing(failures))
        }
        None => format!("passed through {after}"),
    }
}

/// The budget that was exceeded, with what was used of it.
fn budget(verdict: &Verdict) -> String {
    let detail = verdict.detail.as_deref();
    let said = words(
        StopReason::BudgetExceeded,
        detail,
        verdict.counters.iteration,
    );
    let guardrails = verdict.counters.guardrails.iter();
    let Some(it) = guardrails
        .clone()
        .find(|it| Some(it.name.as_str()) == detail)
    else {
        return said;
    };
    let shown = |text: &str| match (detail, text.parse()) {
        (Some("max_duration_ms"), Ok(milliseconds)) => seconds(milliseconds),
        (Some("cost_budget_usd"), _) => format!("{} USD", clean(text)),
        _ => clean(text),
    };
    format!("{said} ({} of {})", shown(&it.used), shown(&it.limit))
}

/// What stood in the way of completion.
fn missing(failures: &[Failure]) -> String {
    let named = failures
        .iter()
        .take(MAX_NAMED)
        .map(|failure| format!("; {}", in_words(failure)));
    let mut text: String = named.collect();
    if failures.len() > MAX_NAMED {
        text.push_str(&format!("; and {} more", failures.len() - MAX_NAMED));
    }
    text
}

/// A failure without its code: `tests: 2 of 14 failed`.
fn in_words(failure: &Failure) -> String {
    let subject = clean(failure.subject());
    match (failure.code, first_line(&failure.reason)) {
        (FailureCode::TokenMissing, _) => "the promise is missing".to_owned(),
        (_, reason) if reason.is_empty() => format!("{subject} did not pass"),
        (_, reason) => format!("{subject}: {}", shorten(&reason)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::engine::{Action, CheckResult, GateEngine, Iteration, Outcome, Usage};

    static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());

    /// The end of a loop whose agent does the same again and again.
    fn end_of(terms: &str, turn: &Iteration) -> String {
        let contract = format!(
            r#"{{"mode": "ralph", "completion_checks": ["a", "b", "c", "d", "e"], {terms}}}"#
        );
        let mut session = GATE.open(&contract, None).unwrap();
        let failed = |id: &&str| CheckResult {
            reason: Some(format!("{id} is red\nand more")),
            ..CheckResult::new(*id, Outcome::Fail)
        };
        for index in 1.. {
            let input = Iteration {
                index,
                checks: ["a", "b", "c", "d", "e"].iter().map(failed).collect(),
                ..turn.clone()
            };
            let verdict = session.evaluate_final(&input).unwrap();
            if verdict.decision == crate::engine::Decision::Stop {
                return ending(&verdict, index);
            }
        }
        unreachable!("every loop ends");
    }

    fn saying(output: &str) -> Iteration {
        Iteration {
            action: Action::Final,
            output: output.to_owned(),
            ..Iteration::default()
        }
    }

    /// What every end names of the five failures.
    const FAILURES: &str = "; a: a is red; b: b is red; c: c is red; and 2 more";

    #[test]
    fn the_end_of_a_loop_says_why_and_what_failed_without_codes() {
        let used = Iteration {
            usage: Usage {
                cost_usd: Some("0.40".to_owned()),
                elapsed_ms: 61_000,
                ..Usage::default()
            },
            ..saying("no")
        };
        let rows = [
            (
                r#""loop_max_iters": 2, "no_progress_limit": 0"#,
                saying("no"),
                "limit of 2 iterations reached",
            ),
            (
                r#""loop_max_iters": 9"#,
                saying("<promise>LOOP_ERROR</promise>"),
                "the agent reported an error in iteration 1",
            ),
            (
                r#""loop_max_iters": 9"#,
                saying("<promise>LOOP_BLOCKED</promise>"),
                "the agent reported that it is blocked in iteration 1",
            ),
            (
                r#""cost_budget_usd": "0.30""#,
                used.clone(),
                "the cost budget is used up (0.40 USD of 0.30 USD)",
            ),
            (
                r#""max_duration_ms": 60000"#,
                used,
                "the time is used up (1 min 1 s of 1 min 0 s)",
            ),
        ];
        for (terms, turn, why) in rows {
            let expected = format!("stopped, not done: {why}{FAILURES}");
            assert_eq!(end_of(terms, &turn), expected, "{terms}");
        }
    }

    #[test]
    fn a_loop_that_stands_still_says_what_stayed_the_same() {
        let end = end_of(r#""no_progress_limit": 2"#, &saying("no"));
        assert!(end.starts_with("stopped, not done: no progress, "), "{end}");
        assert!(end.ends_with(FAILURES), "{end}");
    }

    #[test]
    fn a_canceled_loop_names_no_failures() {
        let canceled = Iteration {
            canceled: true,
            ..saying("no")
        };
        let end = end_of(r#""loop_max_iters": 9"#, &canceled);
        assert_eq!(end, "stopped, not done: canceled after 1 iteration");
    }
}
