//! The fields of a contract and what may stand in each. The decoder takes its bounds from here, and the JSON
//! Schema is made from it.

use super::{Enforcement, Mode, OnFlaky, PromiseRules, RetryOn};
use crate::vocabulary::Word;

/// The longest check id and profile name, in bytes.
pub(crate) const MAX_NAME: usize = 128;
/// The longest completion token, in bytes. With a nonce it must still fit into a promise report.
pub(crate) const MAX_TOKEN: usize = 190;
/// The most checks of one contract: the snapshot remembers something of each.
pub(crate) const MAX_CHECKS: usize = 64;
/// The most reruns of one check inside one iteration.
pub(crate) const MAX_RETRIES: u32 = 100;
/// Thirty days: a duration in milliseconds always fits a `u32`.
const MAX_MS: u32 = 2_592_000_000;

/// One field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// What it means, for a person who is writing it.
    pub(crate) about: &'static str,
}

/// What may stand in a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// One of some words.
    Word(fn() -> Vec<&'static str>),
    /// A list of some words.
    Words(fn() -> Vec<&'static str>),
    /// A text of 1 to [`MAX_NAME`] bytes.
    Name,
    /// Any text.
    Text,
    /// True or false.
    Flag,
    /// A whole number.
    Integer {
        /// The least.
        min: u32,
        /// The most.
        max: u32,
    },
    /// An exact decimal, as a number or a text.
    Decimal,
    /// An exact decimal from 0 to 1.
    Ratio,
    /// A completion token.
    Token,
    /// A list of checks.
    Checks,
    /// Profiles by their names.
    Profiles,
}

const fn field(name: &'static str, shape: Shape, about: &'static str) -> Field {
    Field { name, shape, about }
}

const fn number(name: &'static str, min: u32, max: u32, about: &'static str) -> Field {
    field(name, Shape::Integer { min, max }, about)
}

fn words<W: Word>() -> Vec<&'static str> {
    W::ALL.iter().map(|word| word.as_str()).collect()
}

/// The fields of a contract.
pub(crate) const FIELDS: &[Field] = &[
    field(
        "mode",
        Shape::Word(words::<Mode>),
        "Who decides when the loop may stop: the harness itself (standard), the gate (ralph), or the gate if there is a required check (auto).",
    ),
    field(
        "profile",
        Shape::Name,
        "A named set of defaults: ralph, strict, shadow, or one of the routing policy.",
    ),
    field(
        "effective",
        Shape::Flag,
        "Marks the canonical form that the gate writes, in which the profile is already applied.",
    ),
    field(
        "enforcement",
        Shape::Word(words::<Enforcement>),
        "Whether verdicts bind (enforce), or are only recorded (shadow).",
    ),
    field(
        "completion_token",
        Shape::Token,
        "The promise text that must be present when the agent wants to stop.",
    ),
    field(
        "promise_rules",
        Shape::Word(words::<PromiseRules>),
        "Which promises count: only the last thing in the output, alone on its line, outside code, quotes, raw HTML and comments (strict), or the first tag anywhere (lenient).",
    ),
    field(
        "completion_checks",
        Shape::Checks,
        "The checks whose results decide: ids, or objects.",
    ),
    field(
        "on_flaky",
        Shape::Word(words::<OnFlaky>),
        "What a flaky check counts as, where the check itself does not say.",
    ),
    field(
        "optional_pass_ratio",
        Shape::Ratio,
        "The share of the checks that are not required which must pass.",
    ),
    field(
        "allow_override",
        Shape::Flag,
        "Whether an operator may complete the loop by hand.",
    ),
    number(
        "loop_max_iters",
        1,
        10_000,
        "The most iterations. There is no way to say unlimited.",
    ),
    number(
        "no_progress_limit",
        0,
        10_000,
        "Equal iterations in a row before the loop stops; 0 is off.",
    ),
    number(
        "plateau_limit",
        0,
        10_000,
        "Iterations without fewer failing required checks, or fewer failing tests inside one that reports counts, before the loop stops; 0 is off.",
    ),
    number(
        "blocked_limit",
        1,
        10_000,
        "Iterations in a row in which the agent must say LOOP_BLOCKED before the loop stops for it.",
    ),
    number(
        "per_iter_timeout_ms",
        1,
        MAX_MS,
        "The host ends an iteration that runs longer.",
    ),
    number(
        "max_tokens",
        0,
        4_000_000_000,
        "The most tokens of the model over the whole loop; 0 is off.",
    ),
    number(
        "max_tool_calls",
        0,
        1_000_000_000,
        "The most tool calls over the whole loop.",
    ),
    number(
        "max_duration_ms",
        1,
        MAX_MS,
        "The longest time for the whole loop.",
    ),
    number(
        "max_consecutive_failures",
        1,
        10_000,
        "Iterations in a row that errored or timed out before the loop stops.",
    ),
    number(
        "max_check_retries",
        0,
        MAX_RETRIES,
        "The most reruns of one check inside one iteration.",
    ),
    field(
        "cost_budget_usd",
        Shape::Decimal,
        "The most that the whole loop may cost, as an exact decimal.",
    ),
    number(
        "feedback_max_bytes",
        256,
        65_536,
        "The most bytes that the feedback for the agent may have.",
    ),
    field(
        "$schema",
        Shape::Text,
        "Where an editor finds this schema. The gate passes over it.",
    ),
];

