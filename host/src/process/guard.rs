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
//! Both stay in the process group they were started in, so that a terminal's job control works as for one process.
//! A terminal's Ctrl-C therefore reaches both. The guard passes every signal on, an interrupt under another number
//! (SIGUSR1), by which the runner sees that both halves are one interrupt.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals as Source;

use super::error::GuardError;
use super::registry::stop_starting;
use super::signals::{FORWARDED_INTERRUPT, Signals};
use super::tree::{claim, kill_everything};

/// The environment variable by which the runner knows what it is: the guard's process id.
pub const INNER: &str = "RALPH_GATE_INNER";
/// How often the runner looks for its guard where the system doesn't tell.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// The exit code of a process that was killed.
const KILLED: i32 = 137;
/// What a shell adds to the number of a signal.
const SIGNALED: i32 = 128;

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
pub fn guard(mut inner: Command) -> Result<i32, GuardError> {
    claim()?;
    // Before the start: from now on, no such signal ends this process.
    let source = Source::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).map_err(GuardError::Signals)?;
    inner.env(INNER, std::process::id().to_string());
    let mut child = inner.spawn().map_err(|source| GuardError::Start {
        program: inner.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let runner = Arc::new(Mutex::new(id));
    let forwarding = forward(source, &runner);
    if forwarding.is_err() {
        let _ = child.kill();
    }
    let status = wait(&mut child, &runner);
    kill_everything();
    forwarding.map_err(GuardError::Signals)?;
    Ok(exit_code(status.map_err(GuardError::Watch)?))
}

/// Passes signals on to the runner, as long as there is one.
fn forward(mut source: Source, runner: &Arc<Mutex<Option<Pid>>>) -> io::Result<()> {
    let runner = Arc::clone(runner);
    let forward = move || {
        for signal in source.forever() {
            let runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
            let passed = match signal {
                SIGHUP => Some(Signal::HUP),
                SIGINT => Signal::from_named_raw(FORWARDED_INTERRUPT),
                SIGQUIT => Some(Signal::QUIT),
                _ => Some(Signal::TERM),
            };
            if let (Some(runner), Some(signal)) = (*runner, passed) {
                let _ = kill_process(runner, signal);
            }
        }
    };
    thread::Builder::new()
        .name("forward".into())
        .spawn(forward)?;
    Ok(())
}

/// Invariant: the runner is reaped only after nobody can signal it any more.
fn wait(child: &mut Child, runner: &Mutex<Option<Pid>>) -> io::Result<ExitStatus> {
    let id = *runner.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(id) = id {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let _ = retry_on_intr(|| waitid(WaitId::Pid(id), options));
    }
    *runner.lock().unwrap_or_else(PoisonError::into_inner) = None;
    child.wait()
}

fn exit_code(status: ExitStatus) -> i32 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code,
        // It came before the runner was listening.
        (None, Some(FORWARDED_INTERRUPT)) => SIGNALED + SIGINT,
        (None, signal) => signal.map_or(KILLED, |signal| SIGNALED + signal),
    }
}

/// In the runner, before anything else: takes charge of all orphans, watches the guard, and listens to signals.
///
/// From now on, the guard's death is this process's death: without another word, all its descendants are killed, and
/// then itself. No [`run`](super::run()) returns any more, so nothing is decided or saved because of it.
pub fn enter() -> Result<Signals, GuardError> {
    let guard = std::env::var(INNER).ok();
    let guard = guard.and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
    let Some(guard) = guard else {
        return Err(GuardError::NoGuard { variable: INNER });
    };
    claim()?;
    let watch = watch(guard).map_err(GuardError::Watch)?;
    // Only now: had the guard died before, the watch could be on a process that got its number.
    if getppid() != Some(guard) {
        return Err(GuardError::NoGuard { variable: INNER });
    }
    let signals = Signals::listen().map_err(GuardError::Signals)?;
    let mourn = move || {
        wait_for_death(guard, watch.as_ref());
        die();
    };
    let mourner = thread::Builder::new().name("mourner".into()).spawn(mourn);
    mourner.map_err(GuardError::Watch)?;
    Ok(signals)
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
