//! Finds secrets by the shapes that well-known ones have: prefixes of tokens, private keys, credentials in URLs and headers.
//!
//! The text may be hostile: the work is linear in its length.

use std::ops::Range;

/// What stands for a secret that was recognized by its shape.
const MARKER: &str = "[redacted]";

/// Prefixes of well-known tokens, with the fewest characters that follow.
const PREFIXES: &[(&str, usize)] = &[
    ("dckr_pat_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghr_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("gsk_", 20),
    ("hf_", 24),
    ("npm_", 30),
    ("pypi-", 40),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("AIza", 30),
    ("SG.", 40),
];
/// What the name of a variable or a field has whose value is a secret, in lower case.
const SECRET_NAMES: &[&str] = &[
    "access_key",
    "access-key",
    "accesskey",
    "api_key",
    "api-key",
    "apikey",
    "passwd",
    "password",
    "private_key",
    "secret",
    "token",
];
/// The most bytes of such a name, and the fewest of such a value.
const MAX_NAME: usize = 64;
const MIN_VALUE: usize = 16;
/// Prefixes of identifiers of access keys, followed by 16 capital letters and digits.
const ACCESS_KEYS: &[&str] = &["AKIA", "ASIA"];
const ACCESS_KEY_LENGTH: usize = 16;
/// Addresses whose rest is a secret, and the fewest characters of it.
const WEBHOOKS: &[&str] = &[
    "discord.com/api/webhooks/",
    "hooks.slack.com/services/",
    "hooks.slack.com/triggers/",
    "hooks.slack.com/workflows/",
];
const WEBHOOK_REST: usize = 16;
/// The fewest characters of a bearer token, and of each of the first two parts of a JSON Web Token.
const BEARER: usize = 16;
const JWT_PART: usize = 8;
/// A header, and the fewest characters of what stands behind the scheme in it.
const AUTHORIZATION: &str = "authorization";
const CREDENTIALS: usize = 8;
/// The fewest characters of a token that stands for the user in a URL.
const URL_TOKEN: usize = 16;

/// Replaces whatever has the shape of a secret. None if nothing has.
pub(super) fn redact_shapes(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut redacted: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        match shape_at(text, at) {
            Some(found) => {
                let kept = text.get(copied..found.start).unwrap_or_default();
                let redacted = redacted.get_or_insert_default();
                redacted.push_str(kept);
                redacted.push_str(MARKER);
                (copied, at) = (found.end, found.end);
            }
            None => at += 1,
        }
    }
    if let Some(redacted) = &mut redacted {
        redacted.push_str(text.get(copied..).unwrap_or_default());
    }
    redacted
}

/// Whether a word may begin behind this text. It may not in the middle of another one, but behind an escaped character
/// (`\n`) and behind a color (`ESC [31m`).
pub(super) fn may_begin_word(before: &str, is_part: impl Fn(char) -> bool) -> bool {
    let mut chars = before.chars();
    let Some(last) = chars.next_back().filter(|last| is_part(*last)) else {
        return true;
    };
    let before = chars.as_str();
    let is_color = || {
        let parameters = |char: char| char.is_ascii_digit() || char == ';';
        let start = before.trim_end_matches(parameters);
        start.ends_with("\u{1b}[") || start.ends_with("\\u001b[")
    };
    before.ends_with('\\') || (last == 'm' && is_color())
}

/// The range of a secret that is announced at this place.
fn shape_at(text: &str, at: usize) -> Option<Range<usize>> {
    let first = *text.as_bytes().get(at)?;
    if !matches!(
        first,
        b'-' | b':'
            | b'='
            | b'S'
            | b'A'
            | b'B'
            | b'a'
            | b'b'
            | b'd'
            | b'e'
            | b'g'
            | b'h'
            | b'n'
            | b'p'
            | b'r'
            | b's'
            | b'x'
    ) {
        return None;
    }
    let (before, rest) = text.split_at_checked(at)?;
    let found = match first {
        b'-' => private_key(rest),
        b':' => url_credentials(rest).or_else(|| assignment(before, rest)),
        b'=' => assignment(before, rest),
        _ => authorization(rest).or_else(|| {
            let is_part = |char: char| u8::try_from(char).is_ok_and(is_token);
            may_begin_word(before, is_part).then(|| token(rest))?
        }),
    }?;
    Some(at + found.start..at + found.end)
}

