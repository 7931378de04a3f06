//! How others reach a loop that is running: cancel it, complete it by hand, ask how it goes.
//!
//! The loop listens on a socket that has no file, so that nothing can be put in its place. Each caller is looked up
//! by its process: what the loop itself started, however far it went, is not an operator.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::OperatorNote;
use crate::process::Stop;

/// The longest question or answer, in bytes.
const LONGEST: u64 = 64 * 1024;
/// The longest name or reason of an operator that the gate takes, in bytes.
const LONGEST_NOTE: usize = 1024;
/// How long a caller may take to ask.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a loop is told from outside. Clones are the same control.
#[derive(Debug, Clone)]
pub struct Control {
    stop: Stop,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    note: Option<OperatorNote>,
    live: Live,
}

/// How it goes, for whoever asks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// The iteration that is under way.
    pub iteration: u32,
    /// What is being done.
    pub phase: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: u64,
    /// What the agent did last.
    pub activity: Option<String>,
    /// Whether an operator may complete the loop.
    pub overridable: bool,
}

/// What a caller wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    /// How it goes.
    Status,
    /// End it, so that it can be resumed.
    Cancel,
    /// Complete it by hand.
    Override {
        /// Who.
        operator: String,
        /// Why.
        reason: String,
    },
}

/// What a caller gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// How it goes.
    Status(Live),
    /// It is being done.
    Accepted(Live),
    /// It is not being done.
    Refused {
        /// Why: `from_inside` or `override_not_allowed`.
        code: String,
    },
}

/// What a loop was told, when it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) canceled: bool,
    pub(super) note: Option<OperatorNote>,
}

impl Control {
    /// A control that nobody has used.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            stop: Stop::new()?,
            shared: Arc::default(),
        })
    }

    /// Ends the loop: it stops as canceled, and can be resumed.
    pub fn cancel(&self) {
        self.stop.cancel();
    }

    /// Completes the loop in an operator's name.
    pub fn complete(&self, note: OperatorNote) {
        self.with(|shared| shared.note = Some(note));
        self.stop.cancel();
    }

    /// Says how it goes.
    pub fn update(&self, change: impl FnOnce(&mut Live)) {
        self.with(|shared| change(&mut shared.live));
    }

    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_canceled()
    }

    pub(super) fn order(&self) -> Order {
        let note = self.with(|shared| shared.note.clone());
        Order {
            canceled: self.stop.is_canceled() && note.is_none(),
            note,
        }
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Shared) -> T) -> T {
        use_it(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers callers, in a thread of its own, until the process ends.
    pub fn listen(&self, session: &Path) -> io::Result<()> {
        let listener = socket::bind(session)?;
        let control = self.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                // A caller that says nothing, or goes away, is no concern of the loop.
                let _ = control.serve(&stream);
            }
        };
        std::thread::Builder::new()
            .name("control".into())
            .spawn(serve)?;
        Ok(())
    }

    fn serve(&self, stream: &socket::Stream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let caller = socket::caller(stream);
        let mut line = String::new();
        BufReader::new(stream.take(LONGEST)).read_line(&mut line)?;
        let ask: Ask = serde_json::from_str(&line)?;
        let reply = self.answer(&ask, caller);
        let mut text = serde_json::to_string(&reply)?;
        text.push('\n');
        let mut stream = stream;
        // The answer first: what it announces may end this process before another byte is written.
        let written = stream.write_all(text.as_bytes());
        if matches!(reply, Reply::Accepted(_)) {
            self.obey(ask);
        }
        written
    }

    fn answer(&self, ask: &Ask, caller: Caller) -> Reply {
        let live = self.with(|shared| shared.live.clone());
        let refused = |code: &str| Reply::Refused {
            code: code.to_owned(),
        };
        match (ask, caller) {
            (Ask::Status, _) => Reply::Status(live),
            (_, Caller::Inside) => refused("from_inside"),
            (Ask::Override { .. }, Caller::Outside) if !live.overridable => {
                refused("override_not_allowed")
            }
            (Ask::Override { operator, reason }, Caller::Outside)
                if operator.len().max(reason.len()) > LONGEST_NOTE =>
            {
                refused("too_long")
            }
            (Ask::Cancel | Ask::Override { .. }, Caller::Outside) => Reply::Accepted(live),
        }
    }

    fn obey(&self, ask: Ask) {
        match ask {
            Ask::Status => {}
            Ask::Cancel => self.cancel(),
            Ask::Override { operator, reason } => self.complete(OperatorNote { operator, reason }),
        }
    }
}

