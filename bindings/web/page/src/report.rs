//! The effectiveness report of logs that a page was given.

use ralph_gate_report::logs::{self, LogsError, Request};
use ralph_gate_report::model::Report;
use ralph_gate_report::render;
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

/// A report in every form that a page needs, or why there is none.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Reported(Result<Report, String>);

#[wasm_bindgen]
impl Reported {
    /// What is wrong, as JSON; nothing where there is a report.
    pub fn error(&self) -> Option<String> {
        self.0.as_ref().err().cloned()
    }

    /// The report as JSON, byte for byte what the command prints.
    pub fn json(&self) -> String {
        self.0.as_ref().map(render::json).unwrap_or_default()
    }

    /// The report as one page.
    pub fn html(&self) -> String {
        self.0.as_ref().map(render::html).unwrap_or_default()
    }
}

/// The report of some logs, each with a name and a text. `request` is JSON: `before`, `after`, `by_class`, `primary`,
/// `min_reduction` and `max_cost_increase`, all of which may be left out.
#[wasm_bindgen]
#[allow(
    clippy::needless_pass_by_value,
    reason = "what comes from JavaScript is owned"
)]
pub fn report(names: Vec<String>, texts: Vec<String>, request: &str) -> Reported {
    let request: Request = match serde_json::from_str(request) {
        Ok(request) => request,
        Err(error) => return Reported(Err(problem("invalid_request", &error.to_string()))),
    };
    let logs = names.iter().zip(&texts);
    let logs = logs.map(|(name, text)| (name.as_str(), text.as_str()));
    let report = logs::report(logs, &request);
    Reported(report.map_err(|error: LogsError| problem(error.code(), &error.to_string())))
}

/// In the shape that every answer of this crate has.
fn problem(code: &str, message: &str) -> String {
    json!({ "error": { "code": code, "message": message, "path": null, "problems": [] } })
        .to_string()
}
