//! Loops that are killed, stopped and resumed, as whole runs of the real command.
//!
//! `RALPH_GATE_CRASH=full`, which `cargo xtask crash` sets, kills far more of them than a test run has time for;
//! `RALPH_GATE_CRASH_SEED` is another choice of the moments.

#![cfg(target_os = "linux")]

mod campaign;
mod history;
mod stops;
mod workspace;
