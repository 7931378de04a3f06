//! What belongs to one call of a policy: its budget, what it may read, and what it prints.

use std::sync::Arc;

use wasmtime::ResourceLimiter;

use super::error::PolicyError;
use super::limits::PolicyLimits;
use super::types::Artifact;

/// Bytes that one element of a table takes in the host.
const ELEMENT: usize = 16;

/// The data of a store.
#[derive(Debug)]
pub(super) struct Guest {
    limits: PolicyLimits,
    /// Bytes of memories and tables now. They never shrink.
    pub(super) memory: usize,
    /// A limit that was reached, which explains the trap that follows.
    pub(super) reached: Option<PolicyError>,
    artifacts: Arc<[Artifact]>,
    /// Bytes of artifacts that were read.
    read: u64,
    pub(super) log: Log,
    /// How much was drawn of what passes for randomness.
    pub(super) drawn: u64,
}

impl Guest {
    pub(super) fn new(limits: &PolicyLimits, artifacts: Arc<[Artifact]>) -> Self {
        Self {
            limits: *limits,
            memory: 0,
            reached: None,
            artifacts,
            read: 0,
            log: Log::new(limits.log),
            drawn: 0,
        }
    }

    /// Bytes of an artifact.
    pub(super) fn read(
        &mut self,
        name: &str,
        offset: u64,
        length: u32,
    ) -> Result<Vec<u8>, ReadError> {
        let artifact = self.artifacts.iter().find(|it| it.name == name);
        let bytes = &artifact.ok_or(ReadError::UnknownName)?.bytes;
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = bytes.get(from..).unwrap_or_default();
        let most = usize::try_from(length).unwrap_or(usize::MAX).min(MOST);
        let part = rest.get(..most).unwrap_or(rest);
        let read = self
            .read
            .saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
        if read > self.limits.read {
            return Err(ReadError::LimitReached);
        }
        self.read = read;
        Ok(part.to_vec())
    }

    fn grow(&mut self, more: usize) -> wasmtime::Result<bool> {
        let observed = self.memory.saturating_add(more);
        let limit = self.limits.memory;
        if observed > limit {
            self.reached = Some(PolicyError::Memory { observed, limit });
            // An error ends the call here. `Ok(false)` would leave it to the policy's allocator to give up, which looks
            // like any other trap.
            return Err(wasmtime::Error::msg("the memory limit is reached"));
        }
        self.memory = observed;
        Ok(true)
    }
}

/// The most that is read of an artifact at a time.
const MOST: usize = 1 << 20;

/// Why there are no bytes.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    wasmtime::component::ComponentType,
    wasmtime::component::Lower,
)]
#[component(enum)]
#[repr(u8)]
pub(super) enum ReadError {
    #[component(name = "unknown-name")]
    UnknownName,
    #[component(name = "limit-reached")]
    LimitReached,
}

impl ResourceLimiter for Guest {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.grow(desired.saturating_sub(current))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.grow(desired.saturating_sub(current).saturating_mul(ELEMENT))
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.memories
    }
}

/// What a policy printed: the beginning of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// What was kept.
    pub text: Vec<u8>,
    /// How much it was in all.
    pub bytes: u64,
    most: usize,
}

impl Log {
    fn new(most: usize) -> Self {
        Self {
            text: Vec::new(),
            bytes: 0,
            most,
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.text.len());
        self.text
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.bytes = self
            .bytes
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    }
}
