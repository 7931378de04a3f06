//! Why a program, the guard or the runner could not be started.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a program was not started. Nothing of it runs.
#[derive(Debug, Error)]
pub enum StartError {
    /// There is no name.
    #[error("the list of arguments is empty: give at least the name of a program")]
    NoName,
    /// A text can't be given to a program.
    #[error("{what} of program `{program}` contains a zero byte: remove it")]
    ZeroByte {
        /// The program's name.
        program: String,
        /// Which text.
        what: String,
    },
    /// A variable can't have that name.
    #[error(
        "program `{program}` can't have an environment variable named `{name}`: a name is not empty and has no `=`"
    )]
    VariableName {
        /// The program's name.
        program: String,
        /// The variable's name.
        name: String,
    },
    /// The working directory can't be used.
    #[error(
        "program `{program}` can't work in {directory}: {source}; create the directory or name another one"
    )]
    Directory {
        /// The program's name.
        program: String,
        /// The directory.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no such program.
    #[error("program `{program}` was not found in {place}: install it or give its path")]
    NotFound {
        /// The program's name.
        program: String,
        /// Where it was looked for.
        place: String,
    },
    /// The file is there, but is none that can be run.
    #[error(
        "program `{program}` can't be run, because {path} is not executable: make it so with `chmod +x`, or name its interpreter first"
    )]
    NotExecutable {
        /// The program's name.
        program: String,
        /// The file.
        path: PathBuf,
    },
    /// The file is executable, but not in a form that the system knows.
    #[error(
        "program `{program}` can't be run, because {path} is neither a program for this system nor a script: give it a first line such as `#!/bin/sh`, or name its interpreter first"
    )]
    Format {
        /// The program's name.
        program: String,
        /// The file.
        path: PathBuf,
    },
    /// The file is there, but what it needs to run is not.
    #[error(
        "program `{program}` can't be run, because the interpreter that {path} names was not found: install it or correct the first line"
    )]
    Interpreter {
        /// The program's name.
        program: String,
        /// The file.
        path: PathBuf,
    },
    /// There is too much to hand over.
    #[error(
        "program `{program}` can't be run, because its arguments and environment are larger than the system allows: pass the text as input or in a file"
    )]
    TooLarge {
        /// The program's name.
        program: String,
    },
    /// The system refused for another reason.
    #[error("program `{program}` could not be started from {path}: {source}")]
    System {
        /// The program's name.
        program: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Why this process can't become the parent of what programs leave behind.
#[derive(Debug, Error)]
#[error("this process can't take charge of orphaned processes: {0}")]
pub struct ClaimError(#[from] pub io::Error);

/// Why the guard or the runner could not begin.
#[derive(Debug, Error)]
pub enum GuardError {
    /// The runner was not started.
    #[error("the runner {program} could not be started: {source}")]
    Start {
        /// The executable.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// Signals can't be received.
    #[error("signals can't be received: {0}")]
    Signals(#[source] io::Error),
    /// The runner is still in the session of whoever started it.
    #[error("the runner can't leave the terminal: {0}")]
    Session(#[source] io::Error),
    /// The guard can't be watched.
    #[error("the guard can't be watched: {0}")]
    Watch(#[source] io::Error),
    /// The runner was started by something else than the guard, or the guard died at once.
    #[error(
        "the guard that the environment variable {variable} names is not the parent of this process: it has died, or the variable was inherited by mistake and must be unset"
    )]
    NoGuard {
        /// The variable.
        variable: &'static str,
    },
    /// Orphans can't be caught.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}