/// What begins like the first character of a word.
fn token(rest: &str) -> Option<Range<usize>> {
    bearer(rest)
        .or_else(|| basic(rest))
        .or_else(|| webhook(rest))
        .or_else(|| {
            let length = prefixed(rest)
                .or_else(|| access_key(rest))
                .or_else(|| jwt(rest))?;
            Some(0..length)
        })
}

/// From `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text.
fn private_key(rest: &str) -> Option<Range<usize>> {
    let (label, body) = rest.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") || label.len() > 40
    {
        return None;
    }
    let end = format!("-----END {label}-----");
    let begin = rest.len() - body.len();
    let length = body
        .find(&end)
        .map_or(rest.len(), |found| begin + found + end.len());
    Some(0..length)
}

/// The user and the password of `://user:password@host`, or a user that is a token.
fn url_credentials(rest: &str) -> Option<Range<usize>> {
    let address = rest.strip_prefix("://")?;
    let ends_it = |char: char| char.is_whitespace() || "/?#\\\"'`<>".contains(char);
    let authority = address.split(ends_it).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let is_secret = user.contains(':') || (user.len() >= URL_TOKEN && has_digit(user));
    let begin = rest.len() - address.len();
    is_secret.then(|| begin..begin + user.len())
}

/// The value of `NAME_OF_A_SECRET=value` or `"name_of_a_secret": "value"`. Short values, and those without a digit, are words
/// of a program more often than secrets.
fn assignment(before: &str, rest: &str) -> Option<Range<usize>> {
    let before = before.trim_end_matches([' ', '"', '\'', '\\']);
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let name = before.bytes().rev().take(MAX_NAME).take_while(is_part);
    let name: Vec<u8> = name.map(|byte| byte.to_ascii_lowercase()).collect();
    let name: String = name.into_iter().rev().map(char::from).collect();
    SECRET_NAMES.iter().find(|known| name.contains(*known))?;
    let after = rest.get(1..)?;
    let value = after.trim_start_matches([' ', '"', '\'', '\\']);
    let begin = rest.len() - value.len();
    // Not beyond the next assignment, so that many of them are not read to the end again and again.
    let length = count(value, |byte| is_credential(byte) && byte != b'=');
    let value = value.get(..length)?;
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_secret = length >= MIN_VALUE && has_digit(value) && has_letter;
    is_secret.then(|| begin..begin + length)
}

/// The credentials of an `Authorization` header, without the scheme before them.
fn authorization(rest: &str) -> Option<Range<usize>> {
    let name = rest.get(..AUTHORIZATION.len())?;
    if !name.eq_ignore_ascii_case(AUTHORIZATION) {
        return None;
    }
    let is_filler = |char: char| matches!(char, ' ' | '"' | '\'' | '\\');
    let after = rest.get(name.len()..)?.trim_start_matches(is_filler);
    let value = after
        .strip_prefix([':', '='])?
        .trim_start_matches(is_filler);
    let begin = rest.len() - value.len();
    // Up to the padding, so that many headers one behind the other are not read to their end again and again.
    let first = count(value, |byte| is_credential(byte) && byte != b'=');
    let (scheme, after) = value.split_at_checked(first)?;
    if first >= BEARER && has_digit(scheme) {
        return Some(begin..begin + first + count(after, |byte| byte == b'='));
    }
    let (spaces, credentials) = after_spaces(after)?;
    let length = count(credentials, is_credential);
    let begin = begin + first + spaces;
    let is_secret = length >= CREDENTIALS && !is_ordinary(credentials.get(..length)?);
    is_secret.then(|| begin..begin + length)
}

