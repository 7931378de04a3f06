//! Runs one program, from its start to the death of the last process that it started.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread};
use rustix::process::Signal;

use super::capture::Capture;
use super::error::StartError;
use super::guard::{INNER, wake_guard};
use super::lookup::{Found, find, refusal};
use super::program::{Ended, Leftover, Program, Status};
use super::registry::{self, Run};
use super::root::Root;
use super::stop::Stop;
use super::tree::Tree;

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(500);
/// How long what a program left running may take to end by itself.
const LEFTOVER_PATIENCE: Duration = Duration::from_millis(300);
/// How often nothing must have been seen before it is believed that nothing is there.
const LOOKS: usize = 3;
/// How often is looked whether something has ended that doesn't tell by itself.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// How long the system may take to end a process that was killed.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// How long is read what was written before the end. It is all there already, so this ends a flood only.
const DRAIN_PATIENCE: Duration = Duration::from_millis(200);
/// How much is read at a time, and how often in a row, before the clock is looked at.
const CHUNK: usize = 64 << 10;
const CHUNKS_IN_A_ROW: usize = 16;

/// Runs a program until it ends, its time is over or `stop` is used, and then ends everything that it started.
///
/// On timeout and cancel, its process group gets SIGTERM and half a second; after that, the whole tree gets SIGKILL.
/// If it ends by itself, what it left running gets 0.3 s, is then named in [`Ended::leftovers`] and killed. If
/// something could not be killed within two seconds, it is in [`Ended::leftovers`] too.
///
/// If `stop` was used before, the program is not started at all.
///
/// `on_stdout` gets each piece of its standard output as it arrives, up to the end of the program itself: what
/// processes that outlive it write is captured, but could be said in its name. It should be quick: nothing else is
/// read meanwhile, and the timeout waits for it too.
///
/// ```
/// use std::time::Duration;
/// use ralph_gate::process::{Keep, Program, Status, Stop, run};
///
/// let program = Program {
///     argv: vec!["sh".into(), "-c".into(), "tr a-z A-Z".into()],
///     directory: ".".into(),
///     environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
///     input: b"hello".to_vec(),
///     timeout: Duration::from_secs(60),
///     keep: Keep { head: 4096, tail: 4096 },
/// };
/// let ended = run(&program, &Stop::new()?, &mut |_| {})?;
/// assert_eq!(ended.status, Status::Exited(0));
/// assert_eq!(ended.stdout.text(), "HELLO");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    program: &Program,
    stop: &Stop,
    on_stdout: &mut (dyn FnMut(&[u8]) + Send),
) -> Result<Ended, StartError> {
    let found = find(program)?;
    if stop.is_canceled() {
        return Ok(never_started(program));
    }
    let mut running = Running::start(program, &found, on_stdout)?;
    let end = running.until_end(program.timeout, stop);
    let leftovers = match end {
        End::Itself => running.settle(LEFTOVER_PATIENCE, Some(stop)),
        End::TimedOut | End::Canceled => {
            running.custody.tree.survey();
            running.custody.root.signal_group(Signal::TERM);
            running.settle(GRACE, None);
            Vec::new()
        }
    };
    let ended = running.finish(end, leftovers);
    // Whoever may have stopped it is dead.
    wake_guard();
    // Never returns if the guard died: its death must look like the death of this process too.
    drop(registry::starting());
    Ok(ended)
}

fn never_started(program: &Program) -> Ended {
    Ended {
        status: Status::Canceled,
        duration: Duration::ZERO,
        stdout: Capture::new(program.keep).finish(),
        stderr: Capture::new(program.keep).finish(),
        leftovers: Vec::new(),
    }
}

/// What ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Itself,
    TimedOut,
    Canceled,
}

/// A program that was started.
struct Running<'a> {
    custody: Custody,
    input: Option<Input<'a>>,
    stdout: Stream,
    stderr: Stream,
    on_stdout: &'a mut (dyn FnMut(&[u8]) + Send),
    listening: Listening,
    buffer: Vec<u8>,
    started: Instant,
    duration: Option<Duration>,
}

