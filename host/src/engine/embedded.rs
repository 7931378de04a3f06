//! Loads the gate's machine code, which the build script compiled and this library carries.

use wasmtime::Engine;
use wasmtime::component::Component;

/// What `host/build.rs` made out of the component.
static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.cwasm"));

/// The gate, ready to be instantiated.
#[allow(
    unsafe_code,
    reason = "wasmtime can't verify machine code, it can only trust whoever compiled it"
)]
pub(crate) fn load(engine: &Engine) -> wasmtime::Result<Component> {
    // SAFETY: `deserialize` needs bytes that `Engine::precompile_component` made and that nobody changed
    // since. `CODE` is written by this package's build script with exactly that function, and is part of
    // the program's own read-only data. No path leads from a file, a cache or any input to this call.
    unsafe { Component::deserialize(engine, CODE) }
}
