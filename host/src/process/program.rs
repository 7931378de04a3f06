//! What is run, and what became of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::capture::Captured;

/// A program, and everything that it gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name and its arguments. The name is looked up in the `PATH` of [`Program::environment`]; with a `/` in it,
    /// it is a path, seen from [`Program::directory`].
    pub argv: Vec<String>,
    /// Where it works.
    pub directory: PathBuf,
    /// All of its environment: nothing is inherited. One variable is added, by which [`run`](super::run()) finds what
    /// the program started (`RALPH_GATE_PROCESS`), and [`INNER`](super::INNER) is taken out.
    pub environment: BTreeMap<OsString, OsString>,
    /// What it can read from its standard input, which then ends.
    pub input: Vec<u8>,
    /// How long it may take.
    pub timeout: Duration,
    /// How much of its output is kept.
    pub keep: Keep,
}

/// How many bytes of each stream are kept in memory; all of them are counted and digested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// From the beginning.
    pub head: usize,
    /// From the end.
    pub tail: usize,
}

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub status: Status,
    /// How long the program itself ran.
    pub duration: Duration,
    /// What it wrote to its standard output.
    pub stdout: Captured,
    /// What it wrote to its standard error.
    pub stderr: Captured,
    /// What it left running when it ended by itself, and what was then killed: at most 64 of them, by process id. Then
    /// what could not be killed, however it ended: processes of another user, or stuck in the system.
    pub leftovers: Vec<Leftover>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal, which was not ours.
    Signaled(i32),
    /// It took longer than its timeout, and was killed.
    TimedOut,
    /// [`Stop::cancel`](super::Stop::cancel) was called, and it was killed.
    Canceled,
}

/// A process that was still there when it should have been gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its process id, which may belong to another process by now.
    pub pid: u32,
    /// Its command line without control characters, at most 200 bytes.
    pub command: String,
}
