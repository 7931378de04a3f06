//! What the agent promised in a turn, as the gate reads it.

use serde::{Deserialize, Serialize};

use crate::error::ImportError;
use crate::gate::{Gate, ask};
use crate::run::{Claim, Form};

/// Words that loops are often told to promise. Without tags they are no promise, but look like one.
const USUAL: &[&str] = &[
    "COMPLETE",
    "DONE",
    "LOOP_DONE",
    "TASK COMPLETE",
    "TASK_COMPLETE",
];

#[derive(Serialize)]
struct Input<'t> {
    output: &'t str,
    rules: &'static str,
}

#[derive(Deserialize)]
struct Report {
    accepted: Option<String>,
    signal: Option<String>,
    tags: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    text: String,
    status: Form,
}

/// What a text promises. `wanted` is what the agent was told to promise, if that is known.
pub(crate) fn of(text: &str, wanted: Option<&str>, gate: &dyn Gate) -> Result<Claim, ImportError> {
    if !has_tag(text) {
        return Ok(without_tag(text, wanted));
    }
    let input = Input {
        output: text,
        rules: "strict",
    };
    let report: Report = ask(gate, "parse_promises", &input)?;
    let Some(last) = report.tags.last() else {
        return Ok(without_tag(text, wanted));
    };
    let Some(accepted) = report.accepted else {
        return Ok(Claim {
            made: None,
            form: last.status,
            text: Some(last.text.clone()),
            turns: 0,
        });
    };
    // To promise that one goes on, or can't, is no promise to be done.
    let is_contrary = report.signal.is_some_and(|signal| signal != "LOOP_DONE");
    Ok(Claim {
        made: Some(!is_contrary),
        form: Form::Accepted,
        text: Some(accepted),
        turns: 0,
    })
}

/// The text of the first tag anywhere: what the official plugin goes by, and what a prompt asks for.
pub(crate) fn first_tag(text: &str, gate: &dyn Gate) -> Result<Option<String>, ImportError> {
    if !has_tag(text) {
        return Ok(None);
    }
    let input = Input {
        output: text,
        rules: "lenient",
    };
    let report: Report = ask(gate, "parse_promises", &input)?;
    Ok(report.accepted)
}

fn has_tag(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"<promise>").is_some()
}

fn without_tag(text: &str, wanted: Option<&str>) -> Claim {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    let is_margin = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '#' | '.' | '!');
    let last = last.trim_matches(is_margin);
    let is_word = match wanted {
        Some(wanted) => last == wanted.trim_matches(is_margin) && !last.is_empty(),
        None => USUAL.contains(&last),
    };
    if is_word {
        Claim {
            made: None,
            form: Form::BareWord,
            text: Some(last.to_owned()),
            turns: 0,
        }
    } else {
        Claim {
            made: Some(false),
            form: Form::None,
            text: None,
            turns: 0,
        }
    }
}
