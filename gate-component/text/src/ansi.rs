//! ANSI escape sequences: a text without them, and where each of its bytes stood.

use memchr::memchr;

use crate::normal;

const ESCAPE: u8 = 0x1b;

/// A text without its escape sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped {
    /// What is left.
    pub text: String,
    /// For each sequence: its offset in what is left, and how many bytes were removed up to its end.
    cuts: Vec<(usize, usize)>,
}

impl Stripped {
    /// Where a byte of what is left stood in the original text.
    pub fn original(&self, offset: usize) -> usize {
        let before = self.cuts.partition_point(|(at, _)| *at <= offset);
        let removed = before
            .checked_sub(1)
            .and_then(|last| self.cuts.get(last))
            .map_or(0, |(_, removed)| *removed);
        offset.saturating_add(removed)
    }
}

/// Remove the escape sequences of a text. None where it has none.
///
/// ```
/// use ralph_gate_text::ansi::strip;
/// let stripped = strip("\u{1b}[1mok\u{1b}[0m!").unwrap();
/// assert_eq!(stripped.text, "ok!");
/// assert_eq!((stripped.original(0), stripped.original(1), stripped.original(2)), (4, 5, 10));
/// assert_eq!(strip("ok"), None);
/// ```
#[inline(never)]
pub fn strip(text: &str) -> Option<Stripped> {
    let mut next = memchr(ESCAPE, text.as_bytes());
    next?;
    let mut stripped = Stripped {
        text: String::with_capacity(text.len()),
        cuts: Vec::new(),
    };
    let mut from = 0;
    while let Some(at) = next {
        stripped
            .text
            .push_str(text.get(from..at).unwrap_or_default());
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let mut end = at.saturating_add(normal::escape(rest)).min(text.len());
        // A sequence of two bytes may take the first byte of a longer character: that one stays.
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        from = end;
        let removed = from.saturating_sub(stripped.text.len());
        stripped.cuts.push((stripped.text.len(), removed));
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        next = memchr(ESCAPE, rest).map(|found| from + found);
    }
    stripped.text.push_str(text.get(from..).unwrap_or_default());
    Some(stripped)
}
