//! The types of the gate's WIT, once for both faces: a value that the component returns serialises to the
//! bytes that the JSON face returns.
//!
//! The records and enums are those of the interface `gate`, in its order. wasmtime compares them with
//! the component's own types before the first call, so they can't drift apart unnoticed.
#![allow(
    missing_docs,
    reason = "what needs no word in the WIT, which these types mirror, needs none here"
)]

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
#[cfg(feature = "wasmtime")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Declares an enum of the WIT: each variant with the name of its case.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$case_meta:meta])* $case:ident = $wit:literal,)+ }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "wasmtime", derive(ComponentType, Lift, Lower))]
        #[cfg_attr(feature = "wasmtime", component(enum))]
        $(#[$meta])*
        #[repr(u8)]
        pub enum $name {
            $($(#[$case_meta])* #[cfg_attr(feature = "wasmtime", component(name = $wit))] $case,)+
        }
    };
}

words! {
    /// Why a call could not be answered. Closed: a host may match on it exhaustively.
    #[serde(rename_all = "snake_case")]
    ErrorCode {
        /// The input is not valid JSON (JSON face only).
        InvalidJson = "invalid-json",
        /// The input is well-formed, but a field is missing, unknown, of the wrong type or out of range.
        InvalidInput = "invalid-input",
        /// The contract has at least one problem; `problems` lists all of them.
        InvalidContract = "invalid-contract",
        /// The contract is not the one that this loop began with. An operator can accept it with `resume`.
        ContractChanged = "contract-changed",
        /// The request or contract names a profile that does not exist.
        UnknownProfile = "unknown-profile",
        /// The routing policy demands a cost budget and the contract has none.
        CostBudgetRequired = "cost-budget-required",
        /// The iteration's index is not the snapshot's plus one. Without a snapshot it is 1, or 0 for a baseline.
        IterationOutOfOrder = "iteration-out-of-order",
        /// The loop has stopped. It accepts no further iteration until it is resumed.
        LoopStopped = "loop-stopped",
        /// The snapshot is damaged or is not a snapshot.
        InvalidSnapshot = "invalid-snapshot",
        /// The snapshot was written by a gate that is newer, or too old.
        UnsupportedSnapshot = "unsupported-snapshot",
        /// The prd, progress or loop state file can't be read.
        InvalidFile = "invalid-file",
        /// The JSON face has no such function.
        UnknownFunction = "unknown-function",
    }
}

/// One thing that is wrong with a text, at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Problem {
    /// Where in the structure, for example `completion_checks[1].id`. Empty for the whole text.
    pub path: String,
    /// Line in the text, from 1. 0 when the text has no lines (typed face).
    pub line: u32,
    /// Column in the text, from 1, in characters. 0 when unknown.
    pub column: u32,
    /// One sentence: what is wrong.
    pub message: String,
    /// What to do about it, for example "did you mean `loop_max_iters`?".
    pub help: Option<String>,
}

/// A call that could not be answered. Errors are data; the gate never traps on input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct GateError {
    pub code: ErrorCode,
    /// One or two sentences for a person: the thing, the place, the remedy.
    pub message: String,
    /// The path of the first problem, where there is one.
    pub path: Option<String>,
    /// Every problem found, not only the first.
    pub problems: Vec<Problem>,
}

words! {
    /// How a contract, request or routing policy is written.
    #[serde(rename_all = "snake_case")]
    TextFormat {
        Json = "json",
        Yaml = "yaml",
        Toml = "toml",
    }
}

words! {
    /// What the harness asked for, or was given by routing.
    #[serde(rename_all = "snake_case")]
    Mode {
        /// The harness's own completion: nothing intercepted, no state written.
        Standard = "standard",
        /// The gate decides.
        Ralph = "ralph",
        /// `ralph` if there is at least one required check, else `standard`.
        Auto = "auto",
    }
}