/// Whether what is written is still the program's own: what outlives it may write in its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listening {
    ToTheProgram,
    Over,
}

impl<'a> Running<'a> {
    fn start(
        program: &'a Program,
        found: &Found<'_>,
        on_stdout: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<Self, StartError> {
        let (custody, pipes) = Custody::start(program, found)?;
        let prepared = pipes.prepare();
        let [input, stdout, stderr] = prepared.map_err(|error| refusal(found, error))?;
        Ok(Self {
            custody,
            input: Some(Input {
                pipe: input,
                rest: &program.input,
            }),
            stdout: Stream::new(stdout, program),
            stderr: Stream::new(stderr, program),
            on_stdout,
            listening: Listening::ToTheProgram,
            buffer: vec![0; CHUNK],
            started: Instant::now(),
            duration: None,
        })
    }

    fn until_end(&mut self, timeout: Duration, stop: &Stop) -> End {
        // A time that the clock can't show never comes.
        let deadline = self.started.checked_add(timeout);
        loop {
            self.transfer();
            if self.has_ended() {
                return End::Itself;
            }
            if stop.is_canceled() {
                return End::Canceled;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return End::TimedOut;
            }
            self.wait(left, Some(stop));
        }
    }

    fn has_ended(&mut self) -> bool {
        let ended = self.custody.root.has_ended();
        if ended && self.duration.is_none() {
            self.duration = Some(self.started.elapsed());
            self.stop_listening();
        }
        ended
    }

    /// Hands over what is in the pipe now, and nothing that is written later.
    fn stop_listening(&mut self) {
        self.stdout.read_available(&mut self.buffer, self.on_stdout);
        self.listening = Listening::Over;
    }

    /// Waits until nothing of the program lives any more, or for so long, and gives what does apart from the program
    /// itself.
    fn settle(&mut self, patience: Duration, stop: Option<&Stop>) -> Vec<Leftover> {
        let deadline = Instant::now() + patience;
        loop {
            self.transfer();
            let left = deadline.saturating_duration_since(Instant::now());
            let over = left.is_zero() || stop.is_some_and(Stop::is_canceled);
            if self.has_ended() {
                let alive = self.alive();
                if alive.is_empty() {
                    self.custody.remains = Remains::Nothing;
                }
                if alive.is_empty() || over {
                    return alive;
                }
                self.wait(Some(left.min(LOOK_AGAIN)), stop);
            } else if over {
                return Vec::new();
            } else {
                self.wait(Some(left), stop);
            }
        }
    }

    /// What is alive of the program. One that flees from process to process can slip through a single look.
    fn alive(&mut self) -> Vec<Leftover> {
        for _ in 1..LOOKS {
            let alive = self.custody.tree.alive();
            if !alive.is_empty() {
                return alive;
            }
        }
        self.custody.tree.alive()
    }

    /// Sleeps until there is something to read or to write, the program ends, `stop` is used, or the time is over.
    fn wait(&self, limit: Option<Duration>, stop: Option<&Stop>) {
        let root = self.custody.root.watch();
        let limit = match root {
            Some(_) => limit,
            None => Some(limit.map_or(LOOK_AGAIN, |limit| limit.min(LOOK_AGAIN))),
        };
        let stop = stop.filter(|stop| !stop.is_canceled());
        let readable = [
            self.stdout.pipe.as_ref().map(AsFd::as_fd),
            self.stderr.pipe.as_ref().map(AsFd::as_fd),
            stop.map(Stop::wake),
            root,
        ];
        let readable = readable.into_iter().flatten();
        let readable = readable.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
        let writable = self.input.iter();
        let writable = writable.map(|input| PollFd::new(&input.pipe, PollFlags::OUT));
        let mut files: Vec<PollFd<'_>> = readable.chain(writable).collect();
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match poll(&mut files, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Without memory for it, look again soon: nothing below blocks.
            Err(_) => std::thread::sleep(LOOK_AGAIN),
        }
    }

    /// Writes and reads what can be without waiting.
    fn transfer(&mut self) -> Flow {
        if let Some(input) = &mut self.input
            && input.write() == Flow::Over
        {
            self.input = None;
        }
        let stdout = match self.listening {
            Listening::ToTheProgram => self.stdout.read(&mut self.buffer, self.on_stdout),
            Listening::Over => self.stdout.read(&mut self.buffer, &mut |_| {}),
        };
        let stderr = self.stderr.read(&mut self.buffer, &mut |_| {});
        stdout.max(stderr)
    }

    fn finish(mut self, end: End, mut leftovers: Vec<Leftover>) -> Ended {
        let (status, survivors) = self.custody.end();
        leftovers.retain(|leftover| survivors.iter().all(|alive| alive.pid != leftover.pid));
        leftovers.extend(survivors);
        // Whoever wrote is dead, so what can't be read now was written by nobody that could be found.
        let deadline = Instant::now() + DRAIN_PATIENCE;
        while self.transfer() == Flow::More && Instant::now() < deadline {}
        Ended {
            status: verdict(end, status),
            duration: self.duration.unwrap_or_else(|| self.started.elapsed()),
            stdout: self.stdout.capture.finish(),
            stderr: self.stderr.capture.finish(),
            leftovers,
        }
    }
}

fn verdict(end: End, status: Option<ExitStatus>) -> Status {
    /// What a shell says of a program whose end it could not see.
    const UNKNOWN: i32 = 127;
    match end {
        End::TimedOut => Status::TimedOut,
        End::Canceled => Status::Canceled,
        End::Itself => match status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => Status::Exited(code),
            Some((None, Some(signal))) => Status::Signaled(signal),
            Some((None, None)) | None => Status::Exited(UNKNOWN),
        },
    }
}

