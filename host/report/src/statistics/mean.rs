//! Sums that lose nothing, and means.

use super::number::length;

/// A sum that keeps what rounding takes from it (Neumaier's).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() {
            (self.sum - next) + value
        } else {
            (value - next) + self.sum
        };
        self.sum = next;
    }

    pub(super) fn total(&self) -> f64 {
        self.sum + self.lost
    }
}

/// All of them together.
pub fn sum(values: &[f64]) -> f64 {
    let mut sum = Sum::default();
    for value in values {
        sum.add(*value);
    }
    sum.total()
}

/// The mean. None: of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values) / length(values.len()))
}

/// How far values are from their mean, squared, on average (of a sample: by one fewer). None: of fewer than two.
pub(super) fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let mut squares = Sum::default();
    for value in values {
        squares.add((value - centre) * (value - centre));
    }
    Some(squares.total() / length(values.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_keeps_small_values_beside_large_ones() {
        let found = sum(&[1e100, 1.0, -1e100, 1.0]);
        assert!((found - 2.0).abs() < 1e-15, "{found}");
        let cents = vec![0.1; 100_000];
        assert!((sum(&cents) - 10_000.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(mean(&[]), None);
        assert_eq!(variance(&[1.0]), None);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(variance(&[1.0, 2.0, 6.0]), Some(7.0));
    }
}
