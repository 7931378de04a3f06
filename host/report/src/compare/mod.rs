//! Two arms, compared: runs to rates, amounts, differences and a decision.

mod amounts;
mod decide;
mod metrics;
mod pairing;
mod rates;
mod select;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Arm, Bin, Class, Comparison, EndingRow, Missing, Report, RunList, SampleRatio};
use crate::run::{Ending, Run, Source, Truth};
use crate::statistics;
use decide::Arms;
use pairing::Paired;

pub use decide::{COST_METRICS, Thresholds};
pub use metrics::{AMOUNTS, AmountMetric, RATES, RateMetric};
pub use select::{Selection, SelectionError};

/// The version of the report's shape.
const VERSION: u32 = 2;
/// Bins of the distribution of iterations.
const BINS: u32 = 20;
/// A division that chance gives less often than this is suspicious.
const SUSPICIOUS: f64 = 0.001;

/// What is compared, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The metric that was chosen before the experiment.
    pub primary: Option<RateMetric>,
    /// Whether there is a part for each task class.
    pub by_class: bool,
    /// When to turn the gate on.
    pub thresholds: Thresholds,
    /// Metrics to leave out, by their ids.
    pub omit: BTreeSet<String>,
}

impl Options {
    fn primary(&self) -> RateMetric {
        self.primary.unwrap_or(RateMetric::FalseComplete)
    }

    fn wants(&self, metric: &str) -> bool {
        !self.omit.contains(metric)
    }
}

/// An arm, as it was asked for, and its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// Places in the list of all runs.
    pub runs: RunList,
}

/// Why there is nothing to compare.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// An arm has no run.
    #[error("the arm {name} has no run; {known}")]
    Empty {
        /// The arm.
        name: String,
        /// What there is instead.
        known: String,
    },
    /// A run is in both arms.
    #[error("the run {run} is in both arms; a run can only be in one of them")]
    InBoth {
        /// The run.
        run: String,
    },
}

/// Compares two arms.
///
/// ```
/// use ralph_gate_report::compare::{Options, Side, compare};
/// use ralph_gate_report::run::{Ending, Run};
///
/// let run = |id: &str, ending| Run { id: id.to_owned(), ending, ..Run::default() };
/// let runs = vec![run("a", Ending::Released), run("b", Ending::Completed)];
/// let side = |name: &str, place| Side { name: name.to_owned(), runs: vec![place] };
/// let report = compare(runs, side("before", 0), side("after", 1), &[], &Options::default())?;
/// assert_eq!(report.overall.rates[0].before.count, 1);
/// # Ok::<(), ralph_gate_report::compare::CompareError>(())
/// ```
pub fn compare(
    mut runs: Vec<Run>,
    before: Side,
    after: Side,
    problems: &[String],
    options: &Options,
) -> Result<Report, CompareError> {
    see_that_arms_are_sound(&runs, &before, &after)?;
    if !options.wants(AmountMetric::Latency.id()) {
        forget_times(&mut runs);
    }
    let paired = Paired::find(&runs, &before.runs, &after.runs);
    let overall = comparison(&runs, &before.runs, &after.runs, &paired, options);
    let classes = if options.by_class {
        classes(&runs, &before, &after, options)
    } else {
        Vec::new()
    };
    let sample_ratio = sample_ratio(&runs, &before, &after);
    let arms = Arms {
        runs: &runs,
        before: &before,
        after: &after,
    };
    let decision = decide::decide(arms, &overall, &sample_ratio, options);
    let missing = missing(&runs, &before, &after, &paired, problems);
    Ok(Report {
        version: VERSION,
        sample_ratio,
        pairing: paired.pairing(),
        before: arm(before),
        after: arm(after),
        overall,
        classes,
        decision,
        missing,
        definitions: metrics::definitions(options),
        runs,
    })
}

/// A report that says nothing of time is the same whenever the runs are repeated.
fn forget_times(runs: &mut [Run]) {
    for run in runs {
        run.started_at_ms = None;
        run.used.elapsed_ms = None;
    }
}

fn arm(side: Side) -> Arm {
    Arm {
        name: side.name,
        runs: side.runs,
    }
}

fn see_that_arms_are_sound(runs: &[Run], before: &Side, after: &Side) -> Result<(), CompareError> {
    for side in [before, after] {
        if side.runs.is_empty() {
            return Err(CompareError::Empty {
                name: side.name.clone(),
                known: known(runs),
            });
        }
    }
    let first: BTreeSet<u32> = before.runs.iter().copied().collect();
    let both = after.runs.iter().find(|place| first.contains(place));
    match both.and_then(|place| at(runs, *place)) {
        Some(run) => Err(CompareError::InBoth {
            run: run.id.clone(),
        }),
        None => Ok(()),
    }
}

