//! `handoff.md`: what a person must know when a loop stops without being complete.

use ralph_gate_types::{StopReason, Verdict};
use serde::{Deserialize, Serialize};

use super::ending::{iterations, why};
use super::records::word;
use crate::key::SessionKey;

/// The most iterations that a contract may allow.
const MAX_ITERATIONS: u32 = 10_000;

/// How a person runs a check by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The check.
    pub check: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

/// What a handoff says beside the verdict.
#[derive(Debug, Clone, Copy, Default)]
pub struct Circumstances<'c> {
    /// How a person runs the checks.
    pub runs: &'c [Run],
    /// What went wrong in the agent's last turn.
    pub problem: Option<&'c str>,
    /// Further arguments of the command that resumes the loop.
    pub arguments: &'c [String],
}

/// The text of the file.
pub fn handoff(
    key: &SessionKey,
    iteration: u32,
    verdict: &Verdict,
    circumstances: Circumstances<'_>,
) -> String {
    let reason = verdict.stop_reason.map_or_else(
        || word(&verdict.decision),
        |reason| why(verdict, reason, iteration),
    );
    let mut text = format!("# Handoff\n\nThe loop stopped at iteration {iteration}: {reason}.\n");
    text.push_str("\n## What was tried\n\n");
    let counters = &verdict.counters;
    text.push_str(&format!(
        "{}, {} tool calls, {} s, {} USD.\n",
        iterations(iteration),
        counters.tool_calls,
        counters.elapsed_ms / 1000,
        counters.cost_usd
    ));
    if !verdict.fingerprint.diagnosis.is_empty() {
        text.push_str(&format!("{}\n", verdict.fingerprint.diagnosis));
    }
    if let Some(problem) = circumstances.problem {
        text.push_str("\nThe agent's last turn went wrong:\n\n");
        for line in problem.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text.push_str("\n## What is missing\n\n");
    if verdict.failures.is_empty() {
        text.push_str("Nothing that the gate knows of.\n");
    }
    for failure in &verdict.failures {
        let check = failure.subject();
        let said = match failure.reason.as_str() {
            "" => "did not pass".to_owned(),
            reason => reason.replace('\n', "\n  "),
        };
        text.push_str(&format!("- {check}: {said}\n"));
    }
    for Run { check, argv } in circumstances.runs.iter().filter(|run| !run.argv.is_empty()) {
        let words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
        text.push_str(&format!("- {check} is run as: {}\n", words.join(" ")));
    }
    let first = match circumstances.problem {
        Some(_) => "Mend what went wrong in the agent's last turn first. ",
        None => "",
    };
    text.push_str(&format!("\n## What to do\n\n{first}{}\n", advice(verdict)));
    let session = match key {
        SessionKey::Session(key) => format!(" --session {}", quote(key)),
        SessionKey::Draft(id) => format!(" --draft --session {}", quote(id)),
    };
    let arguments = circumstances.arguments.iter();
    let mut quoted = String::new();
    for word in arguments {
        quoted.push(' ');
        quoted.push_str(&quote(word));
    }
    text.push_str(&format!(
        "\n## How to go on\n\n    ralph-gate run --resume{session}{quoted}\n\nThe agent and the task are the same as \
         before. The checks are run first: if they pass by \
         then, and no promise is asked for, the loop completes without the agent.\n",
    ));
    if let Some(more) = with_more(verdict, iteration) {
        text.push_str(&format!(
            "\nThat stops again at the same limit. With another one, which you accept:\n\n    \
             ralph-gate run --resume{session}{quoted} --accept-contract {more}\n"
        ));
    }
    text
}

fn advice(verdict: &Verdict) -> &'static str {
    match verdict.stop_reason {
        Some(StopReason::MaxIters) => {
            "See whether the task is too large for its iterations. Raise `loop_max_iters`, or split the task."
        }
        Some(StopReason::NoProgress) => {
            "The agent does the same again and again. Change the task or the hints in progress.txt, or mend what it can't."
        }
        Some(StopReason::BudgetExceeded) => {
            "Raise the budget that was used up, or finish the work by hand."
        }
        Some(StopReason::Blocked) => {
            "The agent can't go on by itself. Remove what blocks it, then resume."
        }
        Some(StopReason::Error) => "Look at what the agent reported, and mend it, then resume.",
        Some(StopReason::ContextCanceled) => {
            "Nothing, if it was you who stopped it. Resume when you like."
        }
        _ => "Look at what is missing, then resume.",
    }
}

/// The option that raises the limit at which the loop ended, where there is one.
fn with_more(verdict: &Verdict, iteration: u32) -> Option<String> {
    match (verdict.stop_reason?, verdict.detail.as_deref()) {
        (StopReason::MaxIters, _) => {
            let more = iteration.saturating_mul(2).min(MAX_ITERATIONS);
            (more > iteration).then(|| format!("--max-iters {more}"))
        }
        (StopReason::BudgetExceeded, Some("cost_budget_usd")) => Some("--budget USD".to_owned()),
        _ => None,
    }
}

/// As an argument for a shell.
fn quote(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
