//! The component: exports the modules of the gate through WIT. Marshalling only, no rule.

use std::borrow::Cow;
use std::cell::RefCell;

use crate::decimal::Decimal;
use crate::iteration as input;
use crate::tree::decode::Path;
use crate::{
    contract, error, fingerprint, json, loop_file, prd, progress, promise, routing, session,
    signal, snapshot, tree, verdict,
};

#[allow(
    unsafe_code,
    unused_qualifications,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated from the WIT"
)]
mod bindings {
    wit_bindgen::generate!({
        path: "../wit",
        world: "gate-component",
        pub_export_macro: false,
    });
    use super::Component;
    export!(Component);
}

use bindings::exports::ralph::gate::gate as wit;
use bindings::exports::ralph::gate::json as wit_json;

struct Component;

/// From the gate's type to the WIT's.
trait Lower {
    type Wit;
    fn lower(self) -> Self::Wit;
}

/// From the WIT's type to the gate's.
trait Lift {
    type Gate;
    fn lift(self) -> Self::Gate;
}

macro_rules! same_type {
    ($($type:ty),+) => {
        $(impl Lower for $type {
            type Wit = Self;
            fn lower(self) -> Self { self }
        })+
        $(impl Lift for $type {
            type Gate = Self;
            fn lift(self) -> Self { self }
        })+
    };
}
same_type!(String, u32, bool);

impl<T: Lower> Lower for Option<T> {
    type Wit = Option<T::Wit>;
    fn lower(self) -> Self::Wit {
        self.map(T::lower)
    }
}

impl<T: Lower> Lower for Vec<T> {
    type Wit = Vec<T::Wit>;
    fn lower(self) -> Self::Wit {
        self.into_iter().map(T::lower).collect()
    }
}

impl<T: Lift> Lift for Option<T> {
    type Gate = Option<T::Gate>;
    fn lift(self) -> Self::Gate {
        self.map(T::lift)
    }
}

impl<T: Lift> Lift for Vec<T> {
    type Gate = Vec<T::Gate>;
    fn lift(self) -> Self::Gate {
        self.into_iter().map(T::lift).collect()
    }
}

impl<T: Lower, E: Lower> Lower for Result<T, E> {
    type Wit = Result<T::Wit, E::Wit>;
    fn lower(self) -> Self::Wit {
        self.map(T::lower).map_err(E::lower)
    }
}

impl Lower for Decimal {
    type Wit = String;
    fn lower(self) -> String {
        self.to_string()
    }
}

/// Records whose fields have the same names on both sides.
macro_rules! lower_record {
    ($($gate:ty => $wit:ident { $($field:ident),+ })+) => {
        $(impl Lower for $gate {
            type Wit = wit::$wit;
            fn lower(self) -> wit::$wit {
                wit::$wit { $($field: self.$field.lower()),+ }
            }
        })+
    };
}

/// Enums whose variants have the same names on both sides, from the gate to the WIT.
macro_rules! lower_enum {
    ($($gate:ty => $wit:ident { $($variant:ident),+ })+) => {
        $(impl Lower for $gate {
            type Wit = wit::$wit;
            fn lower(self) -> wit::$wit {
                match self { $(Self::$variant => wit::$wit::$variant),+ }
            }
        })+
    };
}

/// Enums whose variants have the same names on both sides, from the WIT to the gate.
macro_rules! lift_enum {
    ($($wit:ident => $gate:ty { $($variant:ident),+ })+) => {
        $(impl Lift for wit::$wit {
            type Gate = $gate;
            fn lift(self) -> $gate {
                match self { $(Self::$variant => <$gate>::$variant),+ }
            }
        })+
    };
}

