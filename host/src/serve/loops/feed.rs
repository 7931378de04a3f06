//! The events of one loop, kept for whoever comes later, and handed to everybody who listens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::Piece;

/// How many bytes of events are kept for whoever comes later.
const KEPT: usize = 4 << 20;
/// How many events may wait for a listener before it is waited for.
const WAITING: usize = 64;
/// How long a stream may be silent before it is seen whether anybody listens.
const SILENCE: Duration = Duration::from_secs(15);

/// What a loop tells.
#[derive(Debug)]
pub(super) struct Feed {
    told: Mutex<Told>,
    /// How many events earlier runs of the loop told.
    earlier: u64,
    /// How many events there are, and whether there will be more.
    news: watch::Sender<News>,
}

#[derive(Debug, Clone, Default)]
struct Told {
    /// The newest events.
    kept: VecDeque<Piece>,
    bytes: usize,
    /// Events that are not kept any more.
    dropped: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct News {
    count: u64,
    is_over: bool,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            told: Mutex::default(),
            earlier: 0,
            news: watch::Sender::new(News::default()),
        }
    }
}

impl Feed {
    /// What another run of a loop tells, behind what the one before it told.
    pub(super) fn behind(before: &Self) -> Self {
        let news = News {
            is_over: false,
            ..*before.news.borrow()
        };
        Self {
            told: Mutex::new(before.told().clone()),
            earlier: news.count,
            news: watch::Sender::new(news),
        }
    }

    /// Whether this run has told anything.
    pub(super) fn has_told(&self) -> bool {
        self.news.borrow().count > self.earlier
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells an event.
    pub(super) fn tell(&self, name: &str, data: &Value) {
        let count = self.news.borrow().count + 1;
        let piece = Bytes::from(format!("id: {count}\nevent: {name}\ndata: {data}\n\n"));
        let mut told = self.told();
        told.bytes += piece.len();
        told.kept.push_back(piece);
        while told.bytes > KEPT && told.kept.len() > 1 {
            if let Some(oldest) = told.kept.pop_front() {
                told.bytes -= oldest.len();
                told.dropped += 1;
            }
        }
        drop(told);
        self.news.send_modify(|news| news.count = count);
    }

    /// How much is kept, in bytes.
    pub(super) fn size(&self) -> usize {
        self.told().bytes
    }

    /// There will be no more.
    pub(super) fn end(&self) {
        self.news.send_modify(|news| news.is_over = true);
    }

    /// The events behind the one with this number, and all that follow. Without a number, those of this run.
    pub(super) fn subscribe(self: &Arc<Self>, last: Option<u64>) -> mpsc::Receiver<Piece> {
        let (sender, receiver) = mpsc::channel(WAITING);
        let (feed, news) = (Arc::clone(self), self.news.subscribe());
        // No client has seen what has not happened: such a number is from before this server started.
        let last = last.filter(|last| *last <= news.borrow().count);
        let last = last.unwrap_or(self.earlier);
        tokio::spawn(async move { feed.send(sender, news, last).await });
        receiver
    }

    async fn send(
        &self,
        listener: mpsc::Sender<Piece>,
        mut news: watch::Receiver<News>,
        mut last: u64,
    ) {
        loop {
            let now = *news.borrow_and_update();
            for piece in self.after(&mut last) {
                if listener.send(piece).await.is_err() {
                    return;
                }
            }
            if now.is_over {
                return;
            }
            let changed = timeout(SILENCE, news.changed()).await;
            let is_gone = match changed {
                Ok(changed) => changed.is_err(),
                // A comment, which no client shows.
                Err(_) => listener.send(Bytes::from_static(b":\n\n")).await.is_err(),
            };
            if is_gone {
                return;
            }
        }
    }

    /// The events behind the last one that was seen.
    fn after(&self, last: &mut u64) -> Vec<Piece> {
        let told = self.told();
        let mut pieces = Vec::new();
        if *last < told.dropped {
            let missed = told.dropped - *last;
            pieces.push(Bytes::from(format!(
                "event: missed\ndata: {{\"event\":\"missed\",\"events\":{missed}}}\n\n"
            )));
            *last = told.dropped;
        }
        let seen = usize::try_from(*last - told.dropped).unwrap_or(usize::MAX);
        for piece in told.kept.iter().skip(seen) {
            pieces.push(piece.clone());
            *last += 1;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(pieces: &[Piece]) -> String {
        let bytes: Vec<u8> = pieces.concat();
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn whoever_comes_later_hears_everything_once() {
        let feed = Arc::new(Feed::default());
        feed.tell("opened", &json!({ "n": 1 }));
        let mut early = feed.subscribe(None);
        feed.tell("verdict", &json!({ "n": 2 }));
        let mut late = feed.subscribe(Some(1));
        feed.end();
        let mut heard = Vec::new();
        while let Some(piece) = early.recv().await {
            heard.push(piece);
        }
        assert_eq!(
            text(&heard),
            "id: 1\nevent: opened\ndata: {\"n\":1}\n\nid: 2\nevent: verdict\ndata: {\"n\":2}\n\n"
        );
        let second = late.recv().await.unwrap();
        assert!(second.starts_with(b"id: 2\n"));
        assert!(late.recv().await.is_none());
    }

    #[tokio::test]
    async fn another_run_goes_on_with_the_numbers_of_the_one_before() {
        let first = Feed::default();
        first.tell("opened", &json!({}));
        first.tell("stopped", &json!({}));
        first.end();
        let second = Arc::new(Feed::behind(&first));
        assert!(!second.has_told());
        second.tell("opened", &json!({}));
        assert!(second.has_told());
        second.end();
        for (last, ids) in [
            (None, vec![3]),
            (Some(0), vec![1, 2, 3]),
            (Some(1), vec![2, 3]),
            (Some(3), vec![]),
            (Some(50), vec![3]),
        ] {
            let mut listener = second.subscribe(last);
            for id in ids {
                let piece = listener.recv().await.unwrap();
                assert!(
                    piece.starts_with(format!("id: {id}\n").as_bytes()),
                    "{last:?}"
                );
            }
            assert!(listener.recv().await.is_none(), "{last:?}");
        }
    }

    #[test]
    fn what_is_no_longer_kept_is_named() {
        let feed = Feed::default();
        let long = "x".repeat(KEPT / 3);
        for _ in 0..5 {
            feed.tell("output", &json!({ "text": long }));
        }
        let mut last = 0;
        let pieces = feed.after(&mut last);
        assert!(
            pieces[0].starts_with(b"event: missed\ndata: {\"event\":\"missed\",\"events\":3}"),
            "{:?}",
            &pieces[0][..40]
        );
        assert_eq!((pieces.len(), last), (3, 5));
    }
}
