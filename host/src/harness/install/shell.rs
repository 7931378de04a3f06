//! Writes a program's path for a POSIX shell, and reads commands that were written for one.

/// The longest command that is looked at.
const LONGEST: usize = 64 << 10;

/// A word as a shell reads it back, with quotes only where they are needed.
pub(super) fn quote(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "_@%+=:,./-".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a simple command. None if it is more than that: a pipe, a list, a substitution. Variables are left
/// as they are written.
pub(super) fn words(command: &str) -> Option<Vec<String>> {
    if command.len() > LONGEST {
        return None;
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(rest.next()?),
            '$' if rest.peek() == Some(&'(') => return None,
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '#' | '\n' | '\r' => return None,
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Some(words)
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn quoted(rest: &mut Characters<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '\'' => return Some(()),
            inside => word.push(inside),
        }
    }
}

fn double_quoted(rest: &mut Characters<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '"' => return Some(()),
            '`' => return None,
            '$' if rest.peek() == Some(&'(') => return None,
            '\\' => {
                let escaped = rest.next()?;
                if !matches!(escaped, '"' | '\\' | '$' | '`') {
                    word.push('\\');
                }
                word.push(escaped);
            }
            inside => word.push(inside),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_quoted_word_is_read_back_by_a_real_shell_and_by_us() {
        for word in [
            "ralph-gate",
            "/a b/ralph-gate",
            "/it's/\"x\"/$HOME/`id`/\\/ralph-gate",
            "''",
            "",
            "*?[a]~#!{}|;&<>()",
            "ü😀",
        ] {
            let line = quote(word);
            let output = Command::new("sh")
                .args(["-c", &format!("printf %s {line}")])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
            assert_eq!(words(&line), Some(vec![word.to_owned()]), "{line}");
        }
    }

    #[test]
    fn a_word_without_special_characters_stays_readable() {
        assert_eq!(quote("/usr/bin/ralph-gate"), "/usr/bin/ralph-gate");
    }

    #[test]
    fn a_command_is_read_in_any_way_of_quoting() {
        let expected = Some(["a b", "hook", "codex"].map(str::to_owned).to_vec());
        for line in [
            "'a b' hook codex",
            "\"a b\"  hook\tcodex ",
            "a\\ b h\"oo\"k 'codex'",
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
        assert_eq!(
            words("\"${X}/a\" $Y"),
            Some(vec!["${X}/a".to_owned(), "$Y".to_owned()])
        );
    }

    #[test]
    fn what_is_more_than_one_simple_command_has_no_words() {
        for line in [
            "a | b", "a; b", "a && b", "$(a)", "\"$(a)\"", "`a`", "a > b", "(a)", "'a", "\"a",
            "a\\",
        ] {
            assert_eq!(words(line), None, "{line}");
        }
        assert_eq!(words(&"a".repeat(LONGEST + 1)), None);
    }
}
