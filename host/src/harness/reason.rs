//! What an agent and its person are told.

use super::Harness;
use super::loop_file::Found;
use crate::engine::{LoopFile, ProgressLog, Verdict};
use crate::evidence::beginning_of;
use crate::runner::LoopFileRecord;
use crate::runner::ending::ending;

/// The longest reason that every client hands on whole, in bytes. Claude Code takes 10,000 characters.
const LONGEST: usize = 9_500;
/// How many entries of the progress log a session that begins anew is told.
const REMINDED: usize = 5;
/// How much of each.
const LONGEST_ENTRY: usize = 1_000;

/// What the agent is told once of a loop that began with its first stop.
pub(super) const UNSEEN: &str = "Nobody saw what was there when this session began: its configuration and its protected files \
                                 are those of the newest commit.";

/// What the agent is told of a loop that its user began.
pub(super) const BEGUN: &str = "A Ralph loop has begun for this prompt. Work on its task. You may stop only when the checks of the \
                                project pass and, if a promise is asked for, you end with it; otherwise you are told what is \
                                missing and go on.";

/// What the user is told who wants a fresh context for each iteration.
pub(super) const FRESH: &str = "A session keeps its context. For a fresh one in each iteration, write the task to a file and run \
                                `ralph-gate run --prompt-file TASK.md -- claude -p` in a terminal.";

/// How a loop stands, for its user.
pub(super) fn standing(found: &Found) -> String {
    let file = &found.file;
    let limit = match file.max_iterations {
        0 => "as many as the profile allows".to_owned(),
        limit => limit.to_string(),
    };
    let promise = file.completion_promise.as_deref().unwrap_or("none");
    format!(
        "Ralph loop: iteration {} of {limit}, promise {promise}, {}",
        file.iteration,
        found.path.display()
    )
}

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

/// What the agent is told where its loop can't be read.
pub(super) fn lost(reason: &str, refusal: u32, limit: u32) -> String {
    format!(
        "It is not known whether you are done: the loop of this session can't be read ({reason}). Its files may not be \
         removed or changed. Tell your user, who can end the loop with `ralph-gate loop cancel`. (refusal {refusal} of {limit})"
    )
}

/// What the user is told then.
pub(super) fn lost_note(reason: &str) -> String {
    format!(
        "Ralph loop: its state can't be read ({reason}); the agent is held for now. `ralph-gate loop cancel` ends the loop."
    )
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

/// What the agent is told of a loop file without a limit that the gate allows.
pub(super) fn other_limit(record: &LoopFileRecord, at_most: u32) -> String {
    let LoopFile {
        max_iterations,
        iteration,
        ..
    } = record.file;
    let last = at_most.saturating_add(record.uncounted);
    format!(
        "The loop file sets `max_iterations: {max_iterations}`. No loop is unlimited: this one stops at iteration {last}, \
         counted from iteration {iteration} in which it was taken over."
    )
}

/// What the agent is told where its client's transcript can't be read.
pub(super) fn unheard(error: &str) -> String {
    format!("What you said last is not known: {error}.")
}

/// What the agent is told with the last refusal that its client obeys.
pub(super) fn last_time(harness: Harness, cap: u32) -> String {
    let (in_a_row, remedy) = match harness {
        // Using a tool begins the count anew.
        Harness::ClaudeCode => (
            " without the use of a tool",
            "Use a tool before you end your turn, and say",
        ),
        _ => ("", "Say"),
    };
    format!(
        "Your client obeys at most {cap} refusals in a row{in_a_row}, and this is the last of them: next time it may let you \
         stop although the work is not done. {remedy} what is missing if you can't finish."
    )
}
