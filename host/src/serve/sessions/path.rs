//! The paths of sessions.

use super::super::key_path::KeyPath;
use crate::memory::SessionKey;

/// What a path is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::serve) enum Path {
    /// `/v1/sessions`
    All,
    /// `/v1/sessions/{session}`
    One(SessionKey),
    /// `/v1/sessions/{session}/evaluate-final`
    Evaluate(SessionKey),
    /// `/v1/sessions/{session}/resume`
    Resume(SessionKey),
    /// `/v1/sessions/{session}/events`
    Events(SessionKey),
}

impl Path {
    /// None if it is about something else.
    pub(in crate::serve) fn of(path: &str) -> Option<Self> {
        let (key, word) = match KeyPath::of(path, "/v1/sessions")? {
            KeyPath::All => return Some(Self::All),
            KeyPath::One(key, word) => (key, word),
        };
        let key = SessionKey::Session(key);
        Some(match word {
            None => Self::One(key),
            Some("evaluate-final") => Self::Evaluate(key),
            Some("resume") => Self::Resume(key),
            Some("events") => Self::Events(key),
            Some(_) => return None,
        })
    }

    /// Its pattern, for counting.
    pub(in crate::serve) fn pattern(&self) -> &'static str {
        match self {
            Self::All => "/v1/sessions",
            Self::One(_) => "/v1/sessions/{session}",
            Self::Evaluate(_) => "/v1/sessions/{session}/evaluate-final",
            Self::Resume(_) => "/v1/sessions/{session}/resume",
            Self::Events(_) => "/v1/sessions/{session}/events",
        }
    }

    /// The methods that it has.
    pub(super) fn methods(&self) -> &'static str {
        match self {
            Self::One(_) => "DELETE, GET, HEAD, PUT",
            Self::Evaluate(_) | Self::Resume(_) => "POST",
            Self::All | Self::Events(_) => "GET, HEAD",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_a_session_or_not() {
        let key = SessionKey::Session("a b".to_owned());
        let path = Path::of("/v1/sessions/a%20b/evaluate-final");
        assert_eq!(path, Some(Path::Evaluate(key.clone())));
        assert_eq!(Path::of("/v1/sessions/a%20b"), Some(Path::One(key)));
        assert_eq!(Path::of("/v1/sessions"), Some(Path::All));
        for path in ["/v1/sessions/", "/v1/sessions/a/b", "/v1/loops/a"] {
            assert_eq!(Path::of(path), None, "{path}");
        }
    }
}