words! {
    /// Whether verdicts bind.
    #[serde(rename_all = "snake_case")]
    Enforcement {
        /// The verdict is the answer.
        Enforce = "enforce",
        /// Everything is evaluated, nothing is intercepted: see `verdict.shadow`.
        Shadow = "shadow",
    }
}

words! {
    /// Which promises count.
    #[serde(rename_all = "snake_case")]
    PromiseRules {
        /// Only the last thing in the output, alone on its line, outside code, quotes, raw HTML and comments.
        Strict = "strict",
        /// The first tag anywhere.
        Lenient = "lenient",
    }
}

/// The result of reading a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct ContractReport {
    /// True when there is no problem. Warnings do not make a contract invalid.
    pub valid: bool,
    /// Every problem, in the order of the text.
    pub problems: Vec<Problem>,
    /// What is legal but weak.
    pub warnings: Vec<Problem>,
    /// The effective contract in its canonical JSON form: profile applied, defaults filled in.
    pub contract: Option<String>,
    /// The digest of `contract`, which snapshots pin.
    pub digest: Option<String>,
}

words! {
    /// Why routing chose what it chose.
    #[serde(rename_all = "snake_case")]
    RouteReason {
        /// The request has no `mode` and starts no loop, or nothing could prove that loop complete.
        NotRequested = "not-requested",
        /// The request names the mode; or it names none, starts a loop (`requested: true`, which the host sets) and
        /// has a check or a token, and the mode is `ralph`.
        Requested = "requested",
        /// `auto`, and the request has a required completion check.
        StrictChecks = "strict-checks",
        /// `auto`, and the request has no required completion check.
        NoStrictChecks = "no-strict-checks",
        /// The routing policy's kill switch is off. Memory files are kept and ignored.
        Disabled = "disabled",
    }
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Routing {
    /// `standard` or `ralph`, never `auto`.
    pub mode: Mode,
    pub reason: RouteReason,
    pub profile: Option<String>,
    pub enforcement: Enforcement,
    /// The effective contract in its canonical JSON form. None in standard mode.
    pub contract: Option<String>,
    /// Its digest.
    pub digest: Option<String>,
    /// What is legal but weak.
    pub warnings: Vec<Problem>,
}

words! {
    /// What the agent did at the end of the iteration.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    Action {
        /// It tried to end the loop.
        Final = "final",
        /// It wants another turn.
        #[default]
        Continue = "continue",
        /// The iteration failed.
        Error = "error",
        /// The host ended the iteration because it ran too long.
        Timeout = "timeout",
    }
}

words! {
    /// What a check found. Only `pass` passes.
    #[serde(rename_all = "snake_case")]
    Outcome {
        Pass = "pass",
        Fail = "fail",
        /// The check could not tell.
        Unknown = "unknown",
        /// The check itself broke.
        Error = "error",
        /// The check ran longer than it may.
        Timeout = "timeout",
        /// The host saw it both pass and fail on the same state.
        Flaky = "flaky",
    }
}

words! {
    /// The closed taxonomy of what stands between an iteration and `completed`.
    #[serde(rename_all = "snake_case")]
    FailureCode {
        CheckFailed = "check-failed",
        CheckErrored = "check-errored",
        CheckTimedOut = "check-timed-out",
        CheckFlaky = "check-flaky",
        MissingEvidence = "missing-evidence",
        StaleEvidence = "stale-evidence",
        EvidenceTampered = "evidence-tampered",
        TokenMissing = "token-missing",
        TokenMismatch = "token-mismatch",
        PromiseConflict = "promise-conflict",
        PromiseMisplaced = "promise-misplaced",
        PromiseContinue = "promise-continue",
        PolicyTrapped = "policy-trapped",
        PolicyOutOfFuel = "policy-out-of-fuel",
        PolicyOutOfMemory = "policy-out-of-memory",
        PolicyRejected = "policy-rejected",
        RatioNotMet = "ratio-not-met",
        /// A control test was not reported as it must be: what runs the check can't be believed.
        ControlFailed = "control-failed",
        /// What the check needs, such as its program, does not exist here.
        CheckUnavailable = "check-unavailable",
    }
}

