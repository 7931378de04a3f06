//! The gate, loaded once per process.

use std::fmt;
use std::sync::Arc;

use wasmtime::Engine;
use wasmtime::component::{InstancePre, Linker};

use super::config::config;
use super::embedded;
use super::error::EngineError;
use super::exports::Exports;
use super::instance::GateInstance;
use super::limits::{GateLimits, MemoryLimiter};

/// The loaded gate. Make one per process and share it: it is the expensive part.
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
    engine: Engine,
    template: InstancePre<MemoryLimiter>,
    exports: Arc<Exports>,
    limits: GateLimits,
}

impl GateEngine {
    /// Loads the gate with the default limits.
    pub fn new() -> Result<Self, EngineError> {
        Self::with_limits(GateLimits::default())
    }

    /// Loads the gate with other limits.
    pub fn with_limits(limits: GateLimits) -> Result<Self, EngineError> {
        Self::load(limits).map_err(|error| EngineError::load(&error))
    }

    fn load(limits: GateLimits) -> wasmtime::Result<Self> {
        let mut config = config(env!("RALPH_GATE_TARGET"))?;
        // The code is compiled already: a compiler would only cost start-up time.
        config.enable_compiler(false);
        config.max_wasm_stack(limits.stack);
        let engine = Engine::new(&config)?;
        let component = embedded::load(&engine)?;
        let exports = Arc::new(Exports::find(&component)?);
        // An empty linker: the gate imports nothing, and would not load if it did.
        let template = Linker::new(&engine).instantiate_pre(&component)?;
        Ok(Self {
            engine,
            template,
            exports,
            limits,
        })
    }

    /// Calls a function of the JSON face on a fresh instance: JSON in, JSON out. An error of the gate is an
    /// answer, `{"error": {…}}`.
    pub fn call(&self, function: &str, input: &str) -> Result<String, EngineError> {
        GateInstance::new(self)?.call(&self.exports.json_call, (function, input), input.len())
    }

    /// The limits that the gate was loaded with.
    pub fn limits(&self) -> &GateLimits {
        &self.limits
    }

    pub(crate) fn exports(&self) -> &Arc<Exports> {
        &self.exports
    }

    pub(crate) fn template(&self) -> &InstancePre<MemoryLimiter> {
        &self.template
    }

    pub(crate) fn wasmtime(&self) -> &Engine {
        &self.engine
    }
}

impl fmt::Debug for GateEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateEngine")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
