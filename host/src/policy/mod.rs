//! Policies: checks that strangers wrote, as components. The host runs them without trusting them.
//!
//! What is expensive once and what is cheap each time is visible in the types:
//!
//! * [`PolicyHost`]: once per process. The engine, a cache of compiled code, and the threads that policies run on.
//! * [`Policy`]: once per component. Compiled in a process of its own, looked at, and ready.
//! * a call: [`Policy::evaluate`], in an instance and a store of its own, within [`PolicyLimits`].
//!
//! A policy gets the evidence it is handed and nothing else. Whatever it does, the outcome is a value: a [`Judgement`],
//! or a [`PolicyError`] that says which limit it reached.

mod cache;
mod cases;
mod code;
mod compile;
mod config;
mod error;
mod guest;
mod host;
mod limits;
#[expect(clippy::module_inception, reason = "a policy is the module's one idea")]
mod policy;
mod shipped;
mod template;
mod ticker;
mod types;
mod wasi;
mod worker;
mod wrap;

pub use cache::CodeCache;
pub use cases::{Case, CaseError, Expected, read_cases, read_evidence};
pub use compile::{Compiler, serve};
pub use error::{PolicyError, Reached};
pub use guest::Log;
pub use host::{PolicyHost, Wasi};
pub use limits::PolicyLimits;
pub use policy::{Bill, Grant, Import, Policy, Run};
pub use shipped::Shipped;
pub use template::{Language, NewError, new_project};
pub use types::{
    Artifact, Counts, Description, FindingOutcome, Judgement, PolicyFinding, PolicyInput,
    PolicyOutcome,
};
pub use wrap::wrap;