/// One check's result: evidence that the host gathered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    pub id: String,
    pub outcome: Outcome,
    /// Why, for a person and for the agent's next turn.
    #[serde(default)]
    pub reason: Option<String>,
    /// A more exact cause than the outcome gives: `evidence-tampered`, `control-failed`, `check-unavailable` or one of
    /// the `policy-…` codes. With a code the result does not pass.
    #[serde(default)]
    pub code: Option<FailureCode>,
    /// The outcome of each try in order, when the check was rerun. The last one is `outcome`. Reruns that the contract
    /// does not allow (`retries`, `retry_on`) can't make a pass, and can't unmake a failure.
    #[serde(default, deserialize_with = "or_empty")]
    pub attempts: Vec<Outcome>,
    /// The iteration that this evidence was gathered in. Another one than this: stale.
    #[serde(default)]
    pub iteration: Option<u32>,
    /// The `fingerprint.state` that this evidence was gathered on. Another one than this: stale.
    #[serde(default)]
    pub fingerprint: Option<String>,
    /// How many tests failed, where the check counts them: fewer than ever is progress for `plateau_limit`.
    #[serde(default)]
    pub failing: Option<u32>,
}

impl CheckResult {
    /// A result with nothing but an outcome.
    pub fn new(id: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            id: id.into(),
            outcome,
            reason: None,
            code: None,
            attempts: Vec::new(),
            iteration: None,
            fingerprint: None,
            failing: None,
        }
    }
}

words! {
    /// How an artifact's content is made canonical before it is digested.
    #[serde(rename_all = "snake_case")]
    ArtifactKind {
        /// Parsed; keys sorted, comments and layout gone.
        Yaml = "yaml",
        /// Parsed; keys sorted, layout gone.
        Json = "json",
        /// Colour codes, trailing space and volatile runs (times, addresses, …) masked.
        Text = "text",
        /// Taken as it is, for example a git tree id.
        Digest = "digest",
    }
}

/// Something the agent works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    pub name: String,
    pub kind: ArtifactKind,
    #[serde(default, deserialize_with = "or_empty")]
    pub content: String,
}

/// What a tool printed, as far as it shows progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct ToolOutput {
    pub name: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub content: String,
}

/// Something that was changed although it may not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct Tampering {
    /// What was changed, for example a path.
    pub what: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub reason: String,
}

/// What this iteration used. The gate adds it up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    #[cfg_attr(feature = "wasmtime", component(name = "elapsed-ms"))]
    #[serde(deserialize_with = "or_empty")]
    pub elapsed_ms: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "tool-calls"))]
    #[serde(deserialize_with = "or_empty")]
    pub tool_calls: u32,
    /// Exact decimal, for example `0.14`. None is nothing.
    #[cfg_attr(feature = "wasmtime", component(name = "cost-usd"))]
    #[serde(deserialize_with = "decimal")]
    pub cost_usd: Option<String>,
    #[serde(deserialize_with = "or_empty")]
    pub tokens: u32,
}

/// On input, what is `null` is as if it were absent.
fn or_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// The text of a decimal that was written as a string or as a number: it never passes through a float.
fn decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(raw) = Option::<Box<RawValue>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let text = raw.get();
    if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return Ok(Some(text.to_owned()));
    }
    serde_json::from_str(text).map_err(D::Error::custom)
}

/// A person who decided something, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct OperatorNote {
    #[serde(default, deserialize_with = "or_empty")]
    pub operator: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub reason: String,
}

/// A check that an operator does without in this loop. The host must have authenticated the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    pub check: String,
    pub operator: String,
    pub reason: String,
}

