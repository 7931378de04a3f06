//! A loop as a stream of JSON objects, one a line.

use ralph_gate::config::Task;
use ralph_gate::evidence::CheckEvent;
use ralph_gate::runner::{LoopEvent, Once};
use serde_json::{Value, json};

use super::watcher::name;

/// The line for an event; empty for what only a person wants to see.
pub(super) fn line(event: &LoopEvent<'_>) -> String {
    match value(event) {
        Some(value) => format!("{value}\n"),
        None => String::new(),
    }
}

fn value(event: &LoopEvent<'_>) -> Option<Value> {
    Some(match event {
        LoopEvent::Opened {
            key,
            memory,
            mode: (mode, reason),
            iteration,
            at_most,
            argv,
            checks,
            withheld,
            others,
            ..
        } => json!({
            "event": "opened", "key": key, "memory": memory, "mode": mode, "reason": reason, "iteration": iteration,
            "at_most": at_most, "argv": argv, "checks": checks, "withheld": withheld,
            "others_withheld": others,
        }),
        LoopEvent::Found(findings) => json!({ "event": "found", "findings": findings }),
        LoopEvent::Warning(message) => json!({ "event": "warning", "message": message }),
        LoopEvent::Entered { iteration, phase } => {
            json!({ "event": "phase", "iteration": iteration, "phase": name(*phase) })
        }
        LoopEvent::Activity(_) => return None,
        LoopEvent::AgentEnded(record) => json!({ "event": "agent_ended", "agent": record }),
        LoopEvent::Check(CheckEvent::Started(id)) => {
            json!({ "event": "check_started", "check": id })
        }
        LoopEvent::Check(CheckEvent::Ended(evidence)) => {
            json!({ "event": "evidence", "evidence": evidence })
        }
        LoopEvent::Tripped(tripped) => json!({ "event": "tripwire", "tripwire": tripped }),
        LoopEvent::Decided { iteration, verdict } => {
            json!({ "event": "verdict", "iteration": iteration, "verdict": verdict })
        }
        LoopEvent::Ended {
            iteration,
            verdict,
            memory,
        } => json!({
            "event": "ended", "iteration": iteration, "decision": verdict.decision,
            "stop_reason": verdict.stop_reason, "detail": verdict.detail,
            "overridden": verdict.overridden, "memory": memory,
        }),
    })
}

/// The one line of a run in standard mode.
pub(super) fn standard(task: &Task, once: &Once) -> String {
    let value = json!({
        "event": "ended", "mode": task.routing.mode, "reason": task.routing.reason, "exit": once.exit,
        "output": once.output, "decision": once.verdict.decision, "stop_reason": once.verdict.stop_reason,
        "verdict": once.verdict,
    });
    format!("{value}\n")
}
