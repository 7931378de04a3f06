//! Lines as a person would see them, and words and numbers of texts that somebody else wrote.

use std::borrow::Cow;

use crate::visible::is_hidden;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// One line, without colours and line end.
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: u64,
    pub(super) text: Cow<'a, str>,
}

/// The lines of a text, each once and in order.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> + Clone {
    without_mark(text)
        .split(|byte| *byte == b'\n')
        .zip(1..)
        .map(|(line, number)| Line {
            number,
            text: plain(line),
        })
}

/// A text without the mark that some editors and shells put in front.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

fn plain(line: &[u8]) -> Cow<'_, str> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.contains(&ESCAPE) {
        return String::from_utf8_lossy(line);
    }
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            ESCAPE => skip_sequence(&mut rest),
            byte => plain.push(byte),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&plain).into_owned())
}

/// Goes past what a terminal takes as a command after an escape character.
fn skip_sequence(rest: &mut std::iter::Peekable<impl Iterator<Item = u8>>) {
    match rest.next_if(|byte| matches!(byte, b'[' | b']' | b'(' | b')')) {
        Some(b'[') => {
            while rest.next_if(|byte| matches!(byte, 0x20..=0x3f)).is_some() {}
            rest.next_if(|byte| matches!(byte, 0x40..=0x7e));
        }
        Some(b']') => {
            while rest
                .next_if(|byte| !matches!(*byte, BELL | ESCAPE))
                .is_some()
            {}
            rest.next_if_eq(&BELL);
        }
        Some(_) => {
            rest.next();
        }
        None => {}
    }
}

/// A number of tests. Larger ones than anybody has are none, so that sums can't overflow.
pub(super) fn number(text: &str) -> Option<u64> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse::<u32>().ok().map(u64::from)
}

/// The number that a text begins with, and what follows it.
pub(super) fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    Some((number(digits)?, rest))
}

/// At most `limit` bytes of a text, fit to be shown: what could move a cursor or turn a line around is replaced.
pub(super) fn clean(text: &str, limit: usize) -> String {
    let mut cleaned = String::new();
    for c in text.chars() {
        let c = if is_hidden(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        };
        if cleaned.len() + c.len_utf8() > limit {
            break;
        }
        cleaned.push(c);
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8]) -> Vec<String> {
        lines(text).map(|line| line.text.into_owned()).collect()
    }

    #[test]
    fn colours_and_line_ends_are_not_part_of_a_line() {
        let text = b"\xef\xbb\xbf\x1b[32;1mok\x1b(B\x1b[m\r\n\x1b]0;title\x07two\x1b";
        assert_eq!(shown(text), ["ok", "two"]);
    }

    #[test]
    fn a_number_is_made_of_digits_and_not_huge() {
        assert_eq!(number("12"), Some(12));
        for text in [
            "",
            "+1",
            "-1",
            "1 ",
            "4294967296",
            "99999999999999999999999",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_cleaned_text_is_bounded_and_has_no_control_characters() {
        assert_eq!(clean("a\x07b\u{202e}c", 100), "a\u{fffd}b\u{fffd}c");
        assert_eq!(clean("äöü", 5), "äö");
    }
}
