//! The gate over HTTP: the real command, real connections, and clients that mean no good.

#![cfg(target_os = "linux")]

mod asking;
mod loops;
mod sessions;
mod stubborn;
