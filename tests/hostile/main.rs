//! Policies that mean harm, and a host that must not come to any.
//!
//! `corpus/` has them as texts; what is large is made by `generated`. Each is tried in a process of its own, which is the
//! host (`trial.rs`, the program `policy-trial`). `cargo xtask hostile` does all of it; `cargo test` does the same with
//! fewer repetitions.

mod cache;
mod case;
mod crowd;
mod damaged;
mod generated;
mod outcomes;
mod words;
