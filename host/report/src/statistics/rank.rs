//! Tests by ranks, for many runs.

use super::number::length;
use super::special::two_sided;

/// What a test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// Two-sided.
    pub p: f64,
    /// The test, for a person.
    pub test: &'static str,
}

/// The test of Mann and Whitney: whether values after tend to be larger or smaller than before. Normal approximation, with
/// the corrections for ties and continuity. None: one of them is empty.
pub fn mann_whitney(after: &[f64], before: &[f64]) -> Option<Tested> {
    if after.is_empty() || before.is_empty() {
        return None;
    }
    let merged = after
        .iter()
        .map(|value| (*value, true))
        .chain(before.iter().map(|value| (*value, false)));
    let ranked = Ranked::of(merged.collect());
    let (m, n) = (length(after.len()), length(before.len()));
    let all = m + n;
    let larger = ranked.marked - m * (m + 1.0) / 2.0;
    let variance = m * n / 12.0 * ((all + 1.0) - ranked.ties / (all * (all - 1.0)));
    Some(Tested {
        p: normal((larger - m * n / 2.0).abs() - 0.5, variance),
        test: "Mann-Whitney",
    })
}

/// The signed-rank test of Wilcoxon, of pairs `(before, after)`: whether differences tend to one side. Normal
/// approximation, with the correction for ties; pairs without a difference say nothing. None: no pairs.
pub fn wilcoxon(pairs: &[(f64, f64)]) -> Option<Tested> {
    if pairs.is_empty() {
        return None;
    }
    let differences = pairs.iter().map(|(before, after)| after - before);
    let ranked = Ranked::of(
        differences
            .filter(|difference| *difference != 0.0)
            .map(|difference| (difference.abs(), difference > 0.0))
            .collect(),
    );
    let n = length(ranked.count);
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ranked.ties / 2.0) / 24.0;
    Some(Tested {
        p: normal((ranked.marked - n * (n + 1.0) / 4.0).abs(), variance),
        test: "Wilcoxon, signed ranks",
    })
}

fn normal(distance: f64, variance: f64) -> f64 {
    // All values equal: nothing speaks for a difference.
    if variance <= 0.0 || distance <= 0.0 {
        return 1.0;
    }
    two_sided(distance / variance.sqrt())
}

/// Values in order, equal ones with their mean rank.
struct Ranked {
    count: usize,
    /// The sum of the ranks of marked values.
    marked: f64,
    /// The sum of `t^3 - t` over groups of `t` equal values.
    ties: f64,
}

impl Ranked {
    fn of(mut values: Vec<(f64, bool)>) -> Self {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut marked, mut ties, mut passed) = (0.0, 0.0, 0.0);
        #[expect(clippy::float_cmp, reason = "only equal values are tied")]
        for group in values.chunk_by(|a, b| a.0 == b.0) {
            let equal = length(group.len());
            let rank = passed + f64::midpoint(equal, 1.0);
            marked += rank * length(group.iter().filter(|(_, mark)| *mark).count());
            ties += equal * equal * equal - equal;
            passed += equal;
        }
        Self {
            count: values.len(),
            marked,
            ties,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_say_nothing() {
        let same = mann_whitney(&[2.0; 5], &[2.0; 9]).unwrap();
        assert!((same.p - 1.0).abs() < 1e-15);
        let same = wilcoxon(&[(2.0, 2.0); 5]).unwrap();
        assert!((same.p - 1.0).abs() < 1e-15);
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(wilcoxon(&[]), None);
    }

    #[test]
    fn the_arms_may_be_exchanged() {
        let (a, b) = ([1.0, 4.0, 4.0, 7.0, 9.0], [2.0, 4.0, 8.0, 12.0]);
        let (one, other) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&b, &a).unwrap());
        assert!((one.p - other.p).abs() < 1e-12);
    }

    #[test]
    fn a_shift_of_everything_is_found() {
        let before: Vec<f64> = (0..50).map(f64::from).collect();
        let after: Vec<f64> = before.iter().map(|x| x + 30.0).collect();
        assert!(mann_whitney(&after, &before).unwrap().p < 1e-6);
        let pairs: Vec<(f64, f64)> = before.into_iter().zip(after).collect();
        assert!(wilcoxon(&pairs).unwrap().p < 1e-6);
    }
}
