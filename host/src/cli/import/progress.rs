//! How far an import is, on a terminal, once it has taken a second.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::super::terminal::{Terminal, clean};

/// After how long something is shown, and how often it changes.
const PATIENCE: Duration = Duration::from_secs(1);
const OFTEN: Duration = Duration::from_millis(100);

/// One line that is written again in place.
pub(super) struct Progress {
    all: usize,
    done: usize,
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    pub(super) fn new(terminal: &Terminal, all: usize) -> Self {
        let is_seen = !terminal.is_json() && io::stderr().is_terminal();
        Self {
            all,
            done: 0,
            next: is_seen.then(|| Instant::now() + PATIENCE),
            is_shown: false,
        }
    }

    /// The next file.
    pub(super) fn step(&mut self, file: &Path) {
        self.done += 1;
        let now = Instant::now();
        if self.next.is_none_or(|next| now < next) {
            return;
        }
        self.next = Some(now + OFTEN);
        self.is_shown = true;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name: String = clean(&name).chars().take(50).collect();
        let (done, all) = (self.done, self.all);
        let _ = write!(io::stderr(), "\r\x1b[Kreading {done} of {all}: {name}");
    }

    /// Nothing of it stays.
    pub(super) fn end(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
