//! What one call of the gate may use, and how a limit that was hit is remembered.

use wasmtime::ResourceLimiter;

/// Bytes of stack for the gate's code, unless the limits say otherwise.
pub(crate) const DEFAULT_STACK: usize = 512 << 10;

/// The limits of one gate. Every error that comes from one of them names the observed value and the limit.
///
/// ```
/// use ralph_gate::engine::GateLimits;
///
/// let limits = GateLimits { memory: 64 << 20, ..GateLimits::default() };
/// assert_eq!(limits.input, 32 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateLimits {
    /// Bytes of linear memory of one instance.
    pub memory: usize,
    /// Bytes of stack for the gate's code. The calling thread must have more than this left.
    pub stack: usize,
    /// Bytes of input of one call: the JSON, or the texts of the typed face together.
    pub input: usize,
}

impl Default for GateLimits {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            stack: DEFAULT_STACK,
            input: 32 << 20,
        }
    }
}

/// Keeps an instance within its memory, and knows what it asked for when it was refused.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    limit: usize,
    /// The size that was allowed last.
    pub(crate) memory: usize,
    /// The size that was refused.
    pub(crate) refused: Option<usize>,
}

impl MemoryLimiter {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            memory: 0,
            refused: None,
        }
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if desired <= self.limit {
            self.memory = desired;
            return Ok(true);
        }
        self.refused = Some(desired);
        // An error ends the call here. `Ok(false)` would leave it to the gate's allocator to give up,
        // which looks like any other trap.
        Err(wasmtime::Error::msg("the memory limit is reached"))
    }

    fn table_growing(
        &mut self,
        _current: usize,
        _desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // The gate's tables have a fixed size.
        Ok(true)
    }
}
