//! Tests by ranks: of two groups, and of pairs. Exact with the mid-p correction for few runs, which keeps their power where
//! amounts are small integers with many ties; normal approximations for many.

use super::mean::Sum;
use super::number::{length, place, real};
use super::special::two_sided;

/// What a test found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// Two-sided.
    pub p: f64,
    /// The test, for a person.
    pub test: &'static str,
}

/// Two-sided p values of an exact test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// Never too small, often too large.
    pub exact: f64,
    /// With half of the equally extreme outcomes: nearer to the truth for few runs.
    pub mid_p: f64,
}

/// The most pairs that differ for which the exact distribution is calculated.
const EXACT_PAIRS: usize = 100;
/// The most runs of both groups together.
const EXACT_RUNS: usize = 60;
/// Amounts that differ by less, relatively, differ by rounding: 0.25 - 0.20 is as much as 0.35 - 0.30.
const ROUNDING: f64 = 1e-9;

/// Whether values after tend to be larger or smaller than before, tested by their ranks. None: one of them is empty.
///
/// ```
/// # use ralph_gate_report::statistics::test_groups;
/// let found = test_groups(&[3.0; 6], &[2.0; 6]).unwrap();
/// assert_eq!(found.test, "Mann-Whitney, mid-p");
/// assert!(found.p < 0.002);
/// ```
pub fn test_groups(after: &[f64], before: &[f64]) -> Option<Tested> {
    if after.len() + before.len() > EXACT_RUNS {
        return mann_whitney(after, before);
    }
    mann_whitney_exact(after, before).map(|found| Tested {
        p: found.mid_p,
        test: "Mann-Whitney, mid-p",
    })
}

/// Whether differences of pairs `(before, after)` tend to one side, tested by their signed ranks. None: no pairs.
///
/// ```
/// # use ralph_gate_report::statistics::test_pairs;
/// let found = test_pairs(&[(2.0, 3.0); 12]).unwrap();
/// assert_eq!(found.test, "Wilcoxon, signed ranks, mid-p");
/// assert!(found.p < 0.0003);
/// ```
pub fn test_pairs(pairs: &[(f64, f64)]) -> Option<Tested> {
    let Some(found) = wilcoxon_exact(pairs) else {
        return wilcoxon(pairs);
    };
    Some(Tested {
        p: found.mid_p,
        test: "Wilcoxon, signed ranks, mid-p",
    })
}

/// The test of Mann and Whitney. Normal approximation, with the corrections for ties and continuity. None: one of the
/// groups is empty.
pub fn mann_whitney(after: &[f64], before: &[f64]) -> Option<Tested> {
    if after.is_empty() || before.is_empty() {
        return None;
    }
    let ranked = Ranked::of(marked(after, before));
    let (m, n) = (length(after.len()), length(before.len()));
    let all = m + n;
    let larger = ranked.marked - m * (m + 1.0) / 2.0;
    let variance = m * n / 12.0 * ((all + 1.0) - ranked.ties / (all * (all - 1.0)));
    Some(Tested {
        p: normal((larger - m * n / 2.0).abs() - 0.5, variance),
        test: "Mann-Whitney",
    })
}

/// The test of Mann and Whitney by all ways to divide the runs, given their ties: how many have a rank sum as far from its
/// mean. None: one of the groups is empty, or there are too many runs to count the ways.
pub fn mann_whitney_exact(after: &[f64], before: &[f64]) -> Option<Exact> {
    let all = after.len() + before.len();
    if after.is_empty() || before.is_empty() || all > EXACT_RUNS {
        return None;
    }
    let ranked = Ranked::of(marked(after, before));
    // The smaller group is as far from its mean as the larger one.
    let chosen = after.len().min(before.len());
    let sum: usize = ranked.doubled.iter().sum();
    let mut ways = vec![vec![0.0; sum + 1]; chosen + 1];
    if let Some(none) = ways.first_mut().and_then(|sums| sums.first_mut()) {
        *none = 1.0;
    }
    for rank in &ranked.doubled {
        for count in (0..chosen).rev() {
            let (fewer, more) = ways.split_at_mut(count + 1);
            let (Some(fewer), Some(more)) = (fewer.last(), more.first_mut()) else {
                continue;
            };
            for (to, from) in more.iter_mut().skip(*rank).zip(fewer) {
                *to += from;
            }
        }
    }
    let mean = chosen * (all + 1);
    let observed = place(ranked.marked * 2.0).abs_diff(after.len() * (all + 1));
    Some(tails(ways.last()?, observed, |sum| sum.abs_diff(mean)))
}

