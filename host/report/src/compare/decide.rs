//! What follows from a comparison: the gate on by default, only for those who ask, or nothing yet.

use super::amounts::Values;
use super::metrics::AmountMetric;
use super::{Options, Side};
use crate::model::{
    Better, Comparison, Decision, Interval, Outcome, Rate, RateRow, SampleRatio, Standing, Step,
};
use crate::run::{Run, Source};
use crate::statistics;

/// What stands for the cost, the first that the runs tell.
pub const COST_METRICS: [AmountMetric; 4] = [
    AmountMetric::Cost,
    AmountMetric::Tokens,
    AmountMetric::Latency,
    AmountMetric::Iterations,
];

/// At least this share of an arm must tell what it cost.
const KNOWN: f64 = 0.8;

/// When to turn the gate on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// By how much the primary metric has to improve: 0.05 is five points.
    pub min_reduction: f64,
    /// By how much the mean cost of a run may rise: 0.5 is by half.
    pub max_cost_increase: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            min_reduction: 0.05,
            max_cost_increase: 0.5,
        }
    }
}

/// Both arms.
#[derive(Clone, Copy)]
pub(super) struct Arms<'a> {
    pub(super) runs: &'a [Run],
    pub(super) before: &'a Side,
    pub(super) after: &'a Side,
}

pub(super) fn decide(
    arms: Arms<'_>,
    overall: &Comparison,
    ratio: &SampleRatio,
    options: &Options,
) -> Decision {
    let primary = overall.rates.iter().find(|row| row.primary);
    let (steps, remedies): (Vec<Step>, Vec<Remedy>) =
        [gain(arms, primary, options), cost(arms, options)]
            .into_iter()
            .unzip();
    let open = steps.iter().zip(remedies);
    let open = open.filter(|(step, _)| step.standing == Standing::Open);
    let remedies: Vec<Remedy> = open.map(|(_, remedy)| remedy).collect();
    let remedy = Remedy::of_all(&remedies);
    let standings: Vec<Standing> = steps.iter().map(|step| step.standing).collect();
    let outcome = if ratio.suspicious {
        Outcome::NotEnoughData
    } else if standings.contains(&Standing::NotMet) {
        Outcome::KeepOptIn
    } else if standings.contains(&Standing::Open) {
        Outcome::NotEnoughData
    } else {
        Outcome::DefaultOn
    };
    let message = match outcome {
        Outcome::DefaultOn => {
            "every condition is met, even at the worse end of its interval".to_owned()
        }
        Outcome::KeepOptIn => {
            let missed = steps.iter().find(|step| step.standing == Standing::NotMet);
            let missed = missed.map_or("", |step| step.condition.as_str());
            format!("a condition is missed, even at the better end of its interval: {missed}")
        }
        Outcome::NotEnoughData if ratio.suspicious => ratio.message.clone(),
        Outcome::NotEnoughData => {
            let open = steps.iter().find(|step| step.standing == Standing::Open);
            let open = open.map_or("", |step| step.condition.as_str());
            format!("a condition is open: {open}{}", remedy.in_words())
        }
    };
    let is_open = outcome == Outcome::NotEnoughData;
    Decision {
        outcome,
        message,
        steps,
        needed_per_arm: match remedy {
            Remedy::Runs(needed) if is_open => Some(needed),
            _ => None,
        },
    }
}

/// What would settle an open condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// So many runs in each arm, if they went like these.
    Runs(u64),
    /// An audit of so many completions whose truth is unknown.
    Audit(u64),
    /// Nothing that can be named.
    Unknown,
}

impl Remedy {
    /// What settles all of them: an audit comes first, because it may change everything else; then as many runs as the
    /// condition needs that needs most. Unknown if that is unknown of one of them.
    fn of_all(remedies: &[Self]) -> Self {
        remedies
            .iter()
            .copied()
            .reduce(|one, other| match (one, other) {
                (Self::Audit(one), Self::Audit(other)) => Self::Audit(one.max(other)),
                (Self::Audit(count), _) | (_, Self::Audit(count)) => Self::Audit(count),
                (Self::Runs(one), Self::Runs(other)) => Self::Runs(one.max(other)),
                _ => Self::Unknown,
            })
            .unwrap_or(Self::Unknown)
    }

    fn in_words(self) -> String {
        match self {
            Self::Runs(needed) => {
                format!("; {needed} runs in each arm would settle it, if they went like these")
            }
            Self::Audit(1) => {
                "; audit the completion of unknown truth, or import a label for it".to_owned()
            }
            Self::Audit(count) => {
                format!(
                    "; audit the {count} completions of unknown truth, or import labels for them"
                )
            }
            Self::Unknown => String::new(),
        }
    }

    fn runs(needed: Option<u64>) -> Self {
        needed.map_or(Self::Unknown, Self::Runs)
    }
}

