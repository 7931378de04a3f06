//! What the shipped policies share: the evidence as one JSON document, artifacts, settings, and the answer.
//!
//! A policy is pure: evidence, artifacts and settings in, judgement out. [`Policy`] is what the two of them
//! implement, and the feature `component` turns an implementation into a WebAssembly component.
//!
//! # What a policy sees
//!
//! [`document()`] gives one JSON object. Its members are the variables of CEL, and `input` of Rego.
//!
//! | name | what it is |
//! | --- | --- |
//! | `iteration` | the number of the iteration |
//! | `checks` | by id: `kind`, `outcome` (`pass`, `fail`, `unknown`, `error`, `timeout` or `flaky`), `passed`, `reason`; `tests` if the check counted tests; `exit` if the exit code is known |
//! | `tests` | `passed`, `failed`, `skipped`, `total`, summed over all checks; absent if no check counted tests |
//! | `artifacts` | by name: `size`, `digest`, `fresh` |
//! | *an artifact's name* | its content: the value if it is JSON, else the text |
//!
//! An artifact has a variable of its own if its name is a [plain identifier](is_identifier) and none of the
//! names above, and if the policy mentions it: what nobody mentions is not read. An artifact that is
//! mentioned but can't be loaded (more than [`LARGEST_ARTIFACT`] bytes, more than [`MOST_VALUES`] values,
//! neither JSON nor text) is an error and not an absence, so that no rule passes for want of what it judges.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

mod artifacts;
#[cfg(feature = "component")]
pub mod component;
pub mod depth;
mod document;
mod judgement;
mod policy;
mod settings;

pub use artifacts::{
    Artifacts, ArtifactsInMemory, LARGEST_ARTIFACT, LoadError, MOST_VALUES, ReadError,
};
pub use document::{
    ArtifactInfo, Document, Evidence, Finding, FindingOutcome, NAMES, TestCounts, document,
    is_identifier,
};
pub use judgement::{Judgement, Outcome, quoted, shortened};
pub use policy::{LONGEST_TEXT, Policy};
pub use settings::{Setting, Settings, SettingsError};

#[cfg(test)]
mod tests;
