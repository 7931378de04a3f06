//! Whether the gate makes loops better: events become runs, runs become statistics, statistics become a report.
//!
//! Everything is a function of texts and numbers. There are no files, no clock and no randomness but a seeded one, and
//! logarithms come from one implementation, so that the command and a page in a browser print the same digits.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

pub mod compare;
pub mod logs;
pub mod model;
pub mod read;
pub mod render;
pub mod run;
pub mod shared;
pub mod statistics;
