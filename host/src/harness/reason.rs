//! What an agent and its person are told.

use crate::engine::{ProgressLog, Verdict};
use crate::evidence::beginning_of;
use crate::runner::ending::ending;

/// The longest reason that every client hands on whole, in bytes. Claude Code takes 10,000 characters.
const LONGEST: usize = 9_500;
/// How many entries of the progress log a session that begins anew is told.
const REMINDED: usize = 5;
/// How much of each.
const LONGEST_ENTRY: usize = 1_000;

/// Why the agent must go on: what the gate found, what more there is to know, and the task again.
pub(super) fn block(verdict: &Verdict, warnings: &[String], prompt: &str) -> String {
    let mut text = verdict.feedback.trim_end().to_owned();
    for warning in warnings {
        text.push_str("\n\n");
        text.push_str(warning);
    }
    let prompt = prompt.trim();
    if !prompt.is_empty() {
        text.push_str("\n\nThe task:\n\n");
        text.push_str(prompt);
    }
    beginning_of(text, LONGEST)
}

/// What the person is told while the loop goes on.
pub(super) fn goes_on(iteration: u32, at_most: u32) -> String {
    format!(
        "Ralph loop: iteration {iteration} of {at_most} was refused, the agent goes on. `ralph-gate loop cancel` ends it."
    )
}

/// What the person is told when the loop is over.
pub(super) fn ended(iteration: u32, verdict: &Verdict) -> String {
    format!("Ralph loop: {}.", ending(verdict, iteration))
}

/// What the agent is told when its session begins anew.
pub(super) fn remind(iteration: u32, prompt: &str, progress: &ProgressLog) -> String {
    let mut text = format!(
        "A Ralph loop is under way; {iteration} iterations are over. You may stop only when its checks pass."
    );
    if !prompt.trim().is_empty() {
        text.push_str(&format!("\n\nThe task:\n\n{}", prompt.trim()));
    }
    let newest = progress.entries.len().saturating_sub(REMINDED);
    for entry in progress.entries.iter().skip(newest) {
        let body = beginning_of(entry.body.clone(), LONGEST_ENTRY);
        text.push_str(&format!(
            "\n\nIteration {}, {}\n{}",
            entry.iteration,
            entry.title,
            body.trim_end()
        ));
    }
    beginning_of(text, LONGEST)
}

/// What the agent is told while something else holds the memory.
pub(super) fn busy(error: &str) -> String {
    format!(
        "It can't be told yet whether you are done: {error}. Wait a while, and then end your turn as you just did."
    )
}

/// What the person is told when a loop was canceled while it was judged.
pub(super) fn canceled(iteration: u32) -> String {
    format!("Ralph loop: canceled at iteration {iteration}.")
}

/// What the agent is told of a loop file that says 0.
pub(super) fn not_endless(at_most: u32) -> String {
    format!(
        "The loop file says `max_iterations: 0`; no loop is without end, this one stops after {at_most} iterations."
    )
}

/// What the agent is told one time before its client stops listening.
pub(super) fn last_time(cap: u32) -> String {
    format!(
        "Your client asks at most {cap} times in a row without a tool being used: next time it may let you stop \
         although the work is not done. Use a tool, and say what is missing if you can't finish."
    )
}
