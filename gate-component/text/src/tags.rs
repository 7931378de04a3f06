//! The places of promise tags, and whether there is any text at all.

use memchr::memmem;

/// An opening or a closing tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The place of its `<`.
    pub at: usize,
    /// Whether it is `<promise>` and not `</promise>`.
    pub opens: bool,
}

/// The opening and closing tags, in order.
///
/// ```
/// use ralph_gate_text::tags::{Mark, marks};
/// let (open, close) = (Mark { at: 0, opens: true }, Mark { at: 10, opens: false });
/// assert_eq!(marks("<promise>x</promise>"), [open, close]);
/// ```
#[inline(never)]
pub fn marks(text: &str) -> Vec<Mark> {
    let text = text.as_bytes();
    let mut marks = Vec::new();
    for at in memmem::find_iter(text, "promise>") {
        let before = text.get(..at).unwrap_or_default();
        if before.ends_with(b"</") {
            marks.push(Mark {
                at: at - 2,
                opens: false,
            });
        } else if before.ends_with(b"<") {
            marks.push(Mark {
                at: at - 1,
                opens: true,
            });
        }
    }
    marks
}

/// Whether a text is nothing but white space.
///
/// ```
/// use ralph_gate_text::tags::is_blank;
/// assert!(is_blank(" \n\u{a0}"));
/// assert!(!is_blank("  x"));
/// ```
#[inline(never)]
pub fn is_blank(text: &str) -> bool {
    text.trim_ascii_start().trim_start().is_empty()
}
