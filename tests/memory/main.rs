//! The memory against power cuts, hostile bytes and hostile files.
//!
//! `RALPH_GATE_CRASH=full`, which `cargo xtask crash` sets, looks at far more than a test run has time for.

mod bits;
mod power;
mod simulator;

use std::sync::LazyLock;

use ralph_gate::GateEngine;

/// The gate, loaded once.
fn gate() -> &'static GateEngine {
    static GATE: LazyLock<GateEngine> = LazyLock::new(|| GateEngine::new().unwrap());
    &GATE
}

/// Whether there is time for everything.
fn is_full() -> bool {
    match std::env::var("RALPH_GATE_CRASH").as_deref() {
        Err(_) | Ok("reduced") => false,
        Ok("full") => true,
        Ok(other) => panic!("RALPH_GATE_CRASH is `{other}`; set it to `reduced` or `full`"),
    }
}
