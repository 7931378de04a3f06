//! The gate, ready to be called.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::Engine;
use wasmtime::component::{ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Lower};

use super::EngineError;
use super::embedded::{self, LoadedGate};
use super::exports::Exports;
use super::instance::GateInstance;
use super::limits::{GateLimits, MemoryLimiter};

/// How many instances are kept for the next calls.
const KEPT: usize = 4;
/// An instance with more bytes of memory is not kept.
const LARGE: usize = 8 << 20;

/// The loaded gate. Any number of engines may live in one process: those with the default
/// stack size share one copy of the code. An engine keeps instances for later calls, so sharing one is faster than making many.
///
/// ```
/// use ralph_gate::engine::GateEngine;
///
/// # fn main() -> Result<(), ralph_gate::engine::EngineError> {
/// let engine = GateEngine::new()?;
/// let report = engine.call("parse_promises", r#"{"output": "<promise>DONE</promise>"}"#)?;
/// assert!(report.contains(r#""accepted":"DONE""#));
/// # Ok(())
/// # }
/// ```
pub struct GateEngine {
    loaded: LoadedGate,
    limits: GateLimits,
    /// Instances that have answered, and are ready to answer again.
    spare: Mutex<Vec<GateInstance>>,
}

impl GateEngine {
    /// Loads the gate with the default limits.
    pub fn new() -> Result<Self, EngineError> {
        Self::with_limits(GateLimits::default())
    }

    /// Loads the gate with other limits.
    pub fn with_limits(limits: GateLimits) -> Result<Self, EngineError> {
        let loaded = embedded::load(limits.stack).map_err(|error| EngineError::Load {
            reason: format!("{error:#}"),
        })?;
        Ok(Self {
            loaded,
            limits,
            spare: Mutex::default(),
        })
    }

    /// Calls a function of the JSON face: JSON in, JSON out. An error of the gate is an answer, `{"error": {…}}`.
    pub fn call(&self, function: &str, input: &str) -> Result<String, EngineError> {
        self.ask(
            &self.loaded.exports.json_call,
            (function, input),
            input.len(),
        )
    }

    /// Calls a function that has no state, on an instance that is kept for the next one: making an instance takes longer
    /// than most calls. One that failed is not used again, and neither is one that has become large.
    pub(crate) fn ask<P, R>(
        &self,
        function: &ComponentExportIndex,
        parameters: P,
        size: usize,
    ) -> Result<R, EngineError>
    where
        P: ComponentNamedList + Lower,
        R: Lift + Send + Sync + 'static,
        (R,): ComponentNamedList + Lift,
    {
        let mut instance = self.instance()?;
        let answer = instance.call(function, parameters, size)?;
        let mut spare = self.spare();
        if spare.len() < KEPT && instance.memory() <= LARGE {
            spare.push(instance);
        }
        Ok(answer)
    }

    /// An instance that nobody uses.
    pub(crate) fn instance(&self) -> Result<GateInstance, EngineError> {
        // Not held while one is made.
        let spare = self.spare().pop();
        spare.map_or_else(|| GateInstance::new(self), Ok)
    }

    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<GateInstance>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limits that the gate was loaded with.
    pub fn limits(&self) -> &GateLimits {
        &self.limits
    }

    pub(crate) fn exports(&self) -> &Arc<Exports> {
        &self.loaded.exports
    }

    pub(crate) fn template(&self) -> &InstancePre<MemoryLimiter> {
        &self.loaded.template
    }

    pub(crate) fn wasmtime(&self) -> &Engine {
        &self.loaded.engine
    }
}

impl fmt::Debug for GateEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateEngine")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
