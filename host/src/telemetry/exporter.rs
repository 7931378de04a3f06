//! Sends spans: beside a loop that runs, or of a log that was left behind.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::http::{self, SendError};
use super::metrics;
use super::model::{Moment, Span};
use super::otlp;
use super::settings::Settings;
use super::spans::Spans;
use crate::plain_file;
use crate::runner::LoopEvent;

/// The log of a session.
const LOG: &str = "events.jsonl";
/// The most that is read of a log at once, in bytes.
const PIECE: u64 = 4 << 20;
/// The longest line that is read, in bytes. What is longer is left out.
const LONGEST_LINE: usize = 64 << 20;
/// The most spans that one request carries.
const BATCH: usize = 256;
/// The most spans that wait for a collector that does not take them. The rest is dropped, and counted.
const WAITING: usize = 2048;
/// How long the end of a loop waits for what is still to be sent.
const FLUSH: Duration = Duration::from_secs(2);

/// Sends what a loop does, beside it. Costs the loop one message that nobody waits for.
#[derive(Debug)]
pub struct Exporter {
    notes: SyncSender<Note>,
    /// Behind a lock, because those who watch a loop do so from several threads.
    done: Mutex<Receiver<Exported>>,
}

/// What the thread is told.
#[derive(Debug)]
enum Note {
    /// A loop is open: where its log is, and how much of that is of earlier processes.
    Opened(PathBuf, u64),
    /// There is more in the log.
    Saved,
    /// The loop is over.
    Over,
}

/// What became of the spans.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many were taken.
    pub sent: u64,
    /// How many were not.
    pub lost: u64,
    /// Why.
    pub reason: Option<String>,
}

impl Exporter {
    /// Begins to wait for a loop. None if there can't be another thread: then nothing is sent.
    pub fn start(settings: Settings) -> Option<Self> {
        let (notes, told) = sync_channel(4);
        let (say, done) = channel();
        let work = move || {
            let mut work = Work::new(&settings);
            work.follow(&told);
            let _ = say.send(work.exported);
        };
        let thread = std::thread::Builder::new().name("telemetry".into());
        thread.spawn(work).ok()?;
        Some(Self {
            notes,
            done: Mutex::new(done),
        })
    }

    /// Takes note of something. Never waits.
    pub fn see(&self, event: &LoopEvent<'_>) {
        let note = match event {
            LoopEvent::Opened { memory, .. } => {
                let log = memory.join(LOG);
                let length = std::fs::metadata(&log).map_or(0, |log| log.len());
                Note::Opened(log, length)
            }
            LoopEvent::Decided { .. } => Note::Saved,
            _ => return,
        };
        // Where the thread has not come to the notes before, it will find this in the log, too.
        let _: Result<(), TrySendError<Note>> = self.notes.try_send(note);
    }

    /// The loop is over: waits a moment until all is sent, and says what became of it. None if that took too long.
    pub fn finish(self) -> Option<Exported> {
        let Self { notes, done } = self;
        // Where there is no room for it, the thread sees that nobody is left who could tell it more.
        let _: Result<(), TrySendError<Note>> = notes.try_send(Note::Over);
        drop(notes);
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.recv_timeout(FLUSH).ok()
    }
}

/// The thread beside a loop.
struct Work<'s> {
    settings: &'s Settings,
    spans: Spans,
    log: Option<Tail>,
    /// How much of the log is of earlier processes, which have sent it.
    known: u64,
    /// What an earlier process may not have sent, because it was killed: what was gone on with last.
    interrupted: Vec<Span>,
    waiting: Vec<Span>,
    exported: Exported,
}

impl<'s> Work<'s> {
    fn new(settings: &'s Settings) -> Self {
        Self {
            settings,
            spans: Spans::new(settings.content),
            log: None,
            known: 0,
            interrupted: Vec::new(),
            waiting: Vec::new(),
            exported: Exported::default(),
        }
    }

    fn follow(&mut self, told: &Receiver<Note>) {
        loop {
            match told.recv() {
                Ok(Note::Opened(log, known)) => {
                    self.log = Some(Tail::new(log));
                    self.known = known;
                }
                Ok(Note::Saved) => {
                    self.read();
                    self.send();
                }
                Ok(Note::Over) | Err(_) => break,
            }
        }
        self.read();
        let interrupted = std::mem::take(&mut self.interrupted);
        self.wait(interrupted);
        let rest = self.spans.close();
        self.wait(rest);
        self.send();
        self.exported.lost += self.waiting.len() as u64;
    }

    fn read(&mut self) {
        let Some(mut tail) = self.log.take() else {
            return;
        };
        while let Some((end, line)) = tail.next() {
            let made = self.spans.add(&line);
            if end > self.known {
                let interrupted = std::mem::take(&mut self.interrupted);
                self.wait(interrupted);
                self.wait(made);
            } else if !made.is_empty() {
                let is_interrupted = self.spans.is_resumed();
                self.interrupted = if is_interrupted { made } else { Vec::new() };
            }
        }
        self.log = Some(tail);
    }

