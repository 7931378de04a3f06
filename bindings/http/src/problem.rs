//! Errors as problem details (RFC 9457): which status each of them has, and what stands in its body.

use ralph_gate_component::Word;
use ralph_gate_component::error::{ErrorCode, GateError};
use ralph_gate_component::json;
use serde::Serialize;

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// What the type of every problem begins with; its code follows.
pub const TYPE: &str = "urn:ralph-gate:error:";

/// Why a request was not answered with a result. Closed: the gate's codes, and those of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The gate could not answer.
    Gate(ErrorCode),
    /// There is nothing under the path.
    NotFound,
    /// The path does not take the method.
    MethodNotAllowed,
    /// The body is not said to be JSON in UTF-8.
    UnsupportedMediaType,
    /// The body is longer than it may be.
    BodyTooLarge,
    /// The body is not UTF-8.
    InvalidUtf8,
    /// The body ended before it was complete.
    IncompleteBody,
}

impl Code {
    /// The codes that the gate doesn't have.
    pub const OWN: [Self; 6] = [
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::UnsupportedMediaType,
        Self::BodyTooLarge,
        Self::InvalidUtf8,
        Self::IncompleteBody,
    ];

    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        ErrorCode::ALL
            .iter()
            .copied()
            .map(Self::Gate)
            .chain(Self::OWN)
    }

    /// The code as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gate(code) => code.as_str(),
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::BodyTooLarge => "body_too_large",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::IncompleteBody => "incomplete_body",
        }
    }

    /// The status of the response: 400 for what can't be read, 422 for what can be read and is invalid, 409 for what does
    /// not fit the state of the loop, which is in the snapshot.
    pub fn status(self) -> u16 {
        match self {
            Self::Gate(code) => gate_status(code),
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::UnsupportedMediaType => 415,
            Self::BodyTooLarge => 413,
            Self::InvalidUtf8 | Self::IncompleteBody => 400,
        }
    }

    /// What kind of problem it is, the same each time.
    pub fn title(self) -> &'static str {
        match self {
            Self::Gate(code) => gate_title(code),
            Self::NotFound => "There is nothing under this path",
            Self::MethodNotAllowed => "The path does not take this method",
            Self::UnsupportedMediaType => "The body is not said to be JSON",
            Self::BodyTooLarge => "The body is too large",
            Self::InvalidUtf8 => "The body is not UTF-8",
            Self::IncompleteBody => "The body is incomplete",
        }
    }
}

fn gate_status(code: ErrorCode) -> u16 {
    match code {
        ErrorCode::InvalidJson => 400,
        // No route leads to a function that is not there.
        ErrorCode::UnknownFunction => 404,
        ErrorCode::ContractChanged
        | ErrorCode::IterationOutOfOrder
        | ErrorCode::LoopStopped
        | ErrorCode::InvalidSnapshot
        | ErrorCode::UnsupportedSnapshot => 409,
        ErrorCode::InvalidInput
        | ErrorCode::InvalidContract
        | ErrorCode::UnknownProfile
        | ErrorCode::CostBudgetRequired
        | ErrorCode::InvalidFile => 422,
    }
}

fn gate_title(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidJson => "The body is not JSON",
        ErrorCode::InvalidInput => "The input is invalid",
        ErrorCode::InvalidContract => "The contract is invalid",
        ErrorCode::ContractChanged => "The contract is not the one that the loop began with",
        ErrorCode::UnknownProfile => "There is no such profile",
        ErrorCode::CostBudgetRequired => "A cost budget is required",
        ErrorCode::IterationOutOfOrder => "The iteration is out of order",
        ErrorCode::LoopStopped => "The loop has stopped",
        ErrorCode::InvalidSnapshot => "The snapshot is invalid",
        ErrorCode::UnsupportedSnapshot => "The snapshot was written by a newer gate",
        ErrorCode::InvalidFile => "The file can't be read",
        ErrorCode::UnknownFunction => "There is no such function",
    }
}

/// Why a request is not answered with a result.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: String,
    /// How many bytes there are, where that is known.
    observed: Option<u64>,
    /// How many there may be.
    limit: Option<u64>,
    error: Option<Box<GateError>>,
}

/// A problem as it is written.
#[derive(Serialize)]
struct Body<'p> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'p str,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// What the JSON face answers with, as it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'p GateError>,
}

impl Problem {
    /// A problem, and what to do about it.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            observed: None,
            limit: None,
            error: None,
        }
    }

    /// A limit that was exceeded: by how much, where that is known, and what is allowed.
    #[must_use]
    pub fn with_limit(mut self, observed: Option<u64>, limit: u64) -> Self {
        (self.observed, self.limit) = (observed, Some(limit));
        self
    }

    /// The status of the response.
    pub fn status(&self) -> u16 {
        self.code.status()
    }

    /// The body, as JSON.
    pub fn to_text(&self) -> String {
        json::to_text(&Body {
            r#type: format!("{TYPE}{}", self.code.as_str()),
            title: self.code.title(),
            status: self.status(),
            detail: &self.detail,
            code: self.code.as_str(),
            observed: self.observed,
            limit: self.limit,
            error: self.error.as_deref(),
        })
    }
}

impl From<GateError> for Problem {
    fn from(error: GateError) -> Self {
        let mut problem = Self::new(Code::Gate(error.code), error.message.clone());
        problem.error = Some(Box::new(error));
        problem
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_status_of_the_caller_and_a_title_of_its_own() {
        let statuses = [400, 404, 405, 409, 413, 415, 422];
        let mut titles = BTreeSet::new();
        let mut codes = BTreeSet::new();
        for code in Code::all() {
            assert!(statuses.contains(&code.status()), "{code:?}");
            assert!(titles.insert(code.title()), "{code:?}");
            assert!(codes.insert(code.as_str()), "{code:?}");
        }
        assert_eq!(codes.len(), ErrorCode::ALL.len() + Code::OWN.len());
    }

    #[test]
    fn an_error_of_the_gate_stands_in_its_problem_byte_for_byte() {
        for (function, input) in [
            ("route", "{"),
            (
                "evaluate_final",
                r#"{"contract": {"mod": 1}, "iteration": {}}"#,
            ),
            ("read_snapshot", r#"{"text": "\u0000 \"é\""}"#),
        ] {
            let error = json::answer(function, input).unwrap_err();
            let problem = Problem::from(error).to_text();
            let at = problem.find(r#","error":"#).unwrap();
            assert_eq!(
                format!("{{{}", &problem[at + 1..]),
                json::call(function, input)
            );
        }
    }

    #[test]
    fn a_problem_says_what_it_is_and_what_to_do() {
        let problem = Problem::new(Code::BodyTooLarge, "send less").with_limit(Some(5), 4);
        assert_eq!(
            problem.to_text(),
            r#"{"type":"urn:ralph-gate:error:body_too_large","title":"The body is too large","status":413,"detail":"send less","code":"body_too_large","observed":5,"limit":4}"#
        );
    }
}
