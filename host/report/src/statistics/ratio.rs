//! Whether runs were divided between the arms as they should have been.

use super::number::real;
use super::special::two_sided;
use super::tables::binomial_test;

/// Up to so many runs the exact test is asked.
const EXACT: u64 = 10_000;

/// How likely a division is that is as far from the planned share: the exact binomial test, and the chi-square test with
/// one degree of freedom for many runs. A planned share of 0 or 1 permits no run on the other side.
pub fn sample_ratio(a: u64, b: u64, share_of_a: f64) -> f64 {
    let all = a + b;
    if all == 0 {
        return 1.0;
    }
    if !(share_of_a > 0.0 && share_of_a < 1.0) {
        let kept = (share_of_a <= 0.0 && a == 0) || (share_of_a >= 1.0 && b == 0);
        return if kept { 1.0 } else { 0.0 };
    }
    if all <= EXACT {
        return binomial_test(a, all, share_of_a);
    }
    let planned = real(all) * share_of_a;
    let square = (real(a) - planned) * (real(a) - planned) / (planned * (1.0 - share_of_a));
    two_sided(square.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_division_is_not_suspicious() {
        assert!((sample_ratio(50, 50, 0.5) - 1.0).abs() < 1e-12);
        assert!((sample_ratio(0, 0, 0.5) - 1.0).abs() < 1e-12);
        assert!(sample_ratio(500_000, 500_000, 0.5) > 0.999);
    }

    #[test]
    fn a_lopsided_division_is() {
        assert!(sample_ratio(60, 20, 0.5) < 1e-4);
        assert!(sample_ratio(50_000, 51_000, 0.5) < 0.002);
        assert!(sample_ratio(200, 100, 2.0 / 3.0) > 0.9);
    }

    #[test]
    fn both_tests_agree_where_one_takes_over() {
        let exact = sample_ratio(5_100, 4_900, 0.5);
        let chi_square = sample_ratio(5_101, 4_900, 0.5);
        assert!((exact - chi_square).abs() < 0.003, "{exact} {chi_square}");
    }

    #[test]
    fn a_share_of_nothing_permits_nothing() {
        assert!(sample_ratio(0, 9, 0.0) > 0.99);
        assert!(sample_ratio(1, 9, 0.0) < 0.01);
        assert!(sample_ratio(9, 0, 1.0) > 0.99);
        assert!(sample_ratio(9, 1, f64::NAN) < 0.01);
    }
}
