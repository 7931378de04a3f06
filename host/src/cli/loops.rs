//! `ralph-gate status`, `cancel`, `override` and `logs`: a loop as seen from outside.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_gate::config::{Config, ConfigError};
use ralph_gate::engine::{OperatorNote, SnapshotView};
use ralph_gate::memory::disk::SessionFolder;
use ralph_gate::memory::{Holder, Reading, Record, SessionKey, View, holder};
use ralph_gate::runner::{self, Ask, Live, Reply, RunError};
use serde_json::{Value, json};

use super::args::{LogsArgs, LoopArgs, OverrideArgs};
use super::error::CliError;
use super::run::load;
use super::terminal::{Painter, Terminal, clean, print};
use super::words::word;
use super::{Exit, gate};

/// What is said where there is nothing to cancel or to ask about.
const NO_LOOP: &str = "No active Ralph loop";
/// The longest name or reason of an operator, in bytes.
const NOTE: usize = 1000;
/// How long a canceled loop may take to end.
const ENDING: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Where the sessions are, and which one is meant.
struct Place {
    root: PathBuf,
    key: Option<SessionKey>,
}

impl Place {
    /// The root that was named, or that of the configuration here, or `.ralph`; the session that was named, or the
    /// one that was written last.
    fn find(args: &LoopArgs) -> Result<Self, CliError> {
        let config = match (&args.root, Config::find(Path::new("."))) {
            (None, Ok(_)) => Some(load(None)?),
            (Some(_), _) | (None, Err(ConfigError::Missing { .. })) => None,
            (None, Err(error)) => return Err(error.into()),
        };
        let root = match (&args.root, &config) {
            (Some(root), _) => root.clone(),
            (None, Some(config)) => config.workspace.join(&config.memory.root),
            (None, None) => PathBuf::from(ralph_gate::memory::DEFAULT_ROOT),
        };
        let key = match &args.key {
            Some(key) if args.draft => Some(SessionKey::Draft(key.clone())),
            Some(key) => Some(SessionKey::Session(key.clone())),
            None => match runner::newest(&root) {
                Ok(key) => Some(key),
                Err(RunError::NothingToResume { .. }) => None,
                Err(error) => return Err(error.into()),
            },
        };
        Ok(Self { root, key })
    }

    fn folder(&self) -> Option<PathBuf> {
        self.key.as_ref().map(|key| self.root.join(key.folder()))
    }

    fn ask(&self, ask: &Ask) -> Result<Option<Reply>, CliError> {
        let Some(folder) = self.folder() else {
            return Ok(None);
        };
        runner::ask(&folder, ask).map_err(|error| {
            CliError::Run(RunError::System {
                what: "the loop can't be asked",
                error,
            })
        })
    }
}

/// What is known of a loop.
struct Standing {
    view: View<SessionFolder>,
    reading: Reading,
    snapshot: Option<SnapshotView>,
    live: Option<Live>,
    holder: Option<Holder>,
}

impl Standing {
    fn look(place: &Place) -> Result<Option<Self>, CliError> {
        let Some(key) = &place.key else {
            return Ok(None);
        };
        let view = View::open(&place.root, key)?;
        let reading = view.read(gate()?)?;
        let snapshot = match &reading.state.snapshot {
            Some(text) => gate()?.read_snapshot(text).ok(),
            None => None,
        };
        let live = match place.ask(&Ask::Status)? {
            Some(Reply::Status(live)) => Some(live),
            _ => None,
        };
        Ok(Some(Self {
            holder: holder(&place.root, key)?,
            view,
            reading,
            snapshot,
            live,
        }))
    }

    fn state(&self) -> &'static str {
        match (
            &self.holder,
            self.snapshot.as_ref().and_then(|view| view.stopped),
        ) {
            (Some(_), _) => "running",
            (None, Some(_)) => "stopped",
            (None, None) => "interrupted",
        }
    }

    fn json(&self) -> Value {
        let snapshot = self.snapshot.as_ref();
        json!({
            "key": self.reading.key,
            "memory": self.view.path(),
            "state": self.state(),
            "iteration": self.reading.state.iteration,
            "stop_reason": snapshot.and_then(|view| view.stopped),
            "detail": snapshot.and_then(|view| view.detail.clone()),
            "tool_calls": snapshot.map(|view| view.tool_calls),
            "cost_usd": snapshot.map(|view| view.cost_usd.clone()),
            "elapsed_ms": snapshot.map(|view| view.elapsed_ms),
            "holder": self.holder,
            "live": self.live,
        })
    }

    fn text(&self, painter: Painter) -> String {
        let mut text = format!(
            "{}  {}\n",
            painter.bold(&clean(self.reading.key.text())),
            painter.dim(&clean(&self.view.path().display().to_string()))
        );
        let snapshot = self.snapshot.as_ref();
        let reason = snapshot.and_then(|view| view.stopped);
        let reason = reason.map_or_else(String::new, |reason| format!(": {}", word(&reason)));
        let _ = writeln!(text, "state      {}{reason}", self.state());
        let _ = writeln!(text, "iteration  {}", self.reading.state.iteration);
        if let Some(view) = snapshot {
            let _ = writeln!(
                text,
                "used       {} s, {} tool calls, {} USD",
                view.elapsed_ms / 1000,
                view.tool_calls,
                clean(&view.cost_usd)
            );
        }
        if let Some(live) = &self.live {
            let activity = live
                .activity
                .as_ref()
                .map_or_else(String::new, |activity| format!(": {activity}"));
            let _ = writeln!(
                text,
                "now        iteration {}, {}{}",
                live.iteration,
                clean(&live.phase),
                clean(&activity)
            );
        }
        if let Some(holder) = &self.holder {
            let _ = writeln!(text, "run by     {}", clean(&holder.to_string()));
        }
        text
    }
}

