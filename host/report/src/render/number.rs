//! How numbers are written, in every form of a report.
//!
//! ```
//! use ralph_gate_report::render::number;
//!
//! assert_eq!(number::percent(0.0625), "6.3 %");
//! assert_eq!(number::points(-0.25), "−25.0 points");
//! assert_eq!(number::count(1_234_567), "1,234,567");
//! assert_eq!(number::amount(190_000.0, "ms"), "3 min 10 s");
//! assert_eq!(number::difference(1.5, "USD"), "+1.50 USD");
//! ```

use crate::model::Interval;

/// A typographic minus: as wide as a plus.
const MINUS: char = '−';

/// A share, with one decimal.
pub fn percent(share: f64) -> String {
    format!("{} %", decimals(share * 100.0, 1))
}

/// A difference of shares, with its sign.
pub fn points(difference: f64) -> String {
    format!("{} points", bare_points(difference))
}

/// The same without a unit, for a column that has it in its head.
pub fn bare_points(difference: f64) -> String {
    signed(difference, |size| decimals(size * 100.0, 1))
}

/// A mark of an axis in its unit, as short as it can be. Shares are in `%`, relative changes in `change`,
/// differences of shares in `points`.
pub fn mark(value: f64, unit: &str) -> String {
    if value.abs() < 1e-12 {
        return "0".to_owned();
    }
    match unit {
        "%" | "change" | "points" => {
            let places = usize::from(!is_whole(value * 100.0));
            let size = |size: f64| decimals(size * 100.0, places);
            match unit {
                "%" => format!("{} %", size(value)),
                "change" => format!("{} %", signed(value, size)),
                _ => signed(value, size),
            }
        }
        "ms" => {
            let text = amount(value, unit);
            let short = text.strip_suffix(" 0 s").or(text.strip_suffix(" 0 min"));
            short.unwrap_or(&text).replace(".0 s", " s")
        }
        _ => amount(value, unit),
    }
}

/// How many, in groups of three digits.
pub fn count(number: u64) -> String {
    group(&number.to_string())
}

/// An amount in its unit: `iterations`, `ms`, `calls`, `tokens` or `USD`.
pub fn amount(value: f64, unit: &str) -> String {
    let size = size(value.abs(), unit);
    if value < 0.0 && size.contains(|digit: char| ('1'..='9').contains(&digit)) {
        format!("{MINUS}{size}")
    } else {
        size
    }
}

/// A difference of amounts, with its sign.
pub fn difference(value: f64, unit: &str) -> String {
    signed(value, |value| size(value, unit))
}

/// A p value: three decimals, and no zeros that nobody knows.
pub fn p(value: f64) -> String {
    if value < 0.001 {
        "< 0.001".to_owned()
    } else {
        decimals(value, 3)
    }
}

/// A range, with each end as `write` has it. A currency is not said twice.
pub fn interval(interval: Interval, write: impl Fn(f64) -> String) -> String {
    let (low, high) = (write(interval.low), write(interval.high));
    let low = low.strip_suffix(" USD").unwrap_or(&low);
    format!("{low} to {high}")
}

fn size(value: f64, unit: &str) -> String {
    match unit {
        "ms" => duration(value),
        "USD" => money(value),
        // Nobody needs a tenth of a hundred.
        _ if value >= 100.0 || is_whole(value) => group(&decimals(value, 0)),
        _ => group(&decimals(value, 1)),
    }
}

/// Two decimals, and four where two would hide everything.
fn money(value: f64) -> String {
    let places = if value > 0.0 && value < 0.01 { 4 } else { 2 };
    format!("{} USD", group(&decimals(value, places)))
}

/// Two units at most; rounded before it is divided, so that there is no minute of 60 seconds.
fn duration(ms: f64) -> String {
    let tenths = (ms / 100.0).round();
    let seconds = (ms / 1000.0).round();
    let minutes = (ms / 60_000.0).round();
    if ms.round() < 1000.0 {
        format!("{} ms", decimals(ms, 0))
    } else if tenths < 600.0 {
        format!("{} s", decimals(tenths / 10.0, 1))
    } else if seconds < 3600.0 {
        parts(seconds, "min", "s")
    } else {
        parts(minutes, "h", "min")
    }
}

fn parts(small: f64, large_unit: &str, small_unit: &str) -> String {
    let large = (small / 60.0).floor();
    let rest = small - large * 60.0;
    let large = group(&decimals(large, 0));
    format!("{large} {large_unit} {} {small_unit}", decimals(rest, 0))
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 0.05
}

