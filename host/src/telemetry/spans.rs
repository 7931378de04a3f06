//! Events to spans, in the `GenAI` conventions of OpenTelemetry. Pure: lines of a log in, spans out, the same whenever and
//! wherever it is done. So a loop that is under way and a log that was left behind give the same spans with the same ids.
//!
//! One trace per loop:
//!
//! ```text
//! ralph.loop                  from its beginning to its end, or to where somebody went on with it
//! ├─ invoke_agent NAME        one iteration, with its verdict as `gen_ai.evaluation.result`
//! │  └─ ralph.check ID        one check of it
//! ├─ ralph.loop.resumed       from where somebody went on, with the iterations after that
//! └─ ralph.audit              what turned out to be true
//! ```

use crate::memory::course::names;

use super::line::{
    AgentEnded, Audited, Begun, CheckResult, ClientEnded, Counters, Evidence, Iteration, Judged,
    Line, Run, Tripped, Usage, Verdict,
};
use super::model::{Attributes, Moment, Span, SpanEvent, SpanId, Status, TraceId};

/// The name of an iteration's operation.
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
/// The event that carries a verdict.
const EVALUATION: &str = "gen_ai.evaluation.result";
/// The most checks, tripwires and failures of an iteration that are told. Logs are a stranger's.
const MOST: usize = 256;

/// Whether texts are told that agents, people and programs wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Content {
    /// They stay here.
    #[default]
    Withheld,
    /// They are sent along.
    Sent,
}

impl Content {
    /// A text, if it may be sent.
    fn of(self, text: Option<&str>) -> Option<&str> {
        text.filter(|_| self == Self::Sent)
    }

    fn of_value(self, value: Option<&serde_json::Value>) -> Option<&str> {
        self.of(value.and_then(serde_json::Value::as_str))
    }
}

/// Makes spans of the lines of one log.
#[derive(Debug, Default)]
pub struct Spans {
    content: Content,
    trace: Option<Trace>,
    /// What is open: the loop, or what somebody went on with.
    segment: Option<Segment>,
    /// What came since the last verdict.
    agent: Option<AgentEnded>,
    evidence: Vec<Evidence>,
    tripped: Vec<Tripped>,
}

/// What all spans of a loop share.
#[derive(Debug, Clone)]
struct Trace {
    id: TraceId,
    session: Option<String>,
    agent: String,
}

impl Trace {
    /// The loop that a line belongs to, if it is the first one that is seen. Its first line's digest covers the
    /// session's key, the moment and the contract, so no two loops share it.
    fn of(line: &Line<'_>, begun: Option<&Begun>) -> Self {
        let seed = if line.event == names::STARTED {
            &line.digest
        } else {
            &line.prev
        };
        let hash = blake3::Hasher::new_derive_key("ralph-gate OpenTelemetry trace")
            .update(seed.as_bytes())
            .finalize();
        let attended = begun.and_then(|begun| begun.attended.as_ref());
        let session = begun.and_then(|begun| begun.session.clone());
        Self {
            id: TraceId(first(hash.as_bytes())),
            session: session.or_else(|| attended.and_then(|it| it.session.clone())),
            agent: begun.map_or_else(|| "agent".to_owned(), agent),
        }
    }

    /// The span with this name.
    fn span(&self, kind: &str, numbers: &[u64]) -> SpanId {
        let mut hasher = blake3::Hasher::new_derive_key("ralph-gate OpenTelemetry span");
        hasher.update(&self.id.0).update(kind.as_bytes());
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
        SpanId(first(hasher.finalize().as_bytes()))
    }

    fn root(&self) -> SpanId {
        self.span("loop", &[])
    }
}

/// The beginning of a digest.
fn first<const N: usize>(digest: &[u8; 32]) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, from) in bytes.iter_mut().zip(digest) {
        *to = *from;
    }
    bytes
}

/// Who does the work: the client that asks, or the program that was started.
fn agent(begun: &Begun) -> String {
    if let Some(attended) = &begun.attended {
        return attended.harness.clone();
    }
    let program = begun.argv.first().map_or("", String::as_str);
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    if name.is_empty() { "agent" } else { name }.to_owned()
}

