//! A bar that is drawn again in place, below the runs that are done.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ralph_gate::experiment::{Observer, Standing, Step};

use super::super::run::{Frame, Size, running};
use super::super::terminal::print;
use super::tell::{Told, left};

/// How often times are drawn again.
const TICK: Duration = Duration::from_secs(1);
/// How many characters the bar has.
const WIDTH: usize = 24;

/// The bar, from its making to its end.
pub(super) struct Bar {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
}

struct Shared {
    told: Told,
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    standing: Standing,
    /// When that was known.
    known: Instant,
    /// What is under way: since when, and in which iteration.
    under_way: BTreeMap<String, (Instant, u32)>,
    frame: Frame,
    is_over: bool,
}

impl Bar {
    pub(super) fn new(told: Told) -> Self {
        let nothing = Standing {
            total: 0,
            done: 0,
            remaining_ms: None,
        };
        let shared = Arc::new(Shared {
            told,
            state: Mutex::new(State {
                standing: nothing,
                known: Instant::now(),
                under_way: BTreeMap::new(),
                frame: Frame::default(),
                is_over: false,
            }),
            over: Condvar::new(),
        });
        let ticking = Arc::clone(&shared);
        // Without it the bar is drawn when something happens.
        let ticker = std::thread::Builder::new()
            .name("bar".into())
            .spawn(move || ticking.tick());
        Self {
            shared,
            ticker: ticker.ok(),
        }
    }
}

impl Observer for Bar {
    fn see(&self, step: &Step<'_>) {
        let mut state = self.shared.lock();
        let now = Instant::now();
        match step {
            Step::Opened(standing) => {
                state.standing = *standing;
                state.known = now;
            }
            Step::Begun { run, .. } => {
                state.under_way.insert(run.path(), (now, 0));
            }
            Step::Iteration { run, iteration } => {
                if let Some((_, seen)) = state.under_way.get_mut(&run.path()) {
                    *seen = *iteration;
                }
            }
            Step::Ended { run, standing, .. } => {
                state.under_way.remove(&run.path());
                state.standing = *standing;
                state.known = now;
            }
            Step::SetAside { .. } => {}
        }
        let line = self.shared.told.line(step);
        Shared::draw(&mut state, line);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        let gone = state.frame.change(&[], Vec::new());
        drop(state);
        let _ = print(&gone);
        self.shared.over.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let waited = self.over.wait_timeout(state, TICK);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if !state.is_over {
                Self::draw(&mut state, None);
            }
        }
    }

    /// A terminal that went away does not end the experiment.
    fn draw(state: &mut State, line: Option<String>) {
        let columns = Size::now().columns;
        let cut = |text: String| text.chars().take(columns).collect();
        let region = vec![cut(state.bar(Instant::now()))];
        let permanent: Vec<String> = line.into_iter().collect();
        let text = state.frame.change(&permanent, region);
        if !text.is_empty() {
            let _ = print(&text);
        }
    }
}

impl State {
    /// `███████▍░░░ 7 of 24 · about 3 min left · ralph/fix-parser/1 iteration 2, 12 s`
    fn bar(&self, now: Instant) -> String {
        let Standing { total, done, .. } = self.standing;
        let full = (WIDTH * done).checked_div(total).unwrap_or(0).min(WIDTH);
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(WIDTH - full));
        let mut parts = vec![format!("{bar} {done} of {total}")];
        let passed = now.saturating_duration_since(self.known);
        let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        let standing = Standing {
            remaining_ms: self
                .standing
                .remaining_ms
                .map(|left| left.saturating_sub(passed)),
            ..self.standing
        };
        parts.extend(left(standing));
        for (run, (since, iteration)) in &self.under_way {
            let time = now.saturating_duration_since(*since);
            let time = running(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
            parts.push(match iteration {
                0 => format!("{run} {time}"),
                iteration => format!("{run} iteration {iteration}, {time}"),
            });
        }
        parts.join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_says_how_far_it_is_what_is_left_and_what_is_under_way() {
        let begun = Instant::now();
        let mut state = State {
            standing: Standing {
                total: 24,
                done: 6,
                remaining_ms: Some(70_000),
            },
            known: begun,
            under_way: BTreeMap::new(),
            frame: Frame::default(),
            is_over: false,
        };
        let run = "ralph/parser/1".to_owned();
        state.under_way.insert(run, (begun, 2));
        assert_eq!(
            state.bar(begun + Duration::from_secs(10)),
            "██████░░░░░░░░░░░░░░░░░░ 6 of 24 · about 1 min 0 s left · ralph/parser/1 iteration 2, 10 s"
        );
        state.standing.done = 24;
        assert!(state.bar(begun).starts_with(&"█".repeat(WIDTH)));
    }
}
