//! Whole runs of the `ralph-gate` command: standard output, standard error and exit code.
//!
//! What the gate answers in detail is the matter of the vectors; here it is how the command asks and says it.

mod bad_input;
mod commands;
mod config;
mod evaluate;
mod harness;
mod import;
#[cfg(unix)]
mod init;
mod memory;
mod output;
#[cfg(unix)]
mod policy;
#[cfg(target_os = "linux")]
mod pty;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod shells;
#[cfg(target_os = "linux")]
mod view;
