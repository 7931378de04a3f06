//! The gate's side: situations as the JSON that the gate reads, answers as what is compared.

use std::fmt::Write as _;
use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use ralph_gate_component::json;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{
    Answer, Assessment, Counters, Decision, Detail, ErrorCode, Failure, LoopSignal, RoutedMode,
    Ruling, Standstill, StopReason, Verdict,
};
use crate::situation::{
    Action, After, Cause, Check, CheckResult, Claim, Contract, Enforcement, Iteration, Mode,
    OnFlaky, Outcome, Output, Place, PromiseRules, Signal, Text, Token, Work,
};

const PROSE: [&str; 9] = [
    "Looking at the parser.",
    "Changed the lexer.",
    "Wrote a test.",
    "Read the log.",
    "Renamed a module.",
    "Asked the compiler.",
    "Moved a file.",
    "Split a function.",
    "Joined two lists.",
];
/// Contents of the one artifact. A git tree id would be one of these.
pub(crate) const ARTIFACTS: [&str; 9] = [
    "oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "nut",
];
const TOOL_OUTPUTS: [&str; 9] = [
    "two failed",
    "one failed",
    "none failed",
    "no tests",
    "skipped",
    "stuck",
    "slow",
    "gone",
    "odd",
];

/// A loop as the gate sees it: a contract, and a snapshot handed back each time.
#[derive(Debug, Clone)]
pub(crate) struct GateLoop {
    contract: String,
    /// As a JSON value.
    snapshot: String,
    nonce: bool,
    /// What the token asks for in the iteration to come, and what it asked for before.
    token: String,
    stale_token: String,
}

/// What the gate answered.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) input: String,
    pub(crate) text: String,
    pub(crate) answer: Answer,
    pub(crate) snapshot: Option<String>,
}

impl GateLoop {
    pub(crate) fn new(contract: &Contract) -> Result<Self> {
        let mut new = Self {
            contract: contract_text(contract),
            snapshot: "null".to_owned(),
            nonce: contract.token == Token::Nonce,
            token: "COMPLETE".to_owned(),
            stale_token: if contract.token == Token::Nonce {
                "COMPLETE 00000000".to_owned()
            } else {
                "COMPLETE".to_owned()
            },
        };
        new.learn_token()?;
        Ok(new)
    }

    /// The whole input of `evaluate_final`.
    pub(crate) fn input(&self, iteration: &Iteration) -> Result<String> {
        Ok(format!(
            r#"{{"contract":{},"snapshot":{},"iteration":{}}}"#,
            self.contract,
            self.snapshot,
            self.iteration_text(iteration)?
        ))
    }

    /// The snapshot as the next iteration will give it to the gate.
    pub(crate) fn snapshot(&self) -> Option<String> {
        serde_json::from_str(&self.snapshot).unwrap_or_default()
    }

    /// Asks the gate, without moving on.
    pub(crate) fn ask(&self, iteration: &Iteration) -> Result<Reply> {
        let input = self.input(iteration)?;
        let text = json::call("evaluate_final", &input);
        let (answer, snapshot) =
            read(&text).with_context(|| format!("the answer can't be read: {text}"))?;
        Ok(Reply {
            input,
            text,
            answer,
            snapshot,
        })
    }

    /// Moves on to the state that an answer carries. After an error the loop is as it was.
    pub(crate) fn advance(&mut self, reply: &Reply) -> Result<()> {
        if let Some(snapshot) = &reply.snapshot {
            self.snapshot = serde_json::to_string(snapshot)?;
            self.stale_token.clone_from(&self.token);
            self.learn_token()?;
        }
        Ok(())
    }

    /// An operator resumes the loop.
    pub(crate) fn resume(&mut self) -> Result<()> {
        let input = format!(
            r#"{{"contract":{},"snapshot":{},"resumption":{{"operator":"ana","reason":"looked into it"}}}}"#,
            self.contract, self.snapshot
        );
        let answer: Value = serde_json::from_str(&json::call("resume", &input))?;
        let snapshot = answer
            .get("snapshot")
            .with_context(|| format!("the loop can't be resumed: {answer}"))?;
        self.snapshot = snapshot.to_string();
        self.learn_token()
    }

