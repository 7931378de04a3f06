//! Connections: taken in, watched while they say or take nothing, and let go when the server ends.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, Sleep, sleep};

use super::Shared;
use super::router;

/// How long to wait when no connection can be taken, for want of descriptors.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 64 << 10;

/// The connections that are open.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// Those that wait for a request, the longest first.
    idle: Mutex<BTreeMap<u64, Arc<Notify>>>,
    next: AtomicU64,
}

impl Connections {
    fn idle(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Notify>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection that has been idle for the longest time. False if none is.
    fn evict(&self) -> bool {
        let first = self.idle().pop_first();
        first.is_some_and(|(_, close)| {
            close.notify_one();
            true
        })
    }
}

/// One connection, which is idle or not.
#[derive(Debug)]
pub(super) struct Line {
    connections: Arc<Connections>,
    number: Mutex<Option<u64>>,
    close: Arc<Notify>,
}

impl Line {
    fn new(connections: &Arc<Connections>) -> Self {
        let line = Self {
            connections: Arc::clone(connections),
            number: Mutex::new(None),
            close: Arc::new(Notify::new()),
        };
        line.rest();
        line
    }

    /// It waits for a request.
    pub(super) fn rest(&self) {
        let number = self.connections.next.fetch_add(1, Ordering::Relaxed);
        self.connections
            .idle()
            .insert(number, Arc::clone(&self.close));
        *self.number.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
    }

    /// It has one.
    pub(super) fn work(&self) {
        let number = self
            .number
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(number) = number {
            self.connections.idle().remove(&number);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.work();
    }
}

/// Takes connections until the server is to end, then waits for those that are being answered, but not longer than it may.
pub(super) async fn accept(
    listener: TcpListener,
    shared: Arc<Shared>,
    mut ending: watch::Receiver<bool>,
) {
    let connections = Arc::new(Connections::default());
    let (alive, mut all_gone) = tokio::sync::mpsc::channel::<()>(1);
    loop {
        let taken = tokio::select! {
            taken = listener.accept() => taken,
            _ = ending.wait_for(|ending| *ending) => break,
        };
        match taken {
            Ok((stream, peer)) => {
                make_room(&shared, &connections).await;
                let (shared, ending) = (Arc::clone(&shared), ending.clone());
                let (line, alive) = (Arc::new(Line::new(&connections)), alive.clone());
                // Here, and not when its turn comes: many at once would not be seen.
                let counted = shared.metrics.connections.enter();
                tokio::spawn(async move {
                    serve(stream, peer, shared, line, ending).await;
                    drop((counted, alive));
                });
            }
            Err(_) => {
                connections.evict();
                sleep(LOOK_AGAIN).await;
            }
        }
    }
    drop(listener);
    drop(alive);
    // Ends when nobody holds the other side any more.
    let gone = all_gone.recv();
    let _ = tokio::time::timeout(shared.limits.grace, gone).await;
}

/// Idle connections make room for new ones: otherwise whoever holds enough of them keeps everybody else out.
async fn make_room(shared: &Shared, connections: &Connections) {
    let limit = u64::try_from(shared.limits.connections).unwrap_or(u64::MAX);
    while shared.metrics.connections.now() >= limit {
        if connections.evict() {
            shared.metrics.evicted.fetch_add(1, Ordering::Relaxed);
        }
        sleep(Duration::from_millis(1)).await;
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    shared: Arc<Shared>,
    line: Arc<Line>,
    mut ending: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let close = Arc::clone(&line.close);
    let limits = shared.limits;
    let service = hyper::service::service_fn(move |request| {
        router::answer(Arc::clone(&shared), Arc::clone(&line), peer, request)
    });
    let stream = Watched::new(TokioIo::new(stream), limits.stalled);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(LONGEST_HEAD)
        .half_close(true)
        .serve_connection(stream, service);
    let mut connection = pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = close.notified() => return,
        _ = ending.wait_for(|ending| *ending) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A stream that fails when the other side takes nothing for too long.
struct Watched<S> {
    stream: S,
    patience: Duration,
    /// Runs while something waits to be taken.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Watched<S> {
    fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            stalled: None,
        }
    }

    /// What became of an attempt to write, or an error if the last one that worked was too long ago.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        attempt: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if attempt.is_ready() {
            self.stalled = None;
            return attempt;
        }
        let patience = self.patience;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        stalled.as_mut().reset(Instant::now() + patience);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: Read + Unpin> Read for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: Write + Unpin> Write for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, attempt)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, attempt)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, attempt)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watch(context, attempt)
    }
}
