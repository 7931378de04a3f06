//! One loop, open: the contract is read once, the state stays in the instance.

use std::fmt;
use std::sync::Arc;

use wasmtime::component::ResourceAny;

use super::exports::Exports;
use super::gate::GateEngine;
use super::instance::GateInstance;
use super::size::TextSize as _;
use super::{Brief, CallError, EngineError, GateError, Iteration, Verdict};

/// A loop in progress. Cheap: one per loop, for as long as it runs.
///
/// ```
/// use ralph_gate::engine::{Action, Decision, GateEngine, Iteration};
///
/// # fn main() -> Result<(), ralph_gate::engine::CallError> {
/// let engine = GateEngine::new()?;
/// let mut session = engine.open(r#"{"mode": "ralph", "completion_token": "DONE"}"#, None)?;
/// let verdict = session.evaluate_final(&Iteration {
///     index: 1,
///     action: Action::Final,
///     output: "I think it works.".to_owned(),
///     ..Iteration::default()
/// })?;
/// assert_eq!(verdict.decision, Decision::Continue);
/// # Ok(())
/// # }
/// ```
pub struct Session {
    instance: GateInstance,
    exports: Arc<Exports>,
    handle: ResourceAny,
}

impl GateEngine {
    /// Opens a loop, new or from its snapshot.
    pub fn open(&self, contract: &str, snapshot: Option<&str>) -> Result<Session, CallError> {
        let mut instance = GateInstance::new(self)?;
        let size = contract.len() + snapshot.map_or(0, str::len);
        let handle: Result<ResourceAny, GateError> =
            instance.call(&self.exports().session_open, (contract, snapshot), size)?;
        Ok(Session {
            instance,
            exports: Arc::clone(self.exports()),
            handle: handle?,
        })
    }
}

impl Session {
    /// Evaluates the next iteration and moves on. After an error of the gate, the session is as it was
    /// before; after an error of the engine it can't be used again.
    pub fn evaluate_final(&mut self, iteration: &Iteration) -> Result<Verdict, CallError> {
        let function = &self.exports.session_evaluate_final;
        let size = iteration.text_size();
        let verdict: Result<Verdict, GateError> =
            self.instance
                .call(function, (self.handle, iteration), size)?;
        Ok(verdict?)
    }

    /// The same, as JSON: an iteration in, a verdict or `{"error": {…}}` out.
    pub fn evaluate_final_json(&mut self, iteration: &str) -> Result<String, EngineError> {
        let function = &self.exports.session_evaluate_final_json;
        self.instance
            .call(function, (self.handle, iteration), iteration.len())
    }

    /// What to tell the agent before the next iteration.
    pub fn brief(&mut self) -> Result<Brief, EngineError> {
        self.instance
            .call(&self.exports.session_brief, (self.handle,), 0)
    }

    /// The state as of the last evaluated iteration.
    pub fn snapshot(&mut self) -> Result<Option<String>, EngineError> {
        self.instance
            .call(&self.exports.session_snapshot, (self.handle,), 0)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.instance.close(self.handle);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}