    /// With a nonce the token changes each time, and only the gate knows it.
    fn learn_token(&mut self) -> Result<()> {
        if self.nonce {
            let input = format!(
                r#"{{"contract":{},"snapshot":{}}}"#,
                self.contract, self.snapshot
            );
            let brief: Value = serde_json::from_str(&json::call("write_brief", &input))?;
            // A loop that has stopped has no next token; nothing will be evaluated with it.
            if let Some(token) = brief.get("token").and_then(Value::as_str) {
                token.clone_into(&mut self.token);
            }
        }
        Ok(())
    }

    fn iteration_text(&self, iteration: &Iteration) -> Result<String> {
        let mut text = format!(
            r#"{{"index":{},"action":"{}","canceled":{},"output":{}"#,
            iteration.index,
            match iteration.action {
                Action::Final => "final",
                Action::Continue => "continue",
                Action::Error => "error",
                Action::Timeout => "timeout",
            },
            iteration.canceled,
            serde_json::to_string(&self.output_text(&iteration.output))?,
        );
        let results: Result<Vec<String>> = iteration
            .results
            .iter()
            .map(|result| result_text(result, iteration))
            .collect();
        write!(text, r#","checks":[{}]"#, results?.join(","))?;
        text.push_str(&work_text(iteration.work));
        if iteration.tampered {
            text.push_str(r#","tampered":[{"what":"tests/a.rs","reason":"deleted"}]"#);
        }
        let usage = iteration.usage;
        write!(
            text,
            r#","usage":{{"elapsed_ms":{},"tool_calls":{},"cost_usd":"{}","tokens":{}}}"#,
            usage.elapsed_ms,
            usage.tool_calls,
            dollars(usage.cents),
            usage.tokens
        )?;
        if iteration.overridden {
            text.push_str(r#","override":{"operator":"ana","reason":"good enough"}"#);
        }
        let waivers: Vec<String> = iteration
            .waivers
            .iter()
            .map(|id| format!(r#"{{"check":"{id}","operator":"ana","reason":"upstream"}}"#))
            .collect();
        if !waivers.is_empty() {
            write!(text, r#","waivers":[{}]"#, waivers.join(","))?;
        }
        text.push('}');
        Ok(text)
    }

    fn output_text(&self, output: &Output) -> String {
        let mut paragraphs: Vec<String> = output
            .prose
            .and_then(|prose| PROSE.get(prose))
            .map(|prose| (*prose).to_owned())
            .into_iter()
            .collect();
        for (text, place) in &output.promises {
            let tag = format!("<promise>{}</promise>", self.promise_text(*text));
            paragraphs.push(match place {
                Place::Visible => tag,
                Place::Fence => format!("```\n{tag}\n```"),
                Place::InlineCode => format!("I will say `{tag}`"),
                Place::Quote => format!("> {tag}"),
                Place::Comment => format!("<!-- {tag} -->"),
                Place::LazyQuote => format!("> quoted\n{tag}"),
                Place::HtmlBlock => format!("<div>\n{tag}\n</div>"),
                Place::Indented => format!("    {tag}"),
                Place::InLine => format!("I am done: {tag}"),
                Place::Colored => format!("\u{1b}[1;32m{tag}\u{1b}[0m"),
            });
        }
        match output.after {
            After::Nothing => {}
            After::Context => paragraphs.push("<context>\nnext: nothing\n</context>".to_owned()),
            After::Prose => paragraphs.push("And some more.".to_owned()),
        }
        paragraphs.join("\n\n")
    }

    fn promise_text(&self, text: Text) -> &str {
        match text {
            Text::Token => &self.token,
            Text::StaleToken => &self.stale_token,
            Text::PlainToken => "COMPLETE",
            Text::LowerToken => "complete",
            Text::Other => "ALL GOOD",
            Text::Signal(Signal::Done) => "LOOP_DONE",
            Text::Signal(Signal::Continue) => "LOOP_CONTINUE",
            Text::Signal(Signal::Blocked) => "LOOP_BLOCKED",
            Text::Signal(Signal::Error) => "LOOP_ERROR",
        }
    }
}

fn contract_text(contract: &Contract) -> String {
    let usual = Contract::default();
    let mut fields = Vec::new();
    match contract.mode {
        Mode::Absent => {}
        Mode::Standard => fields.push(r#""mode":"standard""#.to_owned()),
        Mode::Ralph => fields.push(r#""mode":"ralph""#.to_owned()),
        Mode::Auto => fields.push(r#""mode":"auto""#.to_owned()),
    }
    if contract.enforcement == Enforcement::Shadow {
        fields.push(r#""enforcement":"shadow""#.to_owned());
    }
    match contract.token {
        Token::None => {}
        Token::Text => fields.push(r#""completion_token":"COMPLETE""#.to_owned()),
        Token::Nonce => {
            fields.push(r#""completion_token":{"text":"COMPLETE","nonce":true}"#.to_owned());
        }
    }
    if contract.promise_rules == PromiseRules::Lenient {
        fields.push(r#""promise_rules":"lenient""#.to_owned());
    }
    let checks: Vec<String> = contract.checks.iter().map(check_text).collect();
    if !checks.is_empty() {
        fields.push(format!(r#""completion_checks":[{}]"#, checks.join(",")));
    }
    if contract.on_flaky != usual.on_flaky {
        fields.push(r#""on_flaky":"pass""#.to_owned());
    }
    if contract.ratio_percent != usual.ratio_percent {
        fields.push(format!(
            r#""optional_pass_ratio":"{}""#,
            dollars(contract.ratio_percent)
        ));
    }
    if contract.allow_override != usual.allow_override {
        fields.push(r#""allow_override":false"#.to_owned());
    }
    if let Some(cents) = contract.budget_cents {
        fields.push(format!(r#""cost_budget_usd":"{}""#, dollars(cents)));
    }
    let limits = |contract: &Contract| {
        [
            ("loop_max_iters", contract.loop_max_iters),
            ("no_progress_limit", contract.no_progress_limit),
            ("plateau_limit", contract.plateau_limit),
            ("blocked_limit", contract.blocked_limit),
            ("max_tokens", contract.max_tokens),
            ("max_tool_calls", contract.max_tool_calls),
            ("max_duration_ms", contract.max_duration_ms),
            (
                "max_consecutive_failures",
                contract.max_consecutive_failures,
            ),
            ("max_check_retries", contract.max_check_retries),
        ]
    };
    for ((name, limit), (_, default)) in limits(contract).into_iter().zip(limits(&usual)) {
        if limit != default {
            fields.push(format!(r#""{name}":{limit}"#));
        }
    }
    format!("{{{}}}", fields.join(","))
}

fn check_text(check: &Check) -> String {
    let mut text = format!(r#"{{"id":"{}""#, check.id);
    if !check.required {
        text.push_str(r#","required":false"#);
    }
    match check.on_flaky {
        None => {}
        Some(OnFlaky::Pass) => text.push_str(r#","on_flaky":"pass""#),
        Some(OnFlaky::Fail) => text.push_str(r#","on_flaky":"fail""#),
    }
    if let Some(retries) = check.retries {
        text.push_str(&format!(r#","retries":{retries}"#));
    }
    if let Some(retry_on) = check.retry_on {
        let outcomes: Vec<String> = retry_on
            .iter()
            .map(|outcome| format!(r#""{}""#, outcome_text(*outcome)))
            .collect();
        text.push_str(&format!(r#","retry_on":[{}]"#, outcomes.join(",")));
    }
    text.push('}');
    text
}

fn result_text(result: &CheckResult, iteration: &Iteration) -> Result<String> {
    let mut text = format!(
        r#"{{"id":"{}","outcome":"{}""#,
        result.id,
        outcome_text(result.outcome)
    );
    if let Some(reason) = result.reason {
        write!(text, r#","reason":"{reason}""#)?;
    }
    if let Some(cause) = result.cause {
        let code = match cause {
            Cause::Tampered => "evidence_tampered",
            Cause::PolicyTrapped => "policy_trapped",
            Cause::PolicyOutOfFuel => "policy_out_of_fuel",
            Cause::PolicyOutOfMemory => "policy_out_of_memory",
            Cause::PolicyRejected => "policy_rejected",
            Cause::ControlFailed => "control_failed",
            Cause::CheckUnavailable => "check_unavailable",
        };
        write!(text, r#","code":"{code}""#)?;
    }
    if !result.attempts.is_empty() {
        let attempts: Vec<String> = result
            .attempts
            .iter()
            .map(|outcome| format!(r#""{}""#, outcome_text(*outcome)))
            .collect();
        write!(text, r#","attempts":[{}]"#, attempts.join(","))?;
    }
    match result.iteration {
        Claim::Unsaid => {}
        Claim::This => write!(text, r#","iteration":{}"#, iteration.index)?,
        Claim::Another => write!(text, r#","iteration":{}"#, iteration.index + 1)?,
    }
    match (result.state, iteration.work.artifact) {
        (Claim::Unsaid, _) => {}
        (Claim::This, Some(artifact)) => {
            write!(text, r#","fingerprint":"{}""#, state(artifact)?)?;
        }
        (Claim::This, None) | (Claim::Another, _) => text.push_str(r#","fingerprint":"0000""#),
    }
    if let Some(failing) = result.failing {
        write!(text, r#","failing":{failing}"#)?;
    }
    text.push('}');
    Ok(text)
}

fn outcome_text(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Unknown => "unknown",
        Outcome::Error => "error",
        Outcome::Timeout => "timeout",
        Outcome::Flaky => "flaky",
    }
}

fn work_text(work: Work) -> String {
    let mut text = String::new();
    if let Some(content) = work.artifact.and_then(|artifact| ARTIFACTS.get(artifact)) {
        text.push_str(&format!(
            r#","artifacts":[{{"name":"tree","kind":"digest","content":"{content}"}}]"#
        ));
    }
    if let Some(content) = work.tool_output.and_then(|tool| TOOL_OUTPUTS.get(tool)) {
        text.push_str(&format!(
            r#","tool_outputs":[{{"name":"test","content":"{content}"}}]"#
        ));
    }
    text
}

/// The `fingerprint.state` of an artifact, as the gate gives it to a host.
fn state(artifact: usize) -> Result<&'static str> {
    static STATES: OnceLock<Vec<String>> = OnceLock::new();
    let states = STATES.get_or_init(|| {
        (0..ARTIFACTS.len())
            .map(|artifact| {
                let work = Work {
                    artifact: Some(artifact),
                    tool_output: None,
                };
                let input = format!(
                    r#"{{"iteration":{{"index":1,"action":"final"{}}}}}"#,
                    work_text(work)
                );
                let answer: Value = serde_json::from_str(&json::call("take_fingerprint", &input))
                    .unwrap_or_default();
                answer
                    .get("state")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    });
    states
        .get(artifact)
        .map(String::as_str)
        .filter(|state| !state.is_empty())
        .context("the gate names no state for an artifact")
}

fn dollars(cents: u32) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// The verdict's JSON form, as far as it is compared.
#[derive(Deserialize)]
struct VerdictForm {
    decision: Decision,
    stop_reason: Option<StopReason>,
    detail: Option<Detail>,
    signal: Option<LoopSignal>,
    intercepted: bool,
    overridden: bool,
    mode: RoutedMode,
    shadow: Option<Ruling>,
    failures: Vec<Failure>,
    checks: Vec<Assessment>,
    unused_checks: Vec<String>,
    waived: Vec<String>,
    fingerprint: Standstill,
    counters: Counters,
    snapshot: Option<String>,
}

#[derive(Deserialize)]
struct ErrorForm {
    error: ErrorFields,
}

#[derive(Deserialize)]
struct ErrorFields {
    code: ErrorCode,
}

fn read(text: &str) -> Result<(Answer, Option<String>)> {
    if text.starts_with(r#"{"error""#) {
        let form: ErrorForm = serde_json::from_str(text)?;
        return Ok((Answer::Error(form.error.code), None));
    }
    let mut form: VerdictForm = serde_json::from_str(text)?;
    form.failures.sort();
    let verdict = Verdict {
        ruling: Ruling {
            decision: form.decision,
            stop_reason: form.stop_reason,
            detail: form.detail,
            signal: form.signal,
        },
        intercepted: form.intercepted,
        overridden: form.overridden,
        mode: form.mode,
        shadow: form.shadow,
        failures: form.failures,
        checks: form.checks,
        unused_checks: form.unused_checks,
        waived: form.waived,
        fingerprint: form.fingerprint,
        counters: form.counters,
    };
    Ok((Answer::Verdict(Box::new(verdict)), form.snapshot))
}