/// The signed-rank test of Wilcoxon, of pairs `(before, after)`. Normal approximation, with the correction for ties; pairs
/// without a difference say nothing. None: no pairs.
pub fn wilcoxon(pairs: &[(f64, f64)]) -> Option<Tested> {
    if pairs.is_empty() {
        return None;
    }
    let ranked = signed_ranks(pairs);
    let n = length(ranked.doubled.len());
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ranked.ties / 2.0) / 24.0;
    Some(Tested {
        p: normal((ranked.marked - n * (n + 1.0) / 4.0).abs(), variance),
        test: "Wilcoxon, signed ranks",
    })
}

/// The signed-rank test of Wilcoxon by all signs that the differences can have, given their ties; pairs without a
/// difference say nothing. None: no pairs, or too many to go through the signs.
pub fn wilcoxon_exact(pairs: &[(f64, f64)]) -> Option<Exact> {
    if pairs.is_empty() {
        return None;
    }
    let ranked = signed_ranks(pairs);
    if ranked.doubled.len() > EXACT_PAIRS {
        return None;
    }
    let all: usize = ranked.doubled.iter().sum();
    let mut chances = vec![0.0; all + 1];
    if let Some(nothing) = chances.first_mut() {
        *nothing = 1.0;
    }
    for rank in &ranked.doubled {
        for sum in (0..=all).rev() {
            let without = chances.get(sum).copied().unwrap_or_default();
            let with = sum.checked_sub(*rank).and_then(|sum| chances.get(sum));
            let chance = f64::midpoint(without, with.copied().unwrap_or_default());
            if let Some(to) = chances.get_mut(sum) {
                *to = chance;
            }
        }
    }
    let observed = (place(ranked.marked * 2.0) * 2).abs_diff(all);
    Some(tails(&chances, observed, |sum| (sum * 2).abs_diff(all)))
}

/// How likely it is to be as far from the middle as what was observed.
fn tails(weights: &[f64], observed: usize, distance: impl Fn(usize) -> usize) -> Exact {
    let (mut all, mut further, mut equal) = (Sum::default(), Sum::default(), Sum::default());
    for (sum, weight) in weights.iter().enumerate() {
        all.add(*weight);
        match distance(sum) {
            distance if distance > observed => further.add(*weight),
            distance if distance == observed => equal.add(*weight),
            _ => {}
        }
    }
    if weights.iter().filter(|weight| **weight > 0.0).count() < 2 {
        // Nothing else was possible, so nothing speaks for a difference.
        return Exact {
            exact: 1.0,
            mid_p: 1.0,
        };
    }
    let (further, equal) = (further.total() / all.total(), equal.total() / all.total());
    Exact {
        exact: (further + equal).min(1.0),
        mid_p: (further + equal / 2.0).min(1.0),
    }
}

fn normal(distance: f64, variance: f64) -> f64 {
    // All values equal: nothing speaks for a difference.
    if variance <= 0.0 || distance <= 0.0 {
        return 1.0;
    }
    two_sided(distance / variance.sqrt())
}

fn marked(after: &[f64], before: &[f64]) -> Vec<(f64, bool)> {
    let after = after.iter().map(|value| (*value, true));
    after
        .chain(before.iter().map(|value| (*value, false)))
        .collect()
}

fn signed_ranks(pairs: &[(f64, f64)]) -> Ranked {
    let differs = |(before, after): &&(f64, f64)| !is_same(*before, *after);
    let differences = pairs.iter().filter(differs);
    Ranked::of(
        differences
            .map(|(before, after)| ((after - before).abs(), after > before))
            .collect(),
    )
}

fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
}

/// Values in order, equal ones with their mean rank.
struct Ranked {
    /// Twice the rank of each value, which is a whole number.
    doubled: Vec<usize>,
    /// The sum of the ranks of marked values.
    marked: f64,
    /// The sum of `t^3 - t` over groups of `t` equal values.
    ties: f64,
}

