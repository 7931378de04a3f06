//! Machine code that this host made, and the one line that loads it.

use wasmtime::Engine;
use wasmtime::component::Component;

/// Machine code of a policy. Whoever has one knows where it comes from: it can be made in three ways only.
#[derive(Debug, Clone)]
pub(super) struct OwnCode(Source);

#[derive(Debug, Clone)]
enum Source {
    Made(Vec<u8>),
    Shipped(&'static [u8]),
}

impl OwnCode {
    /// From the process that this one started to compile.
    pub(super) fn compiled(code: Vec<u8>) -> Self {
        Self(Source::Made(code))
    }

    /// From the cache, which has verified that this host had put it there.
    pub(super) fn verified(code: Vec<u8>) -> Self {
        Self(Source::Made(code))
    }

    /// From the program itself.
    pub(super) fn shipped(code: &'static [u8]) -> Self {
        Self(Source::Shipped(code))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Source::Made(code) => code,
            Source::Shipped(code) => code,
        }
    }

    /// Loads it.
    #[allow(
        unsafe_code,
        reason = "wasmtime can't verify machine code, it can only trust whoever compiled it"
    )]
    pub(super) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: `deserialize` needs bytes that `Engine::precompile_component` made and that nobody changed since. Each
        // of the three ways to make an `OwnCode` sees to that: the build script's output is the program's own data, a
        // compiler's comes through a pipe from a process that this one started, and a cached one carries a keyed digest
        // that was compared on the very bytes that are loaded here.
        unsafe { Component::deserialize(engine, self.bytes()) }
    }
}
