//! Who writes to a session waits for whoever came before: of those who saw the same state one can win, and the others need
//! no storage to hear so.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Line, OwnedMutexGuard};

use crate::memory::SessionKey;

/// The lines before sessions, as long as somebody stands in them, each with the newest revision that was seen.
#[derive(Debug, Default)]
pub(super) struct Turns {
    lines: Mutex<BTreeMap<SessionKey, Arc<Line<u64>>>>,
}

impl Turns {
    /// Waits until nobody else writes to the session through this server.
    pub(super) async fn take(self: &Arc<Self>, key: &SessionKey) -> Turn {
        let line = Arc::clone(self.lines().entry(key.clone()).or_default());
        let place = Place {
            turns: Arc::clone(self),
            key: key.clone(),
            line: Some(Arc::clone(&line)),
        };
        Turn {
            seen: line.lock_owned().await,
            _place: place,
        }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, BTreeMap<SessionKey, Arc<Line<u64>>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to write to a session, among those who ask this server. Others are not bound by it.
#[derive(Debug)]
pub(super) struct Turn {
    /// The newest revision that was seen by those who waited in the same line; 0 if there was none.
    pub(super) seen: OwnedMutexGuard<u64>,
    // Behind it: the line is left once it has moved.
    _place: Place,
}

/// A place in a line, until it is left, with or without having had a turn.
#[derive(Debug)]
struct Place {
    turns: Arc<Turns>,
    key: SessionKey,
    /// None once it is left.
    line: Option<Arc<Line<u64>>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut lines = self.turns.lines();
        // While nobody else leaves or comes: the last one takes the line away.
        self.line = None;
        if lines
            .get(&self.key)
            .is_some_and(|line| Arc::strong_count(line) == 1)
        {
            lines.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn key(text: &str) -> SessionKey {
        SessionKey::Session(text.to_owned())
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        runtime.block_on(future)
    }

    #[test]
    fn one_after_the_other_and_each_knows_what_was_seen() {
        run(async {
            let (turns, a) = (Arc::new(Turns::default()), key("a"));
            let mut first = turns.take(&a).await;
            assert_eq!(*first.seen, 0);
            // Another session has a line of its own.
            drop(turns.take(&key("b")).await);
            let mut second = Box::pin(turns.take(&a));
            assert!(
                timeout(Duration::from_millis(5), &mut second)
                    .await
                    .is_err()
            );
            *first.seen = 7;
            drop(first);
            assert_eq!(*second.await.seen, 7);
        });
    }

    #[test]
    fn a_line_that_everybody_left_is_gone_also_if_some_gave_up() {
        run(async {
            let (turns, a) = (Arc::new(Turns::default()), key("a"));
            let first = turns.take(&a).await;
            let soon = Duration::from_millis(5);
            assert!(timeout(soon, turns.take(&a)).await.is_err());
            assert_eq!(turns.lines().len(), 1);
            drop(first);
            assert!(turns.lines().is_empty());
            // Who gives up last takes the line away, too.
            let first = turns.take(&a).await;
            let mut second = Box::pin(turns.take(&a));
            assert!(timeout(soon, &mut second).await.is_err());
            drop(first);
            assert_eq!(turns.lines().len(), 1);
            drop(second);
            assert!(turns.lines().is_empty());
        });
    }
}
