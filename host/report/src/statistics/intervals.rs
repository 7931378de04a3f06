//! Intervals at 95 % for shares of runs and for their differences.

use super::number::real;
use super::special::Z;
use crate::model::Interval;

/// Wilson's interval of a share. None: of nothing.
///
/// ```
/// # use ralph_gate_report::statistics::wilson;
/// let interval = wilson(18, 20).unwrap();
/// assert!((interval.low - 0.6989664).abs() < 1e-7);
/// assert!((interval.high - 0.9721335).abs() < 1e-7);
/// ```
pub fn wilson(successes: u64, of: u64) -> Option<Interval> {
    (of > 0).then(|| share(real(successes.min(of)), real(of)).interval)
}

/// Newcombe's interval (his tenth method) of the difference of two independent shares, each `(successes, of)`: after
/// minus before. None: one of them is of nothing.
pub fn newcombe(after: (u64, u64), before: (u64, u64)) -> Option<Interval> {
    if after.1 == 0 || before.1 == 0 {
        return None;
    }
    Some(around(
        &share(real(after.0.min(after.1)), real(after.1)),
        &share(real(before.0.min(before.1)), real(before.1)),
        0.0,
    ))
}

/// Newcombe's interval (his tenth method) of the difference of two shares of the same pairs: after minus before. None:
/// no pairs.
pub fn newcombe_paired(
    both: u64,
    only_after: u64,
    only_before: u64,
    neither: u64,
) -> Option<Interval> {
    let (a, b, c, d) = (
        real(both),
        real(only_after),
        real(only_before),
        real(neither),
    );
    let of = a + b + c + d;
    if of == 0.0 {
        return None;
    }
    Some(around(
        &share(a + b, of),
        &share(a + c, of),
        correlation(a, b, c, d),
    ))
}

/// How much the two shares of pairs go together. Where they do, it is made smaller by Newcombe's correction, because few
/// pairs look more alike than they are.
fn correlation(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let scale = ((a + b) * (c + d)).sqrt() * ((a + c) * (b + d)).sqrt();
    if scale == 0.0 {
        return 0.0;
    }
    let together = a * d - b * c;
    let corrected = if together > 0.0 {
        (together - (a + b + c + d) / 2.0).max(0.0)
    } else {
        together
    };
    corrected / scale
}

/// A share and Wilson's interval of it.
pub(super) struct Share {
    value: f64,
    interval: Interval,
}

/// A share of `of`, which is above zero. The count may have a fraction: planning asks for shares that no count has.
pub(super) fn share(successes: f64, of: f64) -> Share {
    let value = successes / of;
    let square = Z * Z;
    let centre = (successes + square / 2.0) / (of + square);
    let half = Z / (of + square) * (successes * (of - successes) / of + square / 4.0).sqrt();
    // At the ends the formula gives exactly 0 and 1, but floats don't.
    let low = if successes <= 0.0 {
        0.0
    } else {
        (centre - half).max(0.0)
    };
    let high = if successes >= of {
        1.0
    } else {
        (centre + half).min(1.0)
    };
    Share {
        value,
        interval: Interval {
            low: low.min(value),
            high: high.max(value),
        },
    }
}

/// The interval of `after - before` from those of both, which go together by `phi`.
pub(super) fn around(after: &Share, before: &Share, phi: f64) -> Interval {
    let difference = after.value - before.value;
    let reach = |one: f64, other: f64| {
        // Rounding must not take it below zero.
        (one * one - 2.0 * phi * one * other + other * other)
            .max(0.0)
            .sqrt()
    };
    let down = reach(
        after.value - after.interval.low,
        before.interval.high - before.value,
    );
    let up = reach(
        after.interval.high - after.value,
        before.value - before.interval.low,
    );
    Interval {
        low: (difference - down).max(-1.0),
        high: (difference + up).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Random;

    fn assert_near(found: Option<Interval>, low: f64, high: f64, digits: f64) {
        let found = found.unwrap();
        assert!((found.low - low).abs() <= digits, "{found:?}");
        assert!((found.high - high).abs() <= digits, "{found:?}");
    }

    #[test]
    fn wilson_of_18_in_20() {
        assert_near(wilson(18, 20), 0.698_966_4, 0.972_133_5, 5e-8);
    }

    #[test]
    fn newcombes_own_examples() {
        assert_near(newcombe((7, 34), (1, 34)), 0.0189, 0.3404, 5e-5);
        assert_near(newcombe((56, 70), (48, 80)), 0.0524, 0.3339, 5e-5);
    }

    #[test]
    fn newcombes_own_example_of_pairs() {
        assert_near(newcombe_paired(36, 12, 2, 0), 0.0569, 0.3404, 5e-5);
    }

    #[test]
    fn of_nothing_there_is_no_interval() {
        assert_eq!(wilson(0, 0), None);
        assert_eq!(newcombe((0, 0), (1, 2)), None);
        assert_eq!(newcombe((1, 2), (0, 0)), None);
        assert_eq!(newcombe_paired(0, 0, 0, 0), None);
    }

    #[test]
    fn none_and_all_touch_their_end_and_mirror_each_other() {
        for of in [1, 2, 7, 1000, 1_000_000] {
            let (none, all) = (wilson(0, of).unwrap(), wilson(of, of).unwrap());
            assert_eq!(none.low.to_bits(), 0.0_f64.to_bits());
            assert_eq!(all.high.to_bits(), 1.0_f64.to_bits());
            assert!((none.high - (1.0 - all.low)).abs() < 1e-12);
            assert!(none.high > 0.0 && all.low < 1.0);
        }
    }

    #[test]
    fn intervals_contain_their_estimate_and_turn_around_with_the_arms() {
        let mut random = Random::new(11);
        for _ in 0..5_000 {
            let [after, before] = [(); 2].map(|()| {
                let of = 1 + random.below(300);
                (random.below(of + 1), of)
            });
            let rate = |(successes, of): (u64, u64)| real(successes) / real(of);
            let one = wilson(after.0, after.1).unwrap();
            assert!(0.0 <= one.low && one.low <= rate(after));
            assert!(rate(after) <= one.high && one.high <= 1.0);
            let there = newcombe(after, before).unwrap();
            let back = newcombe(before, after).unwrap();
            let estimate = rate(after) - rate(before);
            assert!(there.low <= estimate && estimate <= there.high);
            assert!(-1.0 <= there.low && there.high <= 1.0);
            assert!((there.low + back.high).abs() < 1e-12);
            assert!((there.high + back.low).abs() < 1e-12);
        }
    }

    #[test]
    fn intervals_of_pairs_contain_their_estimate_and_turn_around_with_the_arms() {
        let mut random = Random::new(12);
        for _ in 0..5_000 {
            let [a, b, c, d] = [(); 4].map(|()| random.below(40));
            let Some(there) = newcombe_paired(a, b, c, d) else {
                assert_eq!(a + b + c + d, 0);
                continue;
            };
            let back = newcombe_paired(a, c, b, d).unwrap();
            let estimate = (real(b) - real(c)) / real(a + b + c + d);
            assert!(
                there.low <= estimate && estimate <= there.high,
                "{a} {b} {c} {d}: {there:?}"
            );
            assert!((there.low + back.high).abs() < 1e-12);
            assert!((there.high + back.low).abs() < 1e-12);
        }
    }

    #[test]
    fn pairs_that_go_together_tell_more_than_two_groups() {
        let paired = newcombe_paired(400, 60, 20, 520).unwrap();
        let apart = newcombe((460, 1000), (420, 1000)).unwrap();
        assert!(paired.high - paired.low < apart.high - apart.low);
    }
}
