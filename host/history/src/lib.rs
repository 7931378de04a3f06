//! Event logs, read and asked: what happened in a loop, whether the gate still answers as it did, and what it would have
//! answered under another contract.
//!
//! Everything is a function of texts. There are no files, no clock and no gate in here: a log comes as its text, and the gate
//! as something that can be called ([`Gate`]). So the command line and a page in a browser run the same code, each with its
//! own way to the same gate.
//!
//! ```
//! use ralph_gate_history::{Gate, Log, what_if};
//!
//! let text = include_str!("../testdata/events.jsonl");
//! let log = Log::read(text)?;
//! let gate = |function: &str, input: &str| Ok(ralph_gate_component::json::call(function, input));
//! assert!(ralph_gate_history::replay(&log, None, &gate)?.same);
//!
//! let stricter = "mode: ralph\ncompletion_checks: [tests_green]\nloop_max_iters: 2";
//! let report = what_if(&log, stricter, &gate)?;
//! assert_eq!(report.other.iteration, 2);
//! # Ok::<(), ralph_gate_history::HistoryError>(())
//! ```
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod amount;
mod decided;
mod difference;
mod error;
mod gate;
mod json;
mod log;
mod replay;
mod text;
mod what_if;

pub use decided::{Decided, Standing, Totals};
pub use difference::Difference;
pub use error::{HistoryError, Problem};
pub use gate::{Gate, Resumption, Unanswered};
pub use json::answer;
pub use log::{Given, Log, LogBreak, LogEvent, LogReport, LoopStart, RecordedIteration};
pub use replay::{Outcome, ReplayReport, ReplayedIteration, replay};
pub use what_if::{State, Unknown, WhatIfIteration, WhatIfReport, what_if};
