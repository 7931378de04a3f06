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

#[cfg(unix)]
pub mod audit;
#[cfg(unix)]
pub mod config;
pub mod engine;
#[cfg(unix)]
pub mod evidence;
#[cfg(unix)]
pub mod experiment;
#[cfg(unix)]
pub mod harness;
#[cfg(unix)]
pub mod memory;
#[cfg(unix)]
pub mod moment;
#[cfg_attr(
    not(all(feature = "policies", feature = "serve")),
    allow(dead_code, reason = "what is packed belongs to these features")
)]
mod packed;
#[cfg(unix)]
mod plain_file;
#[cfg(unix)]
pub mod policy;
#[cfg(unix)]
pub mod process;
#[cfg(unix)]
pub mod report;
#[cfg(unix)]
pub mod runner;
pub mod schema;
#[cfg(all(unix, feature = "serve"))]
pub mod serve;
#[cfg(unix)]
pub mod telemetry;
pub mod visible;
#[cfg(unix)]
mod words;
#[cfg(unix)]
pub mod worktree;

pub use engine::{CallError, EngineError, GateEngine, GateLimits, Session};
