//! What the gate does with every byte of an agent's output.
//!
//! A crate of its own, because this is compiled for speed and the rest of the gate for size. So nothing here
//! is generic, since generic code is compiled where it is used, and what is public is never inlined.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice
)]

pub mod ansi;
pub mod markdown;
pub mod normal;
pub mod tags;
