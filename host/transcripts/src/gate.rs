//! The gate, as far as it is asked about transcripts.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::ImportError;

/// The gate's JSON face. Any function of two texts is one.
pub trait Gate {
    /// Calls a function by its name, with its input as JSON. Gives JSON; an error of the gate is an answer, too.
    fn call(&self, function: &str, input: &str) -> Result<String, Unanswered>;
}

/// Why there was no answer at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub String);

impl<F: Fn(&str, &str) -> Result<String, Unanswered>> Gate for F {
    fn call(&self, function: &str, input: &str) -> Result<String, Unanswered> {
        self(function, input)
    }
}

/// Asks the gate, and reads its answer.
pub(crate) fn ask<T: DeserializeOwned>(
    gate: &dyn Gate,
    function: &str,
    input: &impl Serialize,
) -> Result<T, ImportError> {
    #[derive(Deserialize)]
    struct Failed {
        error: Message,
    }
    #[derive(Deserialize)]
    struct Message {
        message: String,
    }
    let unanswered = |error: serde_json::Error| ImportError::Gate(error.to_string());
    let input = serde_json::to_string(input).map_err(unanswered)?;
    let answer = gate
        .call(function, &input)
        .map_err(|error| ImportError::Gate(error.0))?;
    match serde_json::from_str::<Failed>(&answer) {
        Ok(failed) => Err(ImportError::Gate(failed.error.message)),
        Err(_) => serde_json::from_str(&answer).map_err(unanswered),
    }
}
