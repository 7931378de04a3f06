//! The policy `rego`: passes when a [Rego](https://www.openpolicyagent.org/docs/policy-language) module allows it.
//!
//! What [`ralph_gate_policy_evidence`] describes is the module's `input`:
//!
//! ```
//! use ralph_gate_policy_evidence::{ArtifactsInMemory, Evidence, Outcome, Policy};
//! use ralph_gate_policy_rego::Rego;
//!
//! let module = r#"
//!     package gate
//!     default allow := false
//!     allow if input.iteration > 1
//!     deny contains "give it three tries" if input.iteration < 3
//! "#;
//! let settings = serde_json::json!({"module": module}).to_string();
//! let evidence = Evidence { iteration: 2, ..Evidence::default() };
//! let judgement = Rego::evaluate(&evidence, &ArtifactsInMemory::default(), &settings);
//! assert_eq!(judgement.outcome, Outcome::Fail);
//! assert_eq!(judgement.reasons, ["give it three tries"]);
//! ```
//!
//! - The language is Rego v1 (`if` and `contains`), with the built-in functions for collections, texts, numbers,
//!   `regex`, `semver`, `graph`, `base64`, `hex` and JSON; without clock, network and randomness, and without `glob`.
//! - The module is the only one: there is no `data` beside it.
//! - If the package has a rule `deny`, a set or list of texts, each of them is a reason to fail.
//! - Then the `query` decides, by default `allow` of the package: true is `pass`, false is `fail`. Everything else
//!   is `unknown`: a mistake in the module, undefined, a number.
//! - An artifact is loaded if its name is a word of the module, as in `input.coverage` or `input["coverage"]`.
//!
//! What is not there makes no rule of `deny` true. So a module should `allow` what is right, and not only
//! `deny` what is wrong: a module without `allow` never passes.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

#[cfg(feature = "component")]
mod component;
mod evaluation;
mod module;
mod rules;
mod tokens;

use ralph_gate_policy_evidence::{
    Artifacts, Evidence, Judgement, Policy, Setting, Settings, document,
};

use module::Module;

/// The policy.
#[derive(Debug, Clone, Copy)]
pub struct Rego;

impl Policy for Rego {
    const NAME: &'static str = "rego";
    const SUMMARY: &'static str = "Passes when a Rego module allows what is in the evidence.";
    const SETTINGS: &'static [Setting] = &[
        Setting {
            name: "module",
            required: true,
            about: "The Rego module, beginning with its package.",
        },
        Setting {
            name: "query",
            required: false,
            about: "What must be true. By default `allow` of the module's package.",
        },
    ];

    fn judge(evidence: &Evidence, artifacts: &dyn Artifacts, settings: &Settings) -> Judgement {
        let module = match Module::new(settings.required("module"), settings.get("query")) {
            Ok(module) => module,
            Err(error) => return Judgement::unknown(error),
        };
        match document(evidence, artifacts, |name| module.mentions(name)) {
            Ok(document) => evaluation::judge(&module, document),
            Err(error) => Judgement::unknown(error),
        }
    }
}

#[cfg(test)]
mod tests;
