//! Processes by a mark in their environment: who belongs to a loop, and whether anything of it is left.

use std::ffi::OsString;
use std::fs;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The variable that everything of a loop inherits.
const VARIABLE: &str = "RESUME_CAMPAIGN";
/// How long the death of one process may take to end all the others.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// What all processes of one loop have in common.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}", std::process::id()))
    }

    pub(crate) fn variable(&self) -> (&'static str, OsString) {
        (VARIABLE, OsString::from(&self.0))
    }

    /// The processes that carry it and live.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let entry = format!("{VARIABLE}={}", self.0);
        let has_it = |process: &u32| has_variable(*process, &entry);
        all().into_iter().filter(has_it).collect()
    }

    /// Waits until nothing that carries it lives. An error names what does.
    pub(crate) fn wait_until_gone(&self) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let alive = self.alive();
            if alive.is_empty() {
                return Ok(());
            }
            if Instant::now() > deadline {
                let named: Vec<String> = alive.into_iter().map(describe).collect();
                return Err(format!("left alive: {}", named.join("; ")));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// The process that runs the loop, inside the one that was started; waits for it. None if that has ended.
    pub(crate) fn inner(&self, outer: &mut Child) -> Option<u32> {
        let entry = format!("RALPH_GATE_INNER={}", outer.id());
        loop {
            let alive = self.alive();
            if let Some(inner) = alive.iter().find(|process| has_variable(**process, &entry)) {
                return Some(*inner);
            }
            if outer.try_wait().unwrap().is_some() {
                return None;
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.filter_map(number).collect()
}

/// A process that has ended has no environment any more.
fn has_variable(process: u32, entry: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == entry.as_bytes())
}

fn describe(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    format!("{process} ({})", line.trim())
}
