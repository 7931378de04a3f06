//! The gate, as far as it is asked about the past.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::HistoryError;

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

impl From<Unanswered> for HistoryError {
    fn from(reason: Unanswered) -> Self {
        Self::unanswered(&reason.0)
    }
}

/// Somebody's decision to go on with a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resumption {
    /// Who.
    pub operator: String,
    /// Why.
    pub reason: String,
    /// With another contract than before.
    pub accept_contract: bool,
}

/// An error, where an answer is one.
pub(crate) fn error_in(answer: &str) -> Option<HistoryError> {
    #[derive(Deserialize)]
    struct Failed {
        error: HistoryError,
    }
    let failed: Failed = serde_json::from_str(answer).ok()?;
    Some(failed.error)
}

/// Evaluates an iteration. Gives the verdict, or an error, as JSON.
pub(crate) fn evaluate(
    gate: &dyn Gate,
    contract: &str,
    snapshot: Option<&str>,
    iteration: &RawValue,
) -> Result<String, Unanswered> {
    #[derive(Serialize)]
    struct Input<'i> {
        contract: &'i str,
        snapshot: Option<&'i str>,
        iteration: &'i RawValue,
    }
    ask(
        gate,
        "evaluate_final",
        &Input {
            contract,
            snapshot,
            iteration,
        },
    )
}

/// Goes on with a loop that stopped, or with another contract. Gives the new snapshot.
pub(crate) fn resume(
    gate: &dyn Gate,
    contract: &str,
    snapshot: &str,
    resumption: &Resumption,
) -> Result<String, HistoryError> {
    #[derive(Serialize)]
    struct Input<'i> {
        contract: &'i str,
        snapshot: &'i str,
        resumption: &'i Resumption,
    }
    #[derive(Deserialize)]
    struct Resumed {
        snapshot: String,
    }
    let input = Input {
        contract,
        snapshot,
        resumption,
    };
    let resumed: Resumed = read(&ask(gate, "resume", &input)?)?;
    Ok(resumed.snapshot)
}

/// Whether a snapshot is that of a loop which has stopped.
pub(crate) fn is_stopped(gate: &dyn Gate, snapshot: &str) -> Result<bool, HistoryError> {
    #[derive(Serialize)]
    struct Input<'i> {
        text: &'i str,
    }
    #[derive(Deserialize)]
    struct View {
        stopped: Option<String>,
    }
    let view: View = read(&ask(gate, "read_snapshot", &Input { text: snapshot })?)?;
    Ok(view.stopped.is_some())
}

/// The digest of a contract, if it is a valid one.
pub(crate) fn contract_digest(
    gate: &dyn Gate,
    contract: &str,
) -> Result<Option<String>, HistoryError> {
    #[derive(Serialize)]
    struct Input<'i> {
        text: &'i str,
    }
    #[derive(Deserialize)]
    struct Report {
        digest: Option<String>,
    }
    let report: Report = read(&ask(gate, "check_contract", &Input { text: contract })?)?;
    Ok(report.digest)
}

/// What the agent was told to promise in the first iteration, if anything.
pub(crate) fn first_token(gate: &dyn Gate, contract: &str) -> Result<Option<String>, HistoryError> {
    #[derive(Serialize)]
    struct Input<'i> {
        contract: &'i str,
    }
    #[derive(Deserialize)]
    struct Brief {
        token: Option<String>,
    }
    let brief: Brief = read(&ask(gate, "write_brief", &Input { contract })?)?;
    Ok(brief.token)
}

fn ask(gate: &dyn Gate, function: &str, input: &impl Serialize) -> Result<String, Unanswered> {
    let input = serde_json::to_string(input).map_err(|error| Unanswered(error.to_string()))?;
    gate.call(function, &input)
}

fn read<'a, T: Deserialize<'a>>(answer: &'a str) -> Result<T, HistoryError> {
    match error_in(answer) {
        Some(error) => Err(error),
        None => serde_json::from_str(answer)
            .map_err(|error| HistoryError::unanswered(&error.to_string())),
    }
}
