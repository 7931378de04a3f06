//! How many runs would settle it.

use super::intervals::{around, newcombe, share};
use super::number::{nearest, real};
use crate::model::Interval;

/// More runs than this nobody makes.
const MOST: u64 = 10_000_000;

/// How many runs per arm would settle whether the rate falls by at least the margin, if they went like these: the smallest
/// number at which Newcombe's interval of the reduction lies wholly on one side. None: the rates differ by exactly the
/// margin, or more runs than anybody makes would be needed.
pub fn needed_per_arm(before_rate: f64, after_rate: f64, margin: f64) -> Option<u64> {
    let known = (0.0..=1.0).contains(&before_rate) && (0.0..=1.0).contains(&after_rate);
    if !known || (before_rate - after_rate - margin).abs() < 1e-12 || margin.is_nan() {
        return None;
    }
    let one_side = |reduction: Interval| reduction.low >= margin || reduction.high < margin;
    // Counts with a fraction, so that nothing but the number of runs changes from step to step, and bisection is sound.
    let settled = |runs: u64| {
        let of = real(runs);
        one_side(around(
            &share(before_rate * of, of),
            &share(after_rate * of, of),
            0.0,
        ))
    };
    let mut high = 1;
    while !settled(high) {
        high *= 2;
        if high > MOST {
            return None;
        }
    }
    let mut low = high / 2;
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if settled(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    // Runs are whole, and so are counts: where rounding goes the wrong way, some more are needed.
    let whole = |runs: &u64| {
        let count = |rate: f64| (nearest(rate * real(*runs)).min(*runs), *runs);
        newcombe(count(before_rate), count(after_rate)).is_some_and(one_side)
    };
    (high..=high.saturating_mul(2).min(MOST)).find(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settles(runs: u64, before: f64, after: f64, margin: f64) -> bool {
        let count = |rate: f64| (nearest(rate * real(runs)), runs);
        let reduction = newcombe(count(before), count(after)).unwrap();
        reduction.low >= margin || reduction.high < margin
    }

    #[test]
    fn the_number_settles_it_and_half_of_it_does_not() {
        for (before, after, margin) in [
            (0.30, 0.05, 0.10),
            (0.30, 0.25, 0.10),
            (0.02, 0.01, 0.0),
            (1.0, 0.0, 0.5),
            (0.5, 0.5, 0.1),
            (0.1, 0.3, 0.0),
        ] {
            let runs = needed_per_arm(before, after, margin).unwrap();
            assert!(
                settles(runs, before, after, margin),
                "{before} {after}: {runs}"
            );
            assert!(
                !settles(runs / 2, before, after, margin),
                "{before} {after}: {runs}"
            );
        }
    }

    #[test]
    fn a_smaller_distance_needs_more_runs() {
        let far = needed_per_arm(0.4, 0.1, 0.1).unwrap();
        let near = needed_per_arm(0.4, 0.28, 0.1).unwrap();
        assert!(near > 10 * far, "{far} {near}");
    }

    #[test]
    fn exactly_the_margin_is_never_settled() {
        assert_eq!(needed_per_arm(0.3, 0.2, 0.1), None);
        assert_eq!(needed_per_arm(0.2, 0.2, 0.0), None);
        assert_eq!(needed_per_arm(0.2, 0.1, 0.1 - 1e-6), None);
        assert_eq!(needed_per_arm(f64::NAN, 0.1, 0.1), None);
        assert_eq!(needed_per_arm(0.3, 0.1, f64::NAN), None);
    }
}
