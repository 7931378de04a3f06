//! What happened in a loop, and what is happening.

use std::fs;
use std::io::stdout;
use std::time::{Duration, SystemTime};

use ralph_gate::memory::disk::SessionFolder;
use ralph_gate::memory::{Record, View};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::super::Exit;
use super::super::args::LogsArgs;
use super::super::error::CliError;
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
            shown = Some(show(&view, shown, args.last, terminal)?);
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
    last: Option<usize>,
    terminal: &Terminal,
) -> Result<u64, CliError> {
    let records = view.events()?;
    let new = records
        .iter()
        .filter(|record| shown.is_none_or(|shown| record.seq > shown));
    let new: Vec<&Record> = new.collect();
    let skipped = match (shown, last) {
        (None, Some(last)) => new.len().saturating_sub(last),
        _ => 0,
    };
    for record in new.iter().skip(skipped) {
        print(&describe(record, terminal))?;
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

fn describe(record: &Record, terminal: &Terminal) -> String {
    if terminal.is_json() {
        let mut line = json!({ "seq": record.seq, "event": record.event, "data": record.data });
        if let (Some(run), Some(line)) = (&record.run, line.as_object_mut()) {
            line.insert("run".to_owned(), json!(run));
        }
        return format!("{line}\n");
    }
    let data: Value = record.read().unwrap_or_default();
    let text = |pointer: &str| match data.pointer(pointer) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => clean(text.lines().next().unwrap_or_default()),
        Some(other) => other.to_string(),
    };
    let told = match record.event.as_str() {
        "loop_started" => format!("contract {}", text("/contract_digest")),
        "loop_resumed" => format!("by {}: {}", text("/operator"), text("/reason")),
        "agent_ended" => format!(
            "iteration {}: exit {}, {} ms, {} tool calls",
            text("/iteration"),
            text("/exit"),
            text("/duration_ms"),
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
        "verdict" => format!(
            "iteration {}: {} {}",
            text("/iteration/index"),
            text("/verdict/decision"),
            text("/verdict/stop_reason")
        ),
        "audit" => format!(
            "{} ({}) by {}: {}",
            text("/truth"),
            text("/witness"),
            text("/by"),
            text("/reason")
        ),
        _ => String::new(),
    };
    format!(
        "{:>6}  {}  {told}\n",
        record.seq,
        terminal.painter.bold(&clean(&record.event))
    )
}
