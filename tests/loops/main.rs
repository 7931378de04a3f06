//! Whole loops: the real command, a real repository, and agents that do as they are told, or worse.

#![cfg(target_os = "linux")]

mod auditing;
mod beginning;
mod beside_the_files;
mod cheating;
mod command_line;
mod commits;
mod crashing;
mod elsewhere;
mod harness;
mod kit;
mod labels;
mod looking_back;
mod memory;
mod operating;
mod policies;
mod preflight;
mod private;
mod processes;
mod protecting;
mod reopened;
mod replaying;
mod retrying;
mod secrets;
mod standard;
mod standing_still;
mod stopping;
mod stops;
mod stories;
mod zero_config;
