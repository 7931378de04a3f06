//! One turn of the agent, as data: what the host reports and the gate judges.

use std::borrow::Cow;

use crate::contract::fields::MAX_NAME;
use crate::decimal::Decimal;
use crate::tree::Node;
use crate::tree::decode::{Decoder, Fields, Path};
use crate::vocabulary::vocabulary;

/// Attempts of one check that are read; the contract allows at most 100 retries.
const MAX_ATTEMPTS: usize = 128;
/// The longest operator name, tool name or artifact name.
const MAX_LABEL: usize = 1024;

vocabulary! {
    /// What the agent did at the end of the iteration.
    Action {
        /// It tried to end the loop.
        Final = "final",
        /// It wants another turn.
        Continue = "continue",
        /// The iteration failed.
        Error = "error",
        /// The host ended the iteration because it ran too long.
        Timeout = "timeout",
    }
}

impl Action {
    /// Whether the iteration errored or timed out.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Error | Self::Timeout)
    }
}

vocabulary! {
    /// What a check found. Only `pass` passes.
    Outcome {
        /// It holds.
        Pass = "pass",
        /// It does not hold.
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

vocabulary! {
    /// The closed taxonomy of what stands between an iteration and `completed`.
    FailureCode {
        /// The check ran and does not hold, or could not tell.
        CheckFailed = "check_failed",
        /// The check itself broke.
        CheckErrored = "check_errored",
        /// The check ran longer than it may.
        CheckTimedOut = "check_timed_out",
        /// The check both passed and failed on the same state.
        CheckFlaky = "check_flaky",
        /// The contract names the check and the host did not report it.
        MissingEvidence = "missing_evidence",
        /// The evidence is for another iteration or another state.
        StaleEvidence = "stale_evidence",
        /// Something was changed although it may not be.
        EvidenceTampered = "evidence_tampered",
        /// There is no promise.
        TokenMissing = "token_missing",
        /// There is a promise with another text.
        TokenMismatch = "token_mismatch",
        /// Two promises say different things.
        PromiseConflict = "promise_conflict",
        /// The promise stands where it does not count.
        PromiseMisplaced = "promise_misplaced",
        /// The promise says that the work goes on.
        PromiseContinue = "promise_continue",
        /// A policy trapped.
        PolicyTrapped = "policy_trapped",
        /// A policy used up its fuel.
        PolicyOutOfFuel = "policy_out_of_fuel",
        /// A policy used up its memory.
        PolicyOutOfMemory = "policy_out_of_memory",
        /// A policy may not run here.
        PolicyRejected = "policy_rejected",
        /// Too few of the optional checks passed.
        RatioNotMet = "ratio_not_met",
        /// A control test was not reported as it must be: what runs the check can't be believed.
        ControlFailed = "control_failed",
        /// What the check needs does not exist here.
        CheckUnavailable = "check_unavailable",
    }
}

impl FailureCode {
    /// Whether a host may give this code with a check's result.
    pub fn is_for_results(self) -> bool {
        matches!(
            self,
            Self::EvidenceTampered
                | Self::PolicyTrapped
                | Self::PolicyOutOfFuel
                | Self::PolicyOutOfMemory
                | Self::PolicyRejected
                | Self::ControlFailed
                | Self::CheckUnavailable
        )
    }
}

vocabulary! {
    /// How an artifact's content is made canonical.
    ArtifactKind {
        /// Parsed; keys sorted, comments and layout gone.
        Yaml = "yaml",
        /// Parsed; keys sorted, layout gone.
        Json = "json",
        /// Volatile runs masked.
        Text = "text",
        /// Taken as it is.
        Digest = "digest",
    }
}

/// One check's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult<'a> {
    /// The check.
    pub id: Cow<'a, str>,
    /// What it found.
    pub outcome: Outcome,
    /// Why.
    pub reason: Option<Cow<'a, str>>,
    /// A more exact cause than the outcome gives.
    pub code: Option<FailureCode>,
    /// The outcome of each try in order.
    pub attempts: Vec<Outcome>,
    /// The iteration that this evidence was gathered in.
    pub iteration: Option<u32>,
    /// The state that this evidence was gathered on.
    pub fingerprint: Option<Cow<'a, str>>,
    /// How many tests failed, where the check counts them.
    pub failing: Option<u32>,
}

impl<'a> CheckResult<'a> {
    /// A result with nothing but an outcome.
    pub fn new(id: impl Into<Cow<'a, str>>, outcome: Outcome) -> Self {
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

/// Something the agent works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact<'a> {
    /// Its name, for example a path.
    pub name: Cow<'a, str>,
    /// How it is made canonical.
    pub kind: ArtifactKind,
    /// What is in it.
    pub content: Cow<'a, str>,
}

/// What a tool printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// What it printed.
    pub content: Cow<'a, str>,
}

/// Something that was changed although it may not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tampering<'a> {
    /// What was changed.
    pub what: Cow<'a, str>,
    /// How the host knows.
    pub reason: Cow<'a, str>,
}

