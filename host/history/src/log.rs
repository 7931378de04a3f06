//! A log, read: its events, what the gate was given and answered in each iteration, and where it was changed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ralph_gate_memory::course::names;
use ralph_gate_memory::{Break, RunRecord, inspect};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::decided::{Decided, Standing, Verdict};
use crate::error::HistoryError;
use crate::gate::Resumption;
use crate::text;

/// Why an iteration whose texts are missing can't be evaluated again.
const DIGEST_ONLY: &str = "recorded as digests only: not replayable";
/// The same of the first one after such an iteration.
const STATE_LOST: &str = "the state before it was recorded as digests only: not replayable";

/// A log that was read.
#[derive(Debug)]
pub struct Log<'t> {
    report: LogReport<'t>,
}

/// Everything that a log says.
#[derive(Debug, Serialize)]
pub struct LogReport<'t> {
    /// Lines of the text.
    pub lines: u64,
    /// Every line that is an event.
    pub events: Vec<LogEvent<'t>>,
    /// Where the log is not what was written.
    pub breaks: Vec<LogBreak>,
    /// What `loop_started` says.
    pub r#loop: Option<LoopStart>,
    /// Every iteration that was judged.
    pub iterations: Vec<RecordedIteration<'t>>,
    /// How the loop stands at the end.
    pub end: Option<Standing>,
}

/// One event.
#[derive(Debug, Serialize)]
pub struct LogEvent<'t> {
    /// Counted from 1.
    pub line: u64,
    /// The number that it carries.
    pub seq: u64,
    /// Its name.
    pub event: Cow<'t, str>,
    /// What the loop ran under, and which gate judged it. Older logs lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunRecord>,
    /// The details.
    pub data: &'t RawValue,
}

/// A place where a log is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogBreak {
    /// Counted from 1.
    pub line: u64,
    /// `edited`, `removed`, `reordered`, or `unreadable` for an event of a shape that is not known.
    pub kind: String,
    /// One sentence.
    pub message: String,
}

/// What a loop began with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopStart {
    /// Counted from 1.
    #[serde(skip_deserializing)]
    pub line: u64,
    /// Of the host.
    pub version: Option<String>,
    /// In milliseconds since 1970.
    pub at_ms: Option<u64>,
    /// The session's key as text.
    pub session: Option<String>,
    /// Where the gate sent the request.
    pub mode: Option<String>,
    /// The profile that was applied.
    pub profile: Option<String>,
    /// Whether verdicts bind.
    pub enforcement: Option<String>,
    /// What kind of task it is.
    pub task_class: Option<String>,
    /// What the loop is marked with.
    pub labels: BTreeMap<String, String>,
    /// The contract, where the log carries it.
    pub contract: Option<String>,
    /// Its digest.
    pub contract_digest: Option<String>,
    /// The agent; of a log that records digests only, its program alone.
    #[serde(deserialize_with = "text::readable")]
    pub argv: Vec<String>,
    /// The task, where the log carries it.
    #[serde(deserialize_with = "text::or_none")]
    pub prompt: Option<String>,
}

/// An iteration that was judged.
#[derive(Debug, Serialize)]
pub struct RecordedIteration<'t> {
    /// Of its verdict; counted from 1.
    pub line: u64,
    /// In milliseconds since 1970.
    pub at_ms: Option<u64>,
    /// Its number in the loop.
    pub index: u32,
    /// What the gate was given.
    pub given: Given<'t>,
    /// What it answered.
    pub verdict: &'t RawValue,
    /// The part of it that matters most.
    pub decided: Decided,
    #[serde(skip)]
    pub(crate) contract_digest: Option<String>,
    #[serde(skip)]
    pub(crate) feedback: Option<String>,
    /// Why it can't be evaluated again: the log lacks what the gate was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_replayable: Option<&'static str>,
}

/// What the gate was given.
#[derive(Debug, Serialize)]
pub struct Given<'t> {
    /// Where the log carries it.
    pub contract: Option<String>,
    /// As the iteration before left it.
    pub snapshot: Option<String>,
    /// Somebody went on with the loop before this iteration.
    pub resumption: Option<Resumption>,
    /// The iteration.
    pub iteration: &'t RawValue,
}

/// A line of a log.
#[derive(Deserialize)]
struct Line<'t> {
    seq: u64,
    #[serde(borrow)]
    event: Cow<'t, str>,
    #[serde(borrow)]
    run: Option<&'t RawValue>,
    #[serde(borrow)]
    data: &'t RawValue,
}

/// `verdict`
#[derive(Deserialize)]
struct VerdictRecord<'t> {
    at_ms: Option<u64>,
    recorded: Option<String>,
    #[serde(borrow)]
    iteration: &'t RawValue,
    #[serde(borrow)]
    verdict: &'t RawValue,
}

/// The part of an iteration that says where it belongs.
#[derive(Deserialize)]
struct Turn {
    index: u32,
    r#override: Option<Note>,
}

/// Who decided something, and why.
#[derive(Deserialize)]
struct Note {
    operator: String,
    #[serde(deserialize_with = "text::or_empty")]
    reason: String,
}

/// `loop_resumed`
#[derive(Deserialize)]
struct Resumed {
    operator: String,
    #[serde(deserialize_with = "text::or_empty")]
    reason: String,
    contract: Option<String>,
    contract_digest: Option<String>,
}

/// What holds for the next iteration.
#[derive(Default)]
struct Terms {
    contract: Option<String>,
    digest: Option<String>,
    snapshot: Option<String>,
    /// The state before the next iteration was recorded as a digest only.
    state_lost: bool,
    stopped: bool,
    resumption: Option<Resumption>,
}

