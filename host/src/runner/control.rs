//! How others reach a loop that is running: cancel it, complete it by hand, ask how it goes.
//!
//! The loop listens on a socket that has no file, so that nothing can be put in its place. Each caller is looked up
//! by its process: what the loop itself started, however far it went, is not an operator.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::engine::OperatorNote;
use crate::process::{Identity, Stop};

/// The longest question or answer, in bytes.
const LONGEST: usize = 64 * 1024;
/// The longest name or reason of an operator that the gate takes, in bytes.
const LONGEST_NOTE: usize = 1024;
/// How long a question may take in all, and an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many callers are heard at the same time. Those that the loop started have seats of their own: they can't take the
/// operator's.
const SEATS: usize = 16;
/// How long to wait when nobody can be heard, for want of memory or descriptors.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How many other loops are asked at most.
#[cfg(target_os = "linux")]
const OTHERS: usize = 64;

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
    /// The session's key.
    pub session: String,
    /// The session's folder.
    pub memory: PathBuf,
    /// The process that runs the loop.
    pub process: u32,
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
        /// Why.
        code: Refusal,
    },
}

/// Why a caller is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The loop started it, or that can't be told.
    FromInside,
    /// The contract lets nobody complete the loop by hand.
    OverrideNotAllowed,
    /// The operator's name or reason is longer than the gate takes.
    TooLong,
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

    /// Whether it is to end.
    pub fn is_stopped(&self) -> bool {
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

    /// Answers callers, in threads of its own, until the process ends.
    pub fn listen(&self, session: &Path) -> io::Result<()> {
        let listener = socket::bind(session)?;
        let control = self.clone();
        let serve = move || {
            let seats = [Arc::new(()), Arc::new(())];
            for stream in listener.incoming() {
                match stream {
                    Ok(stream) => control.receive(stream, &seats),
                    Err(_) => thread::sleep(LOOK_AGAIN),
                }
            }
        };
        thread::Builder::new().name("control".into()).spawn(serve)?;
        Ok(())
    }

    /// Looks the caller up, before it can go away and leave its number to another process, and hears it.
    fn receive(&self, stream: socket::Stream, [outside, inside]: &[Arc<()>; 2]) {
        let Some(caller) = socket::caller(&stream) else {
            return;
        };
        let seats = match caller.origin {
            Origin::Outside => outside,
            Origin::Inside => inside,
        };
        if Arc::strong_count(seats) > SEATS {
            return;
        }
        let (control, seat) = (self.clone(), Arc::clone(seats));
        let hear = move || {
            // A caller that says nothing, or goes away, is no concern of the loop.
            let _ = control.serve(&stream, caller);
            drop(seat);
        };
        // Without it the caller is not heard, and sees that.
        let _ = thread::Builder::new().name("caller".into()).spawn(hear);
    }

    fn serve(&self, stream: &socket::Stream, caller: Caller) -> io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let ask: Ask = serde_json::from_slice(&hear(stream, Instant::now() + PATIENCE)?)?;
        // Looked up again: whoever asks must be whoever connected, and alive.
        let origin = match socket::caller(stream) {
            Some(now) if now == caller => now.origin,
            _ => Origin::Inside,
        };
        let reply = self.answer(&ask, origin);
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

    fn answer(&self, ask: &Ask, origin: Origin) -> Reply {
        let live = self.with(|shared| shared.live.clone());
        let refused = |code| Reply::Refused { code };
        match (ask, origin) {
            (Ask::Status, _) => Reply::Status(live),
            (_, Origin::Inside) => refused(Refusal::FromInside),
            (Ask::Override { .. }, Origin::Outside) if !live.overridable => {
                refused(Refusal::OverrideNotAllowed)
            }
            (Ask::Override { operator, reason }, Origin::Outside)
                if operator.len().max(reason.len()) > LONGEST_NOTE =>
            {
                refused(Refusal::TooLong)
            }
            (Ask::Cancel | Ask::Override { .. }, Origin::Outside) => Reply::Accepted(live),
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

/// Who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Caller {
    /// None if it has ended already.
    process: Option<Identity>,
    origin: Origin,
}

/// Where a caller comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Nothing that the loop started.
    Outside,
    /// The loop started it, or that can't be told.
    Inside,
}

/// Asks a loop that is running. None if none listens for that session, or if it ended before it answered.
pub fn ask(session: &Path, ask: &Ask) -> io::Result<Option<Reply>> {
    match socket::connect(session)? {
        Some(stream) => converse(&stream, ask),
        None => Ok(None),
    }
}

/// Every loop of this user that runs on this machine and answers, wherever its memory is.
pub fn running() -> Vec<Live> {
    let streams = socket::all().into_iter();
    let live = streams.filter_map(|stream| match converse(&stream, &Ask::Status) {
        Ok(Some(Reply::Status(live))) => Some(live),
        _ => None,
    });
    live.collect()
}

fn converse(mut stream: &socket::Stream, ask: &Ask) -> io::Result<Option<Reply>> {
    let mut text = serde_json::to_string(ask)?;
    text.push('\n');
    stream.set_write_timeout(Some(PATIENCE))?;
    let heard = stream
        .write_all(text.as_bytes())
        .and_then(|()| hear(stream, Instant::now() + PATIENCE));
    match heard {
        Ok(line) if line.is_empty() => Ok(None),
        Ok(line) => Ok(Some(serde_json::from_slice(&line)?)),
        Err(error) if has_ended(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// One line from the other side, however slowly it comes, but not later than this. Less at the end of the stream.
fn hear(mut stream: &socket::Stream, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut chunk = [0; 1024];
    while line.last() != Some(&b'\n') && line.len() < LONGEST {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => line.extend_from_slice(chunk.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
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
    use std::collections::BTreeSet;
    use std::io;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
    use std::path::Path;

    use super::{Caller, OTHERS, Origin};
    use crate::process::{identity, is_descendant};

    pub(super) type Stream = UnixStream;

    /// The beginning of the names of all loops of this user.
    fn prefix() -> String {
        format!("ralph-gate/{}/", rustix::process::getuid().as_raw())
    }

    /// A name in the kernel, made from the session's folder and its owner.
    fn address(session: &Path) -> io::Result<SocketAddr> {
        let path = session.canonicalize()?;
        let digest = blake3::hash(path.as_os_str().as_encoded_bytes());
        SocketAddr::from_abstract_name(prefix() + &digest.to_hex())
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

    /// The loops whose names the kernel shows.
    pub(super) fn all() -> Vec<UnixStream> {
        let table = std::fs::read("/proc/net/unix").unwrap_or_default();
        let table = String::from_utf8_lossy(&table);
        let prefix = prefix();
        let names = table.lines().filter_map(|line| {
            let name = line.split_once('@')?.1;
            name.starts_with(&prefix).then_some(name)
        });
        let names: BTreeSet<&str> = names.take(OTHERS).collect();
        let connect = |name: &str| {
            let address = SocketAddr::from_abstract_name(name).ok()?;
            UnixStream::connect_addr(&address).ok()
        };
        names.into_iter().filter_map(connect).collect()
    }

    /// Who is at the other end. None if another user is, to whom nothing is said.
    pub(super) fn caller(stream: &UnixStream) -> Option<Caller> {
        let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
        if peer.uid != rustix::process::getuid() && !peer.uid.is_root() {
            return None;
        }
        let process = u32::try_from(peer.pid.as_raw_nonzero().get()).unwrap_or(0);
        let before = identity(process);
        let is_outside = is_descendant(process) == Some(false);
        // The number was no other process's in between.
        let is_same = before.is_some() && identity(process) == before;
        Some(Caller {
            process: before,
            origin: if is_outside && is_same {
                Origin::Outside
            } else {
                Origin::Inside
            },
        })
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

    pub(super) fn all() -> Vec<UnixStream> {
        Vec::new()
    }

    pub(super) fn caller(_: &UnixStream) -> Option<Caller> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_ends_before_it_answers_is_none() {
        let session = tempfile::tempdir().unwrap();
        let listener = socket::bind(session.path()).unwrap();
        let end = thread::spawn(move || {
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
            code: Refusal::FromInside,
        };
        assert_eq!(ask(session.path(), &Ask::Cancel).unwrap(), Some(refused));
        assert!(!control.is_stopped());
    }

    #[test]
    fn callers_that_say_nothing_keep_nobody_out() {
        let session = tempfile::tempdir().unwrap();
        let control = Control::new().unwrap();
        control.listen(session.path()).unwrap();
        // One after the other would have to wait for the deadline of each, which is longer than anybody's patience.
        let connect = || socket::connect(session.path()).unwrap().unwrap();
        let silent: Vec<socket::Stream> = (1..SEATS).map(|_| connect()).collect();
        let reply = ask(session.path(), &Ask::Status).unwrap();
        assert!(matches!(reply, Some(Reply::Status(_))), "{reply:?}");
        drop(silent);
    }

    #[test]
    fn what_the_loop_started_has_only_its_own_seats() {
        let session = tempfile::tempdir().unwrap();
        let control = Control::new().unwrap();
        control.listen(session.path()).unwrap();
        let connect = || socket::connect(session.path()).unwrap().unwrap();
        let silent: Vec<socket::Stream> = (0..SEATS).map(|_| connect()).collect();
        // This process is inside: one more is not heard, and sees that at once.
        assert_eq!(ask(session.path(), &Ask::Status).unwrap(), None);
        drop(silent);
    }

    #[test]
    fn a_question_that_drips_has_one_deadline() {
        let (here, there) = socket::Stream::pair().unwrap();
        let drip = thread::spawn(move || {
            let mut there = there;
            while there.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
        });
        let error = hear(&here, Instant::now() + Duration::from_millis(100)).unwrap_err();
        let is_late = |kind| matches!(kind, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock);
        assert!(is_late(error.kind()), "{error}");
        drop(here);
        drip.join().unwrap();
    }

    #[test]
    fn a_loop_is_found_wherever_its_memory_is() {
        let session = tempfile::tempdir().unwrap();
        let control = Control::new().unwrap();
        control.update(|live| live.session = "found everywhere".to_owned());
        control.listen(session.path()).unwrap();
        let is_it = |live: &Live| live.session == "found everywhere";
        assert!(running().iter().any(is_it));
    }
}
