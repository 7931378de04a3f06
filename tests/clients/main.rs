//! Real clients, offline: what their hooks are told, what becomes of what hooks answer, and the gate among them.

#![cfg(target_os = "linux")]

mod gate;
mod observed;
mod reaches;
mod replies;
mod steady;
mod told;
mod trust;
