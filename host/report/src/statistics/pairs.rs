//! Intervals at 95 % from pairs that are resampled together.

use super::bootstrap::{
    OUTSIDE, bootstrap_mean, bootstrap_quantile_difference, percentiles, replicates,
};
use super::quantile::{At, needed, quantile};
use super::random::Random;
use crate::model::Interval;

/// What is compared between the arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The median of each.
    Median,
    /// The 95th percentile of each.
    P95,
    /// The mean of each.
    Mean,
}

/// More pairs than this are not drawn one by one.
const MANY: usize = 50_000;

impl Statistic {
    /// Of values in ascending order.
    fn of(self, sorted: &[f64]) -> Option<f64> {
        match self {
            Self::Median => quantile(sorted, 0.5),
            Self::P95 => quantile(sorted, 0.95),
            Self::Mean => super::mean::mean(sorted),
        }
    }

    /// After minus before, each of its own values. None: no pairs.
    pub fn difference(self, pairs: &[(f64, f64)]) -> Option<f64> {
        let (before, after) = sides(pairs);
        Some(self.of(&after)? - self.of(&before)?)
    }
}

/// The interval of the difference of a statistic, after minus before, from pairs `(before, after)`. None: too few pairs.
///
/// Very many pairs are compared as if they were independent, which makes the interval of pairs that go together wider,
/// never narrower.
pub fn bootstrap_pairs(pairs: &[(f64, f64)], statistic: Statistic, seed: u64) -> Option<Interval> {
    let p = match statistic {
        Statistic::Median => 0.5,
        Statistic::P95 => 0.95,
        Statistic::Mean => {
            // The difference of means is the mean of differences.
            let differences: Vec<f64> =
                pairs.iter().map(|(before, after)| after - before).collect();
            return bootstrap_mean(&differences, seed);
        }
    };
    if (pairs.len() as u64) < needed(p) {
        return None;
    }
    let (before, after) = sides(pairs);
    if pairs.len() > MANY {
        return bootstrap_quantile_difference(&after, &before, p, seed);
    }
    let at = At::of(pairs.len(), p)?;
    let places = places(pairs);
    let mut random = Random::new(seed);
    let (mut befores, mut afters) = (vec![0_u32; pairs.len()], vec![0_u32; pairs.len()]);
    let mut differences = Vec::with_capacity(replicates(pairs.len()));
    for _ in 0..replicates(pairs.len()) {
        befores.fill(0);
        afters.fill(0);
        for _ in pairs {
            let Some((one, other)) = places.get(random.place(pairs.len())) else {
                continue;
            };
            for (counts, place) in [(&mut befores, *one), (&mut afters, *other)] {
                if let Some(count) = counts.get_mut(place) {
                    *count += 1;
                }
            }
        }
        differences.push(counted(&after, &afters, at) - counted(&before, &befores, at));
    }
    percentiles(differences, OUTSIDE)
}

/// Both sides, each in ascending order.
pub(super) fn sides(pairs: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let (mut before, mut after): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    before.sort_by(f64::total_cmp);
    after.sort_by(f64::total_cmp);
    (before, after)
}

/// Where the values of each pair are in the ascending order of their side.
fn places(pairs: &[(f64, f64)]) -> Vec<(usize, usize)> {
    let side = |value: fn(&(f64, f64)) -> f64| {
        let mut order: Vec<(f64, usize)> = pairs.iter().map(value).zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut places: Vec<(usize, usize)> =
            order.into_iter().map(|(_, pair)| pair).zip(0..).collect();
        places.sort_unstable();
        places
    };
    let (before, after) = (side(|pair| pair.0), side(|pair| pair.1));
    before
        .into_iter()
        .zip(after)
        .map(|(one, other)| (one.1, other.1))
        .collect()
}

/// The quantile of a resample that has each of the sorted values so many times.
fn counted(sorted: &[f64], counts: &[u32], at: At) -> f64 {
    let mut passed = 0;
    let mut low = None;
    for (value, count) in sorted.iter().zip(counts) {
        passed += *count as usize;
        if passed > at.below && low.is_none() {
            low = Some(*value);
        }
        if passed > at.below + 1 {
            return at.between(low.unwrap_or(*value), *value);
        }
    }
    low.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(count: usize, together: f64) -> Vec<(f64, f64)> {
        let mut random = Random::new(6);
        (0..count)
            .map(|_| {
                let task = random.normal() * together;
                let mut one = || libm::exp(task + random.normal() * (1.0 - together));
                (one(), one() + 0.5)
            })
            .collect()
    }

    #[test]
    fn the_interval_contains_the_difference() {
        for statistic in [Statistic::Median, Statistic::P95, Statistic::Mean] {
            for count in [59, 400, 6_000] {
                let pairs = pairs(count, 0.5);
                let found = bootstrap_pairs(&pairs, statistic, 1).unwrap();
                let estimate = statistic.difference(&pairs).unwrap();
                assert!(
                    found.low <= estimate && estimate <= found.high,
                    "{statistic:?} {count}"
                );
            }
        }
    }

    #[test]
    fn pairs_that_go_together_tell_more_than_two_groups() {
        let pairs = pairs(500, 0.9);
        let (before, after) = sides(&pairs);
        let paired = bootstrap_pairs(&pairs, Statistic::Median, 1).unwrap();
        let apart = bootstrap_quantile_difference(&after, &before, 0.5, 1).unwrap();
        assert!(paired.high - paired.low < 0.7 * (apart.high - apart.low));
    }

    #[test]
    fn pairs_that_have_nothing_in_common_tell_as_much_as_two_groups() {
        let pairs = pairs(500, 0.0);
        let (before, after) = sides(&pairs);
        let paired = bootstrap_pairs(&pairs, Statistic::Median, 1).unwrap();
        let apart = bootstrap_quantile_difference(&after, &before, 0.5, 1).unwrap();
        let ratio = (paired.high - paired.low) / (apart.high - apart.low);
        assert!((ratio - 1.0).abs() < 0.12, "{ratio}");
    }

    #[test]
    fn a_counted_quantile_is_that_of_the_resample() {
        let mut random = Random::new(1);
        let sorted: Vec<f64> = (0..30).map(f64::from).collect();
        for p in [0.0, 0.3, 0.5, 0.95, 1.0] {
            for _ in 0..200 {
                let mut counts = vec![0_u32; 30];
                for _ in 0..30 {
                    counts[random.place(30)] += 1;
                }
                let resample: Vec<f64> = sorted
                    .iter()
                    .zip(&counts)
                    .flat_map(|(value, count)| vec![*value; *count as usize])
                    .collect();
                let found = counted(&sorted, &counts, At::of(30, p).unwrap());
                assert!((found - quantile(&resample, p).unwrap()).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn too_few_pairs_have_no_interval() {
        assert_eq!(bootstrap_pairs(&pairs(5, 0.5), Statistic::Median, 1), None);
        assert_eq!(bootstrap_pairs(&pairs(58, 0.5), Statistic::P95, 1), None);
        assert_eq!(bootstrap_pairs(&pairs(7, 0.5), Statistic::Mean, 1), None);
        assert_eq!(bootstrap_pairs(&[], Statistic::Mean, 1), None);
        assert_eq!(Statistic::Median.difference(&[]), None);
    }

    #[test]
    fn very_many_pairs_still_have_one() {
        let pairs = pairs(50_001, 0.5);
        let found = bootstrap_pairs(&pairs, Statistic::Median, 1).unwrap();
        let estimate = Statistic::Median.difference(&pairs).unwrap();
        assert!(found.low <= estimate && estimate <= found.high);
    }
}