/// Whether the primary metric improves enough, and what would tell.
fn gain(arms: Arms<'_>, primary: Option<&RateRow>, options: &Options) -> (Step, Remedy) {
    let metric = options.primary();
    let threshold = options.thresholds.min_reduction;
    let (sign, verb) = match metric.better() {
        Better::Lower => (-1.0, "falls"),
        Better::Higher | Better::Neither => (1.0, "rises"),
    };
    let condition = format!(
        "{} {verb} by at least {} points",
        metric.subject(),
        points(threshold)
    );
    let open = |arithmetic: &str| Step {
        condition: condition.clone(),
        estimate: None,
        interval: None,
        threshold,
        standing: Standing::Open,
        arithmetic: arithmetic.to_owned(),
    };
    let Some(row) = primary else {
        return (open("it was left out"), Remedy::Unknown);
    };
    let rates = row.before.rate.zip(row.after.rate);
    let found = row
        .difference
        .as_ref()
        .and_then(|found| Some((found.estimate, found.interval?)));
    let (Some((before, after)), Some((estimate, interval))) = (rates, found) else {
        return unknown(arms.runs, row, open);
    };
    let gain = sign * estimate;
    let interval = turned(interval, sign);
    let (standing, remedy, range) = match stands(interval, threshold) {
        Standing::Open => (Standing::Open, Remedy::Unknown, None),
        standing => of_any_truth(arms.runs, row, standing, sign, threshold),
    };
    let range = range.map_or_else(String::new, |(low, high)| {
        format!(
            "; between {} and {} points, if the completions of unknown truth were audited",
            points(low),
            points(high)
        )
    });
    let arithmetic = format!(
        "from {} % to {} %: {} points, between {} and {} with 95 % confidence ({}){range}; {} asked",
        points(before),
        points(after),
        points(gain),
        points(interval.low),
        points(interval.high),
        row.difference
            .as_ref()
            .map_or("", |found| found.method.as_str()),
        points(threshold),
    );
    // The sizes are of two independent arms with these rates: pairs need fewer.
    let needed = match metric.better() {
        Better::Lower => statistics::needed_per_arm(before, after, threshold),
        Better::Higher | Better::Neither => {
            statistics::needed_per_arm(1.0 - before, 1.0 - after, threshold)
        }
    };
    // Not every run is one that the rate is of.
    let runs_of = |needed: u64, rate: &Rate, side: &Side| {
        let runs = u128::from(needed) * side.runs.len() as u128;
        runs.div_ceil(u128::from(rate.of.max(1)))
    };
    let needed = needed.and_then(|needed| {
        let first = runs_of(needed, &row.before, arms.before);
        let second = runs_of(needed, &row.after, arms.after);
        u64::try_from(first.max(second)).ok()
    });
    let step = Step {
        condition,
        estimate: Some(gain),
        interval: Some(interval),
        threshold,
        standing,
        arithmetic,
    };
    // More runs do not settle what an audit has to.
    let remedy = match stands(interval, threshold) {
        Standing::Open => Remedy::runs(needed),
        Standing::Met | Standing::NotMet => remedy,
    };
    (step, remedy)
}

/// The condition where an arm has no run that the metric is of.
fn unknown(runs: &[Run], row: &RateRow, open: impl Fn(&str) -> Step) -> (Step, Remedy) {
    let arm = match (row.before.of, row.after.of) {
        (0, 0) => "in either arm",
        (0, _) => "before",
        _ => "after",
    };
    if unaudited(row) > 0 {
        let what = format!("no completion {arm} was audited, so nobody knows how many are false");
        (open(&what), audit(runs, row))
    } else {
        let what = format!("there is no run {arm} of which it is known");
        (open(&what), Remedy::Unknown)
    }
}

fn unaudited(row: &RateRow) -> u64 {
    (row.before.unaudited.len() + row.after.unaudited.len()) as u64
}

/// An audit of the completions of unknown truth. What a transcript does not tell, no audit can.
fn audit(runs: &[Run], row: &RateRow) -> Remedy {
    let all = row.before.unaudited.iter().chain(&row.after.unaudited);
    let can =
        all.filter(|place| super::at(runs, **place).is_some_and(|run| run.source == Source::Log));
    match can.count() as u64 {
        0 => Remedy::Unknown,
        count => Remedy::Audit(count),
    }
}

/// How a condition stands that is settled by what is known, whatever an audit of the completions of unknown truth says; and
/// from which gain to which it can say. It is open where that can change it.
fn of_any_truth(
    runs: &[Run],
    row: &RateRow,
    standing: Standing,
    sign: f64,
    threshold: f64,
) -> (Standing, Remedy, Option<(f64, f64)>) {
    if unaudited(row) == 0 {
        return (standing, Remedy::Unknown, None);
    }
    // None, or all, of those whose truth is unknown count.
    let with = |rate: &Rate, all: bool| {
        let more = rate.unaudited.len() as u64;
        let count = if all { rate.count + more } else { rate.count };
        (count, rate.of + more)
    };
    let extreme = |all_before: bool| {
        let (before, after) = (with(&row.before, all_before), with(&row.after, !all_before));
        let interval = statistics::newcombe(after, before);
        interval.map(|interval| stands(turned(interval, sign), threshold))
    };
    let is_sure = [true, false]
        .into_iter()
        .all(|all_before| extreme(all_before) == Some(standing));
    let bounds = row.difference.as_ref().and_then(|found| found.bounds);
    let range = bounds
        .map(|bounds| turned(bounds, sign))
        .map(|bounds| (bounds.low, bounds.high));
    if is_sure {
        (standing, Remedy::Unknown, range)
    } else {
        (Standing::Open, audit(runs, row), range)
    }
}

