//! The records of the gate's WIT as Rust types, and why a call of the gate gave none of them.
//!
//! Without the feature `wasmtime` they have nothing but their JSON form: enough for whoever reads and writes what the
//! gate was given and what it answered.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod error;
mod records;

pub use error::{CallError, EngineError};
pub use records::*;