/// What this iteration used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Wall-clock time, measured by the host.
    pub elapsed_ms: u32,
    /// Calls of tools.
    pub tool_calls: u32,
    /// Money.
    pub cost_usd: Decimal,
    /// Tokens of the model.
    pub tokens: u32,
}

/// A person who decided something, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorNote<'a> {
    /// Who.
    pub operator: Cow<'a, str>,
    /// Why.
    pub reason: Cow<'a, str>,
}

/// A check that an operator does not want to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver<'a> {
    /// The check.
    pub check: Cow<'a, str>,
    /// Who.
    pub operator: Cow<'a, str>,
    /// Why.
    pub reason: Cow<'a, str>,
}

/// One turn of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration<'a> {
    /// From 1. Iteration 0 is the baseline: evidence of the run before the first iteration.
    pub index: u32,
    /// What the agent did.
    pub action: Action,
    /// Whether the loop was canceled.
    pub canceled: bool,
    /// What the agent wrote.
    pub output: Cow<'a, str>,
    /// The evidence.
    pub checks: Vec<CheckResult<'a>>,
    /// What the agent works on.
    pub artifacts: Vec<Artifact<'a>>,
    /// What tools printed.
    pub tool_outputs: Vec<ToolOutput<'a>>,
    /// What was changed although it may not be.
    pub tampered: Vec<Tampering<'a>>,
    /// What it used.
    pub usage: Usage,
    /// An operator completes the loop by hand.
    pub override_by: Option<OperatorNote<'a>>,
    /// Checks that count as passed from now on, for this loop.
    pub waivers: Vec<Waiver<'a>>,
}

impl<'a> Iteration<'a> {
    /// An iteration with nothing but an index and an action.
    pub fn new(index: u32, action: Action) -> Self {
        Self {
            index,
            action,
            canceled: false,
            output: Cow::Borrowed(""),
            checks: Vec::new(),
            artifacts: Vec::new(),
            tool_outputs: Vec::new(),
            tampered: Vec::new(),
            usage: Usage::default(),
            override_by: None,
            waivers: Vec::new(),
        }
    }

    /// What of this counts before the first iteration. No agent has run, so it said, used and ended nothing.
    pub(crate) fn as_baseline(&self) -> Self {
        Self {
            action: Action::Continue,
            canceled: false,
            output: Cow::Borrowed(""),
            usage: Usage::default(),
            override_by: None,
            ..self.clone()
        }
    }

    /// Read an iteration; problems go to the decoder. Without `index` it is iteration 1 only where
    /// `index_matters` is false (fingerprints).
    pub fn decode(
        decoder: &mut Decoder<'_>,
        node: &'a Node<'_>,
        path: Path<'_>,
        index_matters: bool,
    ) -> Option<Self> {
        let known = [
            "index",
            "action",
            "canceled",
            "output",
            "checks",
            "artifacts",
            "tool_outputs",
            "tampered",
            "usage",
            "override",
            "waivers",
        ];
        let fields = decoder.object(node, path, &known)?;
        let mut iteration = Self::new(1, Action::Continue);
        if index_matters {
            if let Some(index) = decoder.require(fields, path, "index") {
                iteration.index = decoder
                    .integer(index, path.field("index"), 0, u32::MAX)
                    .unwrap_or(1);
            }
            if let Some(action) = decoder.require(fields, path, "action") {
                iteration.action = decoder
                    .word(action, path.field("action"))
                    .unwrap_or(Action::Continue);
            }
        } else {
            if let Some(index) = fields.get("index") {
                decoder.integer(index, path.field("index"), 0, u32::MAX);
            }
            if let Some(action) = fields.get("action") {
                decoder.word::<Action>(action, path.field("action"));
            }
        }
        if let Some(canceled) = fields.get("canceled") {
            iteration.canceled = decoder
                .bool(canceled, path.field("canceled"))
                .unwrap_or(false);
        }
        iteration.output = text(decoder, fields, path, "output");
        iteration.checks = decoder.items(fields.get("checks"), path.field("checks"), check_result);
        iteration.artifacts =
            decoder.items(fields.get("artifacts"), path.field("artifacts"), artifact);
        iteration.tool_outputs = decoder.items(
            fields.get("tool_outputs"),
            path.field("tool_outputs"),
            tool_output,
        );
        iteration.tampered =
            decoder.items(fields.get("tampered"), path.field("tampered"), tampering);
        if let Some(node) = fields.get("usage") {
            iteration.usage = usage(decoder, node, path.field("usage"));
        }
        if let Some(node) = fields.get("override") {
            iteration.override_by = operator_note(decoder, node, path.field("override"));
        }
        iteration.waivers = decoder.items(fields.get("waivers"), path.field("waivers"), waiver);
        Some(iteration)
    }
}

