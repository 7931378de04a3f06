//! Differences of amounts of money, exactly: the gate writes decimals, and no float may touch them.

/// Decimal places that the gate keeps.
const PLACES: usize = 12;
/// An amount of one in units of the last decimal place.
const ONE: u128 = 1_000_000_000_000;

/// How much larger the first amount is, as the gate writes amounts; nothing if it is smaller. None if one is no amount.
pub(crate) fn minus(from: &str, what: &str) -> Option<String> {
    Some(written(units(from)?.saturating_sub(units(what)?)))
}

/// In units of the last decimal place.
fn units(text: &str) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > PLACES || !is_plain(whole) || !is_plain(fraction) {
        return None;
    }
    format!("{whole}{fraction:0<PLACES$}").parse().ok()
}

/// With at least two decimal places.
fn written(units: u128) -> String {
    let fraction = format!("{:0PLACES$}", units % ONE);
    let fraction = fraction.trim_end_matches('0');
    format!("{}.{fraction:0<2}", units / ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_exact_and_never_negative() {
        assert_eq!(minus("0.30", "0.1").as_deref(), Some("0.20"));
        assert_eq!(
            minus("12", "0.000000000001").as_deref(),
            Some("11.999999999999")
        );
        assert_eq!(minus("1.00", "2.00").as_deref(), Some("0.00"));
        assert_eq!(
            minus("1000000000000", "0").as_deref(),
            Some("1000000000000.00")
        );
    }

    #[test]
    fn what_is_no_amount_has_no_difference() {
        for text in [
            "",
            "-1",
            "1e3",
            ".5",
            "0.1234567890123",
            "é",
            &"9".repeat(60),
        ] {
            assert_eq!(minus(text, "0"), None, "{text}");
        }
    }
}
