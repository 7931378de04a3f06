//! Exact tests of two by two tables.

use super::number::real;
use super::walk::Walk;

/// Fisher's exact test of two independent groups, two-sided: how likely is a table with the same margins that is at most
/// as likely as this one.
///
/// ```
/// # use ralph_gate_report::statistics::fisher_exact;
/// assert!((fisher_exact(3, 1, 1, 3) - 0.485714).abs() < 1e-6);
/// ```
pub fn fisher_exact(a: u64, b: u64, c: u64, d: u64) -> f64 {
    let (first, second, column) = (a + b, c + d, a + c);
    let all = first + second;
    if first == 0 || second == 0 || column == 0 || column == all {
        return 1.0;
    }
    let low = column.saturating_sub(second);
    let high = first.min(column);
    let peak = u128::from(first + 1) * u128::from(column + 1) / u128::from(all + 2);
    let walk = Walk {
        low,
        mode: u64::try_from(peak).unwrap_or(high).clamp(low, high),
        high,
        up: |k| {
            // `second + k + 1 - column` is not negative, because `k` is at least `column - second`.
            (real(first - k) / real(k + 1)) * (real(column - k) / real(second + k + 1 - column))
        },
    };
    walk.tails(a).exact()
}

/// McNemar's test of pairs, in two ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    /// Never too small, often too large.
    pub exact: f64,
    /// Nearer to the truth for few pairs.
    pub mid_p: f64,
}

/// McNemar's test, two-sided. `b` and `c` count the pairs that differ, one way and the other.
///
/// ```
/// # use ralph_gate_report::statistics::mcnemar;
/// let test = mcnemar(1, 7);
/// assert!((test.exact - 0.0703125).abs() < 1e-12);
/// assert!((test.mid_p - 0.0390625).abs() < 1e-12);
/// ```
pub fn mcnemar(b: u64, c: u64) -> McNemar {
    if b + c == 0 {
        // No pair differs: nothing speaks for a difference.
        return McNemar {
            exact: 1.0,
            mid_p: 1.0,
        };
    }
    let tails = binomial(b + c, 0.5).tails(b);
    McNemar {
        exact: tails.exact(),
        mid_p: tails.mid(),
    }
}

/// The binomial test, two-sided: how likely is a count that is at most as likely as this one. The share is between 0 and
/// 1, and neither.
pub(super) fn binomial_test(successes: u64, of: u64, share: f64) -> f64 {
    binomial(of, share).tails(successes).exact()
}

/// How many of `of` there are, each with this chance, which is between 0 and 1 and neither.
pub(super) fn binomial(of: u64, share: f64) -> Walk<impl Fn(u64) -> f64> {
    let odds = share / (1.0 - share);
    Walk {
        low: 0,
        mode: super::number::nearest(((real(of) + 1.0) * share - 0.5).max(0.0)).min(of),
        high: of,
        up: move |k| real(of - k) / real(k + 1) * odds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Random;

    /// Fisher's test as the textbook has it: factorials, all tables.
    fn fisher_by_factorials(a: u64, b: u64, c: u64, d: u64) -> f64 {
        let ln = |count: u64| libm::lgamma(real(count) + 1.0);
        let (first, second, column, all) = (a + b, c + d, a + c, a + b + c + d);
        let margins = ln(first) + ln(second) + ln(column) + ln(all - column) - ln(all);
        let of = |x: u64| {
            let cells = ln(x) + ln(first - x) + ln(column - x) + ln(second + x - column);
            libm::exp(margins - cells)
        };
        (column.saturating_sub(second)..=first.min(column))
            .map(of)
            .filter(|p| *p <= of(a) * (1.0 + 1e-7))
            .sum()
    }

    #[test]
    fn fisher_of_the_lady_tasting_tea() {
        assert!((fisher_exact(3, 1, 1, 3) - 0.485_714).abs() < 5e-7);
    }

    #[test]
    fn fisher_agrees_with_factorials_over_all_tables() {
        let mut random = Random::new(1);
        for _ in 0..2_000 {
            let [a, b, c, d] = [(); 4].map(|()| random.below(60));
            let (walked, counted) = (fisher_exact(a, b, c, d), fisher_by_factorials(a, b, c, d));
            assert!(
                (walked - counted).abs() < 1e-10,
                "{a} {b} {c} {d}: {walked} {counted}"
            );
        }
    }

    #[test]
    fn fisher_does_not_care_how_the_table_is_turned() {
        let mut random = Random::new(2);
        for _ in 0..500 {
            let [a, b, c, d] = [(); 4].map(|()| random.below(5_000));
            let found = fisher_exact(a, b, c, d);
            for turned in [
                fisher_exact(c, d, a, b),
                fisher_exact(b, a, d, c),
                fisher_exact(a, c, b, d),
            ] {
                let apart = (found - turned).abs();
                assert!(apart <= 1e-9 * found, "{a} {b} {c} {d}: {found} {turned}");
            }
            assert!((0.0..=1.0).contains(&found));
        }
    }

    #[test]
    fn fisher_holds_for_a_million_runs() {
        assert!((fisher_exact(500_000, 500_000, 500_000, 500_000) - 1.0).abs() < 1e-9);
        // Large groups are normal: z = 2.0 is p = 0.0455.
        let p = fisher_exact(501_000, 499_000, 499_586, 500_414);
        assert!((p - 0.0455).abs() < 5e-4, "{p}");
        assert!(fisher_exact(1_000_000, 0, 0, 1_000_000) < 1e-280);
    }

    #[test]
    fn a_table_with_an_empty_margin_says_nothing() {
        for (a, b, c, d) in [
            (0, 0, 0, 0),
            (0, 0, 3, 4),
            (3, 4, 0, 0),
            (0, 3, 0, 4),
            (3, 0, 4, 0),
        ] {
            assert!((fisher_exact(a, b, c, d) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn mcnemar_of_1_and_7() {
        let test = mcnemar(1, 7);
        assert!((test.exact - 0.070_312_5).abs() < 1e-15);
        assert!((test.mid_p - 0.039_062_5).abs() < 1e-15);
    }

    #[test]
    fn mcnemar_is_symmetric_and_mid_p_is_the_smaller_one() {
        let mut random = Random::new(3);
        for _ in 0..2_000 {
            let (b, c) = (random.below(400), random.below(400));
            let (one, other) = (mcnemar(b, c), mcnemar(c, b));
            assert!((one.exact - other.exact).abs() < 1e-12);
            assert!((one.mid_p - other.mid_p).abs() < 1e-12);
            assert!(one.mid_p <= one.exact && one.exact <= 1.0 && one.mid_p >= 0.0);
        }
        assert!((mcnemar(0, 0).mid_p - 1.0).abs() < 1e-15);
        assert!((mcnemar(0, 1).exact - 1.0).abs() < 1e-15);
        assert!((mcnemar(5, 5).exact - 1.0).abs() < 1e-15);
    }

    #[test]
    fn mcnemar_holds_for_a_million_pairs() {
        // z = 2.0 is p = 0.0455.
        let test = mcnemar(501_000, 499_000);
        assert!((test.mid_p - 0.0455).abs() < 1e-4, "{test:?}");
        assert!(mcnemar(0, 1_000_000).exact < 1e-280);
    }
}
