//! Waiting for what comes sooner or later, without knowing when.

use std::thread;
use std::time::{Duration, Instant};

/// What is waited for longer than this will not come.
const PATIENCE: Duration = Duration::from_secs(50);
const LOOK_AGAIN: Duration = Duration::from_millis(3);

/// Whether a condition comes to hold.
pub fn comes(mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        if Instant::now() > until {
            return false;
        }
        thread::sleep(LOOK_AGAIN);
    }
    true
}

/// Waits for a condition.
///
/// # Panics
///
/// If it does not come.
pub fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    assert!(comes(holds), "never came: {what}");
}