/// The processes of a program. Invariant: when it is gone, so are they, even if this thread panics meanwhile.
struct Custody {
    root: Root,
    tree: Tree,
    number: u64,
    remains: Remains,
}

/// What is left of a program's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remains {
    /// There may be some.
    Something,
    /// All have ended.
    Nothing,
    /// All have ended and were reaped: the ids may be others' by now.
    Reaped,
}

impl Custody {
    fn start(program: &Program, found: &Found<'_>) -> Result<(Self, Pipes), StartError> {
        let number = registry::next_number();
        let mark = registry::mark(number);
        let mut command = command(program, found, &mark);
        let starting = registry::starting();
        let mut child = command.spawn().map_err(|error| refusal(found, error))?;
        let pipes = Pipes::take(&mut child);
        let root = Root::new(child);
        let run = Run {
            root: root.id(),
            #[cfg(target_os = "linux")]
            mark,
            #[cfg(target_os = "linux")]
            pipes: pipes.outputs(),
        };
        registry::runs().insert(number, run);
        drop(starting);
        let tree = Tree::new(number, &root);
        Ok((
            Self {
                root,
                tree,
                number,
                remains: Remains::Something,
            },
            pipes,
        ))
    }

    /// Kills and reaps whatever is left, and gives the program's own status and what could not be killed.
    fn end(&mut self) -> (Option<ExitStatus>, Vec<Leftover>) {
        let survivors = match std::mem::replace(&mut self.remains, Remains::Reaped) {
            Remains::Nothing => Vec::new(),
            Remains::Something => self.tree.kill(&self.root),
            Remains::Reaped => return (None, Vec::new()),
        };
        // Costs next to nothing, and is all there is where the tree can't be seen.
        self.root.signal_group(Signal::KILL);
        let deadline = Instant::now() + KILL_PATIENCE;
        while !self.root.has_ended() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.tree.reap();
        let status = self.root.reap().ok().flatten();
        registry::runs().remove(&self.number);
        (status, survivors)
    }
}