/// Takes in a problem: its path, what is wrong, the remedy.
type Report<'r> = &'r mut dyn FnMut(Path<'_>, String, Option<String>);

impl Iteration<'_> {
    /// The rules that types can't express. Both faces apply them: the JSON face reports places with
    /// them, the typed face has none.
    pub(crate) fn validate(&self, path: Path<'_>, report: Report<'_>) {
        let list = path.field("checks");
        for (index, check) in self.checks.iter().enumerate() {
            check.validate(list.item(index), report);
        }
        let list = path.field("artifacts");
        for (index, artifact) in self.artifacts.iter().enumerate() {
            bounded(
                &artifact.name,
                MAX_LABEL,
                list.item(index).field("name"),
                report,
            );
        }
        let list = path.field("tool_outputs");
        for (index, tool) in self.tool_outputs.iter().enumerate() {
            bounded(
                &tool.name,
                MAX_LABEL,
                list.item(index).field("name"),
                report,
            );
        }
        let list = path.field("tampered");
        for (index, tampering) in self.tampered.iter().enumerate() {
            bounded(
                &tampering.what,
                MAX_LABEL,
                list.item(index).field("what"),
                report,
            );
        }
        if let Some(note) = &self.override_by {
            let path = path.field("override");
            bounded(&note.operator, MAX_LABEL, path.field("operator"), report);
            bounded(&note.reason, MAX_LABEL, path.field("reason"), report);
        }
        let list = path.field("waivers");
        for (index, waiver) in self.waivers.iter().enumerate() {
            let path = list.item(index);
            bounded(&waiver.check, MAX_NAME, path.field("check"), report);
            bounded(&waiver.operator, MAX_LABEL, path.field("operator"), report);
            bounded(&waiver.reason, MAX_LABEL, path.field("reason"), report);
        }
    }
}

impl CheckResult<'_> {
    fn validate(&self, path: Path<'_>, report: Report<'_>) {
        bounded(&self.id, MAX_NAME, path.field("id"), report);
        if let Some(code) = self.code.filter(|code| !code.is_for_results()) {
            let message = format!("`{code}` is for the gate to find, not for a check to report");
            report(path.field("code"), message, Some("leave it out".to_owned()));
        }
        let attempts = path.field("attempts");
        if self.attempts.len() > MAX_ATTEMPTS {
            let message = format!(
                "has {} attempts; at most {MAX_ATTEMPTS} are read",
                self.attempts.len()
            );
            report(attempts, message, None);
        }
        if let Some(last) = self.attempts.last()
            && *last != self.outcome
            && self.outcome != Outcome::Flaky
        {
            let message = format!(
                "the last attempt is `{last}`, but the outcome is `{}`",
                self.outcome
            );
            report(attempts, message, Some("make them the same".to_owned()));
        }
    }
}

fn bounded(text: &str, max: usize, path: Path<'_>, report: Report<'_>) {
    if text.is_empty() || text.len() > max {
        report(
            path,
            format!("must have 1 to {max} bytes, not {}", text.len()),
            None,
        );
    }
}

/// A text field; absent is empty.
fn text<'a>(
    decoder: &mut Decoder<'_>,
    fields: Fields<'a, '_>,
    path: Path<'_>,
    name: &str,
) -> Cow<'a, str> {
    fields
        .get(name)
        .and_then(|node| decoder.string(node, path.field(name)))
        .map_or(Cow::Borrowed(""), Cow::Borrowed)
}

/// A text field that must be there.
fn label<'a>(
    decoder: &mut Decoder<'_>,
    fields: Fields<'a, '_>,
    path: Path<'_>,
    name: &str,
) -> Option<Cow<'a, str>> {
    let node = decoder.require(fields, path, name)?;
    decoder.string(node, path.field(name)).map(Cow::Borrowed)
}