/// A sign, unless everything that is shown is zero.
fn signed(value: f64, write: impl Fn(f64) -> String) -> String {
    let size = write(value.abs());
    if !size.contains(|digit: char| ('1'..='9').contains(&digit)) {
        size
    } else if value < 0.0 {
        format!("{MINUS}{size}")
    } else {
        format!("+{size}")
    }
}

fn decimals(value: f64, places: usize) -> String {
    // Halves are rounded away from zero, as people do; formatting alone would round 6.25 to 6.2.
    let scale = match places {
        0 => 1.0,
        1 => 10.0,
        2 => 100.0,
        3 => 1000.0,
        _ => 10_000.0,
    };
    let rounded = (value * scale).round() / scale;
    format!("{rounded:.places$}")
}

/// Commas between groups of three digits of the whole part.
fn group(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::with_capacity(number.len() + number.len() / 3);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_one_decimal() {
        assert_eq!(percent(1.0), "100.0 %");
        assert_eq!(percent(2.0 / 3.0), "66.7 %");
        assert_eq!(percent(0.0), "0.0 %");
    }

    #[test]
    fn differences_have_a_sign_unless_they_are_nothing() {
        assert_eq!(points(0.105), "+10.5 points");
        assert_eq!(points(-0.0001), "0.0 points");
        assert_eq!(difference(-2.0, "iterations"), "−2");
        assert_eq!(difference(0.0, "ms"), "0 ms");
    }

    #[test]
    fn durations_have_two_units_at_most_and_no_minute_of_sixty_seconds() {
        let of = |ms| amount(ms, "ms");
        assert_eq!(of(0.0), "0 ms");
        assert_eq!(of(999.4), "999 ms");
        assert_eq!(of(999.6), "1.0 s");
        assert_eq!(of(4200.0), "4.2 s");
        assert_eq!(of(59_949.0), "59.9 s");
        assert_eq!(of(59_960.0), "1 min 0 s");
        assert_eq!(of(190_000.0), "3 min 10 s");
        assert_eq!(of(3_599_600.0), "1 h 0 min");
        assert_eq!(of(7_500_000.0), "2 h 5 min");
        assert_eq!(of(3_600_000_000.0), "1,000 h 0 min");
    }

    #[test]
    fn money_shows_small_sums_too() {
        assert_eq!(amount(0.0042, "USD"), "0.0042 USD");
        assert_eq!(amount(12.345, "USD"), "12.35 USD");
        assert_eq!(amount(12_000.0, "USD"), "12,000.00 USD");
        assert_eq!(difference(-0.2, "USD"), "−0.20 USD");
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(amount(12_345.5, "tokens"), "12,346");
        assert_eq!(amount(4.5, "iterations"), "4.5");
        assert_eq!(amount(4.0, "iterations"), "4");
    }

    #[test]
    fn what_is_no_number_is_written_and_not_refused() {
        assert_eq!(percent(f64::NAN), "NaN %");
        assert!(amount(f64::INFINITY, "ms").contains("inf"));
    }

    #[test]
    fn marks_are_short() {
        assert_eq!(mark(0.0, "ms"), "0");
        assert_eq!(mark(600_000.0, "ms"), "10 min");
        assert_eq!(mark(30_000.0, "ms"), "30 s");
        assert_eq!(mark(7_200_000.0, "ms"), "2 h");
        assert_eq!(mark(0.2, "%"), "20 %");
        assert_eq!(mark(0.025, "%"), "2.5 %");
        assert_eq!(mark(-0.4, "points"), "−40");
        assert_eq!(mark(0.25, "change"), "+25 %");
        assert_eq!(mark(0.5, "USD"), "0.50 USD");
    }

    #[test]
    fn a_range_says_its_currency_once() {
        let range = Interval {
            low: -0.5,
            high: 1.0,
        };
        assert_eq!(
            interval(range, |value| difference(value, "USD")),
            "−0.50 to +1.00 USD"
        );
        assert_eq!(interval(range, bare_points), "−50.0 to +100.0");
    }

    #[test]
    fn a_tiny_p_value_claims_no_digits() {
        assert_eq!(p(0.0004), "< 0.001");
        assert_eq!(p(0.039_062_5), "0.039");
        assert_eq!(p(1.0), "1.000");
    }
}
