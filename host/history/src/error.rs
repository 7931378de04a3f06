//! Why a log could not be read or asked. In JSON it has the shape of an error of the gate.

use serde::{Deserialize, Serialize};

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct HistoryError {
    /// What kind of error it is: one of this crate, or the gate's own.
    pub code: String,
    /// For a person.
    pub message: String,
    /// Where, if it is about a part of a contract.
    #[serde(default)]
    pub path: Option<String>,
    /// Everything that is wrong with a contract.
    #[serde(default)]
    pub problems: Vec<Problem>,
}

/// One thing that is wrong with a contract, at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where in the structure.
    pub path: String,
    /// From 1; 0 if there is none.
    pub line: u32,
    /// From 1; 0 if there is none.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl HistoryError {
    fn new(code: &str, message: String) -> Self {
        Self {
            code: code.to_owned(),
            message,
            path: None,
            problems: Vec::new(),
        }
    }

    /// No line is an event.
    pub(crate) fn invalid_log(lines: u64) -> Self {
        let message = match lines {
            0 => "the log is empty; `events.jsonl` of a session is one".to_owned(),
            _ => {
                "no line of this text is an event; `events.jsonl` of a session is a log".to_owned()
            }
        };
        Self::new("invalid_log", message)
    }

    /// There are events, but no verdict among them.
    pub(crate) fn nothing_judged() -> Self {
        let message = "the log has no verdict: nothing was judged in this loop".to_owned();
        Self::new("nothing_judged", message)
    }

    /// Nobody knows what the loop was judged by.
    pub(crate) fn no_contract() -> Self {
        let message = "the log does not carry the contract that it was judged by; give the session's `contract.json` with it";
        Self::new("no_contract", message.to_owned())
    }

    /// The contract that was given is another one.
    pub(crate) fn wrong_contract(digest: &str) -> Self {
        let message = format!(
            "this is not the contract that the loop was judged by, whose digest is {digest}; `contract.json` of the same \
             session is"
        );
        Self::new("wrong_contract", message)
    }

    /// The log lacks what the gate was given.
    pub(crate) fn digest_only(reason: &str) -> Self {
        Self::new("digest_only", reason.to_owned())
    }

    /// The gate could not be asked.
    pub(crate) fn unanswered(reason: &str) -> Self {
        Self::new("unanswered", format!("the gate gave no answer: {reason}"))
    }
}
