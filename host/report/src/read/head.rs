//! The beginning of a line, without reading the rest of it.

/// What a line of a log begins with.
pub(super) struct Head<'l> {
    /// Its number.
    pub(super) seq: u64,
    /// The digest of the line before, in hexadecimal digits.
    pub(super) prev: &'l [u8],
    /// Its name.
    pub(super) event: &'l str,
}

impl<'l> Head<'l> {
    /// As it is written. None if the line begins otherwise.
    pub(super) fn of(line: &'l [u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"{\"seq\":")?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        let seq = std::str::from_utf8(number).ok()?.parse().ok()?;
        let rest = rest.strip_prefix(b",\"prev\":\"")?;
        let (prev, rest) = rest.split_at_checked(64)?;
        let rest = rest.strip_prefix(b"\",\"event\":\"")?;
        let end = rest.iter().take(64).position(|byte| *byte == b'"')?;
        let event = std::str::from_utf8(rest.get(..end)?).ok()?;
        Some(Self { seq, prev, event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_its_number_what_was_before_and_its_name() {
        let line = format!(
            r#"{{"seq":12,"prev":"{}","event":"verdict","data":{{}}}}"#,
            "a".repeat(64)
        );
        let head = Head::of(line.as_bytes()).unwrap();
        assert_eq!((head.seq, head.prev.len(), head.event), (12, 64, "verdict"));
    }

    #[test]
    fn another_beginning_is_no_event() {
        for line in [
            "",
            "{}",
            "{\"seq\":",
            "{\"seq\":1,\"prev\":\"ab\"",
            "{ \"seq\": 1}",
            "{\"seq\":99999999999999999999999,",
        ] {
            assert!(Head::of(line.as_bytes()).is_none(), "{line}");
        }
    }
}
