//! Which gate this library carries.

/// The gate that is built into this library, and what runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateInfo {
    /// The BLAKE3 digest of the component, in hex.
    pub digest: &'static str,
    /// Bytes of the component.
    pub size: usize,
    /// The WIT package that the component implements, with its version.
    pub wit: &'static str,
    /// The engine, with its version.
    pub engine: &'static str,
    /// The machine that the gate's code was compiled for.
    pub target: &'static str,
    /// How the gate gets into the process.
    pub loaded: &'static str,
}

const COMPONENT_SIZE: usize = include_bytes!(concat!(env!("OUT_DIR"), "/gate.wasm")).len();

/// The component itself, for a host that wants to run the same gate in another engine.
pub static COMPONENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/gate.wasm"));

/// The gate that this library carries.
pub const GATE: GateInfo = GateInfo {
    digest: env!("RALPH_GATE_DIGEST"),
    size: COMPONENT_SIZE,
    wit: "ralph:gate@0.1.0",
    engine: concat!("wasmtime ", env!("RALPH_GATE_WASMTIME")),
    target: env!("RALPH_GATE_TARGET"),
    loaded: "embedded, compiled ahead of time",
};
