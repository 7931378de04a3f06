//! Quantiles, and how many runs they need.

use super::number::{length, place, power};
use super::tables::binomial;
use crate::model::Interval;

/// The share that an interval at 95 % may miss.
const MISS: f64 = 0.05;

/// The quantile of values in ascending order, type 7: between neighbours in proportion. None: of nothing, or no share.
///
/// ```
/// # use ralph_gate_report::statistics::quantile;
/// let sorted: Vec<f64> = (1..=10).map(f64::from).collect();
/// assert!((quantile(&sorted, 0.95).unwrap() - 9.55).abs() < 1e-12);
/// ```
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let at = At::of(sorted.len(), p)?;
    let low = *sorted.get(at.below)?;
    let high = sorted.get(at.below + 1).copied().unwrap_or(low);
    Some(at.between(low, high))
}

/// How many runs an interval of this quantile needs at 95 %: the widest one there is, from the least value to the
/// largest, misses the quantile when all values are on one side of it, which has the chance `p^n + (1 - p)^n`.
///
/// ```
/// # use ralph_gate_report::statistics::needed;
/// assert_eq!((needed(0.5), needed(0.95)), (6, 59));
/// ```
pub fn needed(p: f64) -> u64 {
    if !(p > 0.0 && p < 1.0) {
        return u64::MAX;
    }
    let (mut all_below, mut all_above) = (1.0, 1.0);
    // Beyond this many no list of runs goes.
    for runs in 1..1_000_000 {
        all_below *= p;
        all_above *= 1.0 - p;
        if all_below + all_above <= MISS {
            return runs;
        }
    }
    u64::MAX
}

/// The range between two of the sorted values that contains the quantile in 95 % of all samples, whatever the distribution
/// is: the number of values below a quantile is binomial. None: too few for one ([`needed`]).
pub(super) fn between_values(sorted: &[f64], p: f64) -> Option<Interval> {
    let count = sorted.len() as u64;
    if count < needed(p) {
        return None;
    }
    // Half of what may be missed on each side. Where even the last value misses more on its side, the other gets the rest.
    let (none, all) = (power(1.0 - p, count), power(p, count));
    let (low, high) = if all > MISS / 2.0 {
        (MISS - all, all)
    } else if none > MISS / 2.0 {
        (none, MISS - none)
    } else {
        (MISS / 2.0, MISS / 2.0)
    };
    // Rounding must not take the last value away.
    let (below, above) = binomial(count, p).within(low * (1.0 + 1e-9), high * (1.0 + 1e-9));
    let value = |place: u64| sorted.get(usize::try_from(place).ok()?).copied();
    Some(Interval {
        low: value(below.saturating_sub(1))?,
        high: value(above.min(count).saturating_sub(1))?,
    })
}

/// How many runs an interval of a mean needs. Resamples of fewer than 8 values are so few different ones that no widening
/// makes their percentiles reach far enough where one run costs ten times as much as the others.
pub fn needed_for_mean() -> u64 {
    8
}

/// Where a quantile is.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// The place of the value below it.
    pub(super) below: usize,
    /// How far it is on the way to the next one.
    pub(super) fraction: f64,
}

impl At {
    pub(super) fn of(count: usize, p: f64) -> Option<Self> {
        if count == 0 || !(0.0..=1.0).contains(&p) {
            return None;
        }
        let at = length(count - 1) * p;
        let below = place(at.floor()).min(count - 1);
        Some(Self {
            below,
            fraction: at - length(below),
        })
    }

    pub(super) fn between(self, low: f64, high: f64) -> f64 {
        low + self.fraction * (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_95th_percentile_of_one_to_ten_is_9_55() {
        let sorted: Vec<f64> = (1..=10).map(f64::from).collect();
        assert!((quantile(&sorted, 0.95).unwrap() - 9.55).abs() < 1e-12);
        assert!((quantile(&sorted, 0.5).unwrap() - 5.5).abs() < 1e-12);
    }

    #[test]
    fn the_ends_are_the_least_and_the_largest() {
        let sorted = [1.0, 2.0, 7.0];
        assert_eq!(quantile(&sorted, 0.0), Some(1.0));
        assert_eq!(quantile(&sorted, 1.0), Some(7.0));
        assert_eq!(quantile(&[4.0], 0.95), Some(4.0));
    }

    #[test]
    fn nothing_has_no_quantile_and_no_share_has_none() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0], -0.1), None);
        assert_eq!(quantile(&[1.0], 1.1), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn the_values_around_a_quantile_are_those_of_the_tables() {
        let numbers = |count: u32| (1..=count).map(f64::from).collect::<Vec<f64>>();
        let found = |count, p| between_values(&numbers(count), p).map(|it| (it.low, it.high));
        // Of the sign test: 6 values, all; 10, the 2nd and the 9th; 20, the 6th and the 15th; 100, the 40th and the 61st.
        assert_eq!(found(5, 0.5), None);
        assert_eq!(found(6, 0.5), Some((1.0, 6.0)));
        assert_eq!(found(10, 0.5), Some((2.0, 9.0)));
        assert_eq!(found(20, 0.5), Some((6.0, 15.0)));
        assert_eq!(found(100, 0.5), Some((40.0, 61.0)));
        assert_eq!(found(58, 0.95), None);
        assert_eq!(found(59, 0.95).unwrap().1.to_bits(), 59.0_f64.to_bits());
        // Mirrored, it is the same.
        let (low, high) = found(500, 0.95).unwrap();
        assert_eq!(found(500, 0.05), Some((501.0 - high, 501.0 - low)));
    }

    #[test]
    fn a_median_needs_6_runs_and_a_95th_percentile_59() {
        assert_eq!(needed(0.5), 6);
        assert_eq!(needed(0.95), 59);
        assert_eq!(needed(0.05), 59);
        assert_eq!(needed(1.0), u64::MAX);
        assert_eq!(needed(f64::NAN), u64::MAX);
    }
}
