//! Asks the gate and reads its answer: a result, or an error as data.

use ralph_gate::engine::{EngineError, GateError};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::{CliError, Size};
use super::gate;
use super::input::Source;

/// What the gate answered, and what this command needs of it.
pub(crate) struct Answer<T> {
    /// The gate's JSON, byte for byte.
    pub(crate) json: String,
    pub(crate) value: T,
}

/// A call of the JSON face.
pub(crate) struct Question<'a> {
    pub(crate) function: &'a str,
    pub(crate) input: &'a str,
    /// The file that errors are about.
    pub(crate) file: &'a Source,
    /// Characters before the file's first line in `input`.
    pub(crate) shift: u32,
}

impl Question<'_> {
    /// Asks the gate.
    pub(crate) fn ask<T: DeserializeOwned>(&self) -> Result<Answer<T>, CliError> {
        let json = gate()?
            .call(self.function, self.input)
            .map_err(|error| self.engine_error(error))?;
        if let Some(error) = read::<Refusal>(&json)?.error {
            return Err(CliError::Gate {
                file: self.file.clone(),
                error: Box::new(error),
                answer: json,
                shift: self.shift,
            });
        }
        Ok(Answer {
            value: read(&json)?,
            json,
        })
    }

    fn engine_error(&self, error: EngineError) -> CliError {
        let file = self.file.clone();
        match error {
            EngineError::InputTooLarge { observed, limit } => CliError::InputTooLarge {
                file,
                observed: Size::AsJson(observed as u64),
                limit,
            },
            error => CliError::Engine {
                file: Some(file),
                error,
            },
        }
    }
}

/// The one thing that all answers have in common.
#[derive(Deserialize)]
struct Refusal {
    error: Option<GateError>,
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, CliError> {
    serde_json::from_str(json).map_err(|error| CliError::Answer {
        reason: error.to_string(),
    })
}
