//! The line of a file that a problem is about, with a caret below its place.

use std::path::Path;

use super::input::read_bytes;
use super::terminal::clean;

/// The longest text of which a line is shown, in bytes.
pub(super) const MAX_FILE: usize = 1 << 20;
/// How much of a line is shown, in characters, and how much of that stands before the place.
const MAX_WIDTH: usize = 100;
const MAX_BEFORE: usize = 60;

/// The text of a file of which a line is to be shown. None where that can't be done: a pipe can't be read again.
pub(super) fn text_of(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    String::from_utf8(read_bytes(file, MAX_FILE).ok()?).ok()
}

/// The line with its number, and a caret below the place. None where there is no such place. Lines and columns begin at 1;
/// columns count characters.
pub(super) fn excerpt(text: &str, line: u32, column: u32) -> Option<String> {
    let number = line;
    let line = text
        .lines()
        .nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let at = usize::try_from(column).ok()?.checked_sub(1)?;
    let line: Vec<char> = line.chars().collect();
    if at > line.len() {
        return None;
    }
    let start = at.saturating_sub(MAX_BEFORE);
    let end = line.len().min(start + MAX_WIDTH);
    let before = shown(line.get(start..at)?);
    let marked = at + token(line.get(at..end)?);
    let token = shown(line.get(at..marked)?);
    let behind = shown(line.get(marked..end)?);
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let (left, right) = (cut(start > 0), cut(end < line.len()));
    let number = format!("{number:>4}");
    let caret = "^".repeat(token.chars().count().max(1));
    let gap = " ".repeat(left.chars().count() + before.chars().count());
    Some(format!(
        "{number} | {left}{before}{token}{behind}{right}\n     | {gap}{caret}\n"
    ))
}

/// Harmless, and a tab has the width of one character.
fn shown(characters: &[char]) -> String {
    let text: String = characters.iter().collect();
    clean(&text.replace('\t', " "))
}

/// How many characters the word or the quoted text at the beginning has; at least one where there is one.
fn token(rest: &[char]) -> usize {
    let is_word = |character: &char| character.is_alphanumeric() || "_-.".contains(*character);
    let length = match rest.first() {
        Some(quote @ ('"' | '\'')) => {
            let inside = rest.iter().skip(1);
            inside.take_while(|character| *character != quote).count() + 2
        }
        _ => rest
            .iter()
            .take_while(|character| is_word(character))
            .count(),
    };
    length.max(1).min(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_problem_is_marked() {
        let text = "[contract]\nmax = 5\n  name = \"a b\" # x\n";
        assert_eq!(excerpt(text, 2, 1).unwrap(), "   2 | max = 5\n     | ^^^\n");
        assert_eq!(
            excerpt(text, 3, 10).unwrap(),
            "   3 |   name = \"a b\" # x\n     |          ^^^^^\n"
        );
        assert_eq!(
            excerpt(text, 2, 8).unwrap(),
            "   2 | max = 5\n     |        ^\n"
        );
    }

    #[test]
    fn a_place_that_is_not_there_shows_nothing() {
        for (line, column) in [(0, 0), (4, 1), (2, 9), (2, 0)] {
            assert_eq!(excerpt("a\nmax = 5\n", line, column), None);
        }
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}bad{}", "ü".repeat(300), "x ".repeat(300));
        let shown = excerpt(&text, 1, 301).unwrap();
        let (line, caret) = shown.split_once('\n').unwrap();
        assert!(
            line.starts_with("   1 | …ü") && line.ends_with('…'),
            "{line}"
        );
        assert!(line.chars().count() < 120);
        let at = line.chars().position(|character| character == 'b').unwrap();
        assert_eq!(
            caret.chars().position(|character| character == '^'),
            Some(at)
        );
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_shown() {
        let shown = excerpt("\t\u{1b}[2J x = 1", 1, 7).unwrap();
        assert!(!shown.contains('\u{1b}') && !shown.contains('\t'));
        let (line, caret) = shown.split_once('\n').unwrap();
        assert_eq!(caret.find('^'), line.find('x'));
    }
}
