//! Reads logs, as many at a time as there are processors.

use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use ralph_gate_report::read::{Found, Reader, gather};
use ralph_gate_report::shared::Pool;

use super::{LogFile, ReportError};
use crate::plain_file::{self, Unreadable};

/// How much is read at once.
const PIECE: usize = 256 << 10;
/// How many logs a thread takes at once.
const BATCH: usize = 16;

/// How far reading is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Logs that were read.
    pub logs: AtomicUsize,
    /// Bytes that were read.
    pub bytes: AtomicU64,
}

/// What one thread read at once: the place of the first log, and what each of them said.
type Part = (usize, Result<Vec<Found>, ReportError>);

/// Reads logs. The runs come in the order of the files, whoever read them; with them comes the place of each file's first
/// run, and behind the last file that of the end.
pub fn load(files: &[LogFile], progress: &Progress) -> Result<(Found, Vec<u32>), ReportError> {
    let next = AtomicUsize::new(0);
    let parts: Mutex<Vec<Part>> = Mutex::default();
    let work = || {
        let mut piece = vec![0; PIECE];
        let mut pool = Pool::default();
        loop {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(batch) = files.get(first..) else {
                return;
            };
            if batch.is_empty() {
                return;
            }
            let part = read_batch(batch, &mut piece, &mut pool, progress);
            let is_over = part.is_err();
            if let Ok(mut parts) = parts.lock() {
                parts.push((first, part));
            }
            if is_over {
                next.store(files.len(), Ordering::Relaxed);
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..workers.min(files.len().div_ceil(BATCH)) {
            scope.spawn(work);
        }
        work();
    });
    let mut parts = parts.into_inner().unwrap_or_default();
    parts.sort_by_key(|(first, _)| *first);
    let parts: Vec<Vec<Found>> = parts
        .into_iter()
        .map(|(_, part)| part)
        .collect::<Result<_, _>>()?;
    let mut starts = vec![0];
    let mut end: u32 = 0;
    for found in parts.iter().flatten() {
        end = end.saturating_add(u32::try_from(found.runs.len()).unwrap_or(u32::MAX));
        starts.push(end);
    }
    Ok((gather(parts.into_iter().flatten()), starts))
}

fn read_batch(
    batch: &[LogFile],
    piece: &mut [u8],
    pool: &mut Pool,
    progress: &Progress,
) -> Result<Vec<Found>, ReportError> {
    let read = |file: &LogFile| {
        let mut found = read(file, piece, progress);
        if let Ok(found) = &mut found {
            for run in &mut found.runs {
                pool.share(run);
            }
        }
        progress.logs.fetch_add(1, Ordering::Relaxed);
        found.map_err(|error| ReportError::unreadable(&file.path, &error))
    };
    batch.iter().take(BATCH).map(read).collect()
}

fn read(file: &LogFile, piece: &mut [u8], progress: &Progress) -> Result<Found, Unreadable> {
    let mut reader = Reader::new(&file.name);
    let (mut open, _) = plain_file::open(&file.path)?;
    loop {
        let count = open.read(piece)?;
        if count == 0 {
            return Ok(reader.finish());
        }
        reader.feed(piece.get(..count).unwrap_or_default());
        progress.bytes.fetch_add(count as u64, Ordering::Relaxed);
    }
}
