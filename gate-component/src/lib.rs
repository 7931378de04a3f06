//! The gate that decides when an autonomous agent may stop: a pure, deterministic function.
//!
//! Text and numbers in, verdict out. No clock, no files, no randomness, no environment, no hash order:
//! the same input gives the same output, byte for byte, natively and in every host of the component.
//!
//! ```
//! use ralph_gate_component::iteration::{Action, CheckResult, Iteration, Outcome};
//! use ralph_gate_component::session::Session;
//! use ralph_gate_component::verdict::{Decision, StopReason};
//!
//! let contract = "mode: ralph\ncompletion_token: COMPLETE\ncompletion_checks: [tests_green]\n";
//! let mut session = Session::open(contract, None).unwrap();
//!
//! let mut turn = Iteration::new(1, Action::Final);
//! turn.output = "All done.\n<promise>COMPLETE</promise>".into();
//! turn.checks = vec![CheckResult::new("tests_green", Outcome::Fail)];
//! assert_eq!(session.evaluate_final(&turn).unwrap().decision, Decision::Continue);
//!
//! turn.index = 2;
//! turn.checks = vec![CheckResult::new("tests_green", Outcome::Pass)];
//! let verdict = session.evaluate_final(&turn).unwrap();
//! assert_eq!(verdict.stop_reason, Some(StopReason::Completed));
//! ```
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice
)]

pub mod contract;
pub mod decimal;
mod digest;
pub mod error;
mod feedback;
pub mod fingerprint;
mod front_matter;
pub mod iteration;
pub mod json;
pub mod loop_file;
mod order;
pub mod prd;
pub mod progress;
pub mod promise;
pub mod routing;
pub mod schema;
pub mod session;
pub mod signal;
pub mod snapshot;
pub mod stall;
pub mod tree;
pub mod verdict;
mod vocabulary;

#[cfg(feature = "component")]
mod component;

pub use vocabulary::Word;
