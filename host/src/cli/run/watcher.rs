//! Tells of a loop as it goes: to the terminal, to a machine, and to whoever asks for the status.

use std::io::Write as _;

use ralph_gate::evidence::now_ms;
use ralph_gate::runner::{Control, LoopEvent, Phase, Watch};

use super::super::args::RunArgs;
use super::super::terminal::{Terminal, print};
use super::text::mode_and_reason;
use super::{json, live, plain};

/// How a loop is told of.
enum Form {
    /// One JSON object a line.
    Json,
    /// The end, for a person; the mode and warnings on standard error.
    Quiet(plain::Lines),
    /// Lines for a person.
    Plain(plain::Lines),
    /// A view that is drawn again in place.
    Live(live::View),
}

/// Somebody who watches and tells.
pub(super) struct Watcher {
    form: Form,
    control: Control,
}

impl Watcher {
    pub(super) fn new(args: &RunArgs, terminal: &Terminal, control: Control) -> Self {
        let form = if terminal.is_json() {
            Form::Json
        } else if terminal.is_quiet() {
            Form::Quiet(plain::Lines::new(terminal.painter))
        } else if live::is_wanted(args.plain, terminal) {
            Form::Live(live::View::new(terminal.painter))
        } else {
            Form::Plain(plain::Lines::new(terminal.painter))
        };
        Self { form, control }
    }

    fn note(&self, event: &LoopEvent<'_>) {
        match event {
            LoopEvent::Opened {
                key,
                memory,
                overridable,
                ..
            } => self.control.update(|live| {
                key.text().clone_into(&mut live.session);
                (*memory).clone_into(&mut live.memory);
                live.process = std::process::id();
                live.overridable = *overridable;
            }),
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
        self.tell(event);
        if let LoopEvent::Opened { memory, .. } = event
            && let Err(error) = self.control.listen(memory)
        {
            let warning = format!(
                "`cancel`, `override` and `status` can't reach this loop ({error}): end it with Ctrl-C or `kill`"
            );
            self.tell(&LoopEvent::Warning(&warning));
        }
    }
}

impl Watcher {
    fn tell(&self, event: &LoopEvent<'_>) {
        let text = match &self.form {
            Form::Json => json::line(event),
            Form::Quiet(lines) => match event {
                LoopEvent::Ended { .. } => lines.describe(event),
                // What protects less than a user may expect is said however quiet the loop is.
                LoopEvent::Opened { mode, .. } => {
                    return to_stderr(&format!("{}\n", mode_and_reason(*mode)));
                }
                LoopEvent::Warning(_) => return to_stderr(&lines.describe(event)),
                _ => return,
            },
            Form::Plain(lines) => lines.describe(event),
            Form::Live(view) => {
                view.see(event);
                return;
            }
        };
        // A reader that went away does not end the loop.
        if !text.is_empty() {
            let _ = print(&text);
        }
    }
}

/// A reader that went away does not end the loop.
fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
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
