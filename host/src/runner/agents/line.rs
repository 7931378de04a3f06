//! One short clean line out of a text that anybody may have written.

use crate::visible::is_hidden;

/// Characters that a person is shown at most.
const WIDTH: usize = 120;
/// Characters that a message may have.
const MESSAGE_WIDTH: usize = 1000;

/// The first words of a text, for a line that shows what the agent does.
pub(super) fn short(text: &str) -> String {
    clean(text, WIDTH)
}

/// A text for an error or a warning.
pub(in crate::runner) fn message(text: &str) -> String {
    clean(text, MESSAGE_WIDTH)
}

/// Without terminal codes and invisible characters; all white space is one space.
fn clean(text: &str, width: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if length == width {
            line.push('…');
            break;
        }
        if character == '\u{1b}' {
            skip_code(&mut characters);
        }
        let character = if character.is_whitespace() || is_hidden(character) {
            ' '
        } else {
            character
        };
        if character != ' ' || !(line.is_empty() || line.ends_with(' ')) {
            line.push(character);
            length += 1;
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Passes over the rest of a code such as `ESC [ 31 m`; what is none stays.
fn skip_code(characters: &mut std::str::Chars<'_>) {
    let mut ahead = characters.clone();
    if ahead.next() != Some('[') {
        return;
    }
    if ahead
        .by_ref()
        .take(32)
        .any(|character| ('@'..='~').contains(&character))
    {
        *characters = ahead;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_codes_and_control_characters_are_gone() {
        assert_eq!(
            short("\u{1b}[31mred\u{1b}[0m\r\n\tand\u{7}\u{202e}more\u{1b}"),
            "red and more"
        );
        assert_eq!(short("\u{1b}]0;title\u{7}x"), "]0;title x");
    }

    #[test]
    fn a_long_line_is_cut_with_a_mark() {
        let line = short(&"é".repeat(5000));
        assert_eq!(line.chars().count(), WIDTH + 1);
        assert!(line.ends_with('…'));
    }

    #[test]
    fn megabytes_of_spaces_are_one_line() {
        assert_eq!(short(&format!("a{}b", " ".repeat(1 << 20))), "a b");
    }
}
