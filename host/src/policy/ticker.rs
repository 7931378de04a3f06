//! The clock of running policies: counts epochs as long as one of them runs, and sleeps otherwise.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use wasmtime::Engine;

/// How long an epoch is.
const EPOCH: Duration = Duration::from_millis(10);

/// Counts epochs.
#[derive(Debug)]
pub(super) struct Ticker(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    over: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticker {
    pub(super) fn start(engine: &Engine) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (engine, seen) = (engine.clone(), Arc::clone(&shared));
        thread::Builder::new()
            .name("policy clock".into())
            .spawn(move || tick(&engine, &seen))?;
        Ok(Self(shared))
    }

    /// Epochs pass as long as this is kept.
    pub(super) fn running(&self) -> Running<'_> {
        let mut state = self.0.state();
        state.running += 1;
        if state.running == 1 {
            self.0.changed.notify_all();
        }
        Running(self)
    }

    /// How many epochs a time takes: enough, and so one more than would fit.
    pub(super) fn epochs(time: Duration) -> u64 {
        u64::try_from(time.as_millis().div_ceil(EPOCH.as_millis()) + 1).unwrap_or(u64::MAX)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.state().over = true;
        self.0.changed.notify_all();
    }
}

/// A policy that runs.
pub(super) struct Running<'t>(&'t Ticker);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.0.state().running -= 1;
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    loop {
        {
            let idle = |state: &mut State| state.running == 0 && !state.over;
            let state = shared.changed.wait_while(shared.state(), idle);
            if state.is_ok_and(|state| state.over) {
                return;
            }
        }
        thread::sleep(EPOCH);
        engine.increment_epoch();
    }
}
