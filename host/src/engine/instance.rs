//! One instance of the gate: memory of its own, and calls by name.

use wasmtime::component::{
    ComponentExportIndex, ComponentNamedList, Instance, Lift, Lower, ResourceAny,
};
use wasmtime::{Store, Trap};

use super::EngineError;
use super::gate::GateEngine;
use super::limits::{GateLimits, MemoryLimiter};

/// An instance and the store that it lives in.
pub(crate) struct GateInstance {
    store: Store<MemoryLimiter>,
    instance: Instance,
    limits: GateLimits,
    /// A trap leaves the instance's memory in the middle of something; it must not be entered again.
    broken: bool,
}

impl GateInstance {
    pub(crate) fn new(engine: &GateEngine) -> Result<Self, EngineError> {
        let limits = *engine.limits();
        let mut store = Store::new(engine.wasmtime(), MemoryLimiter::new(limits.memory));
        store.limiter(|limiter| limiter);
        let instance = engine
            .template()
            .instantiate(&mut store)
            .map_err(|error| classify(&error, &store, &limits))?;
        Ok(Self {
            store,
            instance,
            limits,
            broken: false,
        })
    }

    /// Calls an exported function with an input of `size` bytes.
    pub(crate) fn call<P, R>(
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
        if self.broken {
            return Err(EngineError::SessionBroken);
        }
        if size > self.limits.input {
            return Err(EngineError::InputTooLarge {
                observed: size,
                limit: self.limits.input,
            });
        }
        let result = self
            .instance
            .get_typed_func::<P, (R,)>(&mut self.store, function)
            .and_then(|function| function.call(&mut self.store, parameters));
        match result {
            Ok((value,)) => Ok(value),
            Err(error) => {
                self.broken = true;
                Err(classify(&error, &self.store, &self.limits))
            }
        }
    }

    /// Bytes of its memory.
    pub(crate) fn memory(&self) -> usize {
        self.store.data().memory
    }

    /// Gives a resource back to the gate.
    pub(crate) fn close(&mut self, resource: ResourceAny) {
        if !self.broken {
            // Nothing can be done about a trap in a destructor, and the memory goes away with the store.
            self.broken = resource.resource_drop(&mut self.store).is_err();
        }
    }
}

/// What happened, from what wasmtime says and what the limiter remembers.
fn classify(
    error: &wasmtime::Error,
    store: &Store<MemoryLimiter>,
    limits: &GateLimits,
) -> EngineError {
    if let Some(observed) = store.data().refused {
        return EngineError::OutOfMemory {
            observed,
            limit: limits.memory,
        };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => EngineError::StackOverflow {
            limit: limits.stack,
        },
        Some(trap) => EngineError::Trap {
            reason: trap.to_string(),
        },
        None => EngineError::Trap {
            reason: format!("{error:#}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::Engine;

    use super::*;

    fn store(refused: Option<usize>) -> Store<MemoryLimiter> {
        let mut limiter = MemoryLimiter::new(10);
        limiter.refused = refused;
        Store::new(&Engine::default(), limiter)
    }

    #[test]
    fn a_trap_says_what_happened() {
        let error = wasmtime::Error::from(Trap::UnreachableCodeReached);
        let error = classify(&error, &store(None), &GateLimits::default());
        let EngineError::Trap { reason } = &error else {
            panic!("{error}")
        };
        assert!(reason.contains("unreachable"), "{reason}");
        assert_eq!(error.code(), "engine_trap");
    }

    #[test]
    fn a_refused_growth_outweighs_the_trap_that_it_caused() {
        let error = wasmtime::Error::from(Trap::UnreachableCodeReached);
        let limits = GateLimits {
            memory: 10,
            ..GateLimits::default()
        };
        let error = classify(&error, &store(Some(11)), &limits);
        assert!(
            matches!(
                error,
                EngineError::OutOfMemory {
                    observed: 11,
                    limit: 10
                }
            ),
            "{error}"
        );
    }
}
