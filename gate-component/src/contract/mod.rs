//! The contract: what must hold for a loop to complete, and the guardrails that end it otherwise.

pub mod draft;
pub(crate) mod fields;
mod lint;
pub mod profile;

use serde::Serialize;

use crate::decimal::Decimal;
use crate::digest;
use crate::error::{ErrorCode, GateError, Problem};
use crate::iteration::Outcome;
use crate::tree::decode::{Decoder, Path};
use crate::tree::{Node, Source, TextFormat, recognise};
use crate::vocabulary::vocabulary;
use draft::{Draft, Extent};
use profile::Profiles;

vocabulary! {
    /// What the harness asked for, or was given by routing.
    Mode {
        /// The harness's own completion.
        Standard = "standard",
        /// The gate decides.
        Ralph = "ralph",
        /// `ralph` if there is at least one required check, else `standard`.
        Auto = "auto",
    }
}

vocabulary! {
    /// Whether verdicts bind.
    Enforcement {
        /// The verdict is the answer.
        Enforce = "enforce",
        /// Everything is evaluated, nothing is intercepted.
        Shadow = "shadow",
    }
}

vocabulary! {
    /// Which promises count.
    PromiseRules {
        /// Only the last thing in the output, alone on its line, outside code, quotes, raw HTML and comments.
        Strict = "strict",
        /// The first tag anywhere.
        Lenient = "lenient",
    }
}

vocabulary! {
    /// What a flaky check counts as, when it passes now.
    OnFlaky {
        /// It counts as passed.
        Pass = "pass",
        /// It counts as failed.
        Fail = "fail",
    }
}

vocabulary! {
    /// An outcome after which a check may be rerun inside one iteration.
    RetryOn {
        /// The check does not hold.
        Fail = "fail",
        /// The check itself broke.
        Error = "error",
        /// The check ran longer than it may.
        Timeout = "timeout",
    }
}

/// The promise text that must be present.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Token {
    /// The text, white space collapsed.
    pub text: String,
    /// Whether the text changes each iteration.
    pub nonce: bool,
    /// Makes the nonces of two loops with the same contract differ.
    pub seed: Option<String>,
}

/// One named, objective condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name in the evidence.
    pub id: String,
    /// Whether it must pass.
    pub required: bool,
    /// What it counts as when it is flaky.
    pub on_flaky: OnFlaky,
    /// How often it may be rerun inside one iteration.
    pub retries: u32,
    /// The outcomes after which it may be rerun, each once, in the order of [`RetryOn`].
    pub retry_on: Vec<RetryOn>,
}

impl Check {
    /// Whether the check may be rerun after this outcome.
    pub fn is_rerun_after(&self, outcome: Outcome) -> bool {
        let cause = match outcome {
            Outcome::Fail => RetryOn::Fail,
            Outcome::Error => RetryOn::Error,
            Outcome::Timeout => RetryOn::Timeout,
            Outcome::Pass | Outcome::Unknown | Outcome::Flaky => return false,
        };
        self.retry_on.contains(&cause)
    }
}

/// A contract with its profile applied and every default filled in. It can't be wrong.
///
/// Its JSON form is canonical: the digest that snapshots pin is taken over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contract {
    /// See [`Mode`]. Never `auto` after routing.
    pub mode: Mode,
    /// The profile that was applied.
    pub profile: Option<String>,
    /// Marks the canonical form, in which `profile` is only a name.
    pub effective: bool,
    /// See [`Enforcement`].
    pub enforcement: Enforcement,
    /// The promise text that must be present.
    pub completion_token: Option<Token>,
    /// See [`PromiseRules`].
    pub promise_rules: PromiseRules,
    /// The checks, in the order of the text.
    pub completion_checks: Vec<Check>,
    /// The default for checks that don't say.
    pub on_flaky: OnFlaky,
    /// The share of the optional checks that must pass.
    pub optional_pass_ratio: Decimal,
    /// Whether an operator may complete the loop by hand.
    pub allow_override: bool,
    /// The hard bound on iterations.
    pub loop_max_iters: u32,
    /// Identical fingerprints in a row before stopping; 0 is off.
    pub no_progress_limit: u32,
    /// Iterations without fewer failing required checks, or fewer failing tests inside one; 0 is off.
    pub plateau_limit: u32,
    /// Iterations in a row in which the agent must say `LOOP_BLOCKED` before the loop stops for it.
    pub blocked_limit: u32,
    /// The host ends an iteration that runs longer.
    pub per_iter_timeout_ms: u32,
    /// Over the whole loop; 0 is off.
    pub max_tokens: u32,
    /// Over the whole loop.
    pub max_tool_calls: u32,
    /// Over the whole loop.
    pub max_duration_ms: u32,
    /// Iterations in a row that errored or timed out.
    pub max_consecutive_failures: u32,
    /// Reruns of a check inside one iteration.
    pub max_check_retries: u32,
    /// Over the whole loop.
    pub cost_budget_usd: Option<Decimal>,
    /// The most bytes that feedback may have.
    pub feedback_max_bytes: u32,
}

