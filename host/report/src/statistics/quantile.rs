//! Quantiles, and how many runs they need.

use super::number::{length, place};

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
    fn a_median_needs_6_runs_and_a_95th_percentile_59() {
        assert_eq!(needed(0.5), 6);
        assert_eq!(needed(0.95), 59);
        assert_eq!(needed(0.05), 59);
        assert_eq!(needed(1.0), u64::MAX);
        assert_eq!(needed(f64::NAN), u64::MAX);
    }
}