/// The fields that a request may have beside those of a contract. The gate passes over the texts.
pub(crate) const REQUEST_FIELDS: &[Field] = &[
    field(
        "requested",
        Shape::Flag,
        "Whether the request starts a loop: with a check or a token, an absent mode then means ralph. The host sets it.",
    ),
    field(
        "session_key",
        Shape::Text,
        "Whose loop it is: names the session's memory.",
    ),
    field(
        "draft_id",
        Shape::Text,
        "Names the session's memory where there is no session key.",
    ),
    field(
        "task_class",
        Shape::Text,
        "What kind of task it is, for reports.",
    ),
];

/// The fields of a routing policy.
pub(crate) const POLICY_FIELDS: &[Field] = &[
    field(
        "ralph_enabled",
        Shape::Flag,
        "The kill switch: false sends every request to standard mode.",
    ),
    field(
        "require_cost_budget",
        Shape::Flag,
        "Whether a request for the gate must have a cost budget.",
    ),
    field(
        "profiles",
        Shape::Profiles,
        "Named sets of defaults for contracts.",
    ),
    field(
        "$schema",
        Shape::Text,
        "Where an editor finds this schema. The gate passes over it.",
    ),
];

/// The fields of a contract that a profile may not set.
pub(crate) const NOT_IN_PROFILES: &[&str] = &["mode", "profile", "effective", "$schema"];

/// The fields of a check that is written as an object.
pub(crate) const CHECK_FIELDS: &[Field] = &[
    field(
        "id",
        Shape::Name,
        "Its name in the evidence, without white space.",
    ),
    field(
        "required",
        Shape::Flag,
        "Whether it must pass. Others count for the ratio only.",
    ),
    field(
        "on_flaky",
        Shape::Word(words::<OnFlaky>),
        "What it counts as when it is flaky.",
    ),
    number(
        "retries",
        0,
        MAX_RETRIES,
        "How often it may be rerun inside one iteration, at most max_check_retries.",
    ),
    field(
        "retry_on",
        Shape::Words(words::<RetryOn>),
        "The outcomes after which it may be rerun. A plain fail is rerun only where it is listed.",
    ),
];

/// The fields of a completion token that is written as an object.
pub(crate) const TOKEN_FIELDS: &[Field] = &[
    field("text", Shape::Text, "The promise text."),
    field(
        "nonce",
        Shape::Flag,
        "Whether the text changes each iteration, so that an echo or an old turn can't complete.",
    ),
    field(
        "seed",
        Shape::Name,
        "Makes the nonces of two loops with the same contract differ.",
    ),
];

/// The fields that the gate passes over, once they are known to be texts.
pub(crate) fn passed_over() -> impl Iterator<Item = &'static str> {
    let fields = FIELDS.iter().chain(REQUEST_FIELDS);
    fields
        .filter(|field| matches!(field.shape, Shape::Text))
        .map(|field| field.name)
}

/// The names of some fields.
pub(crate) fn names(fields: &[Field]) -> Vec<&'static str> {
    fields.iter().map(|field| field.name).collect()
}

/// The bounds of a whole number.
pub(crate) fn bounds(fields: &[Field], name: &str) -> (u32, u32) {
    match fields.iter().find(|field| field.name == name) {
        Some(Field {
            shape: Shape::Integer { min, max },
            ..
        }) => (*min, *max),
        // Invariant: only names of whole numbers are asked for; a test asks for all of them.
        _ => (0, u32::MAX),
    }
}
