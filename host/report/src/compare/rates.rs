//! Shares of runs, and their differences.

use super::metrics::{RATES, RateMetric};
use super::pairing::Paired;
use super::{Options, at};
use crate::model::{Difference, Interval, Rate, RateRow, RunList};
use crate::run::Run;
use crate::statistics;

pub(super) fn rows(
    runs: &[Run],
    before: &[u32],
    after: &[u32],
    paired: &Paired,
    options: &Options,
) -> Vec<RateRow> {
    let wanted = RATES
        .into_iter()
        .filter(|metric| options.wants(metric.id()));
    wanted
        .map(|metric| {
            let (before, after) = (rate(runs, before, metric), rate(runs, after, metric));
            RateRow {
                metric: metric.id().to_owned(),
                title: metric.title().to_owned(),
                better: metric.better(),
                primary: metric == options.primary(),
                difference: difference(runs, metric, &before, &after, paired),
                before,
                after,
            }
        })
        .collect()
}

fn rate(runs: &[Run], places: &[u32], metric: RateMetric) -> Rate {
    let mut of = 0;
    let (mut counted, mut unaudited) = (RunList::new(), RunList::new());
    for place in places {
        let Some(run) = at(runs, *place) else {
            continue;
        };
        match metric.of(run) {
            Some(true) => {
                of += 1;
                counted.push(*place);
            }
            Some(false) => of += 1,
            None if metric.awaits_audit(run) => unaudited.push(*place),
            None => {}
        }
    }
    let count = counted.len() as u64;
    Rate {
        count,
        of,
        rate: share(count, of),
        interval: statistics::wilson(count, of),
        bounds: bounds(count, of, unaudited.len() as u64),
        runs: counted,
        unaudited,
    }
}

/// The shares that are possible if none, or each, of some more runs counts.
fn bounds(count: u64, of: u64, more: u64) -> Option<Interval> {
    if more == 0 {
        return None;
    }
    Some(Interval {
        low: share(count, of + more)?,
        high: share(count + more, of + more)?,
    })
}

/// The same of the difference. None: no completion in either arm is of unknown truth.
fn bounds_of_difference(before: &Rate, after: &Rate) -> Option<Interval> {
    if before.bounds.is_none() && after.bounds.is_none() {
        return None;
    }
    let range = |rate: &Rate| {
        let sure = rate.rate.map(|share| Interval {
            low: share,
            high: share,
        });
        rate.bounds.or(sure)
    };
    let (before, after) = (range(before)?, range(after)?);
    Some(Interval {
        low: after.low - before.high,
        high: after.high - before.low,
    })
}

#[allow(clippy::cast_precision_loss, reason = "nobody has 2^53 runs")]
fn share(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}

fn difference(
    runs: &[Run],
    metric: RateMetric,
    before: &Rate,
    after: &Rate,
    paired: &Paired,
) -> Option<Difference> {
    if paired.pairs.is_empty() || !metric.can_be_paired() {
        return Some(Difference {
            estimate: after.rate? - before.rate?,
            interval: statistics::newcombe((after.count, after.of), (before.count, before.of)),
            bounds: bounds_of_difference(before, after),
            method: "Newcombe".to_owned(),
            p: Some(statistics::fisher_exact(
                after.count,
                after.of - after.count,
                before.count,
                before.of - before.count,
            )),
            p_adjusted: None,
            test: Some("Fisher, exact".to_owned()),
        });
    }
    let (mut both, mut only_after, mut only_before, mut neither) = (0, 0, 0, 0);
    for pair in &paired.pairs {
        let of = |place: u32| at(runs, place).and_then(|run| metric.of(run));
        match (of(pair.before), of(pair.after)) {
            (Some(true), Some(true)) => both += 1,
            (Some(false), Some(true)) => only_after += 1,
            (Some(true), Some(false)) => only_before += 1,
            (Some(false), Some(false)) => neither += 1,
            _ => {}
        }
    }
    let of = both + only_after + only_before + neither;
    Some(Difference {
        estimate: share(both + only_after, of)? - share(both + only_before, of)?,
        interval: statistics::newcombe_paired(both, only_after, only_before, neither),
        bounds: bounds_of_difference(before, after),
        method: "Newcombe, paired".to_owned(),
        p: Some(statistics::mcnemar(only_after, only_before).mid_p),
        p_adjusted: None,
        test: Some("McNemar, mid-p".to_owned()),
    })
}
