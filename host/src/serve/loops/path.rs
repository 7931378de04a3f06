//! The paths of loops.

use crate::memory::SessionKey;

/// What a path is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::serve) enum Path {
    /// `/v1/loops`
    All,
    /// `/v1/loops/{session}`
    One(SessionKey),
    /// `/v1/loops/{session}/events`
    Events(SessionKey),
    /// `/v1/loops/{session}/cancel`
    Cancel(SessionKey),
    /// `/v1/loops/{session}/override`
    Override(SessionKey),
    /// `/v1/loops/{session}/resume`
    Resume(SessionKey),
}

impl Path {
    /// None if it is about something else.
    pub(in crate::serve) fn of(path: &str) -> Option<Self> {
        let rest = path.strip_prefix("/v1/loops")?;
        if rest.is_empty() {
            return Some(Self::All);
        }
        let (key, action) = match rest.strip_prefix('/')?.split_once('/') {
            Some((key, action)) => (key, Some(action)),
            None => (rest.strip_prefix('/')?, None),
        };
        let key = decoded(key).filter(|key| !key.is_empty())?;
        let key = SessionKey::Session(key);
        Some(match action {
            None => Self::One(key),
            Some("events") => Self::Events(key),
            Some("cancel") => Self::Cancel(key),
            Some("override") => Self::Override(key),
            Some("resume") => Self::Resume(key),
            Some(_) => return None,
        })
    }

    /// Its pattern, for counting.
    pub(in crate::serve) fn pattern(&self) -> &'static str {
        match self {
            Self::All => "/v1/loops",
            Self::One(_) => "/v1/loops/{session}",
            Self::Events(_) => "/v1/loops/{session}/events",
            Self::Cancel(_) => "/v1/loops/{session}/cancel",
            Self::Override(_) => "/v1/loops/{session}/override",
            Self::Resume(_) => "/v1/loops/{session}/resume",
        }
    }

    /// The methods that it has.
    pub(super) fn methods(&self) -> &'static str {
        match self {
            Self::All => "GET, HEAD, POST",
            Self::One(_) => "GET, HEAD",
            Self::Events(_) => "GET",
            Self::Cancel(_) | Self::Override(_) | Self::Resume(_) => "POST",
        }
    }
}

/// A part of a path as the text that it stands for. None if it is no text.
pub(in crate::serve) fn decoded(part: &str) -> Option<String> {
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
pub(in crate::serve) fn encoded(text: &str) -> String {
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

    fn key(text: &str) -> SessionKey {
        SessionKey::Session(text.to_owned())
    }

    #[test]
    fn every_key_has_a_path() {
        assert_eq!(Path::of("/v1/loops"), Some(Path::All));
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
            assert_eq!(
                Path::of(&format!("/v1/loops/{part}")),
                Some(Path::One(key(text)))
            );
            let cancel = Path::of(&format!("/v1/loops/{part}/cancel"));
            assert_eq!(cancel, Some(Path::Cancel(key(text))));
        }
    }

    #[test]
    fn what_is_no_text_is_no_path() {
        for path in [
            "/v1/loops/",
            "/v1/loops/%",
            "/v1/loops/%f",
            "/v1/loops/%+1",
            "/v1/loops/%ff",
            "/v1/loops/a/b",
            "/v1/loops/a/cancel/",
            "/v1/loopsy",
            "/v1/loop",
        ] {
            assert_eq!(Path::of(path), None, "{path}");
        }
    }
}
