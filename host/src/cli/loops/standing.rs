//! How a loop stands, as its memory and the loop itself tell it.

use std::fmt::Write as _;

use ralph_gate::engine::{SnapshotView, StopReason};
use ralph_gate::memory::disk::SessionFolder;
use ralph_gate::memory::{Holder, Reading, Record, View};
use ralph_gate::runner::{Ask, Live, Reply};
use serde_json::{Value, json};

use super::super::error::CliError;
use super::super::gate;
use super::super::terminal::{Painter, clean};
use super::super::words::word;
use super::place::Place;

/// What is known of a loop.
pub(super) struct Standing {
    view: View<SessionFolder>,
    pub(super) reading: Reading,
    snapshot: Option<SnapshotView>,
    /// What was decided last, if nothing was begun since.
    pub(super) decided: Option<Value>,
    live: Option<Live>,
    holder: Option<Holder>,
}

impl Standing {
    pub(super) fn look(place: &Place) -> Result<Option<Self>, CliError> {
        let Some(key) = &place.key else {
            return Ok(None);
        };
        let view = View::open(&place.root, key)?;
        let reading = view.read(gate()?)?;
        let snapshot = match &reading.state.snapshot {
            Some(text) => gate()?.read_snapshot(text).ok(),
            None => None,
        };
        let live = match place.ask(&Ask::Status)? {
            Some(Reply::Status(live)) => Some(live),
            _ => None,
        };
        Ok(Some(Self {
            holder: place.holder()?,
            decided: decided(&view.events()?),
            view,
            reading,
            snapshot,
            live,
        }))
    }

    pub(super) fn state(&self) -> &'static str {
        let is_passed_through = || {
            let decided = self.decided.as_ref();
            let decision = decided.and_then(|data| data.pointer("/verdict/decision"));
            decision == Some(&json!("pass_through"))
        };
        match (&self.holder, self.stop_reason()) {
            (Some(_), _) => "running",
            (None, Some(_)) => "stopped",
            (None, None) if is_passed_through() => "passed_through",
            (None, None) => "interrupted",
        }
    }

    pub(super) fn stop_reason(&self) -> Option<StopReason> {
        self.snapshot.as_ref().and_then(|view| view.stopped)
    }

    pub(super) fn json(&self) -> Value {
        let snapshot = self.snapshot.as_ref();
        json!({
            "key": self.reading.key,
            "memory": self.view.path(),
            "state": self.state(),
            "iteration": self.reading.state.iteration,
            "stop_reason": self.stop_reason(),
            "detail": snapshot.and_then(|view| view.detail.clone()),
            "tool_calls": snapshot.map(|view| view.tool_calls),
            "cost_usd": snapshot.map(|view| view.cost_usd.clone()),
            "elapsed_ms": snapshot.map(|view| view.elapsed_ms),
            "holder": self.holder,
            "live": self.live,
        })
    }

    pub(super) fn text(&self, painter: Painter) -> String {
        let mut text = format!(
            "{}  {}\n",
            painter.bold(&clean(self.reading.key.text())),
            painter.dim(&clean(&self.view.path().display().to_string()))
        );
        let snapshot = self.snapshot.as_ref();
        let reason = self
            .stop_reason()
            .map_or_else(String::new, |reason| format!(": {}", word(&reason)));
        let _ = writeln!(text, "state      {}{reason}", self.state());
        let _ = writeln!(text, "iteration  {}", self.reading.state.iteration);
        if let Some(view) = snapshot {
            let _ = writeln!(
                text,
                "used       {} s, {} tool calls, {} USD",
                view.elapsed_ms / 1000,
                view.tool_calls,
                clean(&view.cost_usd)
            );
        }
        if let Some(live) = &self.live {
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
        if let Some(holder) = &self.holder {
            let silent = if self.live.is_none() {
                ", which does not answer"
            } else {
                ""
            };
            let _ = writeln!(text, "run by     {}{silent}", clean(&holder.to_string()));
        }
        text
    }
}

/// The last verdict, with what the gate was given for it. None if the loop went on after it.
fn decided(records: &[Record]) -> Option<Value> {
    let is_turn = |record: &&Record| {
        matches!(
            record.event.as_str(),
            "loop_started" | "loop_resumed" | "verdict"
        )
    };
    let last = records.iter().rev().find(is_turn)?;
    (last.event == "verdict").then(|| last.read()).flatten()
}