    /// Puts spans where they wait to be sent, as far as there is room.
    fn wait(&mut self, spans: impl IntoIterator<Item = Span>) {
        for span in spans {
            if self.waiting.len() < WAITING {
                self.waiting.push(span);
            } else {
                self.exported.lost += 1;
            }
        }
    }

    fn send(&mut self) {
        while !self.waiting.is_empty() {
            let count = self.waiting.len().min(BATCH);
            let batch = self.waiting.get(..count).unwrap_or_default();
            match send(self.settings, batch, self.settings.timeout) {
                Ok(()) => self.exported.sent += count as u64,
                Err(error) => {
                    self.exported.reason = Some(error.to_string());
                    if error.is_temporary() {
                        return;
                    }
                    self.exported.lost += count as u64;
                }
            }
            self.waiting.drain(..count);
        }
    }
}

/// Sends spans, and then what they add to metrics. What becomes of the metrics is not waited for twice: a collector that
/// takes no metrics is none the worse.
fn send(settings: &Settings, spans: &[Span], limit: Duration) -> Result<(), SendError> {
    let headers = &settings.headers.0;
    let body = otlp::traces(&settings.sender, spans);
    http::post(&settings.traces, headers, &body, limit)?;
    let measured = metrics::of(spans);
    if let (Some(target), false) = (&settings.metrics, measured.is_empty()) {
        let body = otlp::metrics(&settings.sender, &measured);
        let _ = http::post(target, headers, &body, limit);
    }
    Ok(())
}

/// The lines of a log that grows.
struct Tail {
    path: PathBuf,
    /// How much of the file was read.
    read: u64,
    /// What was read and is not a whole line yet.
    rest: Vec<u8>,
    /// Where the rest begins in the file.
    at: u64,
    /// Whether the line at hand is too long, and is left out up to its end.
    is_skipping: bool,
}

impl Tail {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: 0,
            rest: Vec::new(),
            at: 0,
            is_skipping: false,
        }
    }

    /// The next whole line, and where it ends in the file. None if there is none yet.
    fn next(&mut self) -> Option<(u64, String)> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                self.at += line.len() as u64;
                if !std::mem::take(&mut self.is_skipping) {
                    return Some((self.at, String::from_utf8_lossy(&line).into_owned()));
                }
                continue;
            }
            if self.rest.len() > LONGEST_LINE {
                self.at += self.rest.len() as u64;
                self.rest.clear();
                self.is_skipping = true;
            }
            let more = plain_file::read_on(&self.path, self.read, PIECE).ok()?;
            if more.is_empty() {
                return None;
            }
            self.read += more.len() as u64;
            self.rest.extend(more);
        }
    }
}

/// Why the spans of a log were not sent.
#[derive(Debug, thiserror::Error)]
#[error("{reason}; {sent} spans were taken before that")]
pub struct Unsent {
    /// Why.
    pub reason: String,
    /// How many were taken.
    pub sent: usize,
}

/// Sends the spans of a log that ended at a moment or later, batch by batch. Gives how many there were. A log that can't
/// be read has none.
pub fn export(settings: &Settings, log: &Path, since: Moment) -> Result<usize, Unsent> {
    let mut spans = Spans::new(settings.content);
    let mut tail = Tail::new(log.to_owned());
    let mut batch = Batch {
        settings,
        spans: Vec::new(),
        sent: 0,
    };
    while let Some((_, line)) = tail.next() {
        let made = spans.add(&line);
        // What one line ends belongs together: a check may have ended long before its iteration was judged.
        if made.iter().any(|span| span.end >= since) {
            batch.add(made)?;
        }
    }
    // Of a loop that goes on, whoever asks for all of it wants to see what there is.
    if since == Moment::default() {
        batch.add(spans.close())?;
    }
    batch.send()?;
    Ok(batch.sent)
}

/// Spans that are sent together.
struct Batch<'s> {
    settings: &'s Settings,
    spans: Vec<Span>,
    sent: usize,
}

impl Batch<'_> {
    fn add(&mut self, spans: impl IntoIterator<Item = Span>) -> Result<(), Unsent> {
        self.spans.extend(spans);
        if self.spans.len() < BATCH {
            return Ok(());
        }
        self.send()
    }

    fn send(&mut self) -> Result<(), Unsent> {
        let spans = std::mem::take(&mut self.spans);
        if spans.is_empty() {
            return Ok(());
        }
        send(self.settings, &spans, self.settings.timeout).map_err(|error| Unsent {
            reason: error.to_string(),
            sent: self.sent,
        })?;
        self.sent += spans.len();
        Ok(())
    }
}
