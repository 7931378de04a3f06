//! Tests of the difference of medians by seeded permutations.

use super::number::real;
use super::quantile::{At, quantile};
use super::random::Random;
use super::rank::{Tested, mann_whitney, wilcoxon};

/// How many permutations are drawn.
const PERMUTATIONS: u64 = 4_999;

/// More values than this are tested by their ranks.
const MANY: usize = 1_000;

/// Whether medians differ: how often are they as far apart when runs are dealt to the arms anew. Many runs are tested by the
/// ranks of their values instead. None: one of the arms is empty.
pub fn permutation_p(after: &[f64], before: &[f64], seed: u64) -> Option<Tested> {
    let (first, second) = (At::of(after.len(), 0.5)?, At::of(before.len(), 0.5)?);
    if after.len() + before.len() > MANY {
        return mann_whitney(after, before);
    }
    let observed = quantile(&sorted(after), 0.5)? - quantile(&sorted(before), 0.5)?;
    let merged = sorted(&[after, before].concat());
    let mut marks: Vec<bool> = (0..merged.len()).map(|place| place < after.len()).collect();
    let mut random = Random::new(seed);
    let apart = (0..PERMUTATIONS).map(|_| {
        for last in (1..marks.len()).rev() {
            marks.swap(last, random.place(last + 1));
        }
        let values = merged.iter().copied().zip(marks.iter().copied());
        difference(values, first, second)
    });
    Some(Tested {
        p: share(apart, observed),
        test: "permutation of medians",
    })
}

/// The same of pairs `(before, after)`: how often are medians as far apart when both sides of pairs are exchanged at
/// random. None: no pairs.
pub fn sign_flip_p(pairs: &[(f64, f64)], seed: u64) -> Option<Tested> {
    let at = At::of(pairs.len(), 0.5)?;
    if pairs.len() > MANY / 2 {
        return wilcoxon(pairs);
    }
    // All values in ascending order, each with its pair and whether it is from after.
    let mut merged: Vec<(f64, usize, bool)> = pairs
        .iter()
        .enumerate()
        .flat_map(|(pair, (before, after))| [(*before, pair, false), (*after, pair, true)])
        .collect();
    merged.sort_by(|a, b| a.0.total_cmp(&b.0));
    let exchanged = |flips: &[bool]| {
        let values = merged.iter().map(|(value, pair, mark)| {
            (
                *value,
                *mark != flips.get(*pair).copied().unwrap_or_default(),
            )
        });
        difference(values, at, at)
    };
    let mut flips = vec![false; pairs.len()];
    let observed = exchanged(&flips);
    let mut random = Random::new(seed);
    let apart = (0..PERMUTATIONS).map(|_| {
        for flip in &mut flips {
            *flip = random.bits() >> 63 == 1;
        }
        exchanged(&flips)
    });
    Some(Tested {
        p: share(apart, observed),
        test: "sign flips of medians",
    })
}

/// The share of permutations, the observed one among them, that are as far apart as that one.
fn share(apart: impl Iterator<Item = f64>, observed: f64) -> f64 {
    // What differs in the last digits only is the same.
    let enough = observed.abs() * (1.0 - 1e-12);
    let found = apart
        .filter(|difference| difference.abs() >= enough)
        .count() as u64;
    real(found + 1) / real(PERMUTATIONS + 1)
}

/// The median of marked values minus that of the others; values are in ascending order.
fn difference(values: impl Iterator<Item = (f64, bool)>, marked: At, others: At) -> f64 {
    let (mut first, mut second) = (Middle::of(marked), Middle::of(others));
    for (value, mark) in values {
        if mark {
            first.pass(value);
        } else {
            second.pass(value);
        }
    }
    first.value() - second.value()
}

/// A quantile of values that come in ascending order.
struct Middle {
    at: At,
    passed: usize,
    low: f64,
    high: f64,
}

impl Middle {
    fn of(at: At) -> Self {
        Self {
            at,
            passed: 0,
            low: 0.0,
            high: 0.0,
        }
    }

