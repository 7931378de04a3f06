//! Which state of a session a request is about: its version, as HTTP has it (RFC 9110, section 13).

use hyper::{StatusCode, header};
use serde_json::json;

use super::super::asked::Asked;
use super::super::problem::Problem;

/// The version of a session's state, as a header has it.
pub(super) fn tag(revision: u64) -> String {
    format!("\"{revision}\"")
}

/// What `If-Match` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Condition {
    /// Any state.
    Any,
    /// One of these.
    OneOf(Vec<String>),
}

impl Condition {
    /// Nobody changes a session without saying which state was seen.
    pub(super) fn of(asked: &Asked) -> Result<Self, Problem> {
        let mut tags = Vec::new();
        for given in asked.headers.get_all(header::IF_MATCH) {
            let text = given.to_str().unwrap_or_default();
            tags.extend(text.split(',').map(|tag| tag.trim().to_owned()));
        }
        if tags.is_empty() {
            let detail = "say which state of the session this is about: `If-Match` with the `ETag` of the last answer";
            let status = StatusCode::PRECONDITION_REQUIRED;
            return Err(Problem::new(status, "precondition_required", detail));
        }
        Ok(if tags.iter().any(|tag| tag == "*") {
            Self::Any
        } else {
            Self::OneOf(tags)
        })
    }

    /// Fails if the session has come further.
    pub(super) fn check(&self, revision: u64) -> Result<(), Problem> {
        let is_it = match self {
            Self::Any => true,
            Self::OneOf(tags) => tags.contains(&tag(revision)),
        };
        if is_it {
            Ok(())
        } else {
            Err(changed(revision))
        }
    }

    /// Fails if it is about nothing but states before a revision.
    pub(super) fn check_not_before(&self, revision: u64) -> Result<(), Problem> {
        let is_before = |tag: &String| {
            let number = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
            number.is_some_and(|number| number.parse().is_ok_and(|old: u64| old < revision))
        };
        match self {
            Self::OneOf(tags) if tags.iter().all(is_before) => Err(changed(revision)),
            Self::OneOf(_) | Self::Any => Ok(()),
        }
    }
}

/// A session that is not in the state that was asked for.
fn changed(revision: u64) -> Problem {
    let detail = format!(
        "the session is at revision {revision} by now; get it again and go on from what it holds"
    );
    Problem::by_code("memory_conflict", detail)
        .with("revision", json!(revision))
        .header(header::ETAG, tag(revision))
}

/// Whether `If-None-Match` names this state: whoever asks has it.
pub(super) fn is_known(asked: &Asked, revision: u64) -> bool {
    let tag = tag(revision);
    let given = asked.headers.get_all(header::IF_NONE_MATCH).iter();
    let given = given.filter_map(|given| given.to_str().ok());
    given
        .flat_map(|given| given.split(','))
        .map(str::trim)
        .any(|given| given == "*" || given.strip_prefix("W/").unwrap_or(given) == tag)
}

#[cfg(test)]
mod tests {
    use hyper::{HeaderMap, Method};

    use super::*;

    fn asked(name: &header::HeaderName, values: &[&str]) -> Asked {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), value.parse().unwrap());
        }
        Asked {
            method: Method::POST,
            path: "/".to_owned(),
            headers,
            body: bytes::Bytes::new(),
        }
    }

    #[test]
    fn only_the_state_that_was_seen_is_changed() {
        let is_met = |values: &[&str]| {
            let condition = Condition::of(&asked(&header::IF_MATCH, values)).unwrap();
            condition.check(7).is_ok()
        };
        for met in [
            &["\"7\""][..],
            &["*"],
            &["\"6\", \"7\""],
            &["\"6\"", "\"7\""],
        ] {
            assert!(is_met(met), "{met:?}");
        }
        // A weak one says nothing about what is to be changed.
        for not_met in [&["\"6\""][..], &["7"], &["W/\"7\""], &[""], &["\"7"]] {
            assert!(!is_met(not_met), "{not_met:?}");
        }
        let none = Condition::of(&asked(&header::IF_MATCH, &[])).unwrap_err();
        assert_eq!(none.reply().status(), 428);
    }

    #[test]
    fn what_is_about_old_states_alone_is_refused_without_a_look() {
        let may_hold = |value: &str| {
            let condition = Condition::of(&asked(&header::IF_MATCH, &[value])).unwrap();
            condition.check_not_before(7).is_ok()
        };
        for old in ["\"6\"", "\"1\", \"6\""] {
            assert!(!may_hold(old), "{old}");
        }
        // What can't be compared is looked for.
        for unknown in [
            "*",
            "\"7\"",
            "\"8\"",
            "\"6\", \"8\"",
            "6",
            "W/\"6\"",
            "\"x\"",
        ] {
            assert!(may_hold(unknown), "{unknown}");
        }
    }

    #[test]
    fn who_has_a_state_is_not_told_again() {
        for known in ["\"7\"", "W/\"7\"", "\"1\", \"7\"", "*"] {
            assert!(
                is_known(&asked(&header::IF_NONE_MATCH, &[known]), 7),
                "{known}"
            );
        }
        assert!(!is_known(&asked(&header::IF_NONE_MATCH, &["\"6\""]), 7));
        assert!(!is_known(&asked(&header::IF_NONE_MATCH, &[]), 7));
    }
}