/// Where a caller comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// Nothing that the loop started.
    Outside,
    /// The loop started it, or that can't be told.
    Inside,
}

/// Asks a loop that is running. None if none listens for that session, or if it ended before it answered.
pub fn ask(session: &Path, ask: &Ask) -> io::Result<Option<Reply>> {
    let Some(stream) = socket::connect(session)? else {
        return Ok(None);
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut text = serde_json::to_string(ask)?;
    text.push('\n');
    match converse(&stream, &text) {
        Ok(line) if line.is_empty() => Ok(None),
        Ok(line) => Ok(Some(serde_json::from_str(&line)?)),
        Err(error) if has_ended(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn converse(mut stream: &socket::Stream, text: &str) -> io::Result<String> {
    stream.write_all(text.as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut line)?;
    Ok(line)
}

/// Whether the other side is gone: a loop that has ended answers nobody.
fn has_ended(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

#[cfg(target_os = "linux")]
mod socket {
    use std::io;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    use std::path::Path;

    use super::Caller;
    use crate::process::is_descendant;

    pub(super) type Stream = UnixStream;

    /// A name in the kernel, made from the session's folder and its owner.
    fn address(session: &Path) -> io::Result<SocketAddr> {
        let path = session.canonicalize()?;
        let user = rustix::process::getuid().as_raw();
        let digest = blake3::hash(path.as_os_str().as_encoded_bytes());
        SocketAddr::from_abstract_name(format!("ralph-gate/{user}/{}", digest.to_hex()))
    }

    pub(super) fn bind(session: &Path) -> io::Result<UnixListener> {
        UnixListener::bind_addr(&address(session)?)
    }

    pub(super) fn connect(session: &Path) -> io::Result<Option<UnixStream>> {
        let address = match address(session) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            address => address?,
        };
        match UnixStream::connect_addr(&address) {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn caller(stream: &UnixStream) -> Caller {
        let Ok(peer) = rustix::net::sockopt::socket_peercred(stream) else {
            return Caller::Inside;
        };
        let process = u32::try_from(peer.pid.as_raw_nonzero().get()).unwrap_or(0);
        match is_descendant(process) {
            Some(false) if peer.uid == rustix::process::getuid() || peer.uid.is_root() => {
                Caller::Outside
            }
            _ => Caller::Inside,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod socket {
    use std::io;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::Path;

    use super::Caller;

    pub(super) type Stream = UnixStream;

    /// Elsewhere there are no sockets without a file: a loop is ended by a signal.
    pub(super) fn bind(_: &Path) -> io::Result<UnixListener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn connect(_: &Path) -> io::Result<Option<UnixStream>> {
        Ok(None)
    }

    pub(super) fn caller(_: &UnixStream) -> Caller {
        Caller::Inside
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_ends_before_it_answers_is_none() {
        let session = tempfile::tempdir().unwrap();
        let listener = socket::bind(session.path()).unwrap();
        let end = std::thread::spawn(move || {
            // Closed with the question unread, which resets the connection.
            let (stream, _) = listener.accept().unwrap();
            rustix::event::poll(
                &mut [rustix::event::PollFd::new(
                    &stream,
                    rustix::event::PollFlags::IN,
                )],
                None,
            )
            .unwrap();
        });
        assert_eq!(ask(session.path(), &Ask::Status).unwrap(), None);
        end.join().unwrap();
        assert_eq!(ask(session.path(), &Ask::Cancel).unwrap(), None);
    }

    #[test]
    fn what_a_loop_started_may_look_but_not_order() {
        let session = tempfile::tempdir().unwrap();
        let control = Control::new().unwrap();
        control.update(|live| live.iteration = 3);
        control.listen(session.path()).unwrap();
        let Some(Reply::Status(live)) = ask(session.path(), &Ask::Status).unwrap() else {
            panic!("no status");
        };
        assert_eq!(live.iteration, 3);
        // The caller is this very process.
        let refused = Reply::Refused {
            code: "from_inside".to_owned(),
        };
        assert_eq!(ask(session.path(), &Ask::Cancel).unwrap(), Some(refused));
        assert!(!control.is_stopped());
    }
}