/// One turn of the agent, as data.
///
/// A new loop may begin with iteration 0, the baseline: evidence of the run before the first iteration. Of it only
/// `checks`, `artifacts`, `tool_outputs`, `tampered` and `waivers` count; the other fields are ignored. The decision is always
/// `continue` (`pass_through` in standard mode and in shadow), nothing is added to a budget or compared for progress,
/// and there is no feedback. `failures` lists the checks that don't pass; without one of a check, everything that is
/// required passes already. The snapshot remembers what each check gave on `fingerprint.state`: a later pass on the
/// same state after a failure is flaky. Iteration 1 follows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct Iteration {
    /// From 1, one more than the last. 0 only where there is no snapshot yet.
    pub index: u32,
    pub action: Action,
    /// The person or the harness canceled the loop.
    #[serde(default, deserialize_with = "or_empty")]
    pub canceled: bool,
    /// What the agent wrote.
    #[serde(default, deserialize_with = "or_empty")]
    pub output: String,
    #[serde(default, deserialize_with = "or_empty")]
    pub checks: Vec<CheckResult>,
    #[serde(default, deserialize_with = "or_empty")]
    pub artifacts: Vec<Artifact>,
    #[cfg_attr(feature = "wasmtime", component(name = "tool-outputs"))]
    #[serde(default, deserialize_with = "or_empty")]
    pub tool_outputs: Vec<ToolOutput>,
    #[serde(default, deserialize_with = "or_empty")]
    pub tampered: Vec<Tampering>,
    #[serde(default, deserialize_with = "or_empty")]
    pub usage: Usage,
    /// An operator completes the loop by hand.
    #[cfg_attr(feature = "wasmtime", component(name = "override"))]
    #[serde(default)]
    pub r#override: Option<OperatorNote>,
    /// Checks that count as passed from now on, until the loop ends. Tampering can't be waived. Where the contract says
    /// `allow_override: false` they are passed over.
    #[serde(default, deserialize_with = "or_empty")]
    pub waivers: Vec<Waiver>,
}

words! {
    /// What the harness must do.
    #[serde(rename_all = "snake_case")]
    Decision {
        /// Go on with another iteration.
        Continue = "continue",
        /// End the loop.
        Stop = "stop",
        /// Do what it would have done without the gate.
        PassThrough = "pass-through",
    }
}

words! {
    /// Why a loop ended.
    #[serde(rename_all = "snake_case")]
    StopReason {
        Completed = "completed",
        MaxIters = "max-iters",
        NoProgress = "no-progress",
        BudgetExceeded = "budget-exceeded",
        ContextCanceled = "context-canceled",
        Blocked = "blocked",
        Error = "error",
    }
}

words! {
    /// The loop vocabulary.
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    Signal {
        LoopDone = "LOOP-DONE",
        LoopContinue = "LOOP-CONTINUE",
        LoopBlocked = "LOOP-BLOCKED",
        LoopError = "LOOP-ERROR",
    }
}

/// One reason why the iteration is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Failure {
    pub code: FailureCode,
    /// The check, where the failure belongs to one.
    pub check: Option<String>,
    pub reason: String,
}

impl Failure {
    /// What failed, as people are told: the check, or what else the gate looks at.
    pub fn subject(&self) -> &str {
        match (&self.check, self.code) {
            (Some(check), _) => check,
            (None, FailureCode::EvidenceTampered) => "tripwire",
            (None, FailureCode::RatioNotMet) => "optional checks",
            (None, _) => "promise",
        }
    }
}

words! {
    /// What kind of fact is missing.
    #[serde(rename_all = "snake_case")]
    NeedKind {
        /// The agent ends its turn with a final.
        Final = "final",
        /// The check `check` passes.
        CheckPass = "check-pass",
        /// `count` more of the optional checks in `checks` pass.
        OptionalChecksPass = "optional-checks-pass",
        /// The output ends with a promise of `text`.
        Promise = "promise",
        /// No signal to the contrary in the output.
        NoContrarySignal = "no-contrary-signal",
        /// Nothing is tampered with.
        Untampered = "untampered",
    }
}

