//! Where policies run: with a stack of a known size before them, because a stack limit is worth nothing on a thread that
//! ends earlier. A thread that has as much left runs them itself; for others there are threads of that size, and the way
//! there and back takes longer than a small policy does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::error::PolicyError;
use super::limits::PolicyLimits;

/// Bytes of stack that a call must have before it: a policy's, and as much again and more for the host's own calls.
const STACK: usize = PolicyLimits::STACK + (1 << 20);
/// How many threads are kept that have nothing to do.
const KEPT: usize = 16;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for work.
#[derive(Debug, Default)]
pub(super) struct Workers {
    idle: Mutex<Vec<Sender<Job>>>,
}

impl Workers {
    /// Does something with a stack of a known size before it, and waits for it.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PolicyError> {
        if stacker::remaining_stack().is_some_and(|left| left >= STACK) {
            // Nothing is used again of what a panic may have left half done.
            let done = catch_unwind(AssertUnwindSafe(work));
            return done.map_err(|_| PolicyError::host("the host panicked"));
        }
        self.run_elsewhere(work)
    }

    fn run_elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PolicyError> {
        let worker = match self.idle().pop() {
            Some(worker) => worker,
            None => start()?,
        };
        let (sender, receiver) = mpsc::sync_channel(1);
        let job: Job = Box::new(move || {
            // Whoever waits is gone only if this very call was given up.
            let _ = sender.send(work());
        });
        let gone = |_| PolicyError::host("the thread that ran the policy has ended");
        worker.send(job).map_err(|_| gone(mpsc::RecvError))?;
        // A panic ends the thread, and the sender with it.
        let result = receiver.recv().map_err(gone)?;
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(worker);
        }
        Ok(result)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Sender<Job>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start() -> Result<Sender<Job>, PolicyError> {
    let (sender, receiver) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("policy".into())
        // What the thread itself takes before it works is little.
        .stack_size(STACK + (64 << 10))
        .spawn(move || {
            while let Ok(job) = receiver.recv() {
                job();
            }
        })
        .map_err(PolicyError::host)?;
    Ok(sender)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls something with at most so many bytes of stack left. A thread may have more than it was asked for: the system
    /// gives it the stack of another one that has ended.
    fn with_at_most<T>(bytes: usize, call: &dyn Fn() -> T) -> T {
        let used = std::hint::black_box([0_u8; 16 << 10]);
        let result = match stacker::remaining_stack() {
            Some(left) if left > bytes => with_at_most(bytes, call),
            _ => call(),
        };
        std::hint::black_box(used);
        result
    }

    /// The thread that the work is done on, asked from a thread with so many bytes of stack left.
    fn asked_from(bytes: usize) -> (thread::ThreadId, thread::ThreadId) {
        let asks = move || {
            let done_by =
                with_at_most(bytes, &|| Workers::default().run(|| thread::current().id()));
            (thread::current().id(), done_by.unwrap())
        };
        let asker = thread::Builder::new().stack_size(bytes).spawn(asks);
        asker.unwrap().join().unwrap()
    }

    #[test]
    fn a_thread_with_enough_stack_left_does_it_itself() {
        let (asker, done_by) = asked_from(STACK * 2);
        assert_eq!(asker, done_by);
    }

    #[test]
    fn a_thread_with_too_little_stack_lets_another_do_it() {
        let (asker, done_by) = asked_from(STACK / 2);
        assert_ne!(asker, done_by);
    }

    #[test]
    fn a_panic_is_an_error_wherever_it_happens() {
        for bytes in [STACK / 2, STACK * 2] {
            let asks = || Workers::default().run(|| -> u32 { panic!("on purpose") });
            let asker = thread::Builder::new().stack_size(bytes).spawn(asks);
            assert!(asker.unwrap().join().unwrap().is_err());
        }
    }
}
