//! The runs that are under way in this process, so that none takes another one's processes for its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

/// The environment variable that marks what a run started. Its value is a list with `:` between the marks, because a
/// host may itself run inside of another one.
pub(super) const VARIABLE: &str = "RALPH_GATE_PROCESS";
/// How many marks of hosts around this one are passed on.
const OUTER_MARKS: usize = 16;
/// How long [`stop_starting`] waits for a start that is under way, in steps of a millisecond.
const START_PATIENCE: usize = 200;

static RUNS: Mutex<Runs> = Mutex::new(BTreeMap::new());
static STARTING: Mutex<()> = Mutex::new(());

pub(super) type Runs = BTreeMap<u64, Run>;

/// One run, as the others must know it.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The process that was started.
    pub(super) root: u32,
    /// What its environment carries.
    #[cfg(target_os = "linux")]
    pub(super) mark: String,
    /// What it writes to.
    #[cfg(target_os = "linux")]
    pub(super) pipes: [Option<super::tree::Inode>; 2],
}

/// The runs, held still. Invariant: a child of this process is reaped only while they are, so that who looks at its
/// children meanwhile misses none.
pub(super) fn runs() -> MutexGuard<'static, Runs> {
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes that the runs started themselves.
#[cfg(target_os = "linux")]
pub(super) fn roots() -> std::collections::BTreeSet<u32> {
    runs().values().map(|run| run.root).collect()
}

/// Held while a program is started: so no other program inherits, for a moment, the pipes made for this one. Taken
/// once more at the end of a run, which therefore never returns after [`stop_starting`].
pub(super) fn starting() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, no program is started and no run returns. Nothing undoes it: the process is about to end.
pub(super) fn stop_starting() {
    for _ in 0..START_PATIENCE {
        match STARTING.try_lock() {
            Ok(held) => return std::mem::forget(held),
            Err(TryLockError::Poisoned(held)) => return std::mem::forget(held.into_inner()),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// A number that no other run of this process has.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The value of [`VARIABLE`] for a run with this mark.
pub(super) fn variable(mark: &str) -> String {
    let outer = std::env::var(VARIABLE).unwrap_or_default();
    let outer = outer.split(':').filter(|mark| !mark.is_empty());
    let mut marks: Vec<&str> = outer.take(OUTER_MARKS).collect();
    marks.push(mark);
    marks.join(":")
}

/// A mark that no other run has, on this machine and at any time.
pub(super) fn mark(number: u64) -> String {
    use std::sync::OnceLock;
    static UNIQUE: OnceLock<String> = OnceLock::new();
    let unique = UNIQUE.get_or_init(|| {
        let random = std::fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        match random.trim() {
            "" => format!("{:x}", since.unwrap_or_default().as_nanos()),
            random => random.to_owned(),
        }
    });
    format!("{}-{number}-{unique}", std::process::id())
}
