//! The WebAssembly components that the command carries, built from this workspace.
//!
//! A crate of its own, because it needs no compiler of WebAssembly: cargo builds these while it compiles Cranelift.

/// The gate.
pub const GATE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.wasm"));

/// The gate behind HTTP.
#[cfg(feature = "serve")]
pub const HTTP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/http.wasm"));

/// The loop's memory, for a host that has files of its own: see `wit/memory.wit`.
#[cfg(feature = "memory")]
pub const MEMORY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/memory.wasm"));

/// The shipped policies, by name.
#[cfg(feature = "policies")]
pub const POLICIES: &[(&str, &[u8])] = &[
    ("cel", include_bytes!(concat!(env!("OUT_DIR"), "/cel.wasm"))),
    (
        "rego",
        include_bytes!(concat!(env!("OUT_DIR"), "/rego.wasm")),
    ),
];
