//! Embeds the gate that decides when an autonomous agent may stop.
//!
//! The gate is a WebAssembly component with zero imports; this library carries it and runs it. Start at
//! [`GateEngine`].

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

pub mod engine;
#[cfg(unix)]
pub mod memory;
pub mod schema;

pub use engine::{CallError, EngineError, GateEngine, GateLimits, Session};