/// The token of `Bearer TOKEN`, without the word itself.
fn bearer(rest: &str) -> Option<Range<usize>> {
    let (begin, token) = after_word(rest, "bearer")?;
    let length = count(token, is_credential);
    (length >= BEARER && has_digit(token.get(..length)?)).then(|| begin..begin + length)
}

/// The credentials of `Basic CREDENTIALS`, without the word itself.
fn basic(rest: &str) -> Option<Range<usize>> {
    let (begin, credentials) = after_word(rest, "basic")?;
    let length = count(credentials, |byte| is_token(byte) || b"+/=".contains(&byte));
    is_user_and_password(credentials.get(..length)?).then(|| begin..begin + length)
}

/// What follows a word and spaces, and where it begins.
fn after_word<'r>(rest: &'r str, word: &str) -> Option<(usize, &'r str)> {
    let (found, after) = rest.split_at_checked(word.len())?;
    if !found.eq_ignore_ascii_case(word) {
        return None;
    }
    let (spaces, after) = after_spaces(after)?;
    Some((word.len() + spaces, after))
}

/// What follows one or more spaces, and how many there are.
fn after_spaces(text: &str) -> Option<(usize, &str)> {
    let after = text.trim_start_matches(' ');
    let spaces = text.len() - after.len();
    (spaces > 0).then_some((spaces, after))
}

/// Whether a text is `user:password` in Base64, which ordinary words are not.
fn is_user_and_password(text: &str) -> bool {
    let (mut bits, mut unread, mut has_colon) = (0u32, 0, false);
    for byte in text.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = ((bits << 6) | u32::from(six)) & 0xffff;
        unread += 6;
        if unread >= 8 {
            unread -= 8;
            let decoded = (bits >> unread) & 0xff;
            if !(0x20..0x7f).contains(&decoded) {
                return false;
            }
            has_colon |= decoded == u32::from(b':');
        }
    }
    has_colon
}

/// The secret part of a webhook's address.
fn webhook(rest: &str) -> Option<Range<usize>> {
    let found = WEBHOOKS.iter().find(|known| rest.starts_with(*known))?;
    let is_part = |byte: u8| is_token(byte) || byte == b'/';
    let length = count(rest.get(found.len()..)?, is_part);
    (length >= WEBHOOK_REST).then(|| found.len()..found.len() + length)
}

fn prefixed(rest: &str) -> Option<usize> {
    PREFIXES.iter().find_map(|(prefix, least)| {
        let token = rest.strip_prefix(prefix)?;
        let length = count(token, is_token);
        (length >= *least && has_digit(token.get(..length)?)).then_some(prefix.len() + length)
    })
}

fn access_key(rest: &str) -> Option<usize> {
    let key = ACCESS_KEYS
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix))?;
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    (count(key, is_part) == ACCESS_KEY_LENGTH).then_some(rest.len() - key.len() + ACCESS_KEY_LENGTH)
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

