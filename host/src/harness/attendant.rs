//! Checks that take longer than a client waits: they go on in a process of their own, which the next question finds.
//!
//! The attendant is started with a question and answers it on its standard output. If nobody reads that any more when
//! the evidence is there, it waits for the next question of the same session on a socket that has no file.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Harness;
use super::answer::Answer;
use super::event::{Event, LONGEST};
use super::hook::Asker;
use crate::runner::Control;

/// How long evidence is kept for a question that may not come.
const KEPT: Duration = Duration::from_hours(1);
/// How long a question may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether the loop was canceled.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Where the attendant of one loop is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Of the loops of one client's session in one place.
    pub(super) fn new(root: &Path, session: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(root.as_os_str().as_encoded_bytes());
        hasher.update(b"\0");
        hasher.update(session.as_bytes());
        let user = rustix::process::getuid().as_raw();
        Self(format!(
            "ralph-gate-hook/{user}/{}",
            hasher.finalize().to_hex()
        ))
    }
}

/// Asks an attendant that is at work already. None if there is none, or if it ended before it answered.
pub fn ask(address: &Address, event: &[u8], deadline: Instant) -> io::Result<Option<Answer>> {
    let Some(mut stream) = socket::connect(address)? else {
        return Ok(None);
    };
    stream.set_write_timeout(Some(PATIENCE))?;
    let sent = stream
        .write_all(event)
        .and_then(|()| stream.shutdown(std::net::Shutdown::Write));
    if sent.is_err() {
        return Ok(None);
    }
    stream.set_read_timeout(Some(left(deadline)?))?;
    let mut text = Vec::new();
    match stream.take(LONGEST as u64).read_to_end(&mut text) {
        Err(error) if is_late(&error) => Err(io::ErrorKind::TimedOut.into()),
        // One that is gone has no answer.
        _ => Ok(read(&text)),
    }
}

/// An attendant's answer. None if it is not whole.
pub fn read(text: &[u8]) -> Option<Answer> {
    serde_json::from_slice(text).ok()
}

/// The time that is left.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// The attendant's side: whoever waits for its answer.
#[derive(Debug)]
pub struct Waiting {
    first: Event,
    harness: Option<Harness>,
    listener: Option<socket::Listener>,
    /// Ends the waiting.
    control: Control,
    /// A question that came later, and whoever asked it.
    later: Mutex<Option<(Event, socket::Stream)>>,
}

impl Waiting {
    /// Begins to listen for later questions. Where that can't be done, only the first one is answered.
    pub fn new(
        address: &Address,
        first: Event,
        harness: Option<Harness>,
        control: &Control,
    ) -> Self {
        Self {
            first,
            harness,
            control: control.clone(),
            listener: socket::listen(address).ok(),
            later: Mutex::new(None),
        }
    }

    /// Answers whoever waits.
    pub fn answer(self, answer: &Answer) -> io::Result<()> {
        let text = serde_json::to_string(answer)?;
        match self.later.into_inner() {
            Ok(Some((_, mut stream))) => stream.write_all(text.as_bytes()),
            _ => {
                let mut stdout = io::stdout();
                stdout.write_all(text.as_bytes())?;
                stdout.flush()
            }
        }
    }

    /// A later question.
    fn accept(&self) -> Option<(Event, socket::Stream)> {
        let listener = self.listener.as_ref()?;
        let until = Instant::now() + KEPT;
        loop {
            if self.control.is_stopped() {
                return None;
            }
            let left = left(until).ok()?;
            if !is_ready(listener, PollFlags::IN, left.min(LOOK_AGAIN)) {
                continue;
            }
            let Ok(mut stream) = listener.accept() else {
                continue;
            };
            if let Some(event) = self.hear(&mut stream) {
                return Some((event, stream));
            }
        }
    }

    /// What somebody asks. Nothing is said to another user.
    fn hear(&self, stream: &mut socket::Stream) -> Option<Event> {
        if !socket::is_ours(stream) {
            return None;
        }
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let mut text = Vec::new();
        let most = LONGEST as u64 + 1;
        stream.take(most).read_to_end(&mut text).ok()?;
        Event::read(&text, self.harness).ok()
    }
}

impl Asker for Waiting {
    fn newest(&self) -> Option<Event> {
        if !is_gone(&io::stdout()) {
            return Some(self.first.clone());
        }
        let mut later = self.later.lock().ok()?;
        if let Some((event, stream)) = later.as_ref()
            && !is_gone(stream)
        {
            return Some(event.clone());
        }
        let (event, stream) = self.accept()?;
        *later = Some((event.clone(), stream));
        Some(event)
    }
}

/// Whether nobody is at the other side any more.
fn is_gone(descriptor: &impl std::os::fd::AsFd) -> bool {
    is_ready(descriptor, PollFlags::empty(), Duration::ZERO)
}

/// Whether something happens within some time.
fn is_ready(descriptor: &impl std::os::fd::AsFd, flags: PollFlags, within: Duration) -> bool {
    let descriptor = descriptor.as_fd();
    let mut fds = [PollFd::new(&descriptor, flags)];
    let within = Timespec {
        tv_sec: i64::try_from(within.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: within.subsec_nanos().into(),
    };
    poll(&mut fds, Some(&within)).is_ok_and(|ready| ready > 0)
}

#[cfg(target_os = "linux")]
mod socket {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

    use super::Address;

    pub(super) type Stream = UnixStream;

    #[derive(Debug)]
    pub(super) struct Listener(UnixListener);

    impl Listener {
        pub(super) fn accept(&self) -> io::Result<Stream> {
            Ok(self.0.accept()?.0)
        }
    }

    impl AsFd for Listener {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    pub(super) fn listen(address: &Address) -> io::Result<Listener> {
        let address = SocketAddr::from_abstract_name(&address.0)?;
        Ok(Listener(UnixListener::bind_addr(&address)?))
    }

    pub(super) fn connect(address: &Address) -> io::Result<Option<Stream>> {
        let address = SocketAddr::from_abstract_name(&address.0)?;
        match UnixStream::connect_addr(&address) {
            Ok(stream) if is_ours(&stream) => Ok(Some(stream)),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the other side is of the same user.
    pub(super) fn is_ours(stream: &Stream) -> bool {
        let peer = rustix::net::sockopt::socket_peercred(stream);
        peer.is_ok_and(|peer| peer.uid == rustix::process::getuid() || peer.uid.is_root())
    }
}

#[cfg(not(target_os = "linux"))]
mod socket {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::net::UnixStream;

    use super::Address;

    pub(super) type Stream = UnixStream;

    /// Elsewhere there are no sockets without a file: what takes too long is run again.
    #[derive(Debug)]
    pub(super) enum Listener {}

    impl Listener {
        pub(super) fn accept(&self) -> io::Result<Stream> {
            match *self {}
        }
    }

    impl AsFd for Listener {
        fn as_fd(&self) -> BorrowedFd<'_> {
            match *self {}
        }
    }

    pub(super) fn listen(_: &Address) -> io::Result<Listener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn connect(_: &Address) -> io::Result<Option<Stream>> {
        Ok(None)
    }

    pub(super) fn is_ours(_: &Stream) -> bool {
        false
    }
}