impl Drop for Custody {
    fn drop(&mut self) {
        self.end();
    }
}

fn command(program: &Program, found: &Found<'_>, mark: &str) -> Command {
    let mut command = Command::new(&found.path);
    command
        .arg0(found.name)
        .args(found.arguments)
        .current_dir(&found.directory)
        .env_clear()
        .envs(&program.environment)
        .env_remove(INNER)
        .env(registry::VARIABLE, registry::variable(mark))
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// This side of a program's standard streams.
struct Pipes([Option<OwnedFd>; 3]);

impl Pipes {
    fn take(child: &mut Child) -> Self {
        Self([
            child.stdin.take().map(OwnedFd::from),
            child.stdout.take().map(OwnedFd::from),
            child.stderr.take().map(OwnedFd::from),
        ])
    }

    #[cfg(target_os = "linux")]
    fn outputs(&self) -> [Option<super::tree::Inode>; 2] {
        let Self([_, stdout, stderr]) = self;
        [stdout, stderr].map(|pipe| super::tree::Inode::of(pipe.as_ref()?))
    }

    /// From now on, reading and writing on this side never wait; the program's side is not concerned.
    fn prepare(self) -> io::Result<[OwnedFd; 3]> {
        let Self([Some(stdin), Some(stdout), Some(stderr)]) = self else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let pipes = [stdin, stdout, stderr];
        for pipe in &pipes {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(pipes)
    }
}

/// Whether there is more to read or to write, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Flow {
    Over,
    Waiting,
    More,
}

/// What a program still gets to read.
struct Input<'a> {
    pipe: OwnedFd,
    rest: &'a [u8],
}

impl Input<'_> {
    fn write(&mut self) -> Flow {
        while !self.rest.is_empty() {
            match rustix::io::write(&self.pipe, self.rest) {
                Ok(written) => self.rest = self.rest.get(written..).unwrap_or_default(),
                Err(Errno::AGAIN) => return Flow::Waiting,
                Err(Errno::INTR) => {}
                // It reads no more, which is its own affair.
                Err(_) => return Flow::Over,
            }
        }
        Flow::Over
    }
}

/// What a program writes.
struct Stream {
    pipe: Option<OwnedFd>,
    capture: Capture,
}

impl Stream {
    fn new(pipe: OwnedFd, program: &Program) -> Self {
        Self {
            pipe: Some(pipe),
            capture: Capture::new(program.keep),
        }
    }

    /// Reads as many bytes as the pipe holds at this moment.
    fn read_available(&mut self, buffer: &mut [u8], sink: &mut dyn FnMut(&[u8])) {
        let Some(pipe) = &self.pipe else { return };
        let mut left = ioctl_fionread(pipe).map_or(0, |bytes| usize::try_from(bytes).unwrap_or(0));
        while left > 0 {
            let most = left.min(buffer.len());
            let room = buffer.get_mut(..most).unwrap_or_default();
            match rustix::io::read(pipe, &mut *room) {
                Ok(read @ 1..) => {
                    left = left.saturating_sub(read);
                    let chunk = room.get(..read).unwrap_or_default();
                    self.capture.push(chunk);
                    sink(chunk);
                }
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }

    fn read(&mut self, buffer: &mut [u8], sink: &mut dyn FnMut(&[u8])) -> Flow {
        let Some(pipe) = &self.pipe else {
            return Flow::Over;
        };
        for _ in 0..CHUNKS_IN_A_ROW {
            match rustix::io::read(pipe, &mut *buffer) {
                Ok(read @ 1..) => {
                    let chunk = buffer.get(..read).unwrap_or_default();
                    self.capture.push(chunk);
                    sink(chunk);
                }
                Err(Errno::AGAIN) => return Flow::Waiting,
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => {
                    self.pipe = None;
                    return Flow::Over;
                }
            }
        }
        Flow::More
    }
}