/// Whether it could be a word of ordinary text, which has no digits, and no capitals inside.
fn is_ordinary(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || b"-_.~".contains(&byte);
    !has_digit(word) && word.bytes().skip(1).all(is_part)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_credential(byte: u8) -> bool {
    is_token(byte) || b".~+/=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        redact_shapes(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn well_known_secret_shapes_are_redacted() {
        // Put together here, so that no scanner takes this file for a leak.
        let secrets = [
            format!("sk-{}", "ant-api03-a1b2c3d4e5f6g7h8"),
            format!("sk_test_{}", "a1b2c3d4e5f6g7h8"),
            format!("gsk_{}", "a1b2c3d4e5f6g7h8i9j0a1b2c3d4"),
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
    fn credentials_in_urls_are_redacted_with_their_user() {
        for (text, expected) in [
            ("postgres://u:p@h/db", "postgres://[redacted]@h/db"),
            ("at https://a1b2:x-basic@h.", "at https://[redacted]@h."),
            (
                "'redis://:p@h:1', http://h",
                "'redis://[redacted]@h:1', http://h",
            ),
            ("https://a1b2c3d4e5f6g7h8@h/x", "https://[redacted]@h/x"),
            ("https://[redacted]@h/x", "https://[redacted]@h/x"),
        ] {
            assert_eq!(redacted(text), expected);
        }
        let webhook = format!(
            "https://hooks.slack.com/services/{}",
            "T0A1B2C3D/B0A1B2C3D/a1b2c3"
        );
        assert_eq!(
            redacted(&webhook),
            "https://hooks.slack.com/services/[redacted]"
        );
    }

    #[test]
    fn credentials_in_headers_are_redacted() {
        for (text, expected) in [
            (
                "Authorization: Basic dXNlcjpwYXNz",
                "Authorization: Basic [redacted]",
            ),
            (
                "authorization:basic YTpi\n",
                "authorization:basic [redacted]\n",
            ),
            (
                r#"{\"Authorization\": \"Token a1b2c3d4\"}"#,
                r#"{\"Authorization\": \"Token [redacted]\"}"#,
            ),
            (
                "Proxy-Authorization: Basic c2VjcmV0c2VjcmV0",
                "Proxy-Authorization: Basic [redacted]",
            ),
            (
                "authorization=a1b2c3d4e5f6g7h8== x",
                "authorization=[redacted] x",
            ),
            ("it sends Basic dXNlcjpwYXNz.", "it sends Basic [redacted]."),
        ] {
            assert_eq!(redacted(text), expected);
        }
    }

    #[test]
    fn a_token_behind_an_escape_or_a_color_is_redacted() {
        let token = format!("ghp_{}", "a1b2c3d4e5f6g7h8i9j0a1b2");
        for before in ["\\n", "\u{1b}[32m", "\\u001b[1;32m"] {
            assert_eq!(
                redacted(&format!("{before}{token}")),
                format!("{before}[redacted]")
            );
        }
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        // Half a megabyte each: quadratic work would take minutes.
        for part in [
            "authorization=",
            "authorization: a",
            "authorization ",
            "bearer a",
            "basic a=",
            "://a:",
            "://",
            "sk-",
            "sk_test_",
            "-----BEGIN ",
            "eyJa.",
            "hooks.slack.com/services/",
            "\u{1b}[1m",
            "m1;",
        ] {
            let text = part.repeat((1 << 19) / part.len());
            assert!(redacted(&text).len() <= text.len() + MARKER.len(), "{part}");
        }
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
            "Basic authentication of HttpClients, basic Understanding",
            "Authorization: Bearer authentication is required",
            "authorization: none, Authorization: Basic Authentication",
            "http://localhost:8080/@scope/a@1.2 and https://me@host",
            "ssh://git@host:22/x http://a:1\\nb@c",
            "hooks.slack.com/services/short",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "eyJ.is.no.token",
            "é-----BEGINé sk-é",
            "",
        ] {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn values_that_are_assigned_to_the_name_of_a_secret_are_found() {
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        for before in [
            "AWS_SECRET_ACCESS_KEY=",
            "export OPENAI_API_KEY='",
            "\"api_key\": \"",
            "password = ",
            "\\\"token\\\":\\\"",
        ] {
            let text = redacted(&format!("{before}{secret}"));
            assert_eq!(text, format!("{before}[redacted]"));
        }
        let sendgrid = format!("SG.{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3");
        assert_eq!(redacted(&sendgrid), "[redacted]");
        for ordinary in [
            "token: string",
            "const token = parseNextToken(input);",
            "password=short1",
            "tokens=1234567890123456789 used",
            "secret_santa: yes",
        ] {
            assert_eq!(redacted(ordinary), ordinary);
        }
    }

    #[test]
    fn many_assignments_take_linear_time() {
        let text = "token=".repeat(200_000);
        assert_eq!(redacted(&text), text);
    }
}
