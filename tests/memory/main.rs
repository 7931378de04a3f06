//! The memory against power cuts, hostile bytes and hostile files; and the same memory as a component.
//!
//! `RALPH_GATE_CRASH=full`, which `cargo xtask crash` sets, looks at far more than a test run has time for.

mod bits;
mod component;
mod power;
mod simulator;
