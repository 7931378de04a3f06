//! The memory against power cuts, hostile bytes and hostile files.
//!
//! `RALPH_GATE_CRASH=full`, which `cargo xtask crash` sets, looks at far more than a test run has time for.

mod bits;
mod power;
mod simulator;
