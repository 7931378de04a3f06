//! `ralph-gate status`, `cancel`, `override` and `logs`: a loop as seen from outside.

mod logs;
pub(super) mod place;
mod sessions;
mod standing;

use ralph_gate::engine::OperatorNote;
use ralph_gate::runner::{self, Ask, Look, RunError};
use serde_json::{Value, json};

use super::args::{LoopArgs, OverrideArgs};
use super::error::CliError;
use super::run::{iterations, words};
use super::terminal::{Severity, Terminal, clean};
use super::{Exit, gate};
pub(crate) use logs::logs;
use place::Place;
pub(crate) use sessions::sessions;

/// What is said where there is nothing to cancel or to ask about.
const NO_LOOP: &str = "No active Ralph loop";
/// The longest name or reason of an operator, in bytes.
const NOTE: usize = 1000;

pub(crate) fn status(args: &LoopArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(args, terminal)?;
    match place.outside() {
        Some(outside) => {
            let look = outside.look(gate()?)?;
            terminal.print_answer(&look.json().to_string(), |painter| {
                standing::text(&look, painter)
            })?;
        }
        None => {
            say(terminal, &json!({ "state": "none" }), NO_LOOP)?;
            tell_of_others(terminal);
        }
    }
    Ok(Exit::Success)
}

pub(crate) fn cancel(args: &LoopArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(args, terminal)?;
    let outside = place.outside();
    let told = outside.as_ref().map(|outside| outside.order(&Ask::Cancel));
    let (Some(outside), Some(())) = (outside, told.transpose()?.flatten()) else {
        let answer = json!({ "canceled": false, "iterations": null });
        say(terminal, &answer, NO_LOOP)?;
        tell_of_others(terminal);
        return Ok(Exit::Success);
    };
    let look = outside.look_at_end(gate()?)?;
    let is_canceled = look.was_canceled();
    let count = iterations(look.reading.state.iteration);
    let done = format!("Canceled the Ralph loop after {count}");
    let text = if is_canceled { done } else { otherwise(&look) };
    say(terminal, &look.end_json("canceled", is_canceled), &text)?;
    // However it ended: it has.
    Ok(exit(&look, Exit::Success))
}

pub(crate) fn override_loop(args: &OverrideArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(&args.place, terminal)?;
    let Some(outside) = place.outside() else {
        say(terminal, &json!({ "overridden": false }), NO_LOOP)?;
        tell_of_others(terminal);
        return Ok(Exit::Error);
    };
    if runner::is_inside_a_loop() {
        return Err(RunError::FromInside.into());
    }
    for (name, text) in [("--operator", &args.operator), ("--reason", &args.reason)] {
        if text.is_empty() || text.len() > NOTE {
            let message = format!("{name} must have 1 to {NOTE} bytes, not {}", text.len());
            return Err(CliError::Usage { message });
        }
    }
    let note = OperatorNote {
        operator: args.operator.clone(),
        reason: args.reason.clone(),
    };
    let look = outside.complete(gate()?, &note)?;
    let is_overridden = look.was_completed_by(&note);
    let count = look.reading.state.iteration;
    let done = format!("completed by {}, at iteration {count}", note.operator);
    let text = if is_overridden {
        done
    } else {
        otherwise(&look)
    };
    say(terminal, &look.end_json("overridden", is_overridden), &text)?;
    Ok(exit(
        &look,
        if is_overridden {
            Exit::Success
        } else {
            Exit::Error
        },
    ))
}

/// Where a loop did not end as it was told to.
fn otherwise(look: &Look) -> String {
    if let Some(holder) = &look.holder {
        return format!("The Ralph loop was told to end and is still ending: {holder}");
    }
    let reason = look.stop_reason();
    let iteration = look.reading.state.iteration;
    let reason = reason.map_or_else(String::new, |reason| {
        format!(": {}", words(reason, None, iteration))
    });
    format!(
        "The Ralph loop ended otherwise after {}: {}{reason}",
        iterations(look.reading.state.iteration),
        look.state()
    )
}

fn exit(look: &Look, ended: Exit) -> Exit {
    match look.holder {
        Some(_) => Exit::Ending,
        None => ended,
    }
}

fn say(terminal: &Terminal, answer: &Value, text: &str) -> Result<(), CliError> {
    terminal.print_answer(&answer.to_string(), |_| format!("{}\n", clean(text)))
}

/// Where no loop was found: those that run elsewhere, or whose memory was moved away from under them.
fn tell_of_others(terminal: &Terminal) {
    for live in runner::running() {
        terminal.warn(|painter| {
            format!(
                "{} a loop of yours is running elsewhere: {} (process {}), {}\n",
                painter.severity(Severity::Warning),
                clean(&live.session),
                live.process,
                clean(&live.memory.display().to_string())
            )
        });
    }
}