impl Ranked {
    fn of(mut values: Vec<(f64, bool)>) -> Self {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut marked, mut ties) = (0.0, 0.0);
        let mut doubled = Vec::with_capacity(values.len());
        for group in values.chunk_by(|a, b| is_same(a.0, b.0)) {
            let rank = 2 * doubled.len() + group.len() + 1;
            let equal = length(group.len());
            marked +=
                real(rank as u64) / 2.0 * length(group.iter().filter(|(_, mark)| *mark).count());
            ties += equal * equal * equal - equal;
            doubled.extend(std::iter::repeat_n(rank, group.len()));
        }
        Self {
            doubled,
            marked,
            ties,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Random;

    fn values(count: usize, seed: u64, shift: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.normal() + shift).collect()
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-12
    }

    /// Both p values, by going through all outcomes.
    fn counted(outcomes: &[f64], observed: f64) -> Exact {
        let share = |is: &dyn Fn(f64) -> bool| {
            length(outcomes.iter().filter(|it| is(**it)).count()) / length(outcomes.len())
        };
        let equal = share(&|it| near(it, observed));
        let further = share(&|it| it > observed && !near(it, observed));
        Exact {
            exact: further + equal,
            mid_p: further + equal / 2.0,
        }
    }

    #[test]
    fn equal_values_say_nothing() {
        for count in [1, 9, 200] {
            let same = vec![2.0; count];
            assert!(near(test_groups(&same, &[2.0; 9]).unwrap().p, 1.0));
            assert!(near(mann_whitney(&same, &[2.0; 9]).unwrap().p, 1.0));
            let pairs = vec![(2.0, 2.0); count];
            assert!(near(test_pairs(&pairs).unwrap().p, 1.0));
            assert!(near(wilcoxon(&pairs).unwrap().p, 1.0));
        }
        assert_eq!(test_groups(&[], &[1.0]), None);
        assert_eq!(test_groups(&[1.0], &[]), None);
        assert_eq!(test_pairs(&[]), None);
    }

    #[test]
    fn twelve_of_twelve_pairs_at_one_more_are_no_chance() {
        for before in [
            &[2.0; 12],
            &[1., 1., 2., 2., 2., 3., 3., 3., 4., 5., 8., 9.],
        ] {
            let pairs: Vec<(f64, f64)> = before.iter().map(|it| (*it, it + 1.0)).collect();
            let found = wilcoxon_exact(&pairs).unwrap();
            assert!(near(found.exact, 2.0 / 4096.0), "{found:?}");
            assert!(near(found.mid_p, 1.0 / 4096.0), "{found:?}");
        }
    }

    #[test]
    fn small_integers_in_two_groups_are_told_apart() {
        assert!(test_groups(&[3.0; 12], &[2.0; 12]).unwrap().p < 1e-6);
    }

