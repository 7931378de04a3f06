//! Removes secrets from text that is captured, logged or reported.
//!
//! Two kinds are found: values of variables that are known to be secrets, and shapes that well-known secrets have. What is
//! found is replaced by a marker that names the variable, so that a reader sees what was there.

use std::borrow::Cow;

/// The shortest value of a variable that is replaced: a shorter one is found in ordinary text by chance.
const MIN_VALUE: usize = 8;
/// The shortest end of a value that is replaced where a text was cut.
const MIN_PART: usize = 6;
/// What stands for a secret that was recognized by its shape.
const MARKER: &str = "[redacted]";

/// Prefixes of well-known tokens, with the fewest characters that follow.
const PREFIXES: &[(&str, usize)] = &[
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghr_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("hf_", 24),
    ("npm_", 30),
    ("pypi-", 40),
    ("rk_live_", 16),
    ("sk-", 16),
    ("sk_live_", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("AIza", 30),
];
/// Prefixes of identifiers of access keys, followed by 16 capital letters and digits.
const ACCESS_KEYS: &[&str] = &["AKIA", "ASIA"];
const ACCESS_KEY_LENGTH: usize = 16;
/// The fewest characters of a bearer token, and of each of the first two parts of a JSON Web Token.
const BEARER: usize = 16;
const JWT_PART: usize = 8;

/// Replaces secrets in text.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Value and name, the longest value first.
    secrets: Vec<(String, String)>,
}

impl Redactor {
    /// A redactor for the values of variables, given as name and value. Shapes are always found.
    ///
    /// ```
    /// use ralph_gate::process::Redactor;
    ///
    /// let redactor = Redactor::new([("DB_PASSWORD".into(), "correct horse".into())]);
    /// assert_eq!(redactor.redact("login: correct horse"), "login: [redacted DB_PASSWORD]");
    /// ```
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut secrets: Vec<(String, String)> = variables
            .into_iter()
            .flat_map(|(name, value)| {
                let lines: Vec<&str> = value.lines().collect();
                // A value of several lines may be printed line by line.
                let parts =
                    std::iter::once(value.trim()).chain(lines.iter().map(|line| line.trim()));
                let parts = parts.filter(|part| part.len() >= MIN_VALUE);
                parts
                    .map(|part| (part.to_owned(), name.clone()))
                    .collect::<Vec<_>>()
            })
            .collect();
        secrets.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        secrets.dedup_by(|a, b| a.0 == b.0);
        Self { secrets }
    }

    /// The text without secrets.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (value, name) in &self.secrets {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), &format!("[redacted {name}]")));
            }
        }
        match redact_shapes(&text) {
            Some(redacted) => Cow::Owned(redacted),
            None => text,
        }
    }

    /// The same for a text that may begin in the middle of a secret, because it is the end of a longer one.
    pub fn redact_end(&self, text: &str) -> String {
        let torn = self.secrets.iter().find_map(|(value, name)| {
            let starts = value.char_indices().map(|(start, _)| start).skip(1);
            let mut ends = starts.filter_map(|start| value.get(start..));
            let end = ends.find(|end| end.len() >= MIN_PART && text.starts_with(end))?;
            Some((end.len(), name))
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

/// Replaces whatever has the shape of a secret. None if nothing has.
fn redact_shapes(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut redacted: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        match shape_at(text, at) {
            Some((start, end)) => {
                let kept = text.get(copied..start).unwrap_or_default();
                let redacted = redacted.get_or_insert_default();
                redacted.push_str(kept);
                redacted.push_str(MARKER);
                (copied, at) = (end, end);
            }
            None => at += 1,
        }
    }
    if let Some(redacted) = &mut redacted {
        redacted.push_str(text.get(copied..).unwrap_or_default());
    }
    redacted
}

/// The range of a secret that is announced at this place.
fn shape_at(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    if !matches!(
        first,
        b'-' | b'A' | b'B' | b'b' | b'e' | b'g' | b'h' | b'n' | b'p' | b'r' | b's' | b'x'
    ) {
        return None;
    }
    let rest = text.get(at..)?;
    if first == b'-' {
        return private_key(rest).map(|length| (at, at + length));
    }
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    // A backslash before it is part of an escaped line break.
    let is_escape = at >= 2 && bytes.get(at - 2) == Some(&b'\\');
    if before.is_some_and(|byte| is_token(*byte)) && !is_escape {
        return None;
    }
    bearer(rest)
        .map(|(start, end)| (at + start, at + end))
        .or_else(|| {
            let length = prefixed(rest)
                .or_else(|| access_key(rest))
                .or_else(|| jwt(rest))?;
            Some((at, at + length))
        })
}

/// From `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text.
fn private_key(rest: &str) -> Option<usize> {
    let (label, body) = rest.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") || label.len() > 40
    {
        return None;
    }
    let end = format!("-----END {label}-----");
    let begin = rest.len() - body.len();
    Some(
        body.find(&end)
            .map_or(rest.len(), |found| begin + found + end.len()),
    )
}

fn prefixed(rest: &str) -> Option<usize> {
    PREFIXES.iter().find_map(|(prefix, least)| {
        let token = rest.strip_prefix(prefix)?;
        let length = count(token, is_token);
        let body = token.get(..length)?;
        let has_digit = body.bytes().any(|byte| byte.is_ascii_digit());
        (length >= *least && has_digit).then_some(prefix.len() + length)
    })
}

fn access_key(rest: &str) -> Option<usize> {
    let key = ACCESS_KEYS
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix))?;
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    (count(key, is_part) == ACCESS_KEY_LENGTH).then_some(rest.len() - key.len() + ACCESS_KEY_LENGTH)
}