pub(crate) fn status(args: &LoopArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(args)?;
    match Standing::look(&place)? {
        Some(standing) => {
            terminal.print_answer(&standing.json().to_string(), |painter| {
                standing.text(painter)
            })?;
        }
        None => say(terminal, &json!({ "state": "none" }), NO_LOOP)?,
    }
    Ok(Exit::Success)
}

pub(crate) fn cancel(args: &LoopArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(args)?;
    match place.ask(&Ask::Cancel)? {
        None => {
            say(
                terminal,
                &json!({ "canceled": false, "iterations": null }),
                NO_LOOP,
            )?;
            return Ok(Exit::Success);
        }
        Some(reply) => accepted(reply)?,
    }
    wait_for_end(&place)?;
    let iterations = Standing::look(&place)?.map_or(0, |standing| standing.reading.state.iteration);
    let count = match iterations {
        1 => "1 iteration".to_owned(),
        count => format!("{count} iterations"),
    };
    let answer = json!({ "canceled": true, "iterations": iterations });
    say(
        terminal,
        &answer,
        &format!("Canceled the Ralph loop after {count}"),
    )?;
    Ok(Exit::Success)
}

pub(crate) fn override_loop(args: &OverrideArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(&args.place)?;
    let Some(key) = place.key.clone() else {
        say(terminal, &json!({ "overridden": false }), NO_LOOP)?;
        return Ok(Exit::Error);
    };
    if runner::is_inside_a_loop() {
        return Err(RunError::FromInside.into());
    }
    for (name, text) in [("--operator", &args.operator), ("--reason", &args.reason)] {
        if text.is_empty() || text.len() > NOTE {
            let message = format!("{name} must have 1 to {NOTE} bytes, not {}", text.len());
            return Err(CliError::Usage { message });
        }
    }
    let note = OperatorNote {
        operator: args.operator.clone(),
        reason: args.reason.clone(),
    };
    let ask = Ask::Override {
        operator: note.operator.clone(),
        reason: note.reason.clone(),
    };
    match place.ask(&ask)? {
        Some(reply) => {
            accepted(reply)?;
            wait_for_end(&place)?;
        }
        None => {
            runner::override_stopped(gate()?, &place.root, &key, &note)?;
        }
    }
    let iterations = Standing::look(&place)?.map_or(0, |standing| standing.reading.state.iteration);
    let answer = json!({ "overridden": true, "iterations": iterations });
    say(
        terminal,
        &answer,
        &format!("completed by {}, at iteration {iterations}", note.operator),
    )?;
    Ok(Exit::Success)
}

fn accepted(reply: Reply) -> Result<(), CliError> {
    match reply {
        Reply::Refused { code } if code == "override_not_allowed" => {
            Err(RunError::NoOverride.into())
        }
        Reply::Refused { .. } => Err(RunError::FromInside.into()),
        Reply::Accepted(_) | Reply::Status(_) => Ok(()),
    }
}

/// Waits until nobody writes to the session any more.
fn wait_for_end(place: &Place) -> Result<(), CliError> {
    let Some(key) = &place.key else {
        return Ok(());
    };
    let until = std::time::Instant::now() + ENDING;
    while holder(&place.root, key)?.is_some() && std::time::Instant::now() < until {
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

fn say(terminal: &Terminal, answer: &Value, text: &str) -> Result<(), CliError> {
    terminal.print_answer(&answer.to_string(), |_| format!("{}\n", clean(text)))
}

pub(crate) fn logs(args: &LogsArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let place = Place::find(&args.place)?;
    let Some(key) = &place.key else {
        say(terminal, &json!([]), NO_LOOP)?;
        return Ok(Exit::Success);
    };
    let view = View::open(&place.root, key)?;
    let mut shown = 0;
    loop {
        let records = view.events()?;
        let new: Vec<&Record> = records.iter().filter(|record| record.seq > shown).collect();
        let skipped = match args.last {
            Some(last) if shown == 0 => new.len().saturating_sub(last),
            _ => 0,
        };
        for record in new.iter().skip(skipped) {
            print(&describe(record, terminal))?;
        }
        shown = records.last().map_or(shown, |record| record.seq);
        if !args.follow || holder(&place.root, key)?.is_none() {
            return Ok(Exit::Success);
        }
        std::thread::sleep(10 * LOOK_AGAIN);
    }
}

fn describe(record: &Record, terminal: &Terminal) -> String {
    if terminal.is_json() {
        let line = json!({ "seq": record.seq, "event": record.event, "data": record.data });
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
        _ => String::new(),
    };
    format!(
        "{:>6}  {}  {told}\n",
        record.seq,
        terminal.painter.bold(&clean(&record.event))
    )
}
