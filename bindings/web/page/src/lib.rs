//! What a page needs beyond the gate, as functions of JavaScript: the host's own reading of event logs, replay, what-if and
//! the effectiveness report.
//!
//! Everything is JSON, errors too; `bindings/web/src/history.ts` has the shapes. The gate is a function that the page
//! gives, so that the page decides with the same bytes as everybody else.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod report;

use js_sys::{Error, Function, JsString};
use ralph_gate_history::{Gate, Log, Unanswered, answer};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsValue};

pub use report::{Reported, report};

/// Everything that a log says.
#[wasm_bindgen]
pub fn read_log(text: &str) -> String {
    let log = Log::read(text);
    answer(&log.as_ref().map(Log::report).map_err(Clone::clone))
}

/// Whether the gate still answers as it did. A `contract` is for logs that do not carry theirs.
#[wasm_bindgen]
#[allow(
    clippy::needless_pass_by_value,
    reason = "what comes from JavaScript is owned"
)]
pub fn replay(text: &str, gate: &Function, contract: Option<String>) -> String {
    let gate = Callback(gate);
    let report = Log::read(text)
        .and_then(|log| ralph_gate_history::replay(&log, contract.as_deref(), &gate));
    answer(&report)
}

/// What would have happened under another contract.
#[wasm_bindgen]
pub fn what_if(text: &str, contract: &str, gate: &Function) -> String {
    let gate = Callback(gate);
    let report = Log::read(text).and_then(|log| ralph_gate_history::what_if(&log, contract, &gate));
    answer(&report)
}

/// The page's gate.
struct Callback<'f>(&'f Function);

impl Gate for Callback<'_> {
    fn call(&self, function: &str, input: &str) -> Result<String, Unanswered> {
        let (function, input) = (JsValue::from_str(function), JsValue::from_str(input));
        let given = self.0.call2(&JsValue::NULL, &function, &input);
        let given = given.map_err(|thrown| Unanswered(said(&thrown)))?;
        given.as_string().ok_or_else(|| {
            Unanswered("the function that was given for it returned no string".to_owned())
        })
    }
}

/// What was thrown, in words.
fn said(thrown: &JsValue) -> String {
    let message = thrown.dyn_ref::<Error>().map(Error::message);
    message
        .or_else(|| thrown.dyn_ref::<JsString>().cloned())
        .map_or_else(|| format!("{thrown:?}"), String::from)
}
