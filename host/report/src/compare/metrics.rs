//! What is measured, and what each metric means.

use super::Options;
use crate::model::{Better, Definition};
use crate::run::{Run, Truth};

/// A share of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateMetric {
    /// Ended as complete.
    Completion,
    /// Ended as complete, and is.
    VerifiedCompletion,
    /// Of audited completions, those that are not complete.
    FalseComplete,
    /// Left to a person.
    Handoff,
}

/// An amount per run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountMetric {
    /// Turns of the agent.
    Iterations,
    /// Time.
    Latency,
    /// Calls of tools.
    ToolCalls,
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
}

/// In the order of the report.
pub const RATES: [RateMetric; 4] = [
    RateMetric::Completion,
    RateMetric::VerifiedCompletion,
    RateMetric::FalseComplete,
    RateMetric::Handoff,
];

/// In the order of the report.
pub const AMOUNTS: [AmountMetric; 5] = [
    AmountMetric::Iterations,
    AmountMetric::Latency,
    AmountMetric::ToolCalls,
    AmountMetric::Tokens,
    AmountMetric::Cost,
];

impl RateMetric {
    /// As it is written in JSON and on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Completion => "completion_rate",
            Self::VerifiedCompletion => "verified_completion_rate",
            Self::FalseComplete => "false_complete_rate",
            Self::Handoff => "handoff_rate",
        }
    }

    /// By its id.
    pub fn find(id: &str) -> Option<Self> {
        RATES.into_iter().find(|metric| metric.id() == id)
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Completion => "Completed",
            Self::VerifiedCompletion => "Completed, and really done",
            Self::FalseComplete => "False complete",
            Self::Handoff => "Left to a person",
        }
    }

    /// In the middle of a sentence.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::Completion => "the completion rate",
            Self::VerifiedCompletion => "the rate of runs that are really done",
            Self::FalseComplete => "the false-complete rate",
            Self::Handoff => "the handoff rate",
        }
    }

    pub(super) fn better(self) -> Better {
        match self {
            Self::Completion => Better::Neither,
            Self::VerifiedCompletion => Better::Higher,
            Self::FalseComplete | Self::Handoff => Better::Lower,
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Completion => {
                "runs that ended as complete, of all runs whose end is known: the gate let the agent go, or nothing held the \
                 agent and it said that it is done. Runs that crashed count as not completed."
            }
            Self::VerifiedCompletion => {
                "runs that ended as complete and are, by an audit, a label or the verdict of a gate in shadow, of all runs of \
                 which that is known. A run that did not end as complete is known."
            }
            Self::FalseComplete => {
                "runs that ended as complete although an audit, a label or the verdict of a gate in shadow says otherwise, of \
                 the audited completions: the runs that ended as complete and of which one of these is known. Completions \
                 that were not audited are not in it; they give the bounds beside it. An arm that completes few runs can \
                 have a low rate and be of little use, so read it together with the rate of runs that are really done."
            }
            Self::Handoff => {
                "runs that a person has to go on with, of all runs whose end is known: they stopped for another reason than \
                 being complete, crashed, or were completed by a person's override."
            }
        }
    }

    /// Whether a run counts. None: it is not known.
    pub(super) fn of(self, run: &Run) -> Option<bool> {
        use crate::run::Ending;
        if run.ending == Ending::Unknown {
            return None;
        }
        let completed = run.ending.is_completed();
        let truth = match run.truth {
            Truth::Complete => Some(true),
            Truth::Incomplete => Some(false),
            Truth::Unknown => None,
        };
        match self {
            Self::Completion => Some(completed),
            Self::VerifiedCompletion if completed => truth,
            Self::FalseComplete if completed => truth.map(|is_done| !is_done),
            Self::VerifiedCompletion => Some(false),
            // It can't be false, so it says nothing about how often completions are.
            Self::FalseComplete => None,
            Self::Handoff => Some(!completed || run.overridden),
        }
    }

    /// Whether a run would count if its completion were audited.
    pub(super) fn awaits_audit(self, run: &Run) -> bool {
        let is_of_truth = matches!(self, Self::VerifiedCompletion | Self::FalseComplete);
        is_of_truth && run.ending.is_completed() && run.truth == Truth::Unknown
    }

    /// Whether the runs that count are the same ones in both arms, so that pairs can be compared. Each arm has its own
    /// completions.
    pub(super) fn can_be_paired(self) -> bool {
        self != Self::FalseComplete
    }
}

impl AmountMetric {
    /// As it is written in JSON and on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Latency => "latency_ms",
            Self::ToolCalls => "tool_calls",
            Self::Tokens => "tokens",
            Self::Cost => "cost_usd",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Iterations => "Iterations",
            Self::Latency => "Latency",
            Self::ToolCalls => "Tool calls",
            Self::Tokens => "Tokens",
            Self::Cost => "Cost",
        }
    }

    /// In the middle of a sentence.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Iterations => "number of iterations",
            Self::Latency => "latency",
            Self::ToolCalls => "number of tool calls",
            Self::Tokens => "number of tokens",
            Self::Cost => "cost",
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Latency => "ms",
            Self::ToolCalls => "calls",
            Self::Tokens => "tokens",
            Self::Cost => "USD",
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Iterations => "turns of the agent in a run, up to its end.",
            Self::Latency => {
                "the time that the iterations of a run took together, agent and checks; waiting between them is not in it."
            }
            Self::ToolCalls => "calls of tools in a run, as the agent's client reports them.",
            Self::Tokens => {
                "tokens of a run, read and written, as the agent's client reports them; none reported is unknown."
            }
            Self::Cost => {
                "what a run cost, as the agent's client reports it; none reported is unknown, not free."
            }
        }
    }

    /// How much a run used. None: it is not known.
    #[allow(
        clippy::cast_precision_loss,
        reason = "what a run uses is far below 2^53"
    )]
    pub(super) fn of(self, run: &Run) -> Option<f64> {
        let used = &run.used;
        match self {
            Self::Iterations => used.iterations.map(f64::from),
            Self::Latency => used.elapsed_ms.map(|value| value as f64),
            Self::ToolCalls => used.tool_calls.map(|value| value as f64),
            Self::Tokens => used.tokens.map(|value| value as f64),
            Self::Cost => {
                let cost: f64 = used.cost_usd.as_deref()?.parse().ok()?;
                (cost.is_finite() && cost >= 0.0).then_some(cost)
            }
        }
    }
}

/// What the metrics of a report mean.
pub(super) fn definitions(options: &Options) -> Vec<Definition> {
    let rates = RATES.iter().map(|metric| (metric.id(), metric.meaning()));
    let amounts = AMOUNTS.iter().map(|metric| (metric.id(), metric.meaning()));
    rates
        .chain(amounts)
        .filter(|(id, _)| options.wants(id))
        .map(|(id, meaning)| Definition {
            metric: id.to_owned(),
            meaning: meaning.to_owned(),
        })
        .collect()
}
