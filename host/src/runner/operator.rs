//! An operator completes or ends a loop that is not running.

use std::path::Path;

use super::begin::PATIENCE;
use super::events::{VerdictRecord, names};
use super::{RunError, resume};
use crate::engine::{
    Action, GateEngine, Iteration, OperatorNote, ProgressEntry, Resumption, StopReason, Verdict,
};
use crate::evidence::now_ms;
use crate::memory::course::{Circumstances, handoff};
use crate::memory::{Change, Event, FileStore, Handoff, SessionKey, Snapshot};
use crate::process;

/// Completes a loop in an operator's name. Gives the iteration and the verdict that did it.
pub fn override_stopped(
    gate: &GateEngine,
    root: &Path,
    key: &SessionKey,
    note: &OperatorNote,
) -> Result<(u32, Verdict), RunError> {
    let mut store = FileStore::open(gate, root, key, PATIENCE)?;
    let state = store.state();
    let resumption = Resumption {
        operator: note.operator.clone(),
        reason: note.reason.clone(),
        accept_contract: false,
    };
    let snapshot = resume::reopen(gate, &state, &state.contract, &resumption)?;
    let input = Iteration {
        index: state.iteration + 1,
        action: Action::Continue,
        r#override: Some(note.clone()),
        ..Iteration::default()
    };
    let verdict = gate.evaluate_final(&state.contract, snapshot.as_deref(), &input)?;
    if verdict.stop_reason != Some(StopReason::Completed) {
        return Err(RunError::NoOverride);
    }
    let title = "completed by an operator";
    let body = format!("{}: {}", note.operator, note.reason);
    save(&mut store, &input, &verdict, title, body, Handoff::Withdraw)?;
    Ok((input.index, verdict))
}

/// Ends a loop that waits for its client to ask again. Gives how many iterations it had; none if it had stopped.
pub fn cancel_stopped(
    gate: &GateEngine,
    root: &Path,
    key: &SessionKey,
) -> Result<Option<u32>, RunError> {
    let mut store = FileStore::open(gate, root, key, PATIENCE)?;
    let state = store.state();
    let snapshot = state.snapshot.as_deref();
    if let Some(snapshot) = snapshot
        && gate.read_snapshot(snapshot)?.stopped.is_some()
    {
        return Ok(None);
    }
    let input = Iteration {
        index: state.iteration + 1,
        action: Action::Continue,
        canceled: true,
        ..Iteration::default()
    };
    let verdict = gate.evaluate_final(&state.contract, snapshot, &input)?;
    let handoff = Handoff::Write(handoff(
        key,
        input.index,
        &verdict,
        Circumstances::default(),
    ));
    let body = format!("after {} iterations", state.iteration);
    save(&mut store, &input, &verdict, "canceled", body, handoff)?;
    Ok(Some(state.iteration))
}

fn save(
    store: &mut FileStore<'_>,
    input: &Iteration,
    verdict: &Verdict,
    title: &str,
    body: String,
    handoff: Handoff,
) -> Result<(), RunError> {
    let record = VerdictRecord {
        at_ms: now_ms(),
        iteration: input,
        verdict,
    };
    store.save(&Change {
        snapshot: verdict.snapshot.clone().map(|text| Snapshot {
            iteration: input.index,
            text,
        }),
        progress: Some(ProgressEntry {
            iteration: input.index,
            title: title.to_owned(),
            body,
        }),
        events: Event::new(names::VERDICT, &record).into_iter().collect(),
        handoff,
        ..Change::default()
    })?;
    Ok(())
}

/// Whether this process was started by a loop, directly or not: then it is no operator.
pub fn is_inside_a_loop() -> bool {
    let line = process::ancestors();
    line.iter().skip(1).any(|above| above.is_runner)
        || has_mark(&line, &[b"RALPH_GATE_MEMORY=", b"RALPH_GATE_INNER="])
}

/// Whether this process was started by the agent of a client: then a person may have asked for it, or not.
pub fn is_inside_a_client() -> bool {
    // What clients put into the environment of the tools that their agents use.
    let marks: [&[u8]; 4] = [
        b"CLAUDECODE=",
        b"CODEX_SANDBOX",
        b"GEMINI_CLI=",
        b"OPENCODE=",
    ];
    has_mark(&process::ancestors(), &marks)
}

/// Whether one of these, or this process, was started with a variable of that name.
fn has_mark(line: &[process::Ancestor], marks: &[&[u8]]) -> bool {
    let is_marked = |process: u32| {
        let environment = process::environment_of(process).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| marks.iter().any(|mark| variable.starts_with(mark)))
    };
    match line {
        // Where the system shows no ancestors, it may still show this one.
        [] => is_marked(std::process::id()),
        line => line.iter().any(|process| is_marked(process.id)),
    }
}
