//! The paths of loops.

use super::super::key_path::{KeyPath, encoded};
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

/// Loops by the keys of their sessions.
const SESSIONS: &str = "/v1/loops";
/// Loops whose sessions have no key yet, by the drafts that they are.
const DRAFTS: &str = "/v1/drafts";

impl Path {
    /// None if it is about something else.
    pub(in crate::serve) fn of(path: &str) -> Option<Self> {
        let (key, action) = match KeyPath::of(path, SESSIONS) {
            Some(KeyPath::All) => return Some(Self::All),
            Some(KeyPath::One(key, action)) => (SessionKey::Session(key), action),
            None => match KeyPath::of(path, DRAFTS)? {
                KeyPath::All => return None,
                KeyPath::One(key, action) => (SessionKey::Draft(key), action),
            },
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

    /// Where a loop is.
    pub(super) fn to(key: &SessionKey) -> String {
        let beginning = match key {
            SessionKey::Session(_) => SESSIONS,
            SessionKey::Draft(_) => DRAFTS,
        };
        format!("{beginning}/{}", encoded(key.text()))
    }

    /// Its pattern, for counting.
    pub(in crate::serve) fn pattern(&self) -> &'static str {
        use SessionKey::{Draft, Session};
        match self {
            Self::All => "/v1/loops",
            Self::One(Session(_)) => "/v1/loops/{session}",
            Self::One(Draft(_)) => "/v1/drafts/{draft}",
            Self::Events(Session(_)) => "/v1/loops/{session}/events",
            Self::Events(Draft(_)) => "/v1/drafts/{draft}/events",
            Self::Cancel(Session(_)) => "/v1/loops/{session}/cancel",
            Self::Cancel(Draft(_)) => "/v1/drafts/{draft}/cancel",
            Self::Override(Session(_)) => "/v1/loops/{session}/override",
            Self::Override(Draft(_)) => "/v1/drafts/{draft}/override",
            Self::Resume(Session(_)) => "/v1/loops/{session}/resume",
            Self::Resume(Draft(_)) => "/v1/drafts/{draft}/resume",
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
        let draft = SessionKey::Draft("a/b".to_owned());
        assert_eq!(Path::to(&draft), "/v1/drafts/a%2Fb");
        assert_eq!(Path::of(&Path::to(&draft)), Some(Path::One(draft)));
        for path in [
            "/v1/loops/a/b",
            "/v1/loops/a/cancel/",
            "/v1/sessions/a",
            "/v1/drafts",
        ] {
            assert_eq!(Path::of(path), None, "{path}");
        }
    }
}
