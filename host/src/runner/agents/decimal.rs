//! Amounts of money as a client printed them, added up without a float.

use std::fmt;

/// Decimal places kept: all that a double of a millionth or more can print.
const PLACES: u32 = 24;
const ONE: u128 = 10_u128.pow(PLACES);
/// Digits of the largest amount, which is a million millions: sums of many stay far from overflow.
const DIGITS: i64 = 12 + PLACES as i64;

/// An amount of zero or more. What is smaller than the last decimal place is rounded up, so that a budget never
/// gains by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Decimal(u128);

impl Decimal {
    /// Reads a JSON number, also in exponent form. Nothing, if it is negative, too large or no number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        if whole.is_empty() || !is_digits(&all) {
            return None;
        }
        let digits = all.trim_start_matches('0');
        if digits.is_empty() {
            return Some(Self(0));
        }
        let exponent = match (exponent.parse::<i32>(), exponent.strip_prefix('-')) {
            (Ok(exponent), _) => i64::from(exponent),
            (Err(_), Some(below)) if is_digits(below) => -i64::from(i32::MAX),
            _ => return None,
        };
        let shift = exponent + i64::from(PLACES) - i64::try_from(fraction.len()).ok()?;
        Self::scaled(digits, shift)
    }

    /// `digits` times ten to `shift`, in units of the last decimal place.
    fn scaled(digits: &str, shift: i64) -> Option<Self> {
        let length = i64::try_from(digits.len()).ok()?.saturating_add(shift);
        if length > DIGITS {
            return None;
        }
        let kept = usize::try_from(length.max(0)).ok()?.min(digits.len());
        let (kept, rest) = digits.split_at_checked(kept)?;
        let units: u128 = if kept.is_empty() {
            0
        } else {
            kept.parse().ok()?
        };
        let scale = 10_u128.checked_pow(u32::try_from(shift.max(0)).ok()?)?;
        let more = u128::from(rest.bytes().any(|digit| digit != b'0'));
        Some(Self(units.checked_mul(scale)?.saturating_add(more)))
    }

    /// The sum; it saturates.
    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// With so many decimal places at most, rounded up.
    pub(super) fn rounded_up(self, places: u32) -> Self {
        let step = 10_u128.pow(PLACES.saturating_sub(places));
        Self(self.0.div_ceil(step).saturating_mul(step))
    }

    /// Without the decimal places.
    pub(super) fn whole(self) -> u64 {
        u64::try_from(self.0 / ONE).unwrap_or(u64::MAX)
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for Decimal {
    /// As short as it can be: `0.3`, `12`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:024}", self.0 % ONE);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        write!(f, "{}{point}{fraction}", self.0 / ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        Decimal::parse(text).map(|amount| amount.to_string())
    }

    #[test]
    fn a_plain_number_stays_as_it_was_printed() {
        for text in [
            "0",
            "12",
            "0.005568",
            "0.30000000000000004",
            "1000000000.25",
        ] {
            assert_eq!(shown(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn exponents_become_plain_decimals() {
        assert_eq!(shown("5.5e-7").as_deref(), Some("0.00000055"));
        assert_eq!(shown("1.25E+2").as_deref(), Some("125"));
        assert_eq!(shown("0e999999999999").as_deref(), Some("0"));
    }

    #[test]
    fn what_is_too_small_is_rounded_up_and_never_lost() {
        let least = format!("0.{}1", "0".repeat(23));
        assert_eq!(shown("1e-24").as_deref(), Some(least.as_str()));
        assert_eq!(shown("1e-99999999999").as_deref(), Some(least.as_str()));
        assert_eq!(
            shown(&format!("0.{}", "9".repeat(5000))).as_deref(),
            Some("1")
        );
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in [
            "",
            "-1",
            "1e13",
            "1e999999999999",
            "NaN",
            "\"1\"",
            ".5",
            "1.2.3",
            "+1",
            "1e",
            "1e-",
            "1e-x",
            "é",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn rounding_up_keeps_what_fits() {
        let amount = Decimal::parse("0.30000000000000004").unwrap();
        assert_eq!(amount.rounded_up(12).to_string(), "0.300000000001");
        assert_eq!(
            Decimal::parse("0.3").unwrap().rounded_up(12).to_string(),
            "0.3"
        );
        assert_eq!(amount.rounded_up(99), amount);
    }

    #[test]
    fn sums_are_exact() {
        let sum = Decimal::parse("0.1")
            .unwrap()
            .plus(Decimal::parse("0.2").unwrap());
        assert_eq!(sum.to_string(), "0.3");
    }
}
