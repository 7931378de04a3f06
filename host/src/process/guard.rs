//! The death of the host: whoever kills it, however hard, kills what it runs.
//!
//! The host is two processes of the same executable. The outer one, the guard, starts the inner one, the runner, and
//! waits for it. If the runner dies, its orphans become children of the guard, which kills them. If the guard dies,
//! the runner notices, kills its descendants, and dies the same death.
//!
//! If both are killed at the same instant, nobody is left to do it: that is out of reach. So is a runner that was
//! killed after its guard and before it had finished. On systems other than Linux, orphans don't become children of
//! the guard: there the runner's death leaves the programs running, and the guard's death is noticed within 50 ms.
//!
//! # The terminal
//!
//! The guard stays where it was started, and a terminal's signals reach it alone: it passes them on. The runner makes a
//! session of its own, so that neither it nor anything that it starts has a controlling terminal: a program that opens
//! `/dev/tty` finds none, and can neither type into the person's shell nor paint over it.
//!
//! # Stopping
//!
//! A loop can't be suspended: a program in the middle of its turn would go on while nobody looks at the clock. Ctrl-Z is
//! therefore ignored, and if either process is stopped, for example by a program that wants to escape its timeout, the
//! other one continues it. A second interrupt always works: if the runner doesn't end by itself, it is killed.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, setsid, waitid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals as Source;

#[cfg(target_os = "linux")]
use super::ancestry::RUNNER;
use super::error::GuardError;
use super::registry::stop_starting;
use super::signals::Signals;
use super::tree::{Reach, claim, kill_everything};

/// The environment variable by which the runner knows what it is: the guard's process id.
pub const INNER: &str = "RALPH_GATE_INNER";
/// How often the runner looks for its guard where the system doesn't tell.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How long the runner may take to end after the second interrupt.
const LAST_WORDS: Duration = Duration::from_millis(700);
/// The exit code of a process that was killed.
const KILLED: i32 = 137;
/// What a shell adds to the number of a signal.
const SIGNALED: i32 = 128;

/// The guard of this process, if it is a runner.
static GUARD: OnceLock<Pid> = OnceLock::new();

/// Which of the two processes this one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It was started by somebody: it should call [`guard`](guard()).
    Outer,
    /// It was started by the guard: it should call [`enter`].
    Inner,
}

/// Which of the two processes this one is.
pub fn role() -> Role {
    match std::env::var_os(INNER) {
        Some(_) => Role::Inner,
        None => Role::Outer,
    }
}

/// Starts the runner, passes on the signals that ask it to end, waits for it, kills what it left behind, and gives its
/// exit code: 128 and the number of the signal, if it was one.
///
/// The command should be this executable with the same arguments; how it recognises itself is added here. The runner
/// inherits the standard streams unless the command says otherwise.
///
/// With an owner, which must be the parent of this process, its death is the runner's death, too.
pub fn guard(mut inner: Command, owner: Option<u32>) -> Result<i32, GuardError> {
    claim()?;
    close_to_others();
    // Before the start: from now on, no such signal ends or stops this process.
    let source =
        Source::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP]).map_err(GuardError::Signals)?;
    inner.env(INNER, std::process::id().to_string());
    let mut child = inner.spawn().map_err(|source| GuardError::Start {
        program: inner.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    let ward = Ward {
        runner: i32::try_from(child.id()).ok().and_then(Pid::from_raw),
        interrupts: 0,
    };
    let ward = Arc::new(Mutex::new(ward));
    let forwarding = forward(source, &ward).and_then(|()| match owner {
        Some(owner) => outlive_not(owner, &ward),
        None => Ok(()),
    });
    if forwarding.is_err() {
        let _ = child.kill();
    }
    let status = wait(&mut child, &ward);
    kill_everything();
    forwarding.map_err(GuardError::Signals)?;
    let status = status.map_err(GuardError::Watch)?;
    let interrupts = lock(&ward).interrupts;
    Ok(exit_code(status, interrupts))
}

/// The runner, as the guard's threads know it.
struct Ward {
    /// None once it is about to be reaped.
    runner: Option<Pid>,
    /// How many interrupts were passed on.
    interrupts: u32,
}

impl Ward {
    fn signal(&self, signal: Signal) {
        if let Some(runner) = self.runner {
            let _ = kill_process(runner, signal);
        }
    }
}

fn lock(ward: &Mutex<Ward>) -> MutexGuard<'_, Ward> {
    ward.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes signals on to the runner, as long as there is one.
fn forward(mut source: Source, ward: &Arc<Mutex<Ward>>) -> io::Result<()> {
    let ward = Arc::clone(ward);
    let forward = move || {
        for signal in source.forever() {
            match signal {
                SIGHUP => lock(&ward).signal(Signal::HUP),
                SIGQUIT => lock(&ward).signal(Signal::QUIT),
                SIGTERM => lock(&ward).signal(Signal::TERM),
                SIGINT => interrupt(&ward),
                // Ctrl-Z: a loop can't be suspended.
                _ => {}
            }
        }
    };
    thread::Builder::new()
        .name("forward".into())
        .spawn(forward)?;
    Ok(())
}

/// Kills the runner when the owner of both dies: nobody is left who would hear of it.
fn outlive_not(owner: u32, ward: &Arc<Mutex<Ward>>) -> io::Result<()> {
    let owner = i32::try_from(owner).ok().and_then(Pid::from_raw);
    let Some(owner) = owner else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let watch = watch(owner)?;
    let ward = Arc::clone(ward);
    let mourn = move || {
        wait_for_death(owner, watch.as_ref());
        lock(&ward).signal(Signal::KILL);
    };
    thread::Builder::new().name("owner".into()).spawn(mourn)?;
    Ok(())
}

/// The second interrupt is the last signal that matters, so that this thread may wait.
fn interrupt(ward: &Mutex<Ward>) {
    let interrupts = {
        let mut ward = lock(ward);
        ward.interrupts += 1;
        ward.signal(Signal::INT);
        ward.interrupts
    };
    if interrupts > 1 {
        thread::sleep(LAST_WORDS);
        lock(ward).signal(Signal::KILL);
    }
}

/// Continues the runner whenever it is stopped, and waits for its end. Invariant: it is reaped only after nobody can
/// signal it any more.
fn wait(child: &mut Child, ward: &Mutex<Ward>) -> io::Result<ExitStatus> {
    let runner = lock(ward).runner;
    if let Some(id) = runner {
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        while let Ok(Some(change)) = retry_on_intr(|| waitid(WaitId::Pid(id), options))
            && change.stopped()
        {
            lock(ward).signal(Signal::CONT);
        }
    }
    lock(ward).runner = None;
    child.wait()
}

fn exit_code(status: ExitStatus, interrupts: u32) -> i32 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, _) if interrupts > 1 => SIGNALED + SIGINT,
        (None, signal) => signal.map_or(KILLED, |signal| SIGNALED + signal),
    }
}