/// Which labels there are to choose by.
fn known(runs: &[Run]) -> String {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        for (name, value) in run.labels.iter() {
            values.entry(name).or_default().insert(value);
        }
        for name in ["client", "mode", "source"] {
            if let Some(value) = select::value(run, name) {
                values.entry(name).or_default().insert(value);
            }
        }
    }
    let count = match runs.len() {
        1 => "there is 1 run".to_owned(),
        count => format!("there are {count} runs"),
    };
    let few = values.iter().filter(|(_, values)| values.len() <= 8);
    let few: Vec<String> = few
        .map(|(name, values)| {
            let values: Vec<&str> = values.iter().copied().collect();
            format!("{name} = {}", values.join(" or "))
        })
        .collect();
    match few.as_slice() {
        [] => format!("{count}, with nothing to choose by"),
        few => format!("{count}, with {}", few.join("; ")),
    }
}

/// A run by its place.
pub(crate) fn at(runs: &[Run], place: u32) -> Option<&Run> {
    runs.get(usize::try_from(place).ok()?)
}

fn comparison(
    runs: &[Run],
    before: &[u32],
    after: &[u32],
    paired: &Paired,
    options: &Options,
) -> Comparison {
    let mut rates = rates::rows(runs, before, after, paired, options);
    let mut amounts = amounts::rows(runs, before, after, paired, options);
    adjust(&mut rates, &mut amounts);
    Comparison {
        rates,
        amounts,
        endings: endings(runs, before, after),
        iterations: if options.wants(AmountMetric::Iterations.id()) {
            distribution(runs, before, after)
        } else {
            Vec::new()
        },
        pairs: paired.pairs.clone(),
    }
}

/// Holm's adjustment over everything that was not chosen before the experiment.
fn adjust(rates: &mut [crate::model::RateRow], amounts: &mut [crate::model::AmountRow]) {
    let rates = rates.iter_mut().filter(|row| !row.primary);
    let rates = rates.filter_map(|row| row.difference.as_mut());
    let amounts = amounts
        .iter_mut()
        .filter_map(|row| row.median_difference.as_mut());
    let mut tested: Vec<_> = rates
        .chain(amounts)
        .filter(|difference| difference.p.is_some())
        .collect();
    let p: Vec<f64> = tested
        .iter()
        .filter_map(|difference| difference.p)
        .collect();
    for (difference, adjusted) in tested.iter_mut().zip(statistics::holm(&p)) {
        difference.p_adjusted = Some(adjusted);
    }
}

fn classes(runs: &[Run], before: &Side, after: &Side, options: &Options) -> Vec<Class> {
    let mut members: BTreeMap<&str, (RunList, RunList)> = BTreeMap::new();
    let class = |place: u32| {
        let run = at(runs, place);
        run.and_then(|run| run.task_class.as_deref())
            .unwrap_or_default()
    };
    for place in &before.runs {
        members.entry(class(*place)).or_default().0.push(*place);
    }
    for place in &after.runs {
        members.entry(class(*place)).or_default().1.push(*place);
    }
    let class = |(name, (before, after)): (&str, (RunList, RunList))| {
        let paired = Paired::find(runs, &before, &after);
        Class {
            name: name.to_owned(),
            comparison: comparison(runs, &before, &after, &paired, options),
        }
    };
    members.into_iter().map(class).collect()
}

fn endings(runs: &[Run], before: &[u32], after: &[u32]) -> Vec<EndingRow> {
    let mut found: BTreeMap<Ending, (RunList, RunList)> = BTreeMap::new();
    for place in before {
        if let Some(run) = at(runs, *place) {
            found.entry(run.ending).or_default().0.push(*place);
        }
    }
    for place in after {
        if let Some(run) = at(runs, *place) {
            found.entry(run.ending).or_default().1.push(*place);
        }
    }
    let row = |(ending, (before, after)): (Ending, (RunList, RunList))| EndingRow {
        ending: ending.as_str().to_owned(),
        before,
        after,
    };
    found.into_iter().map(row).collect()
}