impl<'t> Log<'t> {
    /// Reads the text of an `events.jsonl`. What is damaged is named; only a text without any event is refused.
    pub fn read(text: &'t str) -> Result<Self, HistoryError> {
        let mut events = Vec::new();
        let mut lines = 0;
        for (line, content) in (1..).zip(text.lines()) {
            lines = line;
            if let Ok(Line {
                seq,
                event,
                run,
                data,
            }) = serde_json::from_str(content)
            {
                events.push(LogEvent {
                    line,
                    seq,
                    event,
                    // One that is not known is none: the event itself counts.
                    run: run.and_then(|run| serde_json::from_str(run.get()).ok()),
                    data,
                });
            }
        }
        if events.is_empty() {
            return Err(HistoryError::invalid_log(lines));
        }
        let mut story = Story::default();
        for event in &events {
            story.add(event);
        }
        let mut breaks: Vec<LogBreak> = inspect(text.as_bytes()).iter().map(LogBreak::of).collect();
        breaks.append(&mut story.unreadable);
        breaks.sort_by_key(|found| found.line);
        let end = story.iterations.last().map(|last| Standing {
            ended: last.decided.ends(),
            iteration: last.index,
            decided: last.decided.clone(),
        });
        Ok(Self {
            report: LogReport {
                lines,
                events,
                breaks,
                r#loop: story.begun,
                iterations: story.iterations,
                end,
            },
        })
    }

    /// What it says.
    pub fn report(&self) -> &LogReport<'t> {
        &self.report
    }

    /// The iterations, of which there must be one.
    pub(crate) fn iterations(&self) -> Result<&[RecordedIteration<'t>], HistoryError> {
        match self.report.iterations.as_slice() {
            [] => Err(HistoryError::nothing_judged()),
            iterations => Ok(iterations),
        }
    }
}

/// What is known of a loop while its events are gone through.
#[derive(Default)]
struct Story<'t> {
    begun: Option<LoopStart>,
    terms: Terms,
    iterations: Vec<RecordedIteration<'t>>,
    unreadable: Vec<LogBreak>,
}

impl<'t> Story<'t> {
    fn add(&mut self, event: &LogEvent<'t>) {
        let is_read = match event.event.as_ref() {
            names::STARTED => self.start(event),
            names::RESUMED => self.resume(event),
            names::VERDICT => self.judge(event),
            _ => Some(()),
        };
        if is_read.is_none() {
            self.unreadable.push(LogBreak {
                line: event.line,
                kind: "unreadable".to_owned(),
                message: format!(
                    "the event {} in line {} has another shape than this version writes",
                    event.event, event.line
                ),
            });
        }
    }

    fn start(&mut self, event: &LogEvent<'t>) -> Option<()> {
        let mut begun: LoopStart = serde_json::from_str(event.data.get()).ok()?;
        begun.line = event.line;
        begun.contract = begun.contract.filter(|contract| !contract.is_empty());
        self.terms = Terms {
            contract: begun.contract.clone(),
            digest: begun.contract_digest.clone(),
            ..Terms::default()
        };
        self.begun = Some(begun);
        Some(())
    }

    fn resume(&mut self, event: &LogEvent<'t>) -> Option<()> {
        let resumed: Resumed = serde_json::from_str(event.data.get()).ok()?;
        let accept_contract = resumed.contract_digest != self.terms.digest;
        if accept_contract {
            self.terms.contract = None;
            self.terms.digest = resumed.contract_digest;
        }
        let contract = resumed.contract.filter(|contract| !contract.is_empty());
        self.terms.contract = contract.or(self.terms.contract.take());
        self.terms.resumption = Some(Resumption {
            operator: resumed.operator,
            reason: resumed.reason,
            accept_contract,
        });
        Some(())
    }

    fn judge(&mut self, event: &LogEvent<'t>) -> Option<()> {
        let record: VerdictRecord<'t> = serde_json::from_str(event.data.get()).ok()?;
        let turn: Turn = serde_json::from_str(record.iteration.get()).ok()?;
        let verdict: Verdict = serde_json::from_str(record.verdict.get()).ok()?;
        let terms = &mut self.terms;
        // An operator who completes a loop that had stopped goes on with it without further words.
        let by_override = turn.r#override.filter(|_| terms.stopped);
        let resumption = terms
            .resumption
            .take()
            .or(by_override.map(|note| Resumption {
                operator: note.operator,
                reason: note.reason,
                accept_contract: false,
            }));
        let decided = verdict.decided();
        terms.stopped = decided.ends();
        let is_digested = record.recorded.as_deref() == Some("digest_only");
        let state_lost = std::mem::replace(&mut terms.state_lost, is_digested);
        let not_replayable = match (is_digested, state_lost) {
            (true, _) => Some(DIGEST_ONLY),
            (false, true) => Some(STATE_LOST),
            (false, false) => None,
        };
        self.iterations.push(RecordedIteration {
            line: event.line,
            at_ms: record.at_ms,
            index: turn.index,
            given: Given {
                contract: terms.contract.clone(),
                snapshot: std::mem::replace(&mut terms.snapshot, verdict.snapshot),
                resumption,
                iteration: record.iteration,
            },
            verdict: record.verdict,
            decided,
            contract_digest: terms.digest.clone(),
            feedback: verdict.feedback,
            not_replayable,
        });
        Some(())
    }
}

impl LogBreak {
    fn of(found: &Break) -> Self {
        let kind = match found {
            Break::Edited { .. } => "edited",
            Break::Removed { .. } => "removed",
            Break::Reordered { .. } => "reordered",
            Break::Truncated { .. } => "truncated",
            Break::Added { .. } => "added",
        };
        Self {
            line: found.line(),
            kind: kind.to_owned(),
            message: found.to_string(),
        }
    }
}
