//! Runs the gate component: load, limit, call.
//!
//! What is expensive once and what is cheap each time is visible in the types:
//!
//! * [`GateEngine`]: once per process. Loads machine code that was compiled when this library was built.
//! * [`Session`]: once per loop. An instance of the gate in which the contract is already read.
//! * a call: [`Session::evaluate_final`], or without a session [`GateEngine::evaluate_final`] and, as JSON,
//!   [`GateEngine::call`].

mod config;
mod embedded;
mod exports;
mod functions;
mod gate;
#[cfg(feature = "serve")]
mod http;
mod info;
mod instance;
mod limits;
mod session;
mod size;
#[cfg(test)]
mod tests;

pub use gate::GateEngine;
#[cfg(feature = "serve")]
pub use http::HttpGate;
pub use info::{COMPONENT, GATE, GateInfo};
pub use limits::GateLimits;
pub use ralph_gate_types::*;
pub use session::Session;
