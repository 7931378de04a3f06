//! Several tests at once.

use super::number::length;

/// Holm's adjustment: p values as they count when all of them were looked at, in the order they were given.
///
/// ```
/// # use ralph_gate_report::statistics::holm;
/// assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = p.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted: Vec<(usize, f64)> = Vec::with_capacity(p.len());
    let mut so_far: f64 = 0.0;
    for (rank, (place, value)) in order.into_iter().enumerate() {
        so_far = so_far.max(value * length(p.len() - rank)).min(1.0);
        adjusted.push((place, so_far));
    }
    adjusted.sort_by_key(|(place, _)| *place);
    adjusted.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holms_example() {
        let found = holm(&[0.01, 0.04, 0.03]);
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn adjusted_values_keep_their_order_and_stay_below_one() {
        let p = [0.5, 0.001, 0.9, 0.02, 0.02];
        let found = holm(&p);
        assert_eq!(found.len(), p.len());
        for (i, a) in p.iter().enumerate() {
            assert!(found[i] >= *a && found[i] <= 1.0);
            for (j, b) in p.iter().enumerate() {
                assert!(a >= b || found[i] <= found[j]);
            }
        }
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.2]), [0.2]);
    }
}
