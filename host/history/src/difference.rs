//! Where two verdicts differ first.

use serde::Serialize;
use serde_json::Value;

use crate::gate::error_in;

/// The first difference between what was recorded and what is answered now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The iteration.
    pub iteration: u32,
    /// The line of its verdict.
    pub line: u64,
    /// Where in the verdict, for example `counters.guardrails[2].used`.
    pub path: String,
    /// As JSON; none if there is nothing.
    pub recorded: Option<String>,
    /// As JSON; none if there is nothing.
    pub replayed: Option<String>,
}

/// A place, and what stands there on both sides.
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) recorded: Option<String>,
    pub(crate) replayed: Option<String>,
}

/// Where two texts, which are not equal, differ first.
pub(crate) fn first(recorded: &str, replayed: &str) -> Place {
    if error_in(replayed).is_some() && error_in(recorded).is_none() {
        return Place {
            path: "error".to_owned(),
            recorded: None,
            replayed: Some(replayed.to_owned()),
        };
    }
    let values = serde_json::from_str::<Value>(recorded)
        .ok()
        .zip(serde_json::from_str::<Value>(replayed).ok());
    let found = values.and_then(|(left, right)| below("", Some(&left), Some(&right)));
    // The same values in other bytes: another order, or another way to write a number.
    found.unwrap_or_else(|| Place {
        path: String::new(),
        recorded: Some(recorded.to_owned()),
        replayed: Some(replayed.to_owned()),
    })
}

fn below(path: &str, left: Option<&Value>, right: Option<&Value>) -> Option<Place> {
    match (left, right) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let names = left
                .keys()
                .chain(right.keys().filter(|name| !left.contains_key(*name)));
            names
                .map(|name| (join(path, name), left.get(name), right.get(name)))
                .find_map(|(path, left, right)| below(&path, left, right))
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => (0..left.len().max(right.len()))
            .find_map(|index| {
                below(
                    &format!("{path}[{index}]"),
                    left.get(index),
                    right.get(index),
                )
            }),
        (left, right) if left == right => None,
        (left, right) => Some(Place {
            path: path.to_owned(),
            recorded: left.map(Value::to_string),
            replayed: right.map(Value::to_string),
        }),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(left: &str, right: &str) -> (String, Option<String>, Option<String>) {
        let place = first(left, right);
        (place.path, place.recorded, place.replayed)
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        let left = r#"{"a":1,"b":{"c":[{"d":"x"},{"d":"y"}]},"e":2}"#;
        let right = r#"{"a":1,"b":{"c":[{"d":"x"},{"d":"z"}]},"e":3}"#;
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            found(left, right),
            ("b.c[1].d".into(), text("\"y\""), text("\"z\""))
        );
        assert_eq!(
            found(r#"{"a":[1]}"#, r#"{"a":[1,2]}"#),
            ("a[1]".into(), None, text("2"))
        );
        assert_eq!(
            found(r#"{"a":1}"#, r#"{"b":1}"#),
            ("a".into(), text("1"), None)
        );
    }

    #[test]
    fn equal_values_in_other_bytes_are_a_difference_of_the_whole() {
        let (path, recorded, _) = found(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#);
        assert_eq!(
            (path.as_str(), recorded.as_deref()),
            ("", Some(r#"{"a":1,"b":2}"#))
        );
    }

    #[test]
    fn an_error_in_place_of_a_verdict_is_shown_as_such() {
        let error = r#"{"error":{"code":"x","message":"m","path":null,"problems":[]}}"#;
        let (path, recorded, replayed) = found(r#"{"decision":"stop"}"#, error);
        assert_eq!(
            (path.as_str(), recorded, replayed.as_deref()),
            ("error", None, Some(error))
        );
    }
}