lower_enum! {
    error::ErrorCode => ErrorCode {
        InvalidJson, InvalidInput, InvalidContract, ContractChanged, UnknownProfile, CostBudgetRequired,
        IterationOutOfOrder, LoopStopped, InvalidSnapshot, UnsupportedSnapshot, InvalidFile, UnknownFunction
    }
    contract::Mode => Mode { Standard, Ralph, Auto }
    contract::Enforcement => Enforcement { Enforce, Shadow }
    routing::RouteReason => RouteReason { NotRequested, Requested, StrictChecks, NoStrictChecks, Disabled }
    input::FailureCode => FailureCode {
        CheckFailed, CheckErrored, CheckTimedOut, CheckFlaky, MissingEvidence, StaleEvidence, EvidenceTampered,
        TokenMissing, TokenMismatch, PromiseConflict, PromiseMisplaced, PromiseContinue, PolicyTrapped,
        PolicyOutOfFuel, PolicyOutOfMemory, PolicyRejected, RatioNotMet, ControlFailed, CheckUnavailable
    }
    verdict::Decision => Decision { Continue, Stop, PassThrough }
    verdict::StopReason => StopReason {
        Completed, MaxIters, NoProgress, BudgetExceeded, ContextCanceled, Blocked, Error
    }
    verdict::NeedKind => NeedKind {
        Final, CheckPass, OptionalChecksPass, Promise, NoContrarySignal, Untampered
    }
    promise::TagStatus => TagStatus {
        Accepted, NotLast, NotFirst, InFencedCode, InInlineCode, InBlockQuote, InComment, InHtmlBlock, InIndentedCode,
        NotAlone, Nested, Unclosed, Empty, Conflicting
    }
    promise::ContextKind => ContextKind { Text, Number, Boolean, Empty }
    prd::PrdShape => PrdShape { UserStories, Items }
}

impl Lower for signal::Signal {
    type Wit = wit::Signal;
    fn lower(self) -> wit::Signal {
        match self {
            Self::Done => wit::Signal::LoopDone,
            Self::Continue => wit::Signal::LoopContinue,
            Self::Blocked => wit::Signal::LoopBlocked,
            Self::Error => wit::Signal::LoopError,
        }
    }
}

lift_enum! {
    TextFormat => tree::TextFormat { Json, Yaml, Toml }
    PromiseRules => contract::PromiseRules { Strict, Lenient }
    Action => input::Action { Final, Continue, Error, Timeout }
    Outcome => input::Outcome { Pass, Fail, Unknown, Error, Timeout, Flaky }
    FailureCode => input::FailureCode {
        CheckFailed, CheckErrored, CheckTimedOut, CheckFlaky, MissingEvidence, StaleEvidence, EvidenceTampered,
        TokenMissing, TokenMismatch, PromiseConflict, PromiseMisplaced, PromiseContinue, PolicyTrapped,
        PolicyOutOfFuel, PolicyOutOfMemory, PolicyRejected, RatioNotMet, ControlFailed, CheckUnavailable
    }
    ArtifactKind => input::ArtifactKind { Yaml, Json, Text, Digest }
}

lower_record! {
    error::Problem => Problem { path, line, column, message, help }
    error::GateError => GateError { code, message, path, problems }
    contract::ContractReport => ContractReport { valid, problems, warnings, contract, digest }
    routing::Routing => Routing { mode, reason, profile, enforcement, contract, digest, warnings }
    verdict::Failure => Failure { code, check, reason }
    verdict::Need => Need { kind, check, checks, count, text }
    promise::PromiseTag => PromiseTag { offset, length, text, status, reason }
    promise::ContextEntry => ContextEntry { key, kind, value }
    promise::PromiseReport => PromiseReport { accepted, signal, conflict, found, tags, context, context_warning }
    fingerprint::FingerprintPart => FingerprintPart { name, digest, unchanged_for, note }
    fingerprint::Fingerprint => Fingerprint { digest, state, counted, parts, equal_in_a_row, diagnosis }
    verdict::Guardrail => Guardrail { name, used, limit, percent }
    verdict::Counters => Counters {
        iteration, elapsed_ms, tool_calls, cost_usd, tokens, consecutive_failures, check_retries, guardrails
    }
    verdict::CheckAssessment => CheckAssessment { id, required, passed, flaky, code }
    verdict::ShadowVerdict => ShadowVerdict { decision, stop_reason, detail, signal }
    verdict::Verdict => Verdict {
        decision, stop_reason, detail, signal, intercepted, overridden, failures, needs, feedback, promise,
        fingerprint, counters, snapshot, mode, profile, shadow, checks, unused_checks, waived
    }
    session::Brief => Brief { iteration, token, text }
    signal::SignalReport => SignalReport {
        signal, reason, selectable, proposed, in_progress, blocked, done, problems
    }
    snapshot::SnapshotView => SnapshotView {
        version, contract, iteration, stopped, detail, elapsed_ms, tool_calls, cost_usd, tokens,
        consecutive_failures, resumed
    }
    prd::PrdItem => PrdItem { id, title, passes }
    prd::Prd => Prd { shape, items, passed, total, warnings }
    progress::ProgressEntry => ProgressEntry { iteration, title, body }
    progress::ProgressLog => ProgressLog { entries, preamble, torn }
    loop_file::LoopFile => LoopFile {
        active, iteration, session_id, max_iterations, completion_promise, started_at, prompt
    }
}