/// One fact that has to become true. All of them together complete the loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Need {
    pub kind: NeedKind,
    pub check: Option<String>,
    pub checks: Vec<String>,
    pub count: u32,
    pub text: Option<String>,
}

words! {
    /// Why a promise tag was or was not accepted.
    #[serde(rename_all = "snake_case")]
    TagStatus {
        Accepted = "accepted",
        /// Something other than one context block follows it.
        NotLast = "not-last",
        /// An earlier tag counts (lenient rules).
        NotFirst = "not-first",
        InFencedCode = "in-fenced-code",
        InInlineCode = "in-inline-code",
        InBlockQuote = "in-block-quote",
        InComment = "in-comment",
        InHtmlBlock = "in-html-block",
        /// Indented by four spaces or more, as code is.
        InIndentedCode = "in-indented-code",
        /// Something else stands on its line. A context block may follow.
        NotAlone = "not-alone",
        /// Around another promise, or behind an open tag that was not closed.
        Nested = "nested",
        /// There is no closing tag.
        Unclosed = "unclosed",
        Empty = "empty",
        /// Another promise in the same output says something else.
        Conflicting = "conflicting",
    }
}

/// One promise tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct PromiseTag {
    /// Byte offset of `<promise>` in the output. Escape sequences are left out before tags are looked for, and counted.
    pub offset: u32,
    /// Bytes to the end of the closing tag.
    pub length: u32,
    /// The text, white space collapsed, at most 200 bytes.
    pub text: String,
    pub status: TagStatus,
    /// One sentence for a person.
    pub reason: String,
}

words! {
    /// The type that a context value was written in.
    #[serde(rename_all = "snake_case")]
    ContextKind {
        Text = "text",
        Number = "number",
        Boolean = "boolean",
        Empty = "empty",
    }
}

/// One line of the `<context>` block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct ContextEntry {
    pub key: String,
    pub kind: ContextKind,
    pub value: String,
}

/// What the output promises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct PromiseReport {
    /// The text of the promise that counts.
    pub accepted: Option<String>,
    /// The loop signal, when the accepted text is one.
    pub signal: Option<Signal>,
    /// Two promises that would otherwise count say different things.
    pub conflict: bool,
    /// How many tags there are; `tags` lists the first 32, the last 32 and the one that counts.
    pub found: u32,
    pub tags: Vec<PromiseTag>,
    pub context: Vec<ContextEntry>,
    /// Why the context block could not be read. Never a failure.
    #[cfg_attr(feature = "wasmtime", component(name = "context-warning"))]
    pub context_warning: Option<String>,
}

/// One part of the fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct FingerprintPart {
    /// `artifact:NAME`, `tool:NAME`, `output` or `checks`.
    pub name: String,
    pub digest: String,
    /// How many iterations in a row it has been the same, this one included.
    #[cfg_attr(feature = "wasmtime", component(name = "unchanged-for"))]
    pub unchanged_for: u32,
    /// Set when the content could not be parsed as its kind and was digested as text instead.
    pub note: Option<String>,
}

/// What the work looks like, so that two equal iterations can be recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Fingerprint {
    pub digest: String,
    /// Digest of the artifacts alone: what evidence refers to. None without artifacts.
    pub state: Option<String>,
    /// False when there was nothing to compare, for a baseline, and after an error or a timeout: such an iteration never
    /// counts as no progress.
    pub counted: bool,
    pub parts: Vec<FingerprintPart>,
    /// Equal iterations in a row, this one included. Iterations that errored or timed out are not compared: they neither
    /// count nor end the row, and have 0 here.
    #[cfg_attr(feature = "wasmtime", component(name = "equal-in-a-row"))]
    pub equal_in_a_row: u32,
    /// What has stayed the same, since when. Empty while there is progress.
    pub diagnosis: String,
}

/// How close one guardrail is. The names are those of the contract's fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Guardrail {
    pub name: String,
    pub used: String,
    pub limit: String,
    /// Rounded down.
    pub percent: u32,
}