/// The token of `Bearer TOKEN`, without the word itself.
fn bearer(rest: &str) -> Option<(usize, usize)> {
    let word = rest.get(..6)?;
    if !word.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let after = rest.get(6..)?;
    let spaces = count(after, |byte| byte == b' ');
    let token = after.get(spaces..)?;
    let is_part = |byte: u8| is_token(byte) || b".~+/=".contains(&byte);
    let length = count(token, is_part);
    let has_digit = token
        .get(..length)?
        .bytes()
        .any(|byte| byte.is_ascii_digit());
    (spaces > 0 && length >= BEARER && has_digit).then_some((6 + spaces, 6 + spaces + length))
}

fn jwt(rest: &str) -> Option<usize> {
    let header = rest.strip_prefix("eyJ")?;
    let first = count(header, is_token);
    let payload = header.get(first..)?.strip_prefix('.')?;
    let second = count(payload, is_token);
    let signature = payload.get(second..)?.strip_prefix('.')?;
    (first >= JWT_PART && second >= JWT_PART)
        .then(|| rest.len() - signature.len() + count(signature, is_token))
}

fn count(text: &str, is_part: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is_part(*byte)).count()
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        Redactor::default().redact(text).into_owned()
    }

    #[test]
    fn well_known_secret_shapes_are_redacted() {
        // Put together here, so that no scanner takes this file for a leak.
        let secrets = [
            format!("sk-{}", "ant-api03-a1b2c3d4e5f6g7h8"),
            format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h8"),
            format!("github_pat_{}", "11AAAAAAA0abcdefghijkl_mnop"),
            format!("AKIA{}", "IOSFODNN7EXAMPLE"),
            format!("xoxb-{}", "123456789012-abcdef"),
            format!("AIza{}", "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6q"),
            format!(
                "eyJ{}.eyJ{}.{}",
                "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0In0", "s1gnature_-x"
            ),
            format!(
                "-----BEGIN {0}-----\nMIIB\nAAAA\n-----END {0}-----",
                "RSA PRIVATE KEY"
            ),
        ];
        for secret in secrets {
            assert_eq!(
                redacted(&format!("a {secret} b")),
                "a [redacted] b",
                "{secret}"
            );
            assert_eq!(redacted(&format!("\"{secret}\"")), "\"[redacted]\"");
        }
        assert_eq!(
            redacted("authorization: Bearer abcdef0123456789abcdef"),
            "authorization: Bearer [redacted]"
        );
    }

    #[test]
    fn a_private_key_that_was_cut_is_redacted_to_the_end() {
        assert_eq!(
            redacted("x -----BEGIN PRIVATE KEY-----\nMIIB"),
            "x [redacted]"
        );
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "task-completed-with-success-1234567",
            "sk-learn is a library, sk-short1",
            "bearer of bad news",
            "Bearer authentication is required",
            "AKIA is a prefix",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "eyJ.is.no.token",
            "é-----BEGINé sk-é",
            "",
        ] {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn values_of_variables_are_redacted_by_name_and_the_longest_first() {
        let redactor = Redactor::new([
            ("SHORT".to_owned(), "hunter2".to_owned()),
            ("A_TOKEN".to_owned(), "hunter22".to_owned()),
            ("B_TOKEN".to_owned(), "hunter22-and-more".to_owned()),
            ("PEM".to_owned(), "first line\nsecond line\n".to_owned()),
        ]);
        assert_eq!(
            redactor.redact("hunter22-and-more hunter22 hunter2"),
            "[redacted B_TOKEN] [redacted A_TOKEN] hunter2"
        );
        assert_eq!(redactor.redact("> second line"), "> [redacted PEM]");
        assert_eq!(redactor.redact("nothing"), "nothing");
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
