//! Words of the specification as they are written in JSON.

use serde::Serialize;

/// The word for an enum's case.
pub(crate) fn word(case: &impl Serialize) -> String {
    match serde_json::to_value(case) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    }
}