/// Totals over the loop, this iteration included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Counters {
    pub iteration: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "elapsed-ms"))]
    pub elapsed_ms: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "tool-calls"))]
    pub tool_calls: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "cost-usd"))]
    pub cost_usd: String,
    pub tokens: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "consecutive-failures"))]
    pub consecutive_failures: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "check-retries"))]
    pub check_retries: u32,
    /// The guardrails that are on.
    pub guardrails: Vec<Guardrail>,
}

/// How one check of the contract was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct CheckAssessment {
    pub id: String,
    pub required: bool,
    pub passed: bool,
    pub flaky: bool,
    /// Set when it did not pass.
    pub code: Option<FailureCode>,
}

/// What an enforcing gate would have said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct ShadowVerdict {
    pub decision: Decision,
    #[cfg_attr(feature = "wasmtime", component(name = "stop-reason"))]
    pub stop_reason: Option<StopReason>,
    pub detail: Option<String>,
    pub signal: Signal,
}

/// The gate's answer for one iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Verdict {
    pub decision: Decision,
    #[cfg_attr(feature = "wasmtime", component(name = "stop-reason"))]
    pub stop_reason: Option<StopReason>,
    /// Which guardrail, by the name of its contract field, where the reason alone does not say.
    pub detail: Option<String>,
    /// None when the decision is `pass-through`.
    pub signal: Option<Signal>,
    /// True when the agent said final and was not let go.
    pub intercepted: bool,
    pub overridden: bool,
    /// Everything that stands in the way. Empty when completed.
    pub failures: Vec<Failure>,
    /// The smallest set of facts that would have completed the loop.
    pub needs: Vec<Need>,
    /// The text for the agent's next turn. Empty unless the decision is `continue`.
    pub feedback: String,
    pub promise: PromiseReport,
    pub fingerprint: Fingerprint,
    pub counters: Counters,
    /// Store this, and give it back with the next iteration. None in standard mode on a new loop.
    pub snapshot: Option<String>,
    pub mode: Mode,
    pub profile: Option<String>,
    pub shadow: Option<ShadowVerdict>,
    pub checks: Vec<CheckAssessment>,
    /// Results for checks that the contract doesn't name. They change nothing.
    #[cfg_attr(feature = "wasmtime", component(name = "unused-checks"))]
    pub unused_checks: Vec<String>,
    /// Checks that count as passed because an operator waived them, now or before.
    pub waived: Vec<String>,
}

/// What to tell the agent before an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Brief {
    /// The index of the iteration to come.
    pub iteration: u32,
    /// The promise text that this iteration has to end with, if the contract has a token.
    pub token: Option<String>,
    pub text: String,
}

/// An operator's decision to go on with a loop that stopped, or with another contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct Resumption {
    #[serde(default)]
    pub operator: String,
    #[serde(default)]
    pub reason: String,
    /// Pin the contract given now instead of the one that the loop began with.
    #[cfg_attr(feature = "wasmtime", component(name = "accept-contract"))]
    #[serde(default)]
    pub accept_contract: bool,
}

/// One issue file, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct IssueFile {
    pub path: String,
    #[serde(default)]
    pub text: String,
}

/// One issue. `status` is `proposed`, `in_progress`, `blocked` or `done`; another word is an error signal,
/// not an error, because the loop has to learn of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    pub id: String,
    pub status: String,
    /// A blocked issue that only a person can unblock.
    #[cfg_attr(feature = "wasmtime", component(name = "needs-human"))]
    #[serde(default)]
    pub needs_human: bool,
    /// Ids of issues that must be done first.
    #[cfg_attr(feature = "wasmtime", component(name = "depends-on"))]
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// What to decide a signal from. Both lists together are the state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(default, deny_unknown_fields)]
pub struct IssueStates {
    pub issues: Vec<Issue>,
    /// Files whose front matter holds the state.
    pub files: Vec<IssueFile>,
}

