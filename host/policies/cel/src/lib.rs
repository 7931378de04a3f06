//! The policy `cel`: passes when a [CEL](https://cel.dev) expression over the evidence is true.
//!
//! The names that an expression can use are those of [`ralph_gate_policy_evidence`]:
//!
//! ```
//! use ralph_gate_policy_cel::Cel;
//! use ralph_gate_policy_evidence::{ArtifactsInMemory, Evidence, Outcome, Policy};
//!
//! let evidence = Evidence { iteration: 3, ..Evidence::default() };
//! let judgement = Cel::evaluate(&evidence, &ArtifactsInMemory::default(), r#"{"expr": "iteration > 5 && checks.all(id, checks[id].passed)"}"#);
//! assert_eq!(judgement.outcome, Outcome::Fail);
//! assert_eq!(judgement.reasons, ["`iteration > 5` is false: iteration is 3"]);
//! ```
//!
//! - The language is standard CEL with optional values, without timestamps and durations: there is no clock.
//! - Whole numbers of JSON are `int`, others `double`. The two compare (`83 >= 80.0`) but do not mix in
//!   arithmetic: `double(tests.passed) / double(tests.total)`.
//! - Patterns in `matches` are those of the crate `regex-lite`. As CEL has it, `\d`, `\w` and `\s` are of ASCII.
//!   Matching takes some thousand steps a byte: in large texts `contains` is a better question.
//! - False is `fail`, and the reasons name the operands of the outermost `&&` that are false. Everything
//!   that is neither true nor false is `unknown`: a mistake in the expression, a name that does not exist,
//!   a number.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]

#[cfg(feature = "component")]
mod component;
mod evaluation;
mod explanation;
mod expression;
mod values;

use ralph_gate_policy_evidence::{
    Artifacts, Evidence, Judgement, Policy, Setting, Settings, document,
};

use expression::Expression;

/// The policy.
#[derive(Debug, Clone, Copy)]
pub struct Cel;

impl Policy for Cel {
    const NAME: &'static str = "cel";
    const SUMMARY: &'static str = "Passes when a CEL expression over the evidence is true.";
    const SETTINGS: &'static [Setting] = &[
        Setting {
            name: "expr",
            required: true,
            about: "The CEL expression that must be true, for example `tests.failed == 0`.",
        },
        Setting {
            name: "message",
            required: false,
            about: "What to say when the expression is false, instead of which part of it is.",
        },
    ];

    fn judge(evidence: &Evidence, artifacts: &dyn Artifacts, settings: &Settings) -> Judgement {
        let expression = match Expression::parse(settings.required("expr")) {
            Ok(expression) => expression,
            Err(error) => return Judgement::unknown(error),
        };
        match document(evidence, artifacts, |name| expression.mentions(name)) {
            Ok(document) => evaluation::judge(&expression, &document, settings.get("message")),
            Err(error) => Judgement::unknown(error),
        }
    }
}

#[cfg(test)]
mod tests;
