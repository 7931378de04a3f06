//! Exact decimals for money and ratios, and the canonical form of number texts. No float anywhere.

use std::fmt;

/// Decimal places that a [`Decimal`] keeps.
const PLACES: u32 = 12;
const ONE: u128 = 10_u128.pow(PLACES);
/// The largest whole part accepted, so that sums over a loop never overflow.
pub(crate) const MAX_WHOLE: u128 = 1_000_000_000_000;

/// A number of zero or more with up to twelve decimal places, kept exactly.
///
/// ```
/// use ralph_gate_component::decimal::Decimal;
/// let sum = Decimal::parse("0.1").unwrap().plus(Decimal::parse("0.2").unwrap());
/// assert_eq!(sum.to_string(), "0.30");
/// assert_eq!(sum, Decimal::parse("0.300").unwrap());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Decimal(u128);

impl Decimal {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// One.
    pub const ONE: Self = Self(ONE);

    /// Read a decimal such as `0.30`, `12` or `3e-2`. The error is a sentence part for a problem.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let number = Parts::of(text).ok_or("is not a decimal number such as `0.30`")?;
        if number.negative && !number.digits.is_empty() {
            return Err("can't be negative");
        }
        let places = i64::from(PLACES) + number.exponent;
        if number.digits.is_empty() {
            return Ok(Self::ZERO);
        }
        if places < 0 {
            return Err("has more than 12 decimal places");
        }
        let length = i64::try_from(number.digits.len()).unwrap_or(i64::MAX);
        if length.saturating_add(places) > 30 {
            return Err("is larger than 1000000000000");
        }
        let digits: u128 = number.digits.parse().map_err(|_| "is too long a number")?;
        let scale = 10_u128.pow(u32::try_from(places).unwrap_or(0));
        let units = digits.saturating_mul(scale);
        if units > MAX_WHOLE * ONE {
            return Err("is larger than 1000000000000");
        }
        Ok(Self(units))
    }

    /// The sum; it saturates far beyond any accepted number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Whether `part` of `whole` is at least this ratio.
    pub fn is_met_by(self, part: usize, whole: usize) -> bool {
        let part = u128::try_from(part).unwrap_or(u128::MAX);
        let whole = u128::try_from(whole).unwrap_or(u128::MAX);
        part.saturating_mul(ONE) >= self.0.saturating_mul(whole)
    }

    /// How much of `limit` this is, in percent, rounded down.
    pub fn percent_of(self, limit: Self) -> u32 {
        let percent = match limit.0 {
            0 => return if self.0 == 0 { 0 } else { 100 },
            limit => self.0.saturating_mul(100) / limit,
        };
        u32::try_from(percent).unwrap_or(u32::MAX)
    }
}

impl fmt::Display for Decimal {
    /// At least two decimal places, no further trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:012}", self.0 % ONE);
        let significant = fraction.trim_end_matches('0').len().max(2);
        let fraction = fraction.get(..significant).unwrap_or(&fraction);
        write!(f, "{}.{fraction}", self.0 / ONE)
    }
}

impl serde::Serialize for Decimal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A number text taken apart: `digits` without leading and trailing zeros, times ten to `exponent`.
struct Parts {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        if !is_json_number(text) {
            return None;
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let trimmed = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - trimmed.len()).ok()?;
        let fraction = i64::try_from(fraction.len()).ok()?;
        Some(Self {
            negative,
            digits: trimmed.trim_start_matches('0').to_owned(),
            exponent: i64::from(exponent) - fraction + dropped,
        })
    }
}

/// One text for one number: `1.50`, `1.5` and `15e-1` are all `15e-1`.
pub fn canonical_number(text: &str) -> String {
    match Parts::of(text) {
        None => text.to_owned(),
        Some(number) if number.digits.is_empty() => "0".to_owned(),
        Some(number) => {
            let sign = if number.negative { "-" } else { "" };
            format!("{sign}{}e{}", number.digits, number.exponent)
        }
    }
}

/// Whether a text is a number in JSON's grammar.
pub fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let tenth = Decimal::parse("0.1").unwrap();
        let sum = (0..3).fold(Decimal::ZERO, |sum, _| sum.plus(tenth));
        assert_eq!(sum, Decimal::parse("0.30").unwrap());
        assert_eq!(Decimal::parse("1.25e2").unwrap().to_string(), "125.00");
        assert_eq!(
            Decimal::parse("0.000000000001").unwrap().to_string(),
            "0.000000000001"
        );
    }

    #[test]
    fn what_is_not_a_decimal_is_refused_with_the_cause() {
        for (text, cause) in [
            ("-1", "can't be negative"),
            ("0.0000000000001", "has more than 12 decimal places"),
            ("1e13", "is larger than 1000000000000"),
            ("1e999999", "is larger than 1000000000000"),
            ("1,5", "is not a decimal number such as `0.30`"),
            ("", "is not a decimal number such as `0.30`"),
            (".5", "is not a decimal number such as `0.30`"),
        ] {
            assert_eq!(Decimal::parse(text), Err(cause), "{text}");
        }
    }

    #[test]
    fn equal_numbers_have_one_canonical_text() {
        for text in ["1.50", "1.5", "15e-1", "0.15E+1"] {
            assert_eq!(canonical_number(text), "15e-1", "{text}");
        }
        assert_eq!(canonical_number("-0.0"), "0");
        assert_eq!(canonical_number("100"), "1e2");
    }

    #[test]
    fn a_ratio_is_met_exactly() {
        let ratio = Decimal::parse("0.5").unwrap();
        assert!(ratio.is_met_by(1, 2));
        assert!(!ratio.is_met_by(1, 3));
        assert!(Decimal::ZERO.is_met_by(0, 0));
    }
}
