//! Removes secrets from text that is captured, logged or reported.
//!
//! Two kinds are found: values of variables that are known to be secrets, and shapes that well-known secrets have. What is
//! found is replaced by a marker that names the variable, so that a reader sees what was there.

use std::borrow::Cow;

use super::shapes::{may_begin_word, redact_shapes};

/// The shortest value of a variable that is replaced wherever it stands: a shorter one is found in other words by chance.
const MIN_VALUE: usize = 8;
/// The shortest value of a variable that is replaced where it is a word of its own.
const MIN_WORD: usize = 4;
/// The shortest end of a value that is replaced where a text was cut.
const MIN_PART: usize = 6;
/// Short values that hide nothing, and that ordinary text is full of.
const ORDINARY: &[&str] = &[
    "admin", "always", "auto", "basic", "bearer", "default", "done", "dummy", "enabled", "example",
    "false", "file", "guest", "local", "main", "never", "none", "null", "pass", "private",
    "prompt", "public", "root", "secret", "test", "tests", "token", "true", "user",
];

/// Replaces secrets in text.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The longest value first.
    secrets: Vec<Secret>,
}

/// A value that is replaced, and the name of its variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Secret {
    value: String,
    name: String,
}

impl Redactor {
    /// A redactor for the values of variables, given as name and value. A value of 8 bytes or more is found anywhere, one
    /// of 4 bytes or more as a whole word, unless it is an ordinary one such as `true`. Shapes are always found.
    ///
    /// ```
    /// use ralph_gate::process::Redactor;
    ///
    /// let redactor = Redactor::new([("DB_PASSWORD".into(), "correct horse".into())]);
    /// assert_eq!(redactor.redact("login: correct horse"), "login: [redacted DB_PASSWORD]");
    /// ```
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut secrets: Vec<Secret> = variables
            .into_iter()
            .flat_map(|(name, value)| {
                // A value of several lines may be printed line by line.
                let lines = value.lines().map(str::trim);
                let lines = lines.filter(|line| line.len() >= MIN_VALUE);
                let all = Some(value.trim()).filter(|value| is_worth_hiding(value));
                let secret = |value: &str| Secret {
                    value: value.to_owned(),
                    name: name.clone(),
                };
                all.into_iter().chain(lines).map(secret).collect::<Vec<_>>()
            })
            .collect();
        secrets.sort_by(|a, b| b.value.len().cmp(&a.value.len()).then_with(|| a.cmp(b)));
        secrets.dedup_by(|a, b| a.value == b.value);
        Self { secrets }
    }

    /// The text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if let Some(redacted) = secret.redact(&text) {
                text = Cow::Owned(redacted);
            }
        }
        match redact_shapes(&text) {
            Some(redacted) => Cow::Owned(redacted),
            None => text,
        }
    }

    /// The same for a text that may begin in the middle of a secret, because it is the end of a longer one.
    pub fn redact_end(&self, text: &str) -> String {
        let torn = self.secrets.iter().find_map(|secret| {
            let starts = secret.value.char_indices().map(|(start, _)| start).skip(1);
            let mut ends = starts.filter_map(|start| secret.value.get(start..));
            let end = ends.find(|end| {
                end.len() >= MIN_PART
                    && text.starts_with(end)
                    && secret.may_be_at(text, 0, end.len())
            })?;
            Some((end.len(), &secret.name))
        });
        match torn {
            None => self.redact(text).into_owned(),
            Some((length, name)) => {
                let rest = text.get(length..).unwrap_or_default();
                format!("[redacted {name}]{}", self.redact(rest))
            }
        }
    }

    /// Redacts a text in place.
    pub fn apply(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }
}

impl Secret {
    /// The text without this secret. None if it is not there.
    fn redact(&self, text: &str) -> Option<String> {
        let mut redacted: Option<String> = None;
        let (mut copied, mut next) = (0, 0);
        while let Some(found) = text.get(next..)?.find(&self.value) {
            let start = next + found;
            let end = start + self.value.len();
            if self.may_be_at(text, start, end) {
                let redacted = redacted.get_or_insert_default();
                redacted.push_str(text.get(copied..start)?);
                redacted.push_str(&format!("[redacted {}]", self.name));
                (copied, next) = (end, end);
            } else {
                // One that overlaps with this place may be a word.
                next = start + self.value.chars().next().map_or(1, char::len_utf8);
            }
        }
        let mut redacted = redacted?;
        redacted.push_str(text.get(copied..)?);
        Some(redacted)
    }