/// Exactly one signal, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct SignalReport {
    pub signal: Signal,
    pub reason: String,
    /// Ids of the issues that can be worked on now.
    pub selectable: Vec<String>,
    pub proposed: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "in-progress"))]
    pub in_progress: u32,
    pub blocked: u32,
    pub done: u32,
    pub problems: Vec<Problem>,
}

/// What a snapshot says, for people and tools. The text itself is opaque.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct SnapshotView {
    pub version: u32,
    /// Digest of the pinned contract.
    pub contract: String,
    /// The last iteration evaluated.
    pub iteration: u32,
    pub stopped: Option<StopReason>,
    pub detail: Option<String>,
    #[cfg_attr(feature = "wasmtime", component(name = "elapsed-ms"))]
    pub elapsed_ms: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "tool-calls"))]
    pub tool_calls: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "cost-usd"))]
    pub cost_usd: String,
    pub tokens: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "consecutive-failures"))]
    pub consecutive_failures: u32,
    pub resumed: u32,
}

/// One line of the checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct PrdItem {
    pub id: String,
    pub title: String,
    pub passes: bool,
}

words! {
    /// Which of the two shapes of `prd.json` it is.
    #[serde(rename_all = "snake_case")]
    PrdShape {
        /// The public Ralph format: `userStories[].passes`.
        UserStories = "user-stories",
        /// A plain list: `items[]`.
        Items = "items",
    }
}

/// The checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct Prd {
    pub shape: PrdShape,
    pub items: Vec<PrdItem>,
    pub passed: u32,
    pub total: u32,
    /// What is read, but hardly meant like that: keys that are there twice, `passes` that is no boolean.
    pub warnings: Vec<Problem>,
}

/// A change to one line of the checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct PrdUpdate {
    pub id: String,
    /// Must be there, as in the gate's own reader: a default would change a line by accident.
    pub passes: bool,
    /// What proves it; written beside `passes` as `evidence`.
    #[serde(default)]
    pub evidence: Option<String>,
}

/// One entry of `progress.txt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct ProgressEntry {
    #[serde(default)]
    pub iteration: u32,
    /// One line.
    pub title: String,
    /// Any text; may have lines.
    #[serde(default)]
    pub body: String,
}

/// The whole of `progress.txt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
pub struct ProgressLog {
    pub entries: Vec<ProgressEntry>,
    /// Text before the first entry, kept as it is.
    pub preamble: String,
    /// A last entry that was cut off while it was written. Its text is kept here.
    pub torn: Option<String>,
}

/// The loop state file `.claude/ralph-loop.local.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(deny_unknown_fields)]
pub struct LoopFile {
    #[serde(default)]
    pub active: bool,
    #[serde(default)]
    pub iteration: u32,
    /// The session that owns the loop. None: the first one that stops.
    #[cfg_attr(feature = "wasmtime", component(name = "session-id"))]
    #[serde(default)]
    pub session_id: Option<String>,
    /// 0 is what the file says for "unlimited"; the gate never runs unlimited.
    #[cfg_attr(feature = "wasmtime", component(name = "max-iterations"))]
    #[serde(default)]
    pub max_iterations: u32,
    #[cfg_attr(feature = "wasmtime", component(name = "completion-promise"))]
    #[serde(default)]
    pub completion_promise: Option<String>,
    #[cfg_attr(feature = "wasmtime", component(name = "started-at"))]
    #[serde(default)]
    pub started_at: Option<String>,
    /// Byte for byte what follows the front matter.
    #[serde(default)]
    pub prompt: String,
}

/// What to change in a loop state file. Absent fields stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "wasmtime",
    derive(ComponentType, Lift, Lower),
    component(record)
)]
#[serde(default, deny_unknown_fields)]
pub struct LoopFileChange {
    pub active: Option<bool>,
    pub iteration: Option<u32>,
    #[cfg_attr(feature = "wasmtime", component(name = "session-id"))]
    pub session_id: Option<String>,
}