/// Records of plain text and numbers, from the WIT to the gate.
macro_rules! lift_record {
    ($($wit:ident => $gate:path { $($field:ident),+ })+) => {
        $(impl Lift for wit::$wit {
            type Gate = $gate;
            fn lift(self) -> $gate {
                $gate { $($field: self.$field.lift()),+ }
            }
        })+
    };
}

lift_record! {
    Resumption => session::Resumption { operator, reason, accept_contract }
    IssueFile => signal::IssueFile { path, text }
    Issue => signal::Issue { id, status, needs_human, depends_on }
    IssueStates => signal::IssueStates { issues, files }
    PrdUpdate => prd::PrdUpdate { id, passes, evidence }
    ProgressEntry => progress::ProgressEntry { iteration, title, body }
    LoopFile => loop_file::LoopFile {
        active, iteration, session_id, max_iterations, completion_promise, started_at, prompt
    }
    LoopFileChange => loop_file::LoopFileChange { active, iteration, session_id }
}

impl Lift for wit::CheckResult {
    type Gate = input::CheckResult<'static>;
    fn lift(self) -> Self::Gate {
        input::CheckResult {
            id: Cow::Owned(self.id),
            outcome: self.outcome.lift(),
            reason: self.reason.map(Cow::Owned),
            code: self.code.lift(),
            attempts: self.attempts.lift(),
            iteration: self.iteration,
            fingerprint: self.fingerprint.map(Cow::Owned),
            failing: self.failing,
        }
    }
}

impl Lift for wit::Artifact {
    type Gate = input::Artifact<'static>;
    fn lift(self) -> Self::Gate {
        input::Artifact {
            name: Cow::Owned(self.name),
            kind: self.kind.lift(),
            content: Cow::Owned(self.content),
        }
    }
}

impl Lift for wit::ToolOutput {
    type Gate = input::ToolOutput<'static>;
    fn lift(self) -> Self::Gate {
        input::ToolOutput {
            name: Cow::Owned(self.name),
            content: Cow::Owned(self.content),
        }
    }
}

impl Lift for wit::Tampering {
    type Gate = input::Tampering<'static>;
    fn lift(self) -> Self::Gate {
        input::Tampering {
            what: Cow::Owned(self.what),
            reason: Cow::Owned(self.reason),
        }
    }
}

impl Lift for wit::OperatorNote {
    type Gate = input::OperatorNote<'static>;
    fn lift(self) -> Self::Gate {
        input::OperatorNote {
            operator: Cow::Owned(self.operator),
            reason: Cow::Owned(self.reason),
        }
    }
}

impl Lift for wit::Waiver {
    type Gate = input::Waiver<'static>;
    fn lift(self) -> Self::Gate {
        input::Waiver {
            check: Cow::Owned(self.check),
            operator: Cow::Owned(self.operator),
            reason: Cow::Owned(self.reason),
        }
    }
}

/// The one lift that can fail. The gate applies the same rules to the JSON face.
fn lift_iteration(
    iteration: wit::Iteration,
) -> Result<input::Iteration<'static>, error::GateError> {
    let mut problems = Vec::new();
    let mut report = |path: Path<'_>, message: String, help: Option<String>| {
        problems.push(error::Problem {
            path: path.to_string(),
            line: 0,
            column: 0,
            message,
            help,
        });
    };
    let cost_usd = match iteration.usage.cost_usd.as_deref().map(Decimal::parse) {
        None => Decimal::ZERO,
        Some(Ok(cost)) => cost,
        Some(Err(cause)) => {
            report(
                Path::Root.field("usage").field("cost_usd"),
                cause.to_owned(),
                None,
            );
            Decimal::ZERO
        }
    };
    let lifted = input::Iteration {
        index: iteration.index,
        action: iteration.action.lift(),
        canceled: iteration.canceled,
        output: Cow::Owned(iteration.output),
        checks: iteration.checks.lift(),
        artifacts: iteration.artifacts.lift(),
        tool_outputs: iteration.tool_outputs.lift(),
        tampered: iteration.tampered.lift(),
        usage: input::Usage {
            elapsed_ms: iteration.usage.elapsed_ms,
            tool_calls: iteration.usage.tool_calls,
            cost_usd,
            tokens: iteration.usage.tokens,
        },
        override_by: iteration.override_.lift(),
        waivers: iteration.waivers.lift(),
    };
    lifted.validate(Path::Root, &mut report);
    if problems.is_empty() {
        return Ok(lifted);
    }
    Err(error::GateError::from_problems(
        error::ErrorCode::InvalidInput,
        "the iteration",
        problems,
    ))
}