    #[test]
    fn the_exact_test_of_groups_counts_all_divisions() {
        for (after, before) in [
            (vec![7.0, 8.0, 12.0], vec![1.0, 2.0, 9.0]),
            (vec![1.0, 2.0, 2.0, 2.0], vec![2.0, 3.0, 3.0, 2.0, 1.0, 5.0]),
            (vec![1.0, 1.0, 1.0, 4.0, 4.0, 2.0], vec![1.0, 3.0]),
        ] {
            let all = [after.clone(), before.clone()].concat();
            let distance = |chosen: u32| {
                let marks = (0..all.len()).map(|at| (all[at], chosen >> at & 1 == 1));
                let sum = Ranked::of(marks.collect()).marked;
                (sum - length(after.len() * (all.len() + 1)) / 2.0).abs()
            };
            let chosen =
                (0..1_u32 << all.len()).filter(|it| it.count_ones() as usize == after.len());
            let outcomes: Vec<f64> = chosen.map(distance).collect();
            let expected = counted(&outcomes, distance((1 << after.len()) - 1));
            let found = mann_whitney_exact(&after, &before).unwrap();
            assert!(
                near(found.exact, expected.exact) && near(found.mid_p, expected.mid_p),
                "{found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn the_exact_test_of_pairs_counts_all_signs_and_passes_over_equal_pairs() {
        for differences in [
            vec![1.0, 2.0, -3.0, 4.0, 5.0],
            vec![1.0, 1.0, -1.0, 2.0, 0.0, 0.0, 2.0, 2.0],
            vec![-1.0, -1.0, -1.0, 3.0],
        ] {
            let pairs: Vec<(f64, f64)> = differences.iter().map(|it| (5.0, 5.0 + it)).collect();
            let sizes: Vec<f64> = differences
                .iter()
                .filter(|it| **it != 0.0)
                .map(|it| it.abs())
                .collect();
            let distance = |signs: u32| {
                let marks = (0..sizes.len()).map(|at| (sizes[at], signs >> at & 1 == 1));
                let sum = Ranked::of(marks.collect()).marked;
                (sum - length(sizes.len() * (sizes.len() + 1)) / 4.0).abs()
            };
            let outcomes: Vec<f64> = (0..1_u32 << sizes.len()).map(distance).collect();
            let signs = differences.iter().filter(|it| **it != 0.0).enumerate();
            let observed: u32 = signs.map(|(at, it)| u32::from(*it > 0.0) << at).sum();
            let expected = counted(&outcomes, distance(observed));
            let found = wilcoxon_exact(&pairs).unwrap();
            assert!(
                near(found.exact, expected.exact) && near(found.mid_p, expected.mid_p),
                "{found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn cents_that_differ_by_rounding_alone_are_tied() {
        let pairs = [(0.20, 0.25), (0.30, 0.35), (0.70, 0.75), (0.1, 0.1 + 1e-17)];
        let ranked = signed_ranks(&pairs);
        assert_eq!(ranked.doubled, [4, 4, 4]);
    }

    #[test]
    fn values_of_one_kind_are_significant_as_often_as_stated() {
        let (mut groups, mut paired) = (0, 0);
        for seed in 0..400 {
            // Rounded, so that many are tied.
            let of = |count, seed| -> Vec<f64> {
                let values = values(count, seed, 0.0);
                values
                    .into_iter()
                    .map(|value| (value * 2.0).round())
                    .collect()
            };
            let (one, other) = (of(21, seed), of(19, seed + 1_000));
            groups += u32::from(test_groups(&one, &other).unwrap().p <= 0.05);
            let pairs: Vec<(f64, f64)> = one.into_iter().zip(other).collect();
            paired += u32::from(test_pairs(&pairs).unwrap().p <= 0.05);
        }
        // Twenty are expected; fewer than one in ten thousand tries is outside of these.
        assert!(
            (5..=38).contains(&groups) && (5..=38).contains(&paired),
            "{groups} {paired}"
        );
    }

    #[test]
    fn the_arms_may_be_exchanged() {
        let (a, b) = ([1.0, 4.0, 4.0, 7.0, 9.0], [2.0, 4.0, 8.0, 12.0]);
        for test in [mann_whitney, test_groups] {
            let (one, other) = (test(&a, &b).unwrap(), test(&b, &a).unwrap());
            assert!(near(one.p, other.p));
        }
        let pairs: Vec<(f64, f64)> = a.into_iter().zip(b).collect();
        let turned: Vec<(f64, f64)> = b.into_iter().zip(a).collect();
        assert!(near(
            test_pairs(&pairs).unwrap().p,
            test_pairs(&turned).unwrap().p
        ));
    }

    #[test]
    fn many_values_are_tested_by_the_normal_approximation() {
        let (one, other) = (values(600, 1, 0.0), values(600, 2, 0.0));
        assert_eq!(test_groups(&one, &other).unwrap().test, "Mann-Whitney");
        let pairs: Vec<(f64, f64)> = one.into_iter().zip(other).collect();
        assert_eq!(test_pairs(&pairs).unwrap().test, "Wilcoxon, signed ranks");
    }

    #[test]
    fn both_ways_agree_where_one_takes_over() {
        let (one, other) = (values(100, 1, 0.3), values(100, 2, 0.0));
        let pairs: Vec<(f64, f64)> = one.iter().copied().zip(other.iter().copied()).collect();
        let (exact, normal) = (
            wilcoxon_exact(&pairs).unwrap().mid_p,
            wilcoxon(&pairs).unwrap().p,
        );
        assert!((exact - normal).abs() < 0.002, "{exact} {normal}");
        let (one, other) = (&one[..30], &other[..30]);
        let exact = mann_whitney_exact(one, other).unwrap().exact;
        let normal = mann_whitney(one, other).unwrap().p;
        assert!((exact - normal).abs() < 0.005, "{exact} {normal}");
    }

    #[test]
    fn a_shift_of_everything_is_found() {
        let before: Vec<f64> = (0..50).map(f64::from).collect();
        let after: Vec<f64> = before.iter().map(|x| x + 30.0).collect();
        assert!(test_groups(&after, &before).unwrap().p < 1e-6);
        let pairs: Vec<(f64, f64)> = before.into_iter().zip(after).collect();
        assert!(test_pairs(&pairs).unwrap().p < 1e-6);
    }
}