impl Contract {
    /// The canonical JSON form.
    pub fn canonical(&self) -> String {
        crate::json::to_text(self)
    }

    /// The digest of the canonical form.
    pub fn digest(&self) -> String {
        digest::of("contract", self.canonical().as_bytes())
    }

    /// The checks that must pass.
    pub fn required(&self) -> impl Iterator<Item = &Check> {
        self.completion_checks.iter().filter(|check| check.required)
    }
}

/// The result of reading a contract.
#[derive(Debug, Clone, Serialize)]
pub struct ContractReport {
    /// Whether there is no problem.
    pub valid: bool,
    /// Every problem, in the order of the text.
    pub problems: Vec<Problem>,
    /// What is legal but weak.
    pub warnings: Vec<Problem>,
    /// The canonical form.
    pub contract: Option<String>,
    /// Its digest.
    pub digest: Option<String>,
}

/// A contract together with what the linter says of it.
#[derive(Debug, Clone)]
pub struct Linted {
    /// The contract.
    pub contract: Contract,
    /// What is legal but weak.
    pub warnings: Vec<Problem>,
}

/// Read a contract and report every problem and weakness at once.
///
/// ```
/// use ralph_gate_component::contract::check;
/// let report = check("mode: ralph\nloop_max_iter: 5\n", None);
/// assert_eq!(report.problems[0].help.as_deref(), Some("did you mean `loop_max_iters`?"));
/// assert_eq!((report.problems[0].line, report.problems[0].column), (2, 1));
/// ```
pub fn check(text: &str, format: Option<TextFormat>) -> ContractReport {
    let source = Source::new(text, format.unwrap_or_else(|| recognise(text)));
    let result = source
        .read_settings()
        .map_err(|problem| vec![problem])
        .and_then(|node| {
            decode(
                source,
                &node,
                Path::Root,
                Extent::Contract,
                &Profiles::built_in(),
            )
        });
    match result {
        Ok(linted) => ContractReport {
            valid: true,
            problems: Vec::new(),
            warnings: linted.warnings,
            digest: Some(linted.contract.digest()),
            contract: Some(linted.contract.canonical()),
        },
        Err(problems) => ContractReport {
            valid: false,
            problems,
            warnings: Vec::new(),
            contract: None,
            digest: None,
        },
    }
}

/// Read a contract that is to be used.
pub fn parse(text: &str) -> Result<Contract, GateError> {
    let source = Source::new(text, recognise(text));
    let node = source
        .read_settings()
        .map_err(|problem| invalid(vec![problem]))?;
    from_node(source, &node, Path::Root)
}

/// Take a contract from a tree that holds it.
pub fn from_node(
    source: Source<'_>,
    node: &Node<'_>,
    path: Path<'_>,
) -> Result<Contract, GateError> {
    decode(source, node, path, Extent::Contract, &Profiles::built_in())
        .map(|linted| linted.contract)
        .map_err(invalid)
}

/// The error for a contract with problems. An unknown profile has a code of its own.
pub(crate) fn invalid(problems: Vec<Problem>) -> GateError {
    let only_profile = !problems.is_empty()
        && problems.iter().all(|problem| {
            problem.path.ends_with("profile") && problem.message.starts_with(profile::UNKNOWN)
        });
    let code = if only_profile {
        ErrorCode::UnknownProfile
    } else {
        ErrorCode::InvalidContract
    };
    GateError::from_problems(code, "the contract", problems)
}

/// Decode, apply the profile, complete and lint.
pub(crate) fn decode(
    source: Source<'_>,
    node: &Node<'_>,
    path: Path<'_>,
    extent: Extent,
    profiles: &Profiles,
) -> Result<Linted, Vec<Problem>> {
    let mut decoder = Decoder::new(source);
    let draft = Draft::decode(&mut decoder, node, path, extent);
    let base = profiles.base_for(&mut decoder, &draft, path);
    let contract = draft
        .clone()
        .over(base)
        .complete(&mut decoder, node.at, path);
    let problems = decoder.into_problems();
    match contract {
        Some(contract) if problems.is_empty() => {
            let warnings = lint::warnings(source, node, &draft, &contract, path);
            Ok(Linted { contract, warnings })
        }
        _ => Err(problems),
    }
}
