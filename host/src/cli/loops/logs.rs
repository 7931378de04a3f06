//! What happened in a loop, and what is happening.

use std::fs;
use std::io::stdout;
use std::time::{Duration, SystemTime};

use ralph_gate::engine::StopReason;
use ralph_gate::memory::disk::SessionFolder;
use ralph_gate::memory::{Record, View};
use ralph_gate::moment;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::super::Exit;
use super::super::args::LogsArgs;
use super::super::error::CliError;
use super::super::run::{seconds, words};
use super::super::terminal::{Terminal, clean, print};
use super::place::Place;
use super::{NO_LOOP, tell_of_others};

/// How often is looked for something new.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

pub(crate) fn logs(args: &LogsArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(&args.place, terminal)?;
    let Some(key) = &place.key else {
        // To a machine, no line is no event.
        if !terminal.is_json() {
            print(&format!("{NO_LOOP}\n"))?;
        }
        tell_of_others(terminal);
        return Ok(Exit::Success);
    };
    let view = View::open(&place.root, key)?;
    let mut shown = None;
    let mut seen = None;
    loop {
        // In this order: when nobody writes any more, everything is there.
        let is_over = !args.follow || place.holder()?.is_none();
        let stamp = Stamp::of(&view);
        if is_over || seen != Some(stamp) {
            shown = Some(show(&view, shown, args, terminal)?);
            seen = Some(stamp);
        }
        if is_over || wait() == Audience::Gone {
            return Ok(Exit::Success);
        }
    }
}

/// What changes with every save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    log: Option<u64>,
    checkpoints: Option<SystemTime>,
}

impl Stamp {
    fn of(view: &View<SessionFolder>) -> Self {
        let metadata = |name: &str| fs::metadata(view.path().join(name)).ok();
        Self {
            log: metadata("events.jsonl").map(|log| log.len()),
            checkpoints: metadata("checkpoints").and_then(|folder| folder.modified().ok()),
        }
    }
}

/// Prints what came after the event with that number, and gives the number of the last one.
fn show(
    view: &View<SessionFolder>,
    shown: Option<u64>,
    args: &LogsArgs,
    terminal: &Terminal,
) -> Result<u64, CliError> {
    let records = view.events()?;
    let new = records
        .iter()
        .filter(|record| shown.is_none_or(|shown| record.seq > shown));
    let new: Vec<&Record> = new.collect();
    let skipped = match (shown, args.last) {
        (None, Some(last)) => new.len().saturating_sub(last),
        _ => 0,
    };
    for record in new.iter().skip(skipped) {
        print(&describe(record, args.agent, terminal))?;
    }
    let newest = records.last().map(|record| record.seq);
    Ok(newest.or(shown).unwrap_or(0))
}

/// Whether somebody reads what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    There,
    Gone,
}

/// Waits for a while, or until the reader of a pipe has seen enough.
fn wait() -> Audience {
    let stdout = stdout();
    // Asks for nothing: that the other end is closed is told anyway.
    let mut files = [PollFd::new(&stdout, PollFlags::empty())];
    let limit = Timespec::try_from(LOOK_AGAIN).ok();
    match poll(&mut files, limit.as_ref()) {
        Ok(1..) => Audience::Gone,
        Ok(0) | Err(_) => Audience::There,
    }
}

fn describe(record: &Record, agent: bool, terminal: &Terminal) -> String {
    if terminal.is_json() {
        let mut line = json!({ "seq": record.seq, "event": record.event, "data": record.data });
        if let (Some(run), Some(line)) = (&record.run, line.as_object_mut()) {
            line.insert("run".to_owned(), json!(run));
        }
        return format!("{line}\n");
    }
    let data = Data(record.read().unwrap_or_default());
    let mut text = format!(
        "{:>6}  {}  {}  {}\n",
        record.seq,
        terminal.painter.dim(&data.when()),
        terminal.painter.bold(&clean(&record.event)),
        data.told(&record.event)
    );
    for line in data.details(&record.event, agent) {
        text.push_str(&format!("{INDENT}{line}\n"));
    }
    text
}

/// What stands before a line that belongs to the event above it.
const INDENT: &str = "          ";
/// How many reasons of a verdict are told.
const REASONS: usize = 10;

/// The details of an event.
struct Data(Value);

