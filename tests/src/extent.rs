//! How much a test does that could go on for ever, and where its chance begins. `cargo xtask crash` and
//! `cargo xtask hostile` ask for everything.

use std::env;

/// Whether there is time for everything: `RALPH_GATE_CRASH=full`.
///
/// # Panics
///
/// If the variable says something else than `full` or `reduced`.
pub fn is_full() -> bool {
    match env::var("RALPH_GATE_CRASH").as_deref() {
        Err(_) | Ok("reduced") => false,
        Ok("full") => true,
        Ok(other) => panic!("RALPH_GATE_CRASH is `{other}`; set it to `reduced` or `full`"),
    }
}

/// Where chance begins: `RALPH_GATE_CRASH_SEED`.
///
/// # Panics
///
/// If the variable is no number.
pub fn seed() -> u64 {
    match env::var("RALPH_GATE_CRASH_SEED") {
        Err(_) => 1,
        Ok(seed) => seed
            .parse()
            .unwrap_or_else(|_| panic!("RALPH_GATE_CRASH_SEED is `{seed}`; set it to a number")),
    }
}
