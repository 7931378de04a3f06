//! The normal distribution and Student's.

use super::number::real;

/// The 97.5th percentile of the normal distribution: what 95 % leave out on each side.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// How often a normal number is at least as far from zero, on either side.
pub(super) fn two_sided(z: f64) -> f64 {
    libm::erfc(z.abs() * core::f64::consts::FRAC_1_SQRT_2).min(1.0)
}

/// The 97.5th percentile of Student's distribution, by the expansion of Cornish and Fisher: four digits from 7 degrees of
/// freedom on, which is where means begin to have intervals here.
pub(super) fn student(degrees: u64) -> f64 {
    let v = real(degrees);
    let (z1, z2) = (Z, Z * Z);
    let (z3, z5, z7, z9) = (
        z1 * z2,
        z1 * z2 * z2,
        z1 * z2 * z2 * z2,
        z1 * z2 * z2 * z2 * z2,
    );
    z1 + (z3 + z1) / (4.0 * v)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z1) / (96.0 * v * v)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z1) / (384.0 * v * v * v)
        + (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z1)
            / (92_160.0 * v * v * v * v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_percentiles_are_those_of_the_tables() {
        for (degrees, expected) in [(7, 2.3646), (10, 2.2281), (30, 2.0423), (1000, 1.9623)] {
            let found = student(degrees);
            assert!((found - expected).abs() < 2e-4, "{degrees}: {found}");
        }
    }

    #[test]
    fn z_leaves_five_percent_outside() {
        assert!((two_sided(Z) - 0.05).abs() < 1e-15);
        assert!((two_sided(-Z) - 0.05).abs() < 1e-15);
        assert!((two_sided(0.0) - 1.0).abs() < 1e-15);
    }
}