/// Whether runs get dearer by more than they may, and how many runs would tell.
fn cost(arms: Arms<'_>, options: &Options) -> (Step, Remedy) {
    let threshold = options.thresholds.max_cost_increase;
    let told = COST_METRICS
        .into_iter()
        .filter(|metric| options.wants(metric.id()));
    for metric in told {
        let first = Values::of(arms.runs, &arms.before.runs, metric);
        let second = Values::of(arms.runs, &arms.after.runs, metric);
        if first.known() < KNOWN || second.known() < KNOWN {
            continue;
        }
        let means = statistics::mean(&first.sorted).zip(statistics::mean(&second.sorted));
        let Some((before, after)) = means.filter(|(before, _)| *before > 0.0) else {
            continue;
        };
        return dearer(metric, (before, after), &first, &second, threshold);
    }
    let step = Step {
        condition: format!(
            "the mean cost of a run rises by at most {} %",
            points(threshold)
        ),
        estimate: None,
        interval: None,
        threshold,
        standing: Standing::Open,
        arithmetic: "the runs do not tell what they used".to_owned(),
    };
    (step, Remedy::Unknown)
}

fn dearer(
    metric: AmountMetric,
    (before, after): (f64, f64),
    first: &Values,
    second: &Values,
    threshold: f64,
) -> (Step, Remedy) {
    let estimate = after / before - 1.0;
    let ratio =
        statistics::bootstrap_mean_ratio(&second.sorted, &first.sorted, super::amounts::SEED);
    let interval = ratio.map(|ratio| Interval {
        low: ratio.low - 1.0,
        high: ratio.high - 1.0,
    });
    // Less is better, so both are turned.
    let standing = interval.map_or(Standing::Open, |interval| {
        stands(turned(interval, -1.0), -threshold)
    });
    let sure = interval.map_or_else(
        || {
            format!(
                "too few data for an interval ({} needed in each arm)",
                statistics::needed_for_mean()
            )
        },
        |interval| {
            format!(
                "between {} and {} % with 95 % confidence (bootstrap)",
                points(interval.low),
                points(interval.high)
            )
        },
    );
    let step = Step {
        condition: format!(
            "the mean {} of a run rises by at most {} %",
            metric.noun(),
            points(threshold)
        ),
        estimate: Some(estimate),
        interval,
        threshold,
        standing,
        arithmetic: format!(
            "from {before:.4} to {after:.4} {}: {} %, {sure}; {} % allowed",
            metric.unit(),
            points(estimate),
            points(threshold)
        ),
    };
    let runs = first.sorted.len().min(second.sorted.len());
    let needed = interval.and_then(|interval| narrower(estimate, interval, threshold, runs));
    (step, Remedy::runs(needed))
}

/// How many runs in each arm make an interval so much narrower that it does not reach over a threshold any more: widths
/// fall with the root of the number.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is a rounded number of runs, and bounded"
)]
fn narrower(estimate: f64, interval: Interval, threshold: f64, runs: usize) -> Option<u64> {
    let distance = estimate - threshold;
    let width = if distance > 0.0 {
        estimate - interval.low
    } else {
        interval.high - estimate
    };
    let times = width / distance;
    let needed = libm::ceil(runs as f64 * times * times);
    (needed.is_finite() && needed <= 1e7).then_some(needed as u64)
}

/// How a condition stands that asks for at least so much.
fn stands(interval: Interval, threshold: f64) -> Standing {
    if interval.low >= threshold {
        Standing::Met
    } else if interval.high < threshold {
        Standing::NotMet
    } else {
        Standing::Open
    }
}

fn turned(interval: Interval, sign: f64) -> Interval {
    if sign < 0.0 {
        Interval {
            low: -interval.high,
            high: -interval.low,
        }
    } else {
        interval
    }
}

/// A share in hundredths, with one decimal place.
fn points(share: f64) -> String {
    match format!("{:.1}", share * 100.0) {
        // A rounded nothing has no sign.
        nothing if nothing == "-0.0" => "0.0".to_owned(),
        text => text,
    }
}

impl Values {
    /// The share of runs that tell.
    #[allow(clippy::cast_precision_loss, reason = "nobody has 2^53 runs")]
    fn known(&self) -> f64 {
        match self.of {
            0 => 0.0,
            of => self.sorted.len() as f64 / of as f64,
        }
    }
}
