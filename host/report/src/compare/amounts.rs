//! Amounts per run, and their differences.

use super::metrics::{AMOUNTS, AmountMetric};
use super::pairing::Paired;
use super::{Options, at};
use crate::model::{Amount, AmountRow, Difference, Estimate, RunList};
use crate::run::Run;
use crate::statistics::{self, Statistic};

/// Where chance begins. The same data give the same digits.
pub(super) const SEED: u64 = 0x5241_4c50_4847_4154;
/// The quantile beyond which one run in twenty lies.
const P95: f64 = 0.95;

pub(super) fn rows(
    runs: &[Run],
    before: &[u32],
    after: &[u32],
    paired: &Paired,
    options: &Options,
) -> Vec<AmountRow> {
    let wanted = AMOUNTS.into_iter();
    wanted
        .filter(|metric| options.wants(metric.id()))
        .map(|metric| row(runs, before, after, paired, metric))
        .collect()
}

/// The values of one arm.
pub(super) struct Values {
    /// From the least to the greatest.
    pub(super) sorted: Vec<f64>,
    unknown: RunList,
    pub(super) of: u64,
}

impl Values {
    pub(super) fn of(runs: &[Run], places: &[u32], metric: AmountMetric) -> Self {
        let mut sorted = Vec::new();
        let mut unknown = Vec::new();
        for place in places {
            match at(runs, *place).and_then(|run| metric.of(run)) {
                Some(value) => sorted.push(value),
                None => unknown.push(*place),
            }
        }
        sorted.sort_by(f64::total_cmp);
        Self {
            sorted,
            unknown,
            of: places.len() as u64,
        }
    }

    fn quantile(&self, p: f64) -> Estimate {
        let interval = statistics::bootstrap_quantile(&self.sorted, p, SEED);
        let needed = statistics::needed(p);
        Estimate {
            value: statistics::quantile(&self.sorted, p),
            interval,
            needs: interval.is_none().then_some(needed),
        }
    }

    fn mean(&self) -> Estimate {
        let interval = statistics::bootstrap_mean(&self.sorted, SEED);
        Estimate {
            value: statistics::mean(&self.sorted),
            interval,
            needs: interval.is_none().then_some(statistics::needed_for_mean()),
        }
    }

    fn amount(self) -> Amount {
        let known = self.sorted.len() as u64;
        Amount {
            known,
            of: self.of,
            median: self.quantile(0.5),
            p95: self.quantile(P95),
            mean: self.mean(),
            total: (known > 0).then(|| statistics::sum(&self.sorted)),
            unknown: self.unknown,
        }
    }
}

fn row(
    runs: &[Run],
    before: &[u32],
    after: &[u32],
    paired: &Paired,
    metric: AmountMetric,
) -> AmountRow {
    let pairs: Vec<(f64, f64)> = paired
        .pairs
        .iter()
        .filter_map(|pair| {
            let of = |place: u32| at(runs, place).and_then(|run| metric.of(run));
            Some((of(pair.before)?, of(pair.after)?))
        })
        .collect();
    let (first, second) = (
        Values::of(runs, before, metric),
        Values::of(runs, after, metric),
    );
    let difference = |statistic: Statistic| {
        if paired.pairs.is_empty() {
            independent(&first.sorted, &second.sorted, statistic)
        } else {
            of_pairs(&pairs, statistic)
        }
    };
    AmountRow {
        metric: metric.id().to_owned(),
        title: metric.title().to_owned(),
        unit: metric.unit().to_owned(),
        median_difference: difference(Statistic::Median),
        p95_difference: difference(Statistic::P95),
        mean_difference: difference(Statistic::Mean),
        before: first.amount(),
        after: second.amount(),
    }
}

fn of_sorted(sorted: &[f64], statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Median => statistics::quantile(sorted, 0.5),
        Statistic::P95 => statistics::quantile(sorted, P95),
        Statistic::Mean => statistics::mean(sorted),
    }
}

fn independent(before: &[f64], after: &[f64], statistic: Statistic) -> Option<Difference> {
    let estimate = of_sorted(after, statistic)? - of_sorted(before, statistic)?;
    let (interval, tested) = match statistic {
        Statistic::Median => (
            statistics::bootstrap_quantile_difference(after, before, 0.5, SEED),
            statistics::test_groups(after, before),
        ),
        Statistic::P95 => (
            statistics::bootstrap_quantile_difference(after, before, P95, SEED),
            None,
        ),
        Statistic::Mean => (
            statistics::bootstrap_mean_difference(after, before, SEED),
            None,
        ),
    };
    Some(Difference {
        estimate,
        interval,
        bounds: None,
        method: "bootstrap".to_owned(),
        p: tested.as_ref().map(|tested| tested.p),
        p_adjusted: None,
        test: tested.map(|tested| tested.test.to_owned()),
    })
}

fn of_pairs(pairs: &[(f64, f64)], statistic: Statistic) -> Option<Difference> {
    let sorted = |side: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(side).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let before = of_sorted(&sorted(|(before, _)| *before), statistic)?;
    let after = of_sorted(&sorted(|(_, after)| *after), statistic)?;
    let tested = match statistic {
        Statistic::Median => statistics::test_pairs(pairs),
        Statistic::P95 | Statistic::Mean => None,
    };
    Some(Difference {
        estimate: after - before,
        interval: statistics::bootstrap_pairs(pairs, statistic, SEED),
        bounds: None,
        method: "bootstrap of pairs".to_owned(),
        p: tested.as_ref().map(|tested| tested.p),
        p_adjusted: None,
        test: tested.map(|tested| tested.test.to_owned()),
    })
}