/// In the runner, before anything else: leaves the terminal's session, takes charge of all orphans, watches the guard,
/// and listens to signals. Also gives how far programs can be killed from here.
///
/// From now on, the guard's death is this process's death: without another word, all its descendants are killed, and
/// then itself. No [`run`](super::run()) returns any more, so nothing is decided or saved because of it.
pub fn enter() -> Result<(Signals, Reach), GuardError> {
    let guard = std::env::var(INNER).ok();
    let guard = guard.and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
    let Some(guard) = guard else {
        return Err(GuardError::NoGuard { variable: INNER });
    };
    setsid().map_err(|error| GuardError::Session(error.into()))?;
    let reach = claim()?;
    call_itself_runner();
    close_to_others();
    let watch = watch(guard).map_err(GuardError::Watch)?;
    // Only now: had the guard died before, the watch could be on a process that got its number.
    if getppid() != Some(guard) {
        return Err(GuardError::NoGuard { variable: INNER });
    }
    let _ = GUARD.set(guard);
    let signals = Signals::listen().map_err(GuardError::Signals)?;
    let mourn = move || {
        wait_for_death(guard, watch.as_ref());
        die();
    };
    let mourner = thread::Builder::new().name("mourner".into()).spawn(mourn);
    mourner.map_err(GuardError::Watch)?;
    Ok((signals, reach))
}

/// The name by which what this process starts can tell where it is; see [`ancestors`](super::ancestors).
#[cfg(target_os = "linux")]
fn call_itself_runner() {
    // Without a name a program is still told by its environment.
    let _ = std::fs::write("/proc/self/comm", RUNNER);
}

/// Programs of the same user may read neither this process's environment, in which secrets are that they don't get, nor
/// its memory. Root may.
#[cfg(target_os = "linux")]
fn close_to_others() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
fn call_itself_runner() {}

#[cfg(not(target_os = "linux"))]
fn close_to_others() {}

/// In the runner: continues a guard that was stopped. It does nothing to one that was not.
pub(super) fn wake_guard() {
    if let Some(guard) = GUARD.get()
        && getppid() == Some(*guard)
    {
        let _ = kill_process(*guard, Signal::CONT);
    }
}

/// In the runner: ends it now, with everything that it started. Nothing more is decided or saved.
pub fn end_now(code: i32) -> ! {
    stop_starting();
    kill_everything();
    std::process::exit(code)
}

/// What becomes readable when the guard dies, where the system has that.
#[cfg(target_os = "linux")]
fn watch(guard: Pid) -> io::Result<Option<OwnedFd>> {
    use rustix::process::{PidfdFlags, pidfd_open, set_parent_process_death_signal};
    // Wakes a stopped runner, so that it can notice.
    set_parent_process_death_signal(Some(Signal::CONT))?;
    Ok(pidfd_open(guard, PidfdFlags::empty()).ok())
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
fn watch(_: Pid) -> io::Result<Option<OwnedFd>> {
    Ok(None)
}

fn wait_for_death(guard: Pid, watch: Option<&OwnedFd>) {
    while getppid() == Some(guard) {
        wake_guard();
        match watch {
            Some(watch) => {
                let mut files = [PollFd::new(watch, PollFlags::IN)];
                let soon = Timespec::try_from(Duration::from_secs(1)).ok();
                if poll(&mut files, soon.as_ref()).is_ok_and(|ready| ready > 0) {
                    return;
                }
            }
            None => thread::sleep(LOOK_AGAIN),
        }
    }
}

fn die() -> ! {
    stop_starting();
    kill_everything();
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::exit(KILLED)
}
