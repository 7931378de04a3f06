//! Paths that name a session: `/v1/loops/{session}/cancel`.

/// What follows the common beginning of such paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyPath<'p> {
    /// Nothing: it is about all of them.
    All,
    /// A key, and perhaps a word about what it names.
    One(String, Option<&'p str>),
}

impl<'p> KeyPath<'p> {
    /// None if the path begins otherwise, or names no session.
    pub(super) fn of(path: &'p str, beginning: &str) -> Option<Self> {
        let rest = path.strip_prefix(beginning)?;
        if rest.is_empty() {
            return Some(Self::All);
        }
        let rest = rest.strip_prefix('/')?;
        let (key, word) = match rest.split_once('/') {
            Some((key, word)) => (key, Some(word)),
            None => (rest, None),
        };
        let key = decoded(key).filter(|key| !key.is_empty())?;
        Some(Self::One(key, word))
    }
}

/// A part of a path as the text that it stands for. None if it is no text.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// A text as a part of a path.
pub(super) fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPS: &str = "/v1/loops";

    #[test]
    fn every_key_has_a_path() {
        assert_eq!(KeyPath::of("/v1/loops", LOOPS), Some(KeyPath::All));
        for text in [
            "night run",
            "a/b",
            "..",
            "../../etc",
            "%",
            "ключ",
            "cancel",
            "a?b#c",
        ] {
            let part = encoded(text);
            let key = text.to_owned();
            assert_eq!(
                KeyPath::of(&format!("/v1/loops/{part}"), LOOPS),
                Some(KeyPath::One(key.clone(), None))
            );
            assert_eq!(
                KeyPath::of(&format!("/v1/loops/{part}/cancel"), LOOPS),
                Some(KeyPath::One(key, Some("cancel")))
            );
        }
    }

    #[test]
    fn what_is_no_text_is_no_path() {
        for path in [
            "/v1/loops/",
            "/v1/loops//cancel",
            "/v1/loops/%",
            "/v1/loops/%f",
            "/v1/loops/%+1",
            "/v1/loops/%ff",
            "/v1/loopsy",
            "/v1/loop",
        ] {
            assert_eq!(KeyPath::of(path, LOOPS), None, "{path}");
        }
    }
}
