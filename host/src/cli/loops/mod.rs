//! `ralph-gate status`, `cancel`, `override` and `logs`: a loop as seen from outside.

mod logs;
pub(super) mod place;
mod standing;

use std::time::{Duration, Instant};

use ralph_gate::engine::OperatorNote;
use ralph_gate::memory::{Holder, TextDigest};
use ralph_gate::runner::{self, Ask, Refusal, Reply, RunError};
use serde_json::{Value, json};

use super::args::{LoopArgs, OverrideArgs};
use super::error::CliError;
use super::run::iterations;
use super::terminal::{Severity, Terminal, clean};
use super::words::word;
use super::{Exit, gate};
pub(crate) use logs::logs;
use place::{LOOK_AGAIN, Place};
use standing::Standing;

/// What is said where there is nothing to cancel or to ask about.
const NO_LOOP: &str = "No active Ralph loop";
/// The longest name or reason of an operator, in bytes.
const NOTE: usize = 1000;
/// How long a loop that was told to end may take.
const ENDING: Duration = Duration::from_secs(20);

pub(crate) fn status(args: &LoopArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(args, terminal)?;
    match Standing::look(&place)? {
        Some(standing) => {
            terminal.print_answer(&standing.json().to_string(), |painter| {
                standing.text(painter)
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
    let Some(reply) = place.order(&Ask::Cancel)? else {
        let answer = json!({ "canceled": false, "iterations": null });
        say(terminal, &answer, NO_LOOP)?;
        tell_of_others(terminal);
        return Ok(Exit::Success);
    };
    accepted(&reply)?;
    let end = End::wait_for(&place)?;
    let is_canceled = end.was(|data| data.pointer("/iteration/canceled") == Some(&json!(true)));
    let done = format!("Canceled the Ralph loop after {}", iterations(end.count));
    let text = if is_canceled { done } else { end.text() };
    say(terminal, &end.json("canceled", is_canceled), &text)?;
    // However it ended: it has.
    Ok(end.exit(Exit::Success))
}

pub(crate) fn override_loop(args: &OverrideArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(&args.place, terminal)?;
    let Some(key) = place.key.clone() else {
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
    let ask = Ask::Override {
        operator: note.operator.clone(),
        reason: note.reason.clone(),
    };
    match place.order(&ask)? {
        Some(reply) => accepted(&reply)?,
        None => {
            runner::override_stopped(gate()?, &place.root, &key, &note)?;
        }
    }
    let end = End::wait_for(&place)?;
    let is_overridden = end.was(|data| is_override(data, &note));
    let done = format!("completed by {}, at iteration {}", note.operator, end.count);
    let text = if is_overridden { done } else { end.text() };
    say(terminal, &end.json("overridden", is_overridden), &text)?;
    Ok(end.exit(if is_overridden {
        Exit::Success
    } else {
        Exit::Error
    }))
}

/// Whether a verdict is the one that an operator asked for.
fn is_override(data: &Value, note: &OperatorNote) -> bool {
    // Of a log that records digests only, the digest of the reason.
    let digested = json!({ "operator": note.operator, "reason": TextDigest::of(&note.reason) });
    let said = data.pointer("/iteration/override");
    data.pointer("/verdict/overridden") == Some(&json!(true))
        && (said == Some(&json!(note)) || said == Some(&digested))
}

fn accepted(reply: &Reply) -> Result<(), CliError> {
    match reply {
        Reply::Refused { code } => Err(match code {
            Refusal::FromInside => RunError::FromInside.into(),
            Refusal::OverrideNotAllowed => RunError::NoOverride.into(),
            Refusal::TooLong => CliError::Usage {
                message: "--operator or --reason is too long for the loop".to_owned(),
            },
        }),
        Reply::Accepted(_) | Reply::Status(_) => Ok(()),
    }
}

/// What became of a loop that was told to end.
struct End {
    /// Who runs it still.
    holder: Option<Holder>,
    /// The iterations that were evaluated.
    count: u32,
    /// How it stands: `stopped: completed`, `interrupted`.
    standing: String,
    state: &'static str,
    stop_reason: Value,
    /// The last verdict, with what the gate was given for it.
    decided: Option<Value>,
}

impl End {
    /// Waits until nobody writes to the session any more, but not for ever, and reads what is remembered.
    fn wait_for(place: &Place) -> Result<Self, CliError> {
        let until = Instant::now() + ENDING;
        let mut holder = place.holder()?;
        while holder.is_some() && Instant::now() < until {
            std::thread::sleep(LOOK_AGAIN);
            holder = place.holder()?;
        }
        let looked = Standing::look(place)?;
        let state = looked.as_ref().map_or("none", Standing::state);
        let reason = looked.as_ref().and_then(Standing::stop_reason);
        Ok(Self {
            holder,
            count: looked
                .as_ref()
                .map_or(0, |looked| looked.reading.state.iteration),
            standing: reason.map_or_else(
                || state.to_owned(),
                |reason| format!("{state}: {}", word(&reason)),
            ),
            state,
            stop_reason: json!(reason),
            decided: looked.and_then(|looked| looked.decided),
        })
    }

    /// Whether it has ended, and with this verdict.
    fn was(&self, is_it: impl FnOnce(&Value) -> bool) -> bool {
        self.holder.is_none() && self.decided.as_ref().is_some_and(is_it)
    }

    /// Where it did not end as it was told to.
    fn text(&self) -> String {
        match &self.holder {
            Some(holder) => {
                format!("The Ralph loop was told to end and is still ending: {holder}")
            }
            None => format!(
                "The Ralph loop ended otherwise after {}: {}",
                iterations(self.count),
                self.standing
            ),
        }
    }

    fn json(&self, done: &str, is_done: bool) -> Value {
        json!({
            (done): is_done,
            "iterations": self.count,
            "state": if self.holder.is_some() { "ending" } else { self.state },
            "stop_reason": self.stop_reason,
        })
    }

    fn exit(&self, ended: Exit) -> Exit {
        match self.holder {
            Some(_) => Exit::Ending,
            None => ended,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(holder: Option<Holder>) -> End {
        End {
            holder,
            count: 3,
            standing: "stopped: completed".to_owned(),
            state: "stopped",
            stop_reason: json!("completed"),
            decided: Some(json!({
                "iteration": { "canceled": false, "override": { "operator": "ada", "reason": "enough" } },
                "verdict": { "overridden": true },
            })),
        }
    }

    #[test]
    fn a_verdict_is_ours_only_if_it_says_what_we_asked_for() {
        let note = |operator: &str| OperatorNote {
            operator: operator.to_owned(),
            reason: "enough".to_owned(),
        };
        let end = ended(None);
        assert!(end.was(|data| is_override(data, &note("ada"))));
        assert!(!end.was(|data| is_override(data, &note("bob"))));
        assert_eq!(
            end.text(),
            "The Ralph loop ended otherwise after 3 iterations: stopped: completed"
        );
        assert_eq!(end.exit(Exit::Error), Exit::Error);
    }

    #[test]
    fn a_loop_that_is_still_ending_has_not_done_what_was_asked() {
        let end = ended(Some(Holder {
            process: Some(7),
            ..Holder::default()
        }));
        assert!(!end.was(|_| true));
        assert_eq!(
            end.text(),
            "The Ralph loop was told to end and is still ending: process 7"
        );
        assert_eq!(end.json("canceled", false)["state"], "ending");
        assert_eq!(end.exit(Exit::Success), Exit::Ending);
    }
}
