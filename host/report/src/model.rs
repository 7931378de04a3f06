//! The report, as data: what the table, the Markdown, the page and the JSON all show.

use serde::Serialize;

use crate::run::Run;

/// Two arms, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version of this shape.
    pub version: u32,
    /// Every run. Lists behind counts are places in here.
    pub runs: Vec<Run>,
    /// The arm that is compared with.
    pub before: Arm,
    /// The arm that is compared.
    pub after: Arm,
    /// Whether runs are compared task by task.
    pub pairing: Pairing,
    /// All runs.
    pub overall: Comparison,
    /// The runs of each task class, by its name; runs without one are under an empty name.
    pub classes: Vec<Class>,
    /// Whether runs were divided between the arms as they should have been.
    pub sample_ratio: SampleRatio,
    /// What follows from it.
    pub decision: Decision,
    /// What was not known, a sentence each, with the runs that it is about.
    pub missing: Vec<Missing>,
    /// What each metric counts.
    pub definitions: Vec<Definition>,
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Arm {
    /// What it was called for: paths or an expression.
    pub name: String,
    /// Its runs, also those that crashed.
    pub runs: RunList,
}

/// Places in [`Report::runs`].
pub type RunList = Vec<u32>;

/// Whether runs are compared task by task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pairing {
    /// Whether they are.
    pub paired: bool,
    /// How many pairs.
    pub pairs: u64,
    /// One sentence: why, or why not.
    pub reason: String,
}

/// A task class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Class {
    /// Its name; empty for runs without one.
    pub name: String,
    /// Its runs.
    pub comparison: Comparison,
}

/// Two sets of runs, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Shares of runs.
    pub rates: Vec<RateRow>,
    /// Amounts per run.
    pub amounts: Vec<AmountRow>,
    /// How runs ended, in a fixed order; only endings that occur.
    pub endings: Vec<EndingRow>,
    /// How many runs took how many iterations.
    pub iterations: Vec<Bin>,
    /// Pairs, where runs are compared task by task.
    pub pairs: Vec<Pair>,
}

/// A share of runs in both arms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateRow {
    /// The metric's id, for example `false_complete_rate`.
    pub metric: String,
    /// For a person.
    pub title: String,
    /// Which way is better.
    pub better: Better,
    /// Chosen before the experiment: its p value is not adjusted.
    pub primary: bool,
    /// Before.
    pub before: Rate,
    /// After.
    pub after: Rate,
    /// After minus before. None: too few data.
    pub difference: Option<Difference>,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither.
    Neither,
}

/// A share of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rate {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// The share. None: of no run.
    pub rate: Option<f64>,
    /// Wilson's interval at 95 %.
    pub interval: Option<Interval>,
    /// Which runs they are.
    pub runs: RunList,
    /// Completions of unknown truth: an audit of them would add them to `of`.
    pub unaudited: RunList,
    /// The least and the greatest share that an audit of all of `unaudited` can give. None: none of them.
    pub bounds: Option<Interval>,
}

/// A range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// After minus before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The estimate.
    pub estimate: f64,
    /// At 95 %. None: too few data.
    pub interval: Option<Interval>,
    /// The least and the greatest difference that an audit of all completions of unknown truth can give. None: none of them.
    pub bounds: Option<Interval>,
    /// How the interval was made, for example `Newcombe, paired`.
    pub method: String,
    /// Two-sided. None: no test fits.
    pub p: Option<f64>,
    /// After Holm's adjustment over the secondary metrics. None for the primary one, and where there is no p value.
    pub p_adjusted: Option<f64>,
    /// The test, for example `McNemar, mid-p`.
    pub test: Option<String>,
}

/// An amount per run in both arms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AmountRow {
    /// The metric's id: `iterations`, `latency_ms`, `tool_calls`, `tokens`, `cost_usd`.
    pub metric: String,
    /// For a person.
    pub title: String,
    /// `iterations`, `ms`, `calls`, `tokens` or `USD`.
    pub unit: String,
    /// Before.
    pub before: Amount,
    /// After.
    pub after: Amount,
    /// Of the medians.
    pub median_difference: Option<Difference>,
    /// Of the 95th percentiles.
    pub p95_difference: Option<Difference>,
    /// Of the means.
    pub mean_difference: Option<Difference>,
}

/// An amount per run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Amount {
    /// How many runs say how much.
    pub known: u64,
    /// Of how many.
    pub of: u64,
    /// The median.
    pub median: Estimate,
    /// The 95th percentile.
    pub p95: Estimate,
    /// The mean.
    pub mean: Estimate,
    /// All together.
    pub total: Option<f64>,
    /// The runs that do not say.
    pub unknown: RunList,
}

/// A number and how sure it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The number. None: no data at all.
    pub value: Option<f64>,
    /// At 95 %. None: too few data.
    pub interval: Option<Interval>,
    /// How many runs an interval needs, where there are fewer.
    pub needs: Option<u64>,
}

/// How many runs ended in one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EndingRow {
    /// The ending, for example `max_iters`.
    pub ending: String,
    /// Before.
    pub before: RunList,
    /// After.
    pub after: RunList,
}

/// How many runs took so many iterations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// The least.
    pub from: u32,
    /// The most.
    pub to: u32,
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

/// The same task in both arms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The task, and where it was repeated, which repetition.
    pub name: String,
    /// A place in [`Report::runs`].
    pub before: u32,
    /// A place in [`Report::runs`].
    pub after: u32,
}

/// Whether runs were divided between the arms as they should have been.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleRatio {
    /// Whether that can be said: only runs of one experiment are divided.
    pub applies: bool,
    /// Runs before.
    pub before: u64,
    /// Runs after.
    pub after: u64,
    /// Two-sided.
    pub p: Option<f64>,
    /// Whether something is wrong with the division.
    pub suspicious: bool,
    /// One sentence.
    pub message: String,
}

/// What follows from the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// What to do.
    pub outcome: Outcome,
    /// One sentence.
    pub message: String,
    /// The arithmetic, a step each.
    pub steps: Vec<Step>,
    /// How many runs per arm would settle it, if they went like these. None: settled, or not to be told.
    pub needed_per_arm: Option<u64>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The gate should be on unless somebody turns it off.
    DefaultOn,
    /// It should be off unless somebody asks for it.
    KeepOptIn,
    /// Nobody can tell yet.
    NotEnoughData,
}

impl Outcome {
    /// For a person.
    pub fn title(self) -> &'static str {
        match self {
            Self::DefaultOn => "default on",
            Self::KeepOptIn => "keep opt-in",
            Self::NotEnoughData => "not enough data",
        }
    }
}

/// One condition of the decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// What is asked, for example `false completes fall by at least 10 points`.
    pub condition: String,
    /// What was found.
    pub estimate: Option<f64>,
    /// How sure that is.
    pub interval: Option<Interval>,
    /// What it has to be.
    pub threshold: f64,
    /// `met`, `not_met` or `open`.
    pub standing: Standing,
    /// The arithmetic in words, for example `30.0 - 5.0 = 25.0 points, at least 11.2 of them sure; 10.0 asked`.
    pub arithmetic: String,
}

/// How a condition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The whole interval meets it.
    Met,
    /// The whole interval misses it.
    NotMet,
    /// The interval reaches over it.
    Open,
}

/// Something that was not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// One sentence.
    pub message: String,
    /// The runs.
    pub runs: RunList,
}

/// What a metric counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Definition {
    /// The metric's id.
    pub metric: String,
    /// One sentence.
    pub meaning: String,
}
