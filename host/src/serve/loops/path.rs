//! The paths of loops.

use super::super::key_path::KeyPath;
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
        let (key, action) = match KeyPath::of(path, "/v1/loops")? {
            KeyPath::All => return Some(Self::All),
            KeyPath::One(key, action) => (key, action),
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_a_loop_or_not() {
        let key = SessionKey::Session("a b".to_owned());
        let cancel = Path::of("/v1/loops/a%20b/cancel");
        assert_eq!(cancel, Some(Path::Cancel(key.clone())));
        assert_eq!(Path::of("/v1/loops/a%20b"), Some(Path::One(key)));
        assert_eq!(Path::of("/v1/loops"), Some(Path::All));
        for path in ["/v1/loops/a/b", "/v1/loops/a/cancel/", "/v1/sessions/a"] {
            assert_eq!(Path::of(path), None, "{path}");
        }
    }
}
