//! Whole experiments: the real command, real repositories, and agents that do as they are told, or worse.

#![cfg(target_os = "linux")]

mod bench;
mod counting;
mod planning;
mod running;
mod stopping;