fn distribution(runs: &[Run], before: &[u32], after: &[u32]) -> Vec<Bin> {
    let of = |places: &[u32]| -> Vec<u32> {
        let runs = places.iter().filter_map(|place| at(runs, *place));
        runs.filter_map(|run| run.used.iterations).collect()
    };
    let (before, after) = (of(before), of(after));
    let Some(most) = before.iter().chain(&after).max().copied() else {
        return Vec::new();
    };
    let width = most.div_ceil(BINS).max(1);
    let bins = most.div_ceil(width).max(1);
    let count = |values: &[u32], from: u32, to: u32| {
        let inside = values.iter().filter(|value| (from..=to).contains(value));
        inside.count() as u64
    };
    (0..bins)
        .map(|index| {
            // Runs that were judged never are in the first bin.
            let from = if index == 0 { 0 } else { index * width + 1 };
            let to = (index + 1) * width;
            Bin {
                from,
                to,
                before: count(&before, from, to),
                after: count(&after, from, to),
            }
        })
        .collect()
}

fn sample_ratio(runs: &[Run], before: &Side, after: &Side) -> SampleRatio {
    let both = before.runs.iter().chain(&after.runs);
    let experiments: BTreeSet<Option<&String>> = both
        .filter_map(|place| at(runs, *place))
        .map(|run| run.labels.get("experiment"))
        .collect();
    let (b, a) = (before.runs.len() as u64, after.runs.len() as u64);
    let applies = experiments.len() == 1 && !experiments.contains(&None);
    if !applies {
        return SampleRatio {
            applies,
            before: b,
            after: a,
            p: None,
            suspicious: false,
            message: "the runs are not of one experiment, so nobody divided them".to_owned(),
        };
    }
    let p = statistics::sample_ratio(b, a, 0.5);
    let suspicious = p < SUSPICIOUS;
    let message = if suspicious {
        format!(
            "{b} and {a} runs are not the even division that was planned (p = {p:.2e}): something decided which runs \
             are missing, and the comparison may be biased"
        )
    } else {
        format!("{b} and {a} runs, as evenly divided as was planned")
    };
    SampleRatio {
        applies,
        before: b,
        after: a,
        p: Some(p),
        suspicious,
        message,
    }
}

fn missing(
    runs: &[Run],
    before: &Side,
    after: &Side,
    paired: &Paired,
    problems: &[String],
) -> Vec<Missing> {
    let places: RunList = before.runs.iter().chain(&after.runs).copied().collect();
    let which = |is_it: &dyn Fn(&Run) -> bool| -> RunList {
        let found = places.iter().copied();
        found
            .filter(|place| at(runs, *place).is_some_and(is_it))
            .collect()
    };
    let chosen: BTreeSet<u32> = places.iter().copied().collect();
    let neither = (0..u32::try_from(runs.len()).unwrap_or(u32::MAX))
        .filter(|place| !chosen.contains(place))
        .collect();
    let is_unaudited = |run: &Run| run.ending.is_completed() && run.truth == Truth::Unknown;
    let lists: [(&str, RunList); 9] = [
        (
            "ended as complete and were not audited, so whether they are complete is not known: run `ralph-gate audit`, or \
             import labels",
            which(&|run| is_unaudited(run) && run.source == Source::Log),
        ),
        (
            "ended as complete, and their transcripts do not tell whether they are: no test was run last, or its result is \
             not known",
            which(&|run| is_unaudited(run) && run.source == Source::Import),
        ),
        (
            "ended without a word, and count as not completed",
            which(&|run| run.ending == Ending::Crashed),
        ),
        (
            "have an end that is not known, and do not count in rates",
            which(&|run| run.ending == Ending::Unknown),
        ),
        (
            "come from logs that are not what was written",
            which(&|run| run.edited),
        ),
        (
            "do not tell what they cost",
            which(&|run| run.used.cost_usd.is_none()),
        ),
        ("have no task class", which(&|run| run.task_class.is_none())),
        (
            "have no partner in the other arm, and do not count in paired differences",
            paired.alone.clone(),
        ),
        ("are in neither arm", neither),
    ];
    let lists = lists.into_iter().filter(|(_, runs)| !runs.is_empty());
    let lists = lists.map(|(what, runs)| {
        let count = match runs.len() {
            1 => "1 run".to_owned(),
            count => format!("{count} runs"),
        };
        Missing {
            message: format!("{count}: {what}"),
            runs,
        }
    });
    let problems = problems.iter().map(|problem| Missing {
        message: problem.clone(),
        runs: Vec::new(),
    });
    lists.chain(problems).collect()
}
