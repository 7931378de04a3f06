//! Takes the time of every iteration, the memory at two of them, and lets the last one complete.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ralph_gate::runner::{LoopEvent, Phase, Watch};

/// Somebody who watches with a clock.
pub(crate) struct Watcher {
    length: u32,
    goal: PathBuf,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    since: Option<Instant>,
    times: Vec<Duration>,
    /// In KiB, after a tenth and at the end.
    early: u32,
    late: u32,
}

impl Watcher {
    pub(crate) fn new(length: u32, goal: PathBuf) -> Self {
        let noted = Noted {
            // Without room for them, the times themselves would make the memory grow.
            times: Vec::with_capacity(length as usize),
            ..Noted::default()
        };
        Self {
            length,
            goal,
            noted: Mutex::new(noted),
        }
    }

    /// What each iteration took, but for the first.
    pub(crate) fn times(&self) -> Vec<Duration> {
        self.noted.lock().expect("nobody panics").times.clone()
    }

    /// The memory after a tenth and at the end, in KiB.
    pub(crate) fn memory(&self) -> (u32, u32) {
        let noted = self.noted.lock().expect("nobody panics");
        (noted.early, noted.late)
    }

    fn decided(&self, iteration: u32) {
        let mut noted = self.noted.lock().expect("nobody panics");
        let now = Instant::now();
        if let Some(since) = noted.since.replace(now) {
            noted.times.push(now - since);
        }
        if iteration == self.length / 10 {
            noted.early = resident();
        }
        if iteration == self.length {
            noted.late = resident();
        }
    }
}

impl Watch for Watcher {
    fn see(&self, event: &LoopEvent<'_>) {
        match event {
            LoopEvent::Decided { iteration, .. } => self.decided(*iteration),
            LoopEvent::Entered {
                iteration,
                phase: Phase::Checks,
            } if *iteration == self.length => fs::write(&self.goal, "").expect("written"),
            _ => {}
        }
    }
}

/// What this process has in memory, in KiB.
fn resident() -> u32 {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.expect("a resident size")
}
