//! What callers get: JSON, or why there is none.

use ralph_gate_types::{CallError, Prd, ProgressLog};
use serde::Serialize;

use super::wit;
use crate::course::word;
use crate::{Finding, MemoryError, Reading, Record, SessionKey, State};

/// A result of the interface.
pub(super) type Answer<T> = Result<T, wit::MemoryError>;

/// A call that could not be answered.
#[derive(Debug)]
pub(super) struct Refused {
    code: String,
    message: String,
    help: String,
}

impl Refused {
    /// The caller's mistake.
    pub(super) fn input(message: String) -> Self {
        Self {
            code: "memory_input".to_owned(),
            message,
            help: "see the comments of wit/memory.wit for what belongs there".to_owned(),
        }
    }

    /// There is nothing to go on with.
    pub(super) fn completed(iteration: u32) -> Self {
        Self {
            code: "loop_completed".to_owned(),
            message: format!("the loop is complete since iteration {iteration}"),
            help: "begin another one".to_owned(),
        }
    }
}

impl From<MemoryError> for Refused {
    fn from(error: MemoryError) -> Self {
        Self {
            code: error.code().to_owned(),
            help: error.help().to_owned(),
            message: error.to_string(),
        }
    }
}

impl From<CallError> for Refused {
    fn from(error: CallError) -> Self {
        let code = match &error {
            CallError::Gate(error) => word(&error.code),
            CallError::Engine(error) => error.code().to_owned(),
        };
        Self {
            code,
            message: error.to_string(),
            help: "nothing was changed".to_owned(),
        }
    }
}

impl From<Refused> for wit::MemoryError {
    fn from(refused: Refused) -> Self {
        let Refused {
            code,
            message,
            help,
        } = refused;
        Self {
            code,
            message,
            help,
        }
    }
}

impl From<MemoryError> for wit::MemoryError {
    fn from(error: MemoryError) -> Self {
        Refused::from(error).into()
    }
}

impl From<CallError> for wit::MemoryError {
    fn from(error: CallError) -> Self {
        Refused::from(error).into()
    }
}

/// A value's JSON form.
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> Answer<String> {
    serde_json::to_string(value).map_err(|error| MemoryError::from(error).into())
}

/// What a reader sees of a session.
pub(super) fn reading(reading: Reading, events: &[Record]) -> Answer<String> {
    #[derive(Serialize)]
    struct Read<'r> {
        key: SessionKey,
        state: State,
        prd: Option<Prd>,
        progress: ProgressLog,
        events: &'r [Record],
        findings: Vec<Finding>,
    }
    json(&Read {
        key: reading.key,
        state: reading.state,
        prd: reading.prd?,
        progress: reading.progress,
        events,
        findings: reading.findings,
    })
}
