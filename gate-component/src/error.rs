//! Errors as data: what could not be answered, where, and what to do about it.

use serde::Serialize;

use crate::vocabulary::vocabulary;

vocabulary! {
    /// Why a call could not be answered.
    ErrorCode {
        /// The input is not valid JSON.
        InvalidJson = "invalid_json",
        /// A field is missing, unknown, of the wrong type or out of range.
        InvalidInput = "invalid_input",
        /// The contract has at least one problem.
        InvalidContract = "invalid_contract",
        /// The contract is not the one that the loop began with.
        ContractChanged = "contract_changed",
        /// There is no profile of that name.
        UnknownProfile = "unknown_profile",
        /// The routing policy demands a cost budget.
        CostBudgetRequired = "cost_budget_required",
        /// The iteration's index is not the snapshot's plus one.
        IterationOutOfOrder = "iteration_out_of_order",
        /// The loop has stopped and was not resumed.
        LoopStopped = "loop_stopped",
        /// The snapshot is damaged or is not a snapshot.
        InvalidSnapshot = "invalid_snapshot",
        /// The snapshot was written by a gate that is newer, or too old.
        UnsupportedSnapshot = "unsupported_snapshot",
        /// A prd, progress or loop state file can't be read.
        InvalidFile = "invalid_file",
        /// The JSON face has no such function.
        UnknownFunction = "unknown_function",
    }
}

/// One thing that is wrong with a text, at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where in the structure, for example `completion_checks[1].id`. Empty for the whole text.
    pub path: String,
    /// Line, from 1; 0 when there is no text.
    pub line: u32,
    /// Column in characters, from 1; 0 when there is no text.
    pub column: u32,
    /// One sentence: what is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A call that could not be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateError {
    /// The kind of error, for machines.
    pub code: ErrorCode,
    /// One or two sentences for a person.
    pub message: String,
    /// The path of the first problem.
    pub path: Option<String>,
    /// Every problem found.
    pub problems: Vec<Problem>,
}

impl GateError {
    /// An error without a place in a text.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            path: None,
            problems: Vec::new(),
        }
    }

    /// An error that stands for all the problems of a text, which is called `what`.
    pub fn from_problems(code: ErrorCode, what: &str, problems: Vec<Problem>) -> Self {
        let message = match problems.as_slice() {
            [] => format!("{what} can't be used"),
            [only] => format!("{what}: {}", only.sentence()),
            [first, rest @ ..] => format!(
                "{what} has {} problems; the first: {}",
                rest.len() + 1,
                first.sentence()
            ),
        };
        Self {
            code,
            message,
            path: problems
                .first()
                .map(|problem| problem.path.clone())
                .filter(|path| !path.is_empty()),
            problems,
        }
    }
}

impl Problem {
    /// The problem in one line, with its place and remedy.
    pub fn sentence(&self) -> String {
        let mut text = String::new();
        if self.line > 0 {
            text.push_str(&format!("line {}, column {}: ", self.line, self.column));
        }
        if !self.path.is_empty() {
            text.push_str(&format!("`{}` ", self.path));
        }
        text.push_str(&self.message);
        if let Some(help) = &self.help {
            text.push_str("; ");
            text.push_str(help);
        }
        text
    }
}

impl std::fmt::Display for GateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GateError {}
