//! How a loop stands, for a person.

use std::fmt::Write as _;

use ralph_gate::engine::StopReason;
use ralph_gate::runner::Look;
use ralph_gate::runner::ending::ending;

use super::super::run::words;
use super::super::terminal::{Painter, clean};

/// Whether it runs, and how it ended.
pub(super) fn state(look: &Look) -> String {
    let detail = look
        .snapshot
        .as_ref()
        .and_then(|view| view.detail.as_deref());
    match (look.state(), look.stop_reason()) {
        ("stopped", Some(StopReason::Completed)) => match look.override_note() {
            Some(note) => format!(
                "completed by an operator ({}: {})",
                note.operator, note.reason
            ),
            None => "completed".to_owned(),
        },
        ("stopped", Some(reason)) => {
            let iteration = look.reading.state.iteration;
            match look.verdict() {
                Some(verdict) if verdict.stop_reason == Some(reason) => ending(&verdict, iteration),
                _ => format!("stopped, not done: {}", words(reason, detail, iteration)),
            }
        }
        (state, _) => state.to_owned(),
    }
}

/// A few lines about a loop.
pub(super) fn text(look: &Look, painter: Painter) -> String {
    let mut text = format!(
        "{}  {}\n",
        painter.bold(&clean(look.reading.key.text())),
        painter.dim(&clean(&look.path().display().to_string()))
    );
    let snapshot = look.snapshot.as_ref();
    let _ = writeln!(text, "state      {}", clean(&state(look)));
    let _ = writeln!(text, "iteration  {}", look.reading.state.iteration);
    if let Some(view) = snapshot {
        let _ = writeln!(
            text,
            "used       {} s, {} tool calls, {} USD",
            view.elapsed_ms / 1000,
            view.tool_calls,
            clean(&view.cost_usd)
        );
    }
    let problem = look.problem.iter().flat_map(|problem| problem.lines());
    for line in problem {
        let _ = writeln!(text, "agent      {}", clean(line));
    }
    if let Some(live) = &look.live {
        let activity = live
            .activity
            .as_ref()
            .map_or_else(String::new, |activity| format!(": {activity}"));
        let _ = writeln!(
            text,
            "now        iteration {}, {}{}",
            live.iteration,
            clean(&live.phase),
            clean(&activity)
        );
    }
    if let Some(holder) = &look.holder {
        let silent = if look.live.is_none() {
            ", which does not answer"
        } else {
            ""
        };
        let _ = writeln!(text, "run by     {}{silent}", clean(&holder.to_string()));
    }
    text
}
