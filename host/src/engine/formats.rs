//! The functions on files that a host calls every turn, on one instance that is used again.

use std::fmt;

use wasmtime::component::{ComponentExportIndex, ComponentNamedList, Lift, Lower};

use super::error::{CallError, EngineError};
use super::gate::GateEngine;
use super::instance::GateInstance;
use super::types::{GateError, Prd, PrdUpdate, ProgressEntry};

/// Reads and writes the formats of a session's files. Making an instance takes longer than most of these calls, so one
/// is kept; the functions have no state, and one that failed is not used again.
pub struct Formats<'e> {
    engine: &'e GateEngine,
    instance: Option<GateInstance>,
}

impl<'e> Formats<'e> {
    /// Nothing is made before the first call.
    pub fn new(engine: &'e GateEngine) -> Self {
        Self {
            engine,
            instance: None,
        }
    }

    /// The bytes to append to `progress.txt` for an entry.
    pub fn write_progress(&mut self, entry: &ProgressEntry) -> Result<String, EngineError> {
        let size = entry.title.len() + entry.body.len();
        self.call(&self.engine.exports().write_progress, (entry,), size)
    }

    /// Reads `prd.json`.
    pub fn read_prd(&mut self, text: &str) -> Result<Prd, CallError> {
        let prd: Result<Prd, GateError> =
            self.call(&self.engine.exports().read_prd, (text,), text.len())?;
        Ok(prd?)
    }

    /// Changes lines of the checklist; everything else stays byte for byte.
    pub fn update_prd(&mut self, text: &str, updates: &[PrdUpdate]) -> Result<String, CallError> {
        let size = text.len() + updates.iter().map(PrdUpdate::text_size).sum::<usize>();
        let prd: Result<String, GateError> =
            self.call(&self.engine.exports().update_prd, (text, updates), size)?;
        Ok(prd?)
    }

    fn call<P, R>(
        &mut self,
        function: &ComponentExportIndex,
        parameters: P,
        size: usize,
    ) -> Result<R, EngineError>
    where
        P: ComponentNamedList + Lower,
        R: Lift + Send + Sync + 'static,
        (R,): ComponentNamedList + Lift,
    {
        let mut instance = match self.instance.take() {
            Some(instance) => instance,
            None => GateInstance::new(self.engine)?,
        };
        let answer = instance.call(function, parameters, size)?;
        self.instance = Some(instance);
        Ok(answer)
    }
}

impl fmt::Debug for Formats<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Formats").finish_non_exhaustive()
    }
}
