//! A loop as seen from outside: how it stands, and how it is told to end.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::control::{self, Ask, Live, Reply};
use super::events::{AgentRecord, names};
use super::operator::override_stopped;
use super::{Refusal, RunError};
use crate::engine::{GateEngine, OperatorNote, SnapshotView, StopReason, Verdict};
use crate::memory::disk::SessionFolder;
use crate::memory::{Holder, Reading, Record, SessionKey, TextDigest, View, holder};

/// How long a loop that has just begun, or is just ending, may take to be reached.
const REACHING: Duration = Duration::from_secs(2);
/// How often is looked whether something has changed.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long a loop that was told to end may take.
const ENDING: Duration = Duration::from_secs(20);

/// Which loop is meant, and where it is.
#[derive(Debug, Clone)]
pub struct Outside {
    /// Where the sessions are.
    pub root: PathBuf,
    /// Whose loop it is.
    pub key: SessionKey,
}

impl Outside {
    /// Asks the loop, if it listens.
    pub fn ask(&self, ask: &Ask) -> Result<Option<Reply>, RunError> {
        let folder = self.root.join(self.key.folder());
        control::ask(&folder, ask).map_err(|error| RunError::System {
            what: "the loop can't be asked",
            error,
        })
    }

    /// Tells the loop something. None if it is not running; an error if it is and can't be told, or refuses.
    pub fn order(&self, order: &Ask) -> Result<Option<()>, RunError> {
        let until = Instant::now() + REACHING;
        loop {
            match self.ask(order)? {
                Some(Reply::Refused { code }) => return Err(refused(code)),
                Some(Reply::Accepted(_) | Reply::Status(_)) => return Ok(Some(())),
                None => {}
            }
            let Some(holder) = self.holder()? else {
                return Ok(None);
            };
            if Instant::now() > until {
                return Err(RunError::Unreachable { holder });
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Who runs the loop.
    pub fn holder(&self) -> Result<Option<Holder>, RunError> {
        Ok(holder(&self.root, &self.key)?)
    }

    /// How it stands.
    pub fn look(&self, gate: &GateEngine) -> Result<Look, RunError> {
        let view = View::open(&self.root, &self.key)?;
        let reading = view.read(gate)?;
        let snapshot = match &reading.state.snapshot {
            Some(text) => gate.read_snapshot(text).ok(),
            None => None,
        };
        let live = match self.ask(&Ask::Status)? {
            Some(Reply::Status(live)) => Some(live),
            _ => None,
        };
        let events = view.events()?;
        Ok(Look {
            holder: self.holder()?,
            decided: decided(&events),
            problem: problem(&events),
            view,
            reading,
            snapshot,
            live,
        })
    }

    /// Completes the loop in an operator's name, whether it runs or not, and looks at its end.
    pub fn complete(&self, gate: &GateEngine, note: &OperatorNote) -> Result<Look, RunError> {
        let ask = Ask::Override {
            operator: note.operator.clone(),
            reason: note.reason.clone(),
        };
        if self.order(&ask)?.is_none() {
            override_stopped(gate, &self.root, &self.key, note)?;
        }
        self.look_at_end(gate)
    }

    /// Waits until nobody writes to the session any more, but not for ever, and looks at it.
    pub fn look_at_end(&self, gate: &GateEngine) -> Result<Look, RunError> {
        let until = Instant::now() + ENDING;
        while self.holder()?.is_some() && Instant::now() < until {
            std::thread::sleep(LOOK_AGAIN);
        }
        self.look(gate)
    }
}

fn refused(code: Refusal) -> RunError {
    match code {
        Refusal::FromInside => RunError::FromInside,
        Refusal::OverrideNotAllowed => RunError::NoOverride,
        Refusal::TooLong => RunError::NoteTooLong,
    }
}

/// What is known of a loop.
#[derive(Debug)]
pub struct Look {
    view: View<SessionFolder>,
    /// What is remembered.
    pub reading: Reading,
    /// What the gate reads in its state.
    pub snapshot: Option<SnapshotView>,
    /// What was decided last, with what the gate was given for it, if nothing was begun since.
    pub decided: Option<Value>,
    /// What went wrong in the agent's last turn.
    pub problem: Option<String>,
    /// What it says itself, if it is running and answers.
    pub live: Option<Live>,
    /// Who runs it.
    pub holder: Option<Holder>,
}

impl Look {
    /// Where its memory is.
    pub fn path(&self) -> &std::path::Path {
        self.view.path()
    }

    /// `running`, `stopped`, `passed_through` or `interrupted`.
    pub fn state(&self) -> &'static str {
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

    /// Why it stopped, if it did.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.snapshot.as_ref().and_then(|view| view.stopped)
    }

    /// The last verdict, if nothing was begun since and the log has its texts.
    pub fn verdict(&self) -> Option<Verdict> {
        let verdict = self.decided.as_ref()?.get("verdict")?;
        Verdict::deserialize(verdict).ok()
    }

    /// Whether it has ended because somebody canceled it.
    pub fn was_canceled(&self) -> bool {
        let is_canceled = |data: &Value| data.pointer("/iteration/canceled") == Some(&json!(true));
        self.holder.is_none() && self.decided.as_ref().is_some_and(is_canceled)
    }

    /// Whether it has ended because this operator completed it.
    pub fn was_completed_by(&self, note: &OperatorNote) -> bool {
        let is_it = |data: &Value| is_override(data, note);
        self.holder.is_none() && self.decided.as_ref().is_some_and(is_it)
    }

    /// Who completed it by hand, and why, if that is how it ended and the log has its texts.
    pub fn override_note(&self) -> Option<OperatorNote> {
        let data = self.decided.as_ref()?;
        let is_overridden = data.pointer("/verdict/overridden") == Some(&json!(true));
        let note = data
            .pointer("/iteration/override")
            .filter(|_| is_overridden)?;
        OperatorNote::deserialize(note).ok()
    }

    /// All of it for machines.
    pub fn json(&self) -> Value {
        let snapshot = self.snapshot.as_ref();
        json!({
            "key": self.reading.key,
            "memory": self.view.path(),
            "state": self.state(),
            "iteration": self.reading.state.iteration,
            "stop_reason": self.stop_reason(),
            "detail": snapshot.and_then(|view| view.detail.clone()),
            "override": self.override_note(),
            "tool_calls": snapshot.map(|view| view.tool_calls),
            "cost_usd": snapshot.map(|view| view.cost_usd.clone()),
            "elapsed_ms": snapshot.map(|view| view.elapsed_ms),
            "agent_problem": self.problem,
            "holder": self.holder,
            "live": self.live,
        })
    }

    /// How it ended, after it was told to: `done` names what it was told.
    pub fn end_json(&self, done: &str, is_done: bool) -> Value {
        json!({
            (done): is_done,
            "iterations": self.reading.state.iteration,
            "state": if self.holder.is_some() { "ending" } else { self.state() },
            "stop_reason": self.stop_reason(),
        })
    }
}

/// Whether a verdict is the one that an operator asked for.
fn is_override(data: &Value, note: &OperatorNote) -> bool {
    // Of a log that records digests only, the digest of the reason.
    let digested = json!({ "operator": note.operator, "reason": TextDigest::of(&note.reason) });
    let said = data.pointer("/iteration/override");
    data.pointer("/verdict/overridden") == Some(&json!(true))
        && (said == Some(&json!(note)) || said == Some(&digested))
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

/// What went wrong in the agent's last turn.
fn problem(records: &[Record]) -> Option<String> {
    let last = records.iter().rev().find(|it| it.event == names::AGENT)?;
    last.read::<AgentRecord>()?.problem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_ours_only_if_it_says_what_we_asked_for() {
        let note = |operator: &str| OperatorNote {
            operator: operator.to_owned(),
            reason: "enough".to_owned(),
        };
        let data = json!({
            "iteration": { "canceled": false, "override": { "operator": "ada", "reason": "enough" } },
            "verdict": { "overridden": true },
        });
        assert!(is_override(&data, &note("ada")));
        assert!(!is_override(&data, &note("bob")));
    }
}
