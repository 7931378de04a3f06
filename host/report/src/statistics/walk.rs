//! Sums over a distribution of counts, without a single logarithm: weights relative to the most likely count, each from
//! its neighbour's.

use super::mean::Sum;

/// Two tables are as likely as each other when their weights differ by less than this; the sums of other programs
/// (R, SciPy) use the same.
const SAME: f64 = 1e-7;

/// A weight below this adds nothing to a sum that has a 1 in it.
const NOTHING: f64 = 1e-290;

/// A distribution of counts with one peak.
pub(super) struct Walk<Up: Fn(u64) -> f64> {
    /// The least count.
    pub(super) low: u64,
    /// A most likely one.
    pub(super) mode: u64,
    /// The largest.
    pub(super) high: u64,
    /// How much more likely the next count is than this one.
    pub(super) up: Up,
}

/// How a count compares with all.
pub(super) struct Tails {
    /// The share of less likely counts.
    pub(super) less: f64,
    /// The share of equally likely ones, itself among them.
    pub(super) equal: f64,
}

impl<Up: Fn(u64) -> f64> Walk<Up> {
    /// How the observed count compares with all. Its work is in proportion to the spread of the distribution, not to its
    /// range: 10^6 and 10^6 runs are some ten thousand steps.
    pub(super) fn tails(&self, observed: u64) -> Tails {
        let mut seen = 0.0;
        self.each(|count, weight| {
            if count == observed {
                seen = weight;
            }
        });
        let (mut all, mut less, mut equal) = (Sum::default(), Sum::default(), Sum::default());
        self.each(|_, weight| {
            all.add(weight);
            if weight <= seen * (1.0 - SAME) {
                less.add(weight);
            } else if weight <= seen * (1.0 + SAME) {
                equal.add(weight);
            }
        });
        Tails {
            less: less.total() / all.total(),
            equal: equal.total() / all.total(),
        }
    }

    /// The largest count below which no more than `low` lies, and the smallest from which on no more than `high` does. They
    /// may be one beyond the range, where that much lies nowhere.
    pub(super) fn within(&self, low: f64, high: f64) -> (u64, u64) {
        let mut weights = Vec::new();
        self.each(|count, weight| weights.push((count, weight)));
        weights.sort_by_key(|(count, _)| *count);
        let mut all = Sum::default();
        for (_, weight) in &weights {
            all.add(*weight);
        }
        let passed = |weights: &mut dyn Iterator<Item = &(u64, f64)>, most: f64| {
            let mut sum = Sum::default();
            let mut last = None;
            for (count, weight) in weights {
                sum.add(*weight);
                if sum.total() > most * all.total() {
                    break;
                }
                last = Some(*count);
            }
            last
        };
        let below = passed(&mut weights.iter(), low).map_or(self.low, |count| count + 1);
        let above = passed(&mut weights.iter().rev(), high).unwrap_or(self.high + 1);
        (below, above)
    }

    /// Every count that has a weight worth adding.
    fn each(&self, mut visit: impl FnMut(u64, f64)) {
        visit(self.mode, 1.0);
        let mut weight = 1.0;
        for count in self.mode..self.high {
            weight *= (self.up)(count);
            if weight < NOTHING {
                break;
            }
            visit(count + 1, weight);
        }
        weight = 1.0;
        for count in (self.low..self.mode).rev() {
            weight /= (self.up)(count);
            if weight < NOTHING {
                break;
            }
            visit(count, weight);
        }
    }
}

impl Tails {
    /// At least as unlikely.
    pub(super) fn exact(&self) -> f64 {
        (self.less + self.equal).min(1.0)
    }

    /// The same with half of the equally likely: exact tests of few runs are too careful by about that.
    pub(super) fn mid(&self) -> f64 {
        (self.less + self.equal / 2.0).min(1.0)
    }
}