fn check_result<'a>(
    decoder: &mut Decoder<'_>,
    node: &'a Node<'_>,
    path: Path<'_>,
) -> Option<CheckResult<'a>> {
    let known = [
        "id",
        "outcome",
        "reason",
        "code",
        "attempts",
        "iteration",
        "fingerprint",
        "failing",
    ];
    let fields = decoder.object(node, path, &known)?;
    let id = decoder
        .require(fields, path, "id")
        .and_then(|node| decoder.string(node, path.field("id")));
    let outcome = decoder
        .require(fields, path, "outcome")
        .and_then(|node| decoder.word(node, path.field("outcome")));
    let code = fields
        .get("code")
        .and_then(|node| decoder.word(node, path.field("code")));
    let attempts = decoder.items(
        fields.get("attempts"),
        path.field("attempts"),
        |decoder, node, path| decoder.word(node, path),
    );
    let iteration = fields
        .get("iteration")
        .and_then(|node| decoder.integer(node, path.field("iteration"), 0, u32::MAX));
    let reason = fields
        .get("reason")
        .and_then(|node| decoder.string(node, path.field("reason")));
    let fingerprint = fields
        .get("fingerprint")
        .and_then(|node| decoder.string(node, path.field("fingerprint")));
    let failing = fields
        .get("failing")
        .and_then(|node| decoder.integer(node, path.field("failing"), 0, u32::MAX));
    Some(CheckResult {
        id: Cow::Borrowed(id?),
        outcome: outcome?,
        reason: reason.map(Cow::Borrowed),
        code,
        attempts,
        iteration,
        fingerprint: fingerprint.map(Cow::Borrowed),
        failing,
    })
}

fn artifact<'a>(
    decoder: &mut Decoder<'_>,
    node: &'a Node<'_>,
    path: Path<'_>,
) -> Option<Artifact<'a>> {
    let fields = decoder.object(node, path, &["name", "kind", "content"])?;
    let name = label(decoder, fields, path, "name");
    let kind = decoder
        .require(fields, path, "kind")
        .and_then(|node| decoder.word(node, path.field("kind")));
    let content = text(decoder, fields, path, "content");
    Some(Artifact {
        name: name?,
        kind: kind?,
        content,
    })
}

fn tool_output<'a>(
    decoder: &mut Decoder<'_>,
    node: &'a Node<'_>,
    path: Path<'_>,
) -> Option<ToolOutput<'a>> {
    let fields = decoder.object(node, path, &["name", "content"])?;
    let name = label(decoder, fields, path, "name");
    let content = text(decoder, fields, path, "content");
    Some(ToolOutput {
        name: name?,
        content,
    })
}

fn tampering<'a>(
    decoder: &mut Decoder<'_>,
    node: &'a Node<'_>,
    path: Path<'_>,
) -> Option<Tampering<'a>> {
    let fields = decoder.object(node, path, &["what", "reason"])?;
    let what = label(decoder, fields, path, "what");
    let reason = text(decoder, fields, path, "reason");
    Some(Tampering {
        what: what?,
        reason,
    })
}

fn usage(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Usage {
    let known = ["elapsed_ms", "tool_calls", "cost_usd", "tokens"];
    let Some(fields) = decoder.object(node, path, &known) else {
        return Usage::default();
    };
    let mut count = |name| {
        fields
            .get(name)
            .and_then(|node| decoder.integer(node, path.field(name), 0, u32::MAX))
            .unwrap_or(0)
    };
    let (elapsed_ms, tool_calls, tokens) =
        (count("elapsed_ms"), count("tool_calls"), count("tokens"));
    let cost_usd = fields
        .get("cost_usd")
        .and_then(|node| decoder.decimal(node, path.field("cost_usd")))
        .unwrap_or(Decimal::ZERO);
    Usage {
        elapsed_ms,
        tool_calls,
        cost_usd,
        tokens,
    }
}

/// Who decided something, and why. Both must be said.
fn operator_note<'a>(
    decoder: &mut Decoder<'_>,
    node: &'a Node<'_>,
    path: Path<'_>,
) -> Option<OperatorNote<'a>> {
    let fields = decoder.object(node, path, &["operator", "reason"])?;
    let operator = label(decoder, fields, path, "operator");
    let reason = label(decoder, fields, path, "reason");
    Some(OperatorNote {
        operator: operator?,
        reason: reason?,
    })
}

fn waiver<'a>(decoder: &mut Decoder<'_>, node: &'a Node<'_>, path: Path<'_>) -> Option<Waiver<'a>> {
    let fields = decoder.object(node, path, &["check", "operator", "reason"])?;
    let check = label(decoder, fields, path, "check");
    let operator = label(decoder, fields, path, "operator");
    let reason = label(decoder, fields, path, "reason");
    Some(Waiver {
        check: check?,
        operator: operator?,
        reason: reason?,
    })
}
