//! The process that was started itself, as opposed to what it starts.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::{Child, ExitStatus};

use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::registry;

/// A child of this process, and the leader of a process group. Invariant: it is signaled only before it is reaped, so
/// a signal never reaches a process that got its number later.
#[derive(Debug)]
pub(super) struct Root {
    child: Child,
    id: Option<Pid>,
    /// Readable once it has ended; not every system has that.
    watch: Option<OwnedFd>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Ended,
    Reaped,
}

impl Root {
    pub(super) fn new(child: Child) -> Self {
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Self {
            child,
            id,
            watch: id.and_then(watch),
            phase: Phase::Running,
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What becomes readable when it ends. Without it, ask again and again.
    pub(super) fn watch(&self) -> Option<BorrowedFd<'_>> {
        match self.phase {
            Phase::Running => self.watch.as_ref().map(OwnedFd::as_fd),
            Phase::Ended | Phase::Reaped => None,
        }
    }

    /// Whether it has ended. It is not reaped by that.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.phase == Phase::Running
            && let Some(id) = self.id
        {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match retry_on_intr(|| waitid(WaitId::Pid(id), options)) {
                // Without a child of that number, somebody else has reaped it.
                Ok(Some(_)) | Err(Errno::CHILD) => self.phase = Phase::Ended,
                Ok(None) | Err(_) => {}
            }
        }
        self.phase != Phase::Running
    }

    /// Signals its process group, at one instant.
    pub(super) fn signal_group(&self, signal: Signal) {
        if let (Phase::Running | Phase::Ended, Some(id)) = (self.phase, self.id) {
            let _ = kill_process_group(id, signal);
        }
    }

    /// Takes its status, once it has ended.
    pub(super) fn reap(&mut self) -> io::Result<Option<ExitStatus>> {
        let _still = registry::runs();
        let status = self.child.try_wait()?;
        if status.is_some() {
            self.phase = Phase::Reaped;
        }
        Ok(status)
    }
}

#[cfg(target_os = "linux")]
fn watch(id: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(id, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn watch(_: Pid) -> Option<OwnedFd> {
    None
}
