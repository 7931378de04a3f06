//! Texts that others wrote, made harmless for where they go: a terminal, Markdown, a page.

use std::fmt::Write as _;

/// Whether a character moves a terminal's cursor, turns the direction of a line, or can't be seen at all: control
/// characters, line separators, marks of direction, characters without width, tags. A plain space is none of them.
///
/// ```
/// use ralph_gate_report::render::text::is_hidden;
///
/// assert!("\u{1b}\n\u{202e}\u{200b}".chars().all(is_hidden));
/// assert!(!"a ü …".chars().any(is_hidden));
/// ```
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A text with what is hidden in it written as escapes.
///
/// ```
/// use ralph_gate_report::render::text::visible;
///
/// assert_eq!(visible("a\x1b[31m\u{202e}b"), "a\\u{1b}[31m\\u{202e}b");
/// ```
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        push_visible(&mut shown, character);
    }
    shown
}

fn push_visible(shown: &mut String, character: char) {
    if is_hidden(character) {
        shown.extend(character.escape_unicode());
    } else {
        shown.push(character);
    }
}

/// The most characters of a name that a column shows.
pub(super) const LONGEST_NAME: usize = 60;

/// A name for a column: visible, and cut where it is too long.
pub(super) fn name(text: &str, longest: usize) -> String {
    let shown = visible(text);
    if shown.chars().count() <= longest {
        return shown;
    }
    let mut cut: String = shown.chars().take(longest.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// A text as the content of an element or of a quoted attribute.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => push_visible(&mut escaped, other),
        }
    }
    escaped
}

/// A text within a line or a cell of Markdown, with nothing in it that means something there: no markup, no HTML, no
/// picture that is fetched, no address that becomes a link, no mention of a person.
pub(super) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    let mut before = ' ';
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' | '@' | ':' | '!' => {
                escaped.push('\\');
                escaped.push(character);
            }
            // `www.` alone makes a link.
            '.' if matches!(before, 'w' | 'W') => escaped.push_str("\\."),
            hidden if is_hidden(hidden) => {
                let _ = write!(escaped, "\\\\u{{{:x}}}", u32::from(hidden));
            }
            other => escaped.push(other),
        }
        before = character;
    }
    escaped
}

/// How many columns of a terminal a text takes: two for wide characters, none for marks above and below others.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_markup_and_hidden_characters_as_text() {
        assert_eq!(
            html("</script><img src=x onerror='a'>&\"\u{202e}\0"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;\\u{202e}\\u{0}"
        );
    }

    #[test]
    fn markdown_has_no_cell_no_code_no_link_and_no_picture_in_a_name() {
        assert_eq!(
            markdown("a|b `c` ![x](https://e.org) <b> www.e.org @me #1\n- x"),
            "a\\|b \\`c\\` \\!\\[x\\](https\\://e.org) &lt;b&gt; www\\.e.org \\@me \\#1\\\\u{a}- x"
        );
    }

    #[test]
    fn a_long_name_is_cut_after_it_was_made_visible() {
        assert_eq!(name("abcdef", 4), "abc…");
        assert_eq!(name("ab\u{7}cdef", 5), "ab\\u…");
        assert_eq!(name("abcd", 4), "abcd");
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("日本 e\u{301}"), 6);
    }
}
