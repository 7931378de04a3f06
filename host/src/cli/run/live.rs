//! The live view: one region of the terminal that is drawn again in place, while finished lines scroll up above it.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ralph_gate::runner::LoopEvent;

use super::super::terminal::{Painter, Terminal, print};
use super::line::Line;
use super::screen::Screen;

/// How often the view looks whether something has changed.
const TICK: Duration = Duration::from_millis(100);
/// What a terminal that does not tell its size is taken for.
const SIZE: Size = Size {
    rows: 24,
    columns: 80,
};
const HIDE_CURSOR: &str = "\x1b[?25l";
/// Shows the cursor, and lets long lines go on in the next row.
const RESTORE: &str = "\x1b[?7h\x1b[?25h";
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";

/// Whether this process has hidden the cursor.
static IS_HIDDEN: AtomicBool = AtomicBool::new(false);
/// Whether lines are on the terminal that are drawn again in place.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// Whether a person watches who can be shown a view.
pub(in super::super) fn is_wanted(plain: bool, terminal: &Terminal) -> bool {
    let can_move = std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    !plain && !terminal.is_json() && !terminal.is_quiet() && can_move && stdout().is_terminal()
}

/// Whether a line from elsewhere would move what is drawn again in place.
pub(in super::super) fn is_drawn() -> bool {
    IS_DRAWN.load(Ordering::SeqCst)
}

/// Gives the terminal back as it was, if the view has changed it. For ways out on which nothing is dropped.
pub(crate) fn restore() {
    if IS_HIDDEN.swap(false, Ordering::SeqCst) {
        let _ = print(RESTORE);
    }
}

/// The same after a process that may have been killed.
pub(super) fn restore_after_other() {
    let _ = print(RESTORE);
}

/// How much a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Size {
    pub(in super::super) rows: usize,
    pub(in super::super) columns: usize,
}

impl Size {
    pub(in super::super) fn now() -> Self {
        match rustix::termios::tcgetwinsize(stdout()) {
            Ok(size) if size.ws_row > 0 && size.ws_col > 0 => Self {
                rows: size.ws_row.into(),
                columns: size.ws_col.into(),
            },
            _ => SIZE,
        }
    }

    /// The most lines that the region may have: the cursor waits below it.
    fn region(self) -> usize {
        self.rows.saturating_sub(1)
    }
}

/// The view, from its making to its end.
pub(super) struct View {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
}

struct Shared {
    begun: Instant,
    painter: Painter,
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    screen: Screen,
    frame: Frame,
    is_over: bool,
}

impl View {
    pub(super) fn new(painter: Painter) -> Self {
        let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let shared = Arc::new(Shared {
            begun: Instant::now(),
            painter,
            state: Mutex::new(State {
                screen: Screen::new(folder),
                frame: Frame::default(),
                is_over: false,
            }),
            over: Condvar::new(),
        });
        IS_HIDDEN.store(true, Ordering::SeqCst);
        let _ = print(HIDE_CURSOR);
        let ticking = Arc::clone(&shared);
        // Without it the view is drawn when something happens.
        let ticker = std::thread::Builder::new()
            .name("view".into())
            .spawn(move || ticking.tick());
        Self {
            shared,
            ticker: ticker.ok(),
        }
    }

    pub(super) fn see(&self, event: &LoopEvent<'_>) {
        let mut state = self.shared.lock();
        state.screen.see(event, self.shared.now());
        // An agent may do a thousand things a second.
        if !matches!(event, LoopEvent::Activity(_)) {
            self.shared.draw(&mut state);
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        state.screen.close();
        self.shared.draw(&mut state);
        drop(state);
        self.shared.over.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
        restore();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn tick(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let waited = self.over.wait_timeout(state, TICK);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            self.draw(&mut state);
        }
    }

    /// Draws what has changed. A terminal that went away does not end the loop.
    fn draw(&self, state: &mut State) {
        let size = Size::now();
        let permanent = state.screen.take_permanent();
        let permanent: Vec<String> = permanent
            .iter()
            .map(|line| line.whole(self.painter))
            .collect();
        let cut = |line: &Line| line.cut(self.painter, size.columns);
        let region = state.screen.region(self.now(), size.region());
        let region: Vec<String> = region.iter().map(cut).collect();
        IS_DRAWN.store(!region.is_empty(), Ordering::SeqCst);
        let text = state.frame.change(&permanent, region);
        if !text.is_empty() {
            let _ = print(&text);
        }
    }
}

/// What stands on the terminal below the permanent lines. Invariant: the cursor is at the beginning of the row behind
/// it.
#[derive(Debug, Default)]
pub(in super::super) struct Frame {
    region: Vec<String>,
}

impl Frame {
    /// What to write so that the permanent lines stand where the region began, and the new region below them.
    pub(in super::super) fn change(&mut self, permanent: &[String], region: Vec<String>) -> String {
        if permanent.is_empty() && region == self.region {
            return String::new();
        }
        let mut text = String::from("\r");
        if !self.region.is_empty() {
            let _ = write!(text, "\x1b[{}A", self.region.len());
        }
        if !permanent.is_empty() {
            text.push_str(CLEAR_BELOW);
        }
        // They may take several rows each: nobody counts them.
        for line in permanent {
            let _ = write!(text, "{line}\r\n");
        }
        text.push_str(NO_WRAP);
        for line in &region {
            let _ = write!(text, "{CLEAR_LINE}{line}\r\n");
        }
        text.push_str(CLEAR_BELOW);
        text.push_str(WRAP);
        self.region = region;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn a_region_that_has_not_changed_is_not_drawn_again() {
        let mut frame = Frame::default();
        assert_ne!(frame.change(&[], lines(&["a", "b"])), "");
        assert_eq!(frame.change(&[], lines(&["a", "b"])), "");
    }

    #[test]
    fn a_region_is_drawn_over_the_one_before() {
        let mut frame = Frame::default();
        frame.change(&[], lines(&["a", "b"]));
        assert_eq!(
            frame.change(&[], lines(&["c"])),
            "\r\x1b[2A\x1b[?7l\x1b[Kc\r\n\x1b[J\x1b[?7h"
        );
    }

    #[test]
    fn permanent_lines_take_the_place_of_the_region_and_may_wrap() {
        let mut frame = Frame::default();
        frame.change(&[], lines(&["a"]));
        assert_eq!(
            frame.change(&lines(&["for ever"]), lines(&["b"])),
            "\r\x1b[1A\x1b[Jfor ever\r\n\x1b[?7l\x1b[Kb\r\n\x1b[J\x1b[?7h"
        );
    }
}