/// One loop, opened by a host.
struct SessionHandle(RefCell<session::Session>);

impl wit::GuestSession for SessionHandle {
    fn open(contract: String, snapshot: Option<String>) -> Result<wit::Session, wit::GateError> {
        session::Session::open(&contract, snapshot.as_deref())
            .map(|session| wit::Session::new(Self(RefCell::new(session))))
            .map_err(Lower::lower)
    }

    fn evaluate_final(&self, iteration: wit::Iteration) -> Result<wit::Verdict, wit::GateError> {
        lift_iteration(iteration)
            .and_then(|iteration| self.0.borrow_mut().evaluate_final(&iteration))
            .lower()
    }

    fn evaluate_final_json(&self, iteration: String) -> String {
        json::evaluate_on(&mut self.0.borrow_mut(), &iteration)
    }

    fn brief(&self) -> wit::Brief {
        self.0.borrow().brief().lower()
    }

    fn snapshot(&self) -> Option<String> {
        self.0.borrow().snapshot().map(str::to_owned)
    }
}

impl wit::Guest for Component {
    type Session = SessionHandle;

    fn check_contract(text: String, format: Option<wit::TextFormat>) -> wit::ContractReport {
        contract::check(&text, format.lift()).lower()
    }

    fn route(request: String, policy: String) -> Result<wit::Routing, wit::GateError> {
        routing::RoutingPolicy::parse(&policy)
            .and_then(|policy| routing::route_text(&request, &policy))
            .lower()
    }

    fn evaluate_final(
        contract: String,
        snapshot: Option<String>,
        iteration: wit::Iteration,
    ) -> Result<wit::Verdict, wit::GateError> {
        let evaluate = || {
            let mut session = session::Session::open(&contract, snapshot.as_deref())?;
            session.evaluate_final(&lift_iteration(iteration)?)
        };
        evaluate().lower()
    }

    fn write_brief(
        contract: String,
        snapshot: Option<String>,
    ) -> Result<wit::Brief, wit::GateError> {
        session::Session::open(&contract, snapshot.as_deref())
            .map(|session| session.brief())
            .lower()
    }

    fn resume(
        contract: String,
        snapshot: String,
        resumption: wit::Resumption,
    ) -> Result<String, wit::GateError> {
        contract::parse(&contract)
            .and_then(|contract| session::resume(contract, &snapshot, &resumption.lift()))
            .lower()
    }

    fn parse_promises(output: String, rules: wit::PromiseRules) -> wit::PromiseReport {
        promise::parse(&output, rules.lift()).lower()
    }

    fn take_fingerprint(iteration: wit::Iteration) -> Result<wit::Fingerprint, wit::GateError> {
        lift_iteration(iteration)
            .map(|iteration| fingerprint::of(&iteration))
            .lower()
    }

    fn decide_signal(states: wit::IssueStates) -> wit::SignalReport {
        signal::decide(&states.lift()).lower()
    }

    fn read_snapshot(text: String) -> Result<wit::SnapshotView, wit::GateError> {
        snapshot::view(&text).lower()
    }

    fn read_prd(text: String) -> Result<wit::Prd, wit::GateError> {
        prd::read(&text).lower()
    }

    fn update_prd(text: String, updates: Vec<wit::PrdUpdate>) -> Result<String, wit::GateError> {
        prd::update(&text, &updates.lift()).lower()
    }

    fn read_progress(text: String) -> wit::ProgressLog {
        progress::read(&text).lower()
    }

    fn write_progress(entry: wit::ProgressEntry) -> String {
        progress::write(&entry.lift())
    }

    fn read_loop_file(text: String) -> Result<wit::LoopFile, wit::GateError> {
        loop_file::read(&text).lower()
    }

    fn update_loop_file(
        text: String,
        change: wit::LoopFileChange,
    ) -> Result<String, wit::GateError> {
        loop_file::update(&text, &change.lift()).lower()
    }

    fn write_loop_file(file: wit::LoopFile) -> String {
        loop_file::write(&file.lift())
    }
}

impl wit_json::Guest for Component {
    fn call(function: String, input: String) -> String {
        json::call(&function, &input)
    }
}