/// Whose model an agent asks, where its name says so.
fn provider(agent: &str) -> Option<&'static str> {
    match agent {
        "claude" | "claude-code" | "claude_code" => Some("anthropic"),
        "codex" => Some("openai"),
        "gemini" => Some("gcp.gemini"),
        _ => None,
    }
}

/// A part of a loop that nobody interrupted.
#[derive(Debug)]
struct Segment {
    id: SpanId,
    parent: Option<SpanId>,
    name: &'static str,
    start: Moment,
    /// The newest thing that is known of it.
    end: Moment,
    attributes: Attributes,
    events: Vec<SpanEvent>,
    iterations: u64,
    last: Option<Verdict>,
    is_over: bool,
}

impl Spans {
    /// For one log.
    pub fn new(content: Content) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// Takes the next line of the log. Gives the spans that have ended with it, each once.
    pub fn add(&mut self, line: &str) -> Vec<Span> {
        let Some(line) = Line::read(line) else {
            return Vec::new();
        };
        match line.event.as_ref() {
            names::STARTED => self.begin(&line),
            names::RESUMED => self.resume(&line),
            names::AGENT => {
                self.agent = line.data();
                Vec::new()
            }
            names::EVIDENCE => {
                if self.evidence.len() < MOST {
                    self.evidence.extend(line.data::<Evidence>());
                }
                Vec::new()
            }
            names::TRIPWIRE => {
                if self.tripped.len() < MOST {
                    self.tripped.extend(line.data::<Tripped>());
                }
                Vec::new()
            }
            names::CLIENT_ENDED => {
                self.client_ended(&line);
                Vec::new()
            }
            names::VERDICT => self.judge(&line),
            "audit" => self.audit(&line).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the last line was that somebody went on with the loop.
    pub(super) fn is_resumed(&self) -> bool {
        let segment = self.segment.as_ref();
        segment.is_some_and(|it| it.parent.is_some() && it.iterations == 0)
    }

    /// No more lines come. Gives what is still open, as far as it got.
    pub fn close(&mut self) -> Option<Span> {
        let trace = self.trace.clone()?;
        let segment = self.segment.take()?;
        Some(segment.span(&trace))
    }

    fn begin(&mut self, line: &Line<'_>) -> Vec<Span> {
        let before = self.close();
        let begun: Begun = line.data().unwrap_or_default();
        let trace = Trace::of(line, Some(&begun));
        let run = line.run.clone().unwrap_or_default();
        let mut attributes = self.terms(&trace, &begun, &run);
        attributes
            .add("ralph.host.version", &begun.version)
            .add("ralph.task_class", &begun.task_class);
        for (name, label) in begun.labels.iter().take(MOST) {
            attributes.add(format!("ralph.label.{name}"), label.as_str());
        }
        self.segment = Some(Segment::new(
            trace.root(),
            None,
            "ralph.loop",
            &begun,
            attributes,
        ));
        self.trace = Some(trace);
        before.into_iter().collect()
    }

    fn resume(&mut self, line: &Line<'_>) -> Vec<Span> {
        let before = self.close();
        let begun: Begun = line.data().unwrap_or_default();
        let trace = self.trace(line).clone();
        let run = line.run.clone().unwrap_or_default();
        let mut attributes = self.terms(&trace, &begun, &run);
        attributes.add("ralph.resumed.operator", &begun.operator);
        let id = trace.span("resumed", &[begun.at_ms]);
        let name = "ralph.loop.resumed";
        self.segment = Some(Segment::new(
            id,
            Some(trace.root()),
            name,
            &begun,
            attributes,
        ));
        before.into_iter().collect()
    }

    /// The trace, also of a log that lost its beginning.
    fn trace(&mut self, line: &Line<'_>) -> &Trace {
        self.trace.get_or_insert_with(|| Trace::of(line, None))
    }

    /// What a part of a loop is judged by.
    fn terms(&self, trace: &Trace, begun: &Begun, run: &Run) -> Attributes {
        let mut attributes = Attributes::default();
        attributes
            .add("gen_ai.agent.name", trace.agent.as_str())
            .add("gen_ai.provider.name", provider(&trace.agent))
            .add("gen_ai.conversation.id", &trace.session)
            .add("ralph.mode", begun.mode.as_deref().or(run.mode.as_deref()))
            .add(
                "ralph.profile",
                begun.profile.as_deref().or(run.profile.as_deref()),
            )
            .add(
                "ralph.enforcement",
                begun.enforcement.as_deref().or(run.enforcement.as_deref()),
            )
            .add("ralph.contract.digest", &begun.contract_digest)
            .add(
                "ralph.rules.digest",
                begun.rules_digest.as_deref().filter(|it| !it.is_empty()),
            )
            .add("ralph.gate.digest", &run.gate)
            .add("ralph.prompt", self.content.of(begun.prompt.as_deref()));
        attributes
    }

    fn client_ended(&mut self, line: &Line<'_>) {
        let ended: ClientEnded = line.data().unwrap_or_default();
        if let Some(segment) = &mut self.segment {
            let mut attributes = Attributes::default();
            attributes
                .add("ralph.client.blocks", ended.blocks)
                .add("ralph.client.cap", ended.cap);
            segment.note("ralph.client_ended", segment.end, attributes);
        }
    }

    /// An iteration was judged.
    fn judge(&mut self, line: &Line<'_>) -> Vec<Span> {
        let Some(judged) = line.data::<Judged>() else {
            return Vec::new();
        };
        let trace = self.trace(line).clone();
        let agent = self.agent.take();
        let evidence = std::mem::take(&mut self.evidence);
        let tripped = std::mem::take(&mut self.tripped);
        let parent = self.segment.as_ref().map_or(trace.root(), |it| it.id);
        let index = judged.iteration.index;
        // What the checks gave before the agent began is no turn of it.
        if index == 0 && agent.is_none() && !evidence.is_empty() {
            return Vec::new();
        }
        let id = trace.span("iteration", &[index]);
        let decided = Moment(judged.at_ms);
        let start = beginning(&judged, agent.as_ref(), &evidence);
        // By its own count it may have begun before the loop: a host can count what came before.
        let start = { self.segment.as_ref() }.map_or(start, |it| start.max(it.start));
        let ends = evidence.iter().map(Evidence::end);
        let end = ends.fold(decided, Moment::max).max(start);
        let checks = (0..).zip(&evidence).map(|(number, evidence)| {
            let own = trace.span("check", &[index, number]);
            self.check(&trace, own, id, index, evidence)
        });
        let mut spans: Vec<Span> = checks.collect();
        spans.push(Span {
            trace: trace.id,
            id,
            parent: Some(parent),
            name: format!("{INVOKE_AGENT} {}", trace.agent),
            start,
            end,
            attributes: self.iteration(&trace, line.run.as_ref(), &judged, agent.as_ref()),
            events: self.happened(decided, &judged, &tripped),
            status: error_type(&judged.iteration).map_or(Status::Unset, |(_, reason)| {
                Status::Error(reason.to_owned())
            }),
        });
        let is_over = judged.verdict.decision != "continue";
        if let Some(segment) = &mut self.segment {
            segment.go_on(end, judged.verdict);
            segment.is_over = is_over;
        }
        if is_over {
            spans.extend(self.close());
        }
        spans
    }

    fn check(
        &self,
        trace: &Trace,
        id: SpanId,
        parent: SpanId,
        index: u64,
        evidence: &Evidence,
    ) -> Span {
        let mut attributes = Attributes::default();
        let outcome = evidence.outcome.as_str();
        attributes
            .add("ralph.check.id", evidence.check.as_str())
            .add("ralph.check.kind", &evidence.kind)
            .add("ralph.check.outcome", outcome)
            .add("ralph.check.code", &evidence.code)
            .add("ralph.check.attempts", evidence.attempts.len() as u64)
            .add(
                "ralph.check.exit",
                evidence.attempts.last().and_then(|it| it.exit),
            )
            .add("ralph.iteration.index", index)
            .add(
                "ralph.check.reason",
                self.content.of(evidence.reason.as_deref()),
            );
        if let Some(tests) = evidence.tests {
            attributes
                .add("ralph.tests.passed", tests.passed)
                .add("ralph.tests.failed", tests.failed)
                .add("ralph.tests.skipped", tests.skipped);
        }
        // A check that fails has done its work: only one that could not is an error.
        let error = unanswered(outcome);
        attributes.add("error.type", error);
        Span {
            trace: trace.id,
            id,
            parent: Some(parent),
            name: format!("ralph.check {}", evidence.check),
            start: Moment(evidence.started_at_ms),
            end: evidence.end(),
            attributes: attributes.into_list(),
            events: Vec::new(),
            status: error.map_or(Status::Unset, |_| {
                Status::Error("the check gave no result".to_owned())
            }),
        }
    }

    fn iteration(
        &self,
        trace: &Trace,
        run: Option<&Run>,
        judged: &Judged,
        agent: Option<&AgentEnded>,
    ) -> Vec<super::model::Attribute> {
        let (iteration, verdict) = (&judged.iteration, &judged.verdict);
        let mut attributes = Attributes::default();
        attributes
            .add("gen_ai.operation.name", INVOKE_AGENT)
            .add("gen_ai.agent.name", trace.agent.as_str())
            .add("gen_ai.provider.name", provider(&trace.agent))
            .add("gen_ai.conversation.id", &trace.session)
            .add("error.type", error_type(iteration).map(|(name, _)| name))
            .add("ralph.iteration.index", iteration.index)
            .add("ralph.iteration.action", iteration.action.as_str())
            .add("ralph.iteration.canceled", iteration.canceled)
            .add("ralph.mode", &verdict.mode)
            .add("ralph.profile", &verdict.profile)
            .add(
                "ralph.enforcement",
                run.and_then(|run| run.enforcement.as_deref()),
            )
            .add("ralph.gate.digest", run.and_then(|run| run.gate.as_deref()))
            .add("ralph.recorded", &judged.recorded);
        decided(&mut attributes, verdict);
        let Usage {
            elapsed_ms,
            tool_calls,
            cost_usd,
            tokens,
        } = &iteration.usage;
        attributes
            .add("ralph.usage.elapsed_ms", *elapsed_ms)
            .add("ralph.usage.tool_calls", *tool_calls)
            .add("ralph.usage.cost_usd", cost_usd)
            // Read and written together: the conventions have no name for that, and which was which is not known.
            .add("ralph.usage.tokens", *tokens);
        counted(&mut attributes, &verdict.counters);
        if let Some(agent) = agent {
            attributes
                .add("ralph.agent.duration_ms", agent.duration_ms)
                .add("ralph.agent.exit", agent.exit)
                .add("ralph.agent.signal", agent.signal)
                .add("ralph.agent.timed_out", agent.timed_out)
                .add("ralph.agent.leftovers", agent.leftovers.len() as u64);
        }
        let output = self.content.of_value(iteration.output.as_ref());
        attributes.add("gen_ai.output.messages", output.map(message));
        attributes.into_list()
    }

    /// What the gate found, and what was done that may not be done.
    fn happened(&self, at: Moment, judged: &Judged, tripped: &[Tripped]) -> Vec<SpanEvent> {
        let verdict = &judged.verdict;
        let mut events = vec![SpanEvent {
            at,
            name: EVALUATION.to_owned(),
            attributes: self.evaluation_of(verdict).into_list(),
        }];
        let checks = judged.iteration.checks.iter().take(MOST);
        events.extend(checks.map(|check| self.evaluation_of_check(at, check)));
        for it in tripped {
            let mut attributes = Attributes::default();
            attributes.add("ralph.tripwire", it.tripwire.as_str()).add(
                "ralph.tripwire.reason",
                self.content.of(it.reason.as_deref()),
            );
            events.push(SpanEvent {
                at,
                name: "ralph.tripwire".to_owned(),
                attributes: attributes.into_list(),
            });
        }
        events
    }

    /// The verdict: is the work complete? In shadow, what would have been said.
    fn evaluation_of(&self, verdict: &Verdict) -> Attributes {
        let shadow = verdict.shadow.as_ref();
        let reason = match shadow {
            Some(shadow) => shadow.stop_reason.as_deref(),
            None => verdict.stop_reason.as_deref(),
        };
        let decision = shadow.and_then(|shadow| shadow.decision.as_deref());
        let label = reason.or(decision).unwrap_or(&verdict.decision);
        let failures = verdict.failures.iter().take(MOST);
        let explained: Vec<String> = failures
            .map(|failure| {
                let check = failure.check.as_deref().map(|check| format!("{check}: "));
                let reason = self.content.of_value(failure.reason.as_ref());
                let reason = reason.map(|reason| format!(" ({reason})"));
                let (check, reason) = (check.unwrap_or_default(), reason.unwrap_or_default());
                format!("{check}{}{reason}", failure.code)
            })
            .collect();
        let explanation = match explained.as_slice() {
            [] if reason == Some("completed") => "every condition of the contract holds".to_owned(),
            [] => "nothing failed".to_owned(),
            _ => explained.join("; "),
        };
        let is_complete = reason == Some("completed");
        let mut attributes = Attributes::default();
        attributes
            .add("gen_ai.evaluation.name", "ralph.verdict")
            .add("gen_ai.evaluation.score.label", label)
            .add(
                "gen_ai.evaluation.score.value",
                if is_complete { 1.0 } else { 0.0 },
            )
            .add("gen_ai.evaluation.explanation", explanation);
        attributes
    }

    fn evaluation_of_check(&self, at: Moment, check: &CheckResult) -> SpanEvent {
        let mut attributes = Attributes::default();
        let value = match check.outcome.as_str() {
            "pass" => Some(1.0),
            "fail" => Some(0.0),
            // Nobody knows.
            _ => None,
        };
        attributes
            .add("gen_ai.evaluation.name", check.id.as_str())
            .add("gen_ai.evaluation.score.label", check.outcome.as_str())
            .add("gen_ai.evaluation.score.value", value)
            .add(
                "gen_ai.evaluation.explanation",
                self.content.of_value(check.reason.as_ref()),
            )
            .add("error.type", unanswered(&check.outcome));
        SpanEvent {
            at,
            name: EVALUATION.to_owned(),
            attributes: attributes.into_list(),
        }
    }

    /// What turned out to be true, after the end.
    fn audit(&mut self, line: &Line<'_>) -> Option<Span> {
        let audited: Audited = line.data()?;
        let trace = self.trace(line).clone();
        let at = Moment(audited.at_ms);
        let mut attributes = Attributes::default();
        attributes
            .add("ralph.audit.truth", audited.truth.as_str())
            .add("ralph.audit.witness", &audited.witness)
            .add("ralph.audit.by", &audited.by);
        let value = match audited.truth.as_str() {
            "complete" => Some(1.0),
            "incomplete" => Some(0.0),
            _ => None,
        };
        let mut truth = Attributes::default();
        truth
            .add("gen_ai.evaluation.name", "ralph.audit")
            .add("gen_ai.evaluation.score.label", audited.truth.as_str())
            .add("gen_ai.evaluation.score.value", value)
            .add(
                "gen_ai.evaluation.explanation",
                self.content.of(audited.reason.as_deref()),
            );
        let truth = SpanEvent {
            at,
            name: EVALUATION.to_owned(),
            attributes: truth.into_list(),
        };
        let checks = audited.checks.iter().take(MOST);
        let checks = checks.map(|check| self.evaluation_of_check(at, check));
        Some(Span {
            trace: trace.id,
            id: trace.span("audit", &[audited.at_ms]),
            parent: Some(trace.root()),
            name: "ralph.audit".to_owned(),
            start: at,
            end: at,
            attributes: attributes.into_list(),
            events: [truth].into_iter().chain(checks).collect(),
            status: Status::Unset,
        })
    }
}

impl Evidence {
    fn end(&self) -> Moment {
        Moment(self.started_at_ms).after(self.duration_ms)
    }
}

impl Segment {
    fn new(
        id: SpanId,
        parent: Option<SpanId>,
        name: &'static str,
        begun: &Begun,
        attributes: Attributes,
    ) -> Self {
        Self {
            id,
            parent,
            name,
            start: Moment(begun.at_ms),
            end: Moment(begun.at_ms),
            attributes,
            events: Vec::new(),
            iterations: 0,
            last: None,
            is_over: false,
        }
    }

    fn go_on(&mut self, end: Moment, verdict: Verdict) {
        self.end = self.end.max(end);
        self.iterations += 1;
        self.last = Some(verdict);
    }

    fn note(&mut self, name: &str, at: Moment, attributes: Attributes) {
        if self.events.len() < MOST {
            self.events.push(SpanEvent {
                at,
                name: name.to_owned(),
                attributes: attributes.into_list(),
            });
        }
    }

    fn span(self, trace: &Trace) -> Span {
        let mut attributes = self.attributes;
        attributes
            .add("ralph.ended", self.is_over)
            .add("ralph.iterations", self.iterations);
        let mut status = Status::Unset;
        if let Some(verdict) = &self.last {
            decided(&mut attributes, verdict);
            counted(&mut attributes, &verdict.counters);
            if verdict.stop_reason.as_deref() == Some("error") {
                attributes.add("error.type", "agent_error");
                status = Status::Error("the agent said that it can't go on".to_owned());
            }
        }
        Span {
            trace: trace.id,
            id: self.id,
            parent: self.parent,
            name: self.name.to_owned(),
            start: self.start,
            end: self.end,
            attributes: attributes.into_list(),
            events: self.events,
            status,
        }
    }
}

/// When an iteration began: the earliest of what is known.
fn beginning(judged: &Judged, agent: Option<&AgentEnded>, evidence: &[Evidence]) -> Moment {
    let elapsed = judged.iteration.usage.elapsed_ms.unwrap_or_default();
    let counted = Moment(judged.at_ms).before(elapsed);
    let agent = agent.map(|agent| Moment(agent.started_at_ms));
    let checks = evidence.iter().map(|it| Moment(it.started_at_ms));
    let seen = agent.into_iter().chain(checks);
    seen.filter(|moment| *moment > Moment::default())
        .fold(counted, Moment::min)
}

/// What was decided.
fn decided(attributes: &mut Attributes, verdict: &Verdict) {
    let failures = verdict.failures.iter().take(MOST);
    let failures: Vec<String> = failures
        .map(|failure| match &failure.check {
            Some(check) => format!("{}:{check}", failure.code),
            None => failure.code.clone(),
        })
        .collect();
    attributes
        .add("ralph.decision", verdict.decision.as_str())
        .add("ralph.stop_reason", &verdict.stop_reason)
        .add("ralph.detail", &verdict.detail)
        .add("ralph.signal", &verdict.signal)
        .add("ralph.intercepted", verdict.intercepted)
        .add("ralph.overridden", verdict.overridden)
        .add("ralph.failures", failures);
    if let Some(shadow) = &verdict.shadow {
        attributes
            .add("ralph.shadow.decision", &shadow.decision)
            .add("ralph.shadow.stop_reason", &shadow.stop_reason)
            .add("ralph.shadow.detail", &shadow.detail);
    }
}

/// What was used over the whole loop.
fn counted(attributes: &mut Attributes, counters: &Counters) {
    attributes
        .add("ralph.counters.iteration", counters.iteration)
        .add("ralph.counters.elapsed_ms", counters.elapsed_ms)
        .add("ralph.counters.tool_calls", counters.tool_calls)
        .add("ralph.counters.cost_usd", &counters.cost_usd)
        .add("ralph.counters.tokens", counters.tokens)
        .add(
            "ralph.counters.consecutive_failures",
            counters.consecutive_failures,
        )
        .add("ralph.counters.check_retries", counters.check_retries);
}

/// What kind of error an iteration ended in, and how that is said.
fn error_type(iteration: &Iteration) -> Option<(&'static str, &'static str)> {
    match iteration.action.as_str() {
        _ if iteration.canceled => Some(("canceled", "the iteration was canceled")),
        "timeout" => Some(("timeout", "the agent took too long")),
        "error" => Some(("agent_error", "the agent failed")),
        _ => None,
    }
}

/// The kind of error of a check that gave no answer.
fn unanswered(outcome: &str) -> Option<&'static str> {
    match outcome {
        "error" => Some("check_errored"),
        "timeout" => Some("timeout"),
        _ => None,
    }
}

/// What the agent said, in the form of the conventions.
fn message(output: &str) -> String {
    // Cut here and not behind it, so that it stays JSON. Escapes may make it six times as long.
    let mut end = output.len().min(super::model::LONGEST / 6 - 128);
    while !output.is_char_boundary(end) {
        end -= 1;
    }
    let text = output.get(..end).unwrap_or_default();
    serde_json::json!([{ "role": "assistant", "parts": [{ "type": "text", "content": text }] }])
        .to_string()
}
