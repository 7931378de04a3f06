//! Loops that are killed, stopped and resumed, as whole runs of the real command.
//!
//! `RALPH_GATE_CRASH=full`, which `cargo xtask crash` sets, kills far more of them than a test run has time for;
//! `RALPH_GATE_CRASH_SEED` is another choice of the moments.

mod campaign;
mod history;
mod processes;
mod stops;
mod workspace;

/// Whether there is time for everything.
fn is_full() -> bool {
    match std::env::var("RALPH_GATE_CRASH").as_deref() {
        Err(_) | Ok("reduced") => false,
        Ok("full") => true,
        Ok(other) => panic!("RALPH_GATE_CRASH is `{other}`; set it to `reduced` or `full`"),
    }
}

/// Where chance begins.
fn seed() -> u64 {
    match std::env::var("RALPH_GATE_CRASH_SEED") {
        Err(_) => 1,
        Ok(seed) => seed
            .parse()
            .unwrap_or_else(|_| panic!("RALPH_GATE_CRASH_SEED is `{seed}`; set it to a number")),
    }
}
