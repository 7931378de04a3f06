//! Feedback: the text for the agent's next turn. Stable wording, within a byte budget.
//!
//! It never contains a promise tag with the token, so that an agent which only echoes it can't complete.

use crate::contract::Contract;
use crate::iteration::{Action, Iteration};
use crate::verdict::Failure;

/// What feedback is made from.
pub(crate) struct Round<'a> {
    pub(crate) contract: &'a Contract,
    pub(crate) iteration: &'a Iteration<'a>,
    pub(crate) failures: &'a [Failure],
    /// Checks that fail exactly as before, and since when.
    pub(crate) unchanged: &'a [(String, u32)],
    /// The promise text for the next turn.
    pub(crate) token: Option<&'a str>,
}

/// The text for the agent's next turn.
pub(crate) fn text(round: &Round<'_>) -> String {
    let budget = usize::try_from(round.contract.feedback_max_bytes).unwrap_or(usize::MAX);
    let mut text = opening(round);
    let ending = ending(round);
    let lines: Vec<String> = round
        .failures
        .iter()
        .map(|failure| line(round, failure))
        .collect();
    let room = budget.saturating_sub(text.len() + ending.len());
    push_lines(&mut text, &lines, room);
    text.push_str(&ending);
    clip(&text, budget)
}

fn opening(round: &Round<'_>) -> String {
    let index = round.iteration.index;
    let max = round.contract.loop_max_iters;
    match round.iteration.action {
        Action::Final => format!("Not done: iteration {index} of {max} was refused.\n"),
        Action::Continue => format!("Iteration {index} of {max} is over; the work goes on.\n"),
        Action::Error => format!("Iteration {index} of {max} ended with an error.\n"),
        Action::Timeout => format!("Iteration {index} of {max} took too long and was ended.\n"),
    }
}

fn ending(round: &Round<'_>) -> String {
    let mut text = String::new();
    if let Some(token) = round.token {
        text.push_str(
            "When everything holds, end your output with a promise tag around this text: ",
        );
        text.push_str(token);
        text.push('\n');
    }
    let next = round.iteration.index.saturating_add(1);
    if next >= round.contract.loop_max_iters {
        text.push_str(&format!(
            "This is the last permitted round (iteration {next}).\n"
        ));
    }
    text
}

fn line(round: &Round<'_>, failure: &Failure) -> String {
    let since = failure
        .check
        .as_ref()
        .and_then(|check| round.unchanged.iter().find(|(id, _)| id == check));
    let check = failure
        .check
        .as_deref()
        .map_or_else(String::new, |check| format!("{check}: "));
    match since {
        Some((_, since)) => format!(
            "- {check}{}, unchanged since iteration {since}\n",
            failure.code
        ),
        None => {
            let reason = failure.reason.replace('\n', "\n  ");
            format!("- {check}{}: {reason}\n", failure.code)
        }
    }
}

/// As many lines as there is room for; the first one that doesn't fit is cut, the rest are counted.
fn push_lines(text: &mut String, lines: &[String], room: usize) {
    const MORE: usize = 32;
    let mut left = room;
    for (index, line) in lines.iter().enumerate() {
        let last = index + 1 == lines.len();
        let reserve = if last { 0 } else { MORE };
        if line.len() + reserve <= left {
            text.push_str(line);
            left -= line.len();
            continue;
        }
        let cut = clip(line.trim_end(), left.saturating_sub(MORE + 1));
        let mut rest = lines.len() - index;
        if cut.len() > 40 {
            text.push_str(&cut);
            text.push('\n');
            rest -= 1;
        }
        if rest > 0 {
            text.push_str(&format!("- and {rest} more\n"));
        }
        return;
    }
}

/// A text without control characters but line ends and tabs and without promise tags, of at most `max` bytes. An agent
/// that repeats what it was told must promise nothing by that.
pub(crate) fn clean(text: &str, max: usize) -> String {
    let text: String = text
        .trim()
        .chars()
        .take(max)
        .filter(|letter| matches!(letter, '\n' | '\t') || !is_unsafe(*letter))
        .collect();
    clip(&without_tags(text), max)
}

/// Promise tags in brackets, which nothing takes for tags.
fn without_tags(text: String) -> String {
    if !text.contains("promise>") {
        return text;
    }
    text.replace("<promise>", "[promise]")
        .replace("</promise>", "[/promise]")
}

/// Characters that could deceive a reader: controls, and those that reorder or hide text.
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// At most `max` bytes, cut at a character and marked.
fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}
