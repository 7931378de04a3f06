//! What happens in an experiment, in words and as JSON.

use ralph_gate::experiment::{Observer, RunId, RunRecord, Standing, Step};
use serde_json::{Value, json};

use super::super::run::{iterations, running, seconds};
use super::super::terminal::{Painter, Terminal, clean, print};
use super::named;

/// How an experiment is told of.
pub(super) struct Told {
    name: String,
    is_json: bool,
    pub(super) painter: Painter,
}

impl Told {
    pub(super) fn new(name: &str, terminal: &Terminal) -> Self {
        Self {
            name: name.to_owned(),
            is_json: terminal.is_json(),
            painter: terminal.painter,
        }
    }

    /// What a person sees of it; nothing for what only matters while it lasts.
    pub(super) fn line(&self, step: &Step<'_>) -> Option<String> {
        let painter = self.painter;
        Some(match step {
            Step::Opened(standing) if standing.done == 0 => {
                format!("{}: {} runs", painter.bold(&self.name), standing.total)
            }
            Step::Opened(standing) => format!(
                "{}: {} of {} runs are done",
                painter.bold(&self.name),
                standing.done,
                standing.total
            ),
            Step::SetAside { run, to } => format!(
                "{} {} was interrupted; what there is of it is kept in {}",
                painter.caution("·"),
                run.path(),
                clean(&to.display().to_string())
            ),
            Step::Begun { .. } | Step::Iteration { .. } => return None,
            Step::Ended { run, record, .. } => self.ended(run, record),
        })
    }

    fn ended(&self, run: &RunId, record: &RunRecord) -> String {
        let painter = self.painter;
        let (mark, how) = match &record.ended {
            None => {
                let reason = record.error.as_deref().unwrap_or("nobody knows why");
                (painter.bad("✗"), format!("crashed: {}", clean(reason)))
            }
            Some(end) => {
                let reason = match (end.decision.as_str(), end.stop_reason.as_deref()) {
                    ("pass_through", _) => "ended by itself".to_owned(),
                    (_, Some("completed")) => "completed".to_owned(),
                    (_, Some(reason)) => format!("stopped: {}", clean(reason)),
                    (decision, None) => clean(decision),
                };
                let count = iterations(end.iteration);
                (painter.good("✓"), format!("{reason}, {count}"))
            }
        };
        let truth = match &record.audit {
            Some(audit) => format!(", really {}", clean(&audit.truth)),
            None => String::new(),
        };
        let time = seconds(record.duration_ms);
        format!("{mark} {} {how}{truth}, {time}", run.path())
    }

    /// One object a line.
    fn json(&self, step: &Step<'_>) -> Value {
        let id = |run: &RunId| format!("{}/{}", self.name, run.path());
        let named = |run: &RunId| named(run, &id(run));
        match step {
            Step::Opened(standing) => {
                json!({ "event": "opened", "name": self.name, "standing": whole(*standing) })
            }
            Step::SetAside { run, to } => {
                json!({ "event": "set_aside", "run": named(run), "to": to })
            }
            Step::Begun { run, attempt } => {
                json!({ "event": "begun", "run": named(run), "attempt": attempt })
            }
            Step::Iteration { run, iteration } => {
                json!({ "event": "iteration", "run": named(run), "iteration": iteration })
            }
            Step::Ended {
                run,
                record,
                standing,
            } => json!({
                "event": "ended", "run": named(run), "record": record, "standing": whole(*standing),
            }),
        }
    }
}

fn whole(standing: Standing) -> Value {
    json!({ "total": standing.total, "done": standing.done, "remaining_ms": standing.remaining_ms })
}

/// `about 3 min left`; nothing where nothing is known.
pub(super) fn left(standing: Standing) -> Option<String> {
    let left = standing.remaining_ms?;
    Some(format!("about {} left", rounded(left)))
}

/// An estimate is no more exact than this.
fn rounded(milliseconds: u64) -> String {
    match milliseconds / 1000 {
        0..90 => running(milliseconds),
        seconds @ 90..5400 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// One line for each event: for logs, pipes and machines.
pub(super) struct Lines(Told);

impl Lines {
    pub(super) fn new(told: Told) -> Self {
        Self(told)
    }
}

impl Observer for Lines {
    fn see(&self, step: &Step<'_>) {
        let text = if self.0.is_json {
            Some(self.0.json(step).to_string())
        } else {
            self.0.line(step).map(|line| match step {
                Step::Ended { standing, .. } => {
                    let left = left(*standing).filter(|_| standing.done < standing.total);
                    let left = left.map(|left| format!("; {left}")).unwrap_or_default();
                    format!("{}/{} {line}{left}", standing.done, standing.total)
                }
                _ => line,
            })
        };
        if let Some(text) = text {
            // Whoever does not listen any more does not end the experiment.
            let _ = print(&format!("{text}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_rounded_to_what_can_be_known() {
        for (milliseconds, text) in [
            (900, "0 s"),
            (45_000, "45 s"),
            (89_000, "1 min 29 s"),
            (100_000, "2 min"),
            (3_000_000, "50 min"),
            (9_000_000, "2 h 30 min"),
        ] {
            assert_eq!(rounded(milliseconds), text);
        }
    }
}
