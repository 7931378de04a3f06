//! Processes by their environment and name: who belongs to a loop, who runs it, and whether anything of it is left.

use std::fs;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::Pid;

use crate::agent_script::MARK;
use crate::waiting::{comes, wait_until};

/// The name of the process that runs a loop.
const RUNNER: &str = "ralph-gate-loop";

/// What all processes of one test have in common.
#[derive(Debug, Clone)]
pub struct Mark(String);

impl Mark {
    /// One that no other test has.
    #[expect(clippy::new_without_default, reason = "each of them is another one")]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{number}-", std::process::id()))
    }

    /// The variable that everything inherits.
    pub fn variable(&self) -> (&'static str, &str) {
        (MARK, &self.0)
    }

    /// What carries it and lives, with its command line.
    pub fn alive(&self) -> Vec<(Pid, String)> {
        let entry = format!("{MARK}={}", self.0);
        let marked = all().filter(|id| has_variable(*id, &entry));
        marked.map(|id| (id, command_line(id))).collect()
    }

    /// Waits until nothing that carries it lives. An error names what does.
    pub fn wait_until_gone(&self) -> Result<(), String> {
        if comes(|| self.alive().is_empty()) {
            return Ok(());
        }
        Err(format!("left alive: {:?}", self.alive()))
    }
}

/// The process that runs the loop, inside the one that was started; waits for it. None if that has ended.
///
/// # Panics
///
/// If it does not come, or the one that was started is not a child of this process any more.
pub fn runner_of(outer: &mut Child) -> Option<Pid> {
    let parent = Pid::from_child(outer);
    let mut found = None;
    wait_until("the process that runs the loop", || {
        // Its environment is closed to others, its name is not.
        found = all().find(|id| is_named(*id, RUNNER) && parent_of(*id) == Some(parent));
        found.is_some() || outer.try_wait().expect("a child").is_some()
    });
    found
}

fn all() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").expect("a list of processes");
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries
        .flatten()
        .filter_map(number)
        .filter_map(Pid::from_raw)
}

/// A process that has ended has no environment any more.
fn has_variable(process: Pid, entry: &str) -> bool {
    let environment = fs::read(file(process, "environ")).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| variable == entry.as_bytes())
}

fn is_named(process: Pid, name: &str) -> bool {
    fs::read_to_string(file(process, "comm")).is_ok_and(|found| found.trim_end() == name)
}

fn parent_of(process: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(file(process, "stat")).ok()?;
    // The program's name, in brackets, may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}

fn command_line(process: Pid) -> String {
    let line = fs::read(file(process, "cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    line.trim().to_owned()
}

fn file(process: Pid, name: &str) -> String {
    format!("/proc/{}/{name}", process.as_raw_nonzero())
}
