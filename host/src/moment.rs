//! Points in time, as people and files write them.

const DAY: u64 = 86_400;

/// `2026-11-16T15:04:05Z`, of a moment in seconds since 1970.
pub fn utc(seconds: u64) -> String {
    let (date, [hour, minute, second]) = (date(seconds), time(seconds));
    format!("{date}T{hour:02}:{minute:02}:{second:02}Z")
}

/// `2026-11-16-150405`: the same for a name.
pub(crate) fn name(seconds: u64) -> String {
    let (date, [hour, minute, second]) = (date(seconds), time(seconds));
    format!("{date}-{hour:02}{minute:02}{second:02}")
}

fn date(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / DAY);
    format!("{year:04}-{month:02}-{day:02}")
}

fn time(seconds: u64) -> [u64; 3] {
    let rest = seconds % DAY;
    [rest / 3600, rest / 60 % 60, rest % 60]
}

/// Year, month and day of a day since 1970, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years are counted from March, so that a leap day is a year's last day.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// Milliseconds since 1970 of a moment as `2026-11-16T15:04:05.678Z`. None of anything else.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let numbers = |text: &str, separator| -> Option<[u64; 3]> {
        let parts = text.split(separator).map(|part| part.parse().ok());
        parts.collect::<Option<Vec<u64>>>()?.try_into().ok()
    };
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let is_possible = (1970..10_000).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    let fraction: String = fraction.chars().chain("00".chars()).take(3).collect();
    let fraction: u64 = fraction.parse().ok()?;
    // Years are counted from March, as in `civil`.
    let (year, month) = match month {
        3.. => (year, month - 3),
        _ => (year - 1, month + 9),
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
    let seconds = days.checked_sub(719_468)? * DAY + hour * 3600 + minute * 60 + second;
    is_possible.then_some(seconds * 1000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        for seconds in [0, 951_782_399, 951_782_400, 1_709_251_199, 4_102_444_799] {
            assert_eq!(milliseconds(&utc(seconds)), Some(seconds * 1000));
        }
        assert_eq!(
            milliseconds("2026-11-19T21:20:41.620Z"),
            Some(1_795_123_241_620)
        );
        assert_eq!(milliseconds("1970-01-01T00:00:00.5Z"), Some(500));
        for other in [
            "",
            "T",
            "Z",
            "TZ",
            "2026-11-19",
            "2026-13-01T00:00:00Z",
            "2026-1-1T1:1Z",
        ] {
            assert_eq!(milliseconds(other), None, "{other}");
        }
    }

    #[test]
    fn a_day_is_written_as_the_calendar_has_it() {
        for (seconds, text) in [
            (0, "1970-01-01-000000"),
            (951_782_399, "2000-02-28-235959"),
            (951_782_400, "2000-02-29-000000"),
            (1_709_251_199, "2024-02-29-235959"),
            (4_102_444_800, "2100-01-01-000000"),
        ] {
            assert_eq!(name(seconds), text);
        }
        assert_eq!(utc(1_709_251_199), "2024-02-29T23:59:59Z");
    }
}