impl Data {
    /// The first line of a text, harmless.
    fn text(&self, pointer: &str) -> String {
        match self.0.pointer(pointer) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => clean(text.lines().next().unwrap_or_default()),
            Some(other) => clean(&other.to_string()),
        }
    }

    /// When it happened, in UTC. Events that don't say so happened between their neighbours.
    fn when(&self) -> String {
        let number = |pointer: &str| self.0.pointer(pointer).and_then(Value::as_u64);
        let ended = || {
            let taken = number("/duration_ms").unwrap_or(0);
            number("/started_at_ms").map(|started| started.saturating_add(taken))
        };
        match number("/at_ms").or_else(ended) {
            Some(milliseconds) => moment::utc(milliseconds / 1000),
            None => " ".repeat("2026-01-01T00:00:00Z".len()),
        }
    }

    fn told(&self, event: &str) -> String {
        let text = |pointer: &str| self.text(pointer);
        match event {
            "loop_started" => format!("contract {}", text("/contract_digest")),
            "loop_resumed" => format!("by {}: {}", text("/operator"), text("/reason")),
            "agent_ended" => format!(
                "iteration {}: {}, {}, {} tool calls",
                text("/iteration"),
                self.how_it_ended(),
                seconds(
                    self.0
                        .pointer("/duration_ms")
                        .and_then(Value::as_u64)
                        .unwrap_or(0)
                ),
                text("/tool_calls")
            ),
            "evidence" => format!(
                "iteration {}: {} {}: {}",
                text("/iteration"),
                text("/check"),
                text("/outcome"),
                text("/reason")
            ),
            "tripwire" => format!(
                "iteration {}: {}: {}",
                text("/iteration"),
                text("/tripwire"),
                text("/reason")
            ),
            "verdict" => format!("iteration {}: {}", text("/iteration/index"), self.decided()),
            "audit" => format!(
                "{} ({}) by {}: {}",
                text("/truth"),
                text("/witness"),
                text("/by"),
                text("/reason")
            ),
            _ => String::new(),
        }
    }

    fn how_it_ended(&self) -> String {
        match (self.text("/exit").as_str(), self.text("/signal").as_str()) {
            _ if self.0.pointer("/canceled") == Some(&json!(true)) => "was canceled".to_owned(),
            _ if self.0.pointer("/timed_out") == Some(&json!(true)) => "took too long".to_owned(),
            ("", "") => "did not start".to_owned(),
            ("", signal) => format!("killed by signal {signal}"),
            (exit, _) => format!("exit code {exit}"),
        }
    }

    /// The decision in words.
    fn decided(&self) -> String {
        let parse = |pointer: &str| self.0.pointer(pointer).cloned().unwrap_or_default();
        let decision = self.text("/verdict/decision");
        let reason = serde_json::from_value::<StopReason>(parse("/verdict/stop_reason"));
        let index = self.0.pointer("/iteration/index").and_then(Value::as_u64);
        let index = index
            .and_then(|index| u32::try_from(index).ok())
            .unwrap_or(0);
        match (decision.as_str(), reason) {
            ("continue", _) if parse("/verdict/intercepted") == json!(true) => {
                "refused, the loop continues".to_owned()
            }
            ("continue", _) => "the loop continues".to_owned(),
            ("pass_through", _) => "passed through".to_owned(),
            (_, Ok(StopReason::Completed)) if parse("/verdict/overridden") == json!(true) => {
                let operator = self.text("/iteration/override/operator");
                let reason = self.text("/iteration/override/reason");
                format!("completed by an operator ({operator}: {reason})")
            }
            (_, Ok(StopReason::Completed)) => "completed".to_owned(),
            (_, Ok(reason)) => {
                let detail = parse("/verdict/detail");
                format!(
                    "stopped, not done: {}",
                    words(reason, detail.as_str(), index)
                )
            }
            (other, Err(_)) => other.to_owned(),
        }
    }

    /// More about an event: what the agent said, what it complained about, why it was refused.
    fn details(&self, event: &str, agent: bool) -> Vec<String> {
        let lines = |pointer: &str| -> Vec<String> {
            let text = self
                .0
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default();
            let lines = text
                .lines()
                .map(clean)
                .filter(|line| !line.trim().is_empty());
            lines.collect()
        };
        match event {
            "agent_ended" => {
                let said = |name: &str, pointer: &str| {
                    let lines = lines(pointer);
                    let skipped = if agent {
                        0
                    } else {
                        lines.len().saturating_sub(1)
                    };
                    let lines = lines.into_iter().skip(skipped);
                    lines
                        .map(|line| format!("{name}: {line}"))
                        .collect::<Vec<_>>()
                };
                let mut told = said("said", "/stdout/text");
                let failed = self.0.pointer("/exit") != Some(&json!(0));
                if agent || failed {
                    told.extend(said("stderr", "/stderr/text"));
                }
                told.extend(
                    lines("/error")
                        .into_iter()
                        .map(|line| format!("error: {line}")),
                );
                told.extend(
                    lines("/problem")
                        .into_iter()
                        .map(|line| format!("problem: {line}")),
                );
                told
            }
            "verdict" => {
                let failures = self
                    .0
                    .pointer("/verdict/failures")
                    .and_then(Value::as_array);
                let failures = failures.map_or(&[] as &[Value], Vec::as_slice);
                let told = failures.iter().take(REASONS).map(|failure| {
                    let failure = Self(failure.clone());
                    let subject = match failure.text("/check") {
                        none if none.is_empty() => failure.text("/code"),
                        check => check,
                    };
                    format!("{subject}: {}", failure.text("/reason"))
                });
                told.collect()
            }
            _ => Vec::new(),
        }
    }
}