    /// Whether this part of a text is to be replaced: a short value only where it is no part of another word.
    fn may_be_at(&self, text: &str, start: usize, end: usize) -> bool {
        if self.value.len() >= MIN_VALUE {
            return true;
        }
        let (before, after) = (text.get(..start), text.get(end..));
        let is_part = char::is_alphanumeric;
        before.is_some_and(|before| {
            !self.value.starts_with(is_part) || may_begin_word(before, is_part)
        }) && after
            .is_some_and(|after| !self.value.ends_with(is_part) || !after.starts_with(is_part))
    }
}

fn is_worth_hiding(value: &str) -> bool {
    let is_ordinary = || ORDINARY.iter().any(|word| word.eq_ignore_ascii_case(value));
    value.len() >= MIN_VALUE || value.len() >= MIN_WORD && !is_ordinary()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_are_redacted_by_name_and_the_longest_first() {
        let redactor = Redactor::new([
            ("SHORT".to_owned(), "hu2".to_owned()),
            ("A_TOKEN".to_owned(), "hunter22".to_owned()),
            ("B_TOKEN".to_owned(), "hunter22-and-more".to_owned()),
            ("PEM".to_owned(), "first line\nsecond line\n".to_owned()),
        ]);
        assert_eq!(
            redactor.redact("hunter22-and-more hunter22 hu2"),
            "[redacted B_TOKEN] [redacted A_TOKEN] hu2"
        );
        assert_eq!(redactor.redact("> second line"), "> [redacted PEM]");
        assert_eq!(redactor.redact("nothing"), "nothing");
    }

    #[test]
    fn a_short_value_is_redacted_as_a_whole_word() {
        let redactor = Redactor::new([
            ("A_PASSWORD".to_owned(), "s7s7s7s".to_owned()),
            ("A_PIN".to_owned(), "$1a!".to_owned()),
        ]);
        for (text, redacted) in [
            ("s7s7s7s", "[redacted A_PASSWORD]"),
            ("p=s7s7s7s_", "p=[redacted A_PASSWORD]_"),
            (
                "s7s7s7s7s7s7s s7s7s7s7s, xs7s7s7s és7s7s7s s7s7s7sé",
                "s7s7s7s7s7s7s s7s7s7s7s, xs7s7s7s és7s7s7s s7s7s7sé",
            ),
            ("\\ns7s7s7s\\n", "\\n[redacted A_PASSWORD]\\n"),
            (
                "\u{1b}[1;31ms7s7s7s\u{1b}[m",
                "\u{1b}[1;31m[redacted A_PASSWORD]\u{1b}[m",
            ),
            ("x$1a!x", "x[redacted A_PIN]x"),
        ] {
            assert_eq!(redactor.redact(text), redacted, "{text}");
        }
        assert_eq!(redactor.redact_end("7s7s7s, s"), "[redacted A_PASSWORD], s");
        assert_eq!(redactor.redact_end("7s7s7s7"), "7s7s7s7");
    }

    #[test]
    fn a_short_value_that_overlaps_with_itself_is_found() {
        let redactor = Redactor::new([("A_KEY".to_owned(), "a-a-a".to_owned())]);
        assert_eq!(redactor.redact("xa-a-a-a"), "xa-[redacted A_KEY]");
    }

    #[test]
    fn a_short_value_that_is_an_ordinary_word_is_left_alone() {
        let values = ["true", "None", "test", "abc"];
        let redactor = Redactor::new(values.map(|value| ("USE_AUTH".to_owned(), value.to_owned())));
        let text = "true None test abc";
        assert_eq!(redactor.redact(text), text);
        assert!(ORDINARY.is_sorted());
    }

    #[test]
    fn the_end_of_a_secret_at_a_cut_is_redacted() {
        let redactor = Redactor::new([("A_TOKEN".to_owned(), "abcdefghijkl".to_owned())]);
        assert_eq!(
            redactor.redact_end("ghijkl and more"),
            "[redacted A_TOKEN] and more"
        );
        assert_eq!(redactor.redact_end("kl and more"), "kl and more");
        assert_eq!(
            redactor.redact_end("all abcdefghijkl"),
            "all [redacted A_TOKEN]"
        );
    }
}
