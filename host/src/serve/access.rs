//! The access log: one line of JSON for each request, on standard error, written by a thread of its own.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use crate::evidence::now_ms;
use crate::visible::as_json;

/// How many lines may wait for whoever reads them. More are left out, and counted.
const WAITING: usize = 4096;
/// The longest path that is written, in bytes.
const LONGEST: usize = 512;

/// What is told of a request.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    at_ms: u64,
    peer: SocketAddr,
    method: String,
    path: String,
    status: u16,
    duration_us: u64,
    received: usize,
    /// None for a stream, whose length is not known.
    sent: Option<usize>,
    /// Lines that were left out before this one, because nobody read them in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
}

/// What a line is made of.
pub(super) struct Told<'t> {
    pub(super) peer: SocketAddr,
    pub(super) method: &'t str,
    pub(super) path: &'t str,
    pub(super) status: u16,
    pub(super) taken: Duration,
    pub(super) received: usize,
    pub(super) sent: Option<usize>,
}

/// Takes lines, and never waits.
#[derive(Debug)]
pub(super) struct AccessLog {
    lines: Option<SyncSender<Line>>,
    left_out: std::sync::atomic::AtomicU64,
}

impl AccessLog {
    pub(super) fn new(is_wanted: bool) -> io::Result<Self> {
        let lines = if is_wanted { Some(start()?) } else { None };
        Ok(Self {
            lines,
            left_out: std::sync::atomic::AtomicU64::new(0),
        })
    }

    pub(super) fn tell(&self, told: &Told<'_>) {
        use std::sync::atomic::Ordering::Relaxed;
        let Some(lines) = &self.lines else {
            return;
        };
        let left_out = self.left_out.swap(0, Relaxed);
        let line = Line {
            at_ms: now_ms(),
            peer: told.peer,
            method: told.method.to_owned(),
            path: shortened(told.path),
            status: told.status,
            duration_us: u64::try_from(told.taken.as_micros()).unwrap_or(u64::MAX),
            received: told.received,
            sent: told.sent,
            left_out: Some(left_out).filter(|left_out| *left_out > 0),
        };
        if let Err(TrySendError::Full(_)) = lines.try_send(line) {
            self.left_out.fetch_add(left_out + 1, Relaxed);
        }
    }
}

fn start() -> io::Result<SyncSender<Line>> {
    let (sender, lines) = mpsc::sync_channel::<Line>(WAITING);
    let write = move || {
        for line in lines {
            // A path is a stranger's text: what it hides does nothing to a terminal.
            let mut text = as_json(&json!(line));
            text.push('\n');
            // Where nobody reads it, nobody misses it.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    };
    thread::Builder::new().name("access".into()).spawn(write)?;
    Ok(sender)
}

fn shortened(path: &str) -> String {
    let mut end = path.len().min(LONGEST);
    while !path.is_char_boundary(end) {
        end -= 1;
    }
    path.get(..end).unwrap_or_default().to_owned()
}
