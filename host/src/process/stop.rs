//! A switch that ends running programs.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends every [`run`](super::run()) that holds it, or a clone of it, as canceled. It can't be taken back.
#[derive(Debug, Clone)]
pub struct Stop(Arc<Switch>);

#[derive(Debug)]
struct Switch {
    canceled: AtomicBool,
    /// Readable from the moment of canceling on, so that whoever waits for a program wakes up.
    wake: OwnedFd,
    waker: OwnedFd,
}

impl Stop {
    /// A switch that nobody has used yet.
    pub fn new() -> io::Result<Self> {
        let (wake, waker) = io::pipe()?;
        Ok(Self(Arc::new(Switch {
            canceled: AtomicBool::new(false),
            wake: wake.into(),
            waker: waker.into(),
        })))
    }

    /// Ends the programs, soon.
    pub fn cancel(&self) {
        if !self.0.canceled.swap(true, Ordering::SeqCst) {
            // One byte always fits into an empty pipe, and it is never read.
            let _ = rustix::io::retry_on_intr(|| rustix::io::write(&self.0.waker, b"!"));
        }
    }

    /// Whether [`Stop::cancel`] was called.
    pub fn is_canceled(&self) -> bool {
        self.0.canceled.load(Ordering::SeqCst)
    }

    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.0.wake.as_fd()
    }
}