    fn pass(&mut self, value: f64) {
        if self.passed == self.at.below {
            self.low = value;
            self.high = value;
        } else if self.passed == self.at.below + 1 {
            self.high = value;
        }
        self.passed += 1;
    }

    fn value(&self) -> f64 {
        self.at.between(self.low, self.high)
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: usize, seed: u64, shift: f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.normal() + shift).collect()
    }

    #[test]
    fn few_values_give_the_share_of_all_deals() {
        let (after, before) = ([7.0, 8.0, 12.0], [1.0, 2.0, 9.0]);
        let all = [after, before].concat();
        let deals: Vec<f64> = (0_u32..64)
            .filter(|deal| deal.count_ones() == 3)
            .map(|deal| {
                let side = |bit: u32| {
                    let values = (0..6).filter(|i| deal >> i & 1 == bit).map(|i| all[i]);
                    quantile(&sorted(&values.collect::<Vec<f64>>()), 0.5).unwrap()
                };
                side(1) - side(0)
            })
            .collect();
        let as_far = deals.iter().filter(|apart| apart.abs() >= 6.0).count() as u64;
        assert!(deals.len() == 20 && as_far > 2 && as_far < 20);
        let found = permutation_p(&after, &before, 1).unwrap();
        assert_eq!(found.test, "permutation of medians");
        // Four standard errors of 4,999 draws.
        assert!(
            (found.p - real(as_far) / 20.0).abs() < 0.029,
            "{found:?} {as_far}"
        );
    }

    #[test]
    fn few_pairs_give_the_share_of_all_exchanges() {
        // Pairs that are far from each other in the same direction: 2 of 2^5 exchanges are as far apart.
        let pairs = [
            (1.0, 11.0),
            (2.0, 12.0),
            (3.0, 13.0),
            (4.0, 14.0),
            (5.0, 15.0),
        ];
        let found = sign_flip_p(&pairs, 1).unwrap();
        assert_eq!(found.test, "sign flips of medians");
        assert!(found.p > 0.04 && found.p < 0.12, "{found:?}");
    }

    #[test]
    fn values_of_one_kind_are_significant_as_often_as_stated() {
        let (mut dealt, mut exchanged) = (0, 0);
        for seed in 0..200 {
            let (one, other) = (values(21, seed, 0.0), values(19, seed + 1_000, 0.0));
            dealt += u32::from(permutation_p(&one, &other, seed).unwrap().p <= 0.05);
            let pairs: Vec<(f64, f64)> = one.into_iter().zip(other).collect();
            exchanged += u32::from(sign_flip_p(&pairs, seed).unwrap().p <= 0.05);
        }
        // Ten are expected; fewer than one in ten thousand tries has more than 22.
        assert!(dealt <= 22 && exchanged <= 22, "{dealt} {exchanged}");
        assert!(dealt >= 1 && exchanged >= 1, "{dealt} {exchanged}");
    }

    #[test]
    fn a_large_shift_is_found_and_equal_values_are_not() {
        let (one, other) = (values(40, 1, 3.0), values(40, 2, 0.0));
        assert!(permutation_p(&one, &other, 1).unwrap().p < 0.001);
        let same = permutation_p(&[1.0; 9], &[1.0; 8], 1).unwrap();
        assert!((same.p - 1.0).abs() < 1e-15);
    }

    #[test]
    fn many_values_are_tested_by_ranks() {
        let (one, other) = (values(600, 1, 0.0), values(600, 2, 0.0));
        assert_eq!(permutation_p(&one, &other, 1).unwrap().test, "Mann-Whitney");
        let pairs: Vec<(f64, f64)> = one.into_iter().zip(other).collect();
        assert_eq!(
            sign_flip_p(&pairs, 1).unwrap().test,
            "Wilcoxon, signed ranks"
        );
    }

    #[test]
    fn an_empty_arm_has_no_test() {
        assert_eq!(permutation_p(&[], &[1.0], 1), None);
        assert_eq!(permutation_p(&[1.0], &[], 1), None);
        assert_eq!(sign_flip_p(&[], 1), None);
    }
}
