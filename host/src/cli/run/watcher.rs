//! Tells of a loop as it goes: to the terminal, to a machine, and to whoever asks for the status.

use ralph_gate::evidence::now_ms;
use ralph_gate::runner::{Control, LoopEvent, Phase, Watch};

use super::super::terminal::{Terminal, print};
use super::{json, plain};

/// How a loop is told of.
enum Form {
    /// One JSON object a line.
    Json,
    /// Lines for a person.
    Plain(plain::Lines),
}

/// Somebody who watches and tells.
pub(super) struct Watcher {
    form: Form,
    control: Control,
}

impl Watcher {
    pub(super) fn new(terminal: &Terminal, control: Control) -> Self {
        let form = if terminal.is_json() {
            Form::Json
        } else {
            Form::Plain(plain::Lines::new(terminal.painter))
        };
        Self { form, control }
    }

    fn note(&self, event: &LoopEvent<'_>) {
        match event {
            LoopEvent::Opened {
                memory,
                overridable,
                ..
            } => {
                self.control.update(|live| live.overridable = *overridable);
                // Without it the loop runs all the same, and is ended by a signal.
                let _ = self.control.listen(memory);
            }
            LoopEvent::Entered { iteration, phase } => self.control.update(|live| {
                live.iteration = *iteration;
                name(*phase).clone_into(&mut live.phase);
                live.since_ms = now_ms();
                live.activity = None;
            }),
            LoopEvent::Activity(activity) => {
                self.control
                    .update(|live| live.activity = Some((*activity).to_owned()));
            }
            _ => {}
        }
    }
}

impl Watch for Watcher {
    fn see(&self, event: &LoopEvent<'_>) {
        self.note(event);
        let text = match &self.form {
            Form::Json => json::line(event),
            Form::Plain(lines) => lines.describe(event),
        };
        // A reader that went away does not end the loop.
        if !text.is_empty() {
            let _ = print(&text);
        }
    }
}

/// What a phase is called.
pub(super) fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Baseline => "baseline",
        Phase::Probe => "probe",
        Phase::Agent => "agent",
        Phase::Checks => "checks",
    }
}
