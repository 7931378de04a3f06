//! Threads of a known size, on which policies run: a stack limit is worth nothing on a thread that ends earlier.

use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::error::PolicyError;
use super::limits::PolicyLimits;

/// Bytes of a thread's stack: a policy's, and as much again and more for the host's own calls.
const THREAD: usize = PolicyLimits::STACK + (1 << 20);
/// How many threads are kept that have nothing to do.
const KEPT: usize = 16;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for work.
#[derive(Debug, Default)]
pub(super) struct Workers {
    idle: Mutex<Vec<Sender<Job>>>,
}

impl Workers {
    /// Does something on a thread of a known size, and waits for it.
    pub(super) fn run<T: Send + 'static>(
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
        .stack_size(THREAD)
        .spawn(move || {
            while let Ok(job) = receiver.recv() {
                job();
            }
        })
        .map_err(PolicyError::host)?;
    Ok(sender)
}
