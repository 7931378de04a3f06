//! Points in time, as transcripts write them.

const DAY_MS: u64 = 86_400_000;

/// `2026-01-02T03:04:05.678Z`, or with an offset, in milliseconds since 1970. None if it is something else.
pub fn milliseconds(text: &str) -> Option<u64> {
    let (date, time) = text.trim().split_once(['T', ' '])?;
    let day = day_ms(date)?;
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at_checked(zone)?;
    let mut parts = clock.splitn(3, ':');
    let hour = number(parts.next()?, 23)?;
    let minute = number(parts.next()?, 59)?;
    let (second, fraction) = match parts.next()?.split_once('.') {
        Some((second, fraction)) => (second, thousandths(fraction)?),
        None => (clock.rsplit(':').next()?, 0),
    };
    let second = number(second, 60)?;
    let within = ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
    let moment = day + within;
    match zone.strip_prefix(['+', '-']) {
        None if zone.eq_ignore_ascii_case("z") => Some(moment),
        None => None,
        Some(offset) => {
            let (hours, minutes) = match offset.split_once(':') {
                Some(parts) => parts,
                None => offset.split_at_checked(2)?,
            };
            let offset = (number(hours, 23)? * 60 + number(minutes, 59)?) * 60_000;
            if zone.starts_with('-') {
                Some(moment + offset)
            } else {
                moment.checked_sub(offset)
            }
        }
    }
}

/// `2026-01-02`: when that day began in UTC, in milliseconds since 1970.
pub fn day_ms(text: &str) -> Option<u64> {
    let mut parts = text.splitn(3, '-');
    let year = number(parts.next()?, 9999)?;
    let month = number(parts.next()?, 12)?;
    let day = number(parts.next()?, 31)?;
    if year < 1970 || month == 0 || day == 0 || day > days_in(year, month) {
        return None;
    }
    // Years are counted from March, so that a leap day is a year's last day.
    let (year, month) = if month <= 2 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era;
    Some(days.checked_sub(719_468)? * DAY_MS)
}

fn days_in(year: u64, month: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn number(text: &str, largest: u64) -> Option<u64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let number: u64 = is_number.then(|| text.parse().ok())??;
    (number <= largest).then_some(number)
}

fn thousandths(fraction: &str) -> Option<u64> {
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    let digits = fraction.chars().chain("000".chars()).take(3);
    is_fraction.then(|| digits.fold(0, |sum, digit| sum * 10 + u64::from(digit) - 48))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_the_calendar_has_them() {
        for (text, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00.5Z", 951_782_400_500),
            ("2024-02-29T23:59:59.123456Z", 1_709_251_199_123),
            ("2024-03-01T01:59:59+02:00", 1_709_251_199_000),
            ("2024-02-29T18:59:59-0500", 1_709_251_199_000),
            ("2100-01-01T00:00:00.000Z", 4_102_444_800_000),
        ] {
            assert_eq!(milliseconds(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "T",
            "2026-01-02",
            "2026-02-30T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-02T25:00:00Z",
            "2026-01-02T03:04Z",
            "2026-01-02T03:04:05",
            "1969-12-31T23:59:59Z",
            "2026-01-02T03:04:05.Z",
            "2026-01-02T03:04:05+é",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }
}
