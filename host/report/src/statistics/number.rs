//! From counts to numbers with a fraction, and back.

/// A count.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of runs are far below 2^53"
)]
pub(super) fn real(count: u64) -> f64 {
    count as f64
}

/// A length.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of runs are far below 2^53"
)]
pub(super) fn length(count: usize) -> f64 {
    count as f64
}

/// The whole part as a place in a list. Below zero and not a number: zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of floats saturates, which is what is wanted"
)]
pub(super) fn place(value: f64) -> usize {
    value as usize
}

/// The nearest count. Below zero and not a number: zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of floats saturates, which is what is wanted"
)]
pub(super) fn nearest(value: f64) -> u64 {
    value.round() as u64
}

/// `base` to the power of a count.
pub(super) fn power(base: f64, count: u64) -> f64 {
    libm::pow(base, real(count))
}
