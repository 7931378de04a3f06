//! `ralph-gate replay` and `ralph-gate what-if`: questions about the logs of loops that were.

#[cfg(unix)]
use std::cell::LazyCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ralph_gate::engine::GateError;
use ralph_gate_history::{
    Decided, Difference, HistoryError, Log, LogBreak, ReplayReport, Standing, Totals, Unanswered,
    WhatIfReport,
};
use serde::Serialize;

use super::args::{ReplayArgs, WhatIfArgs};
use super::error::CliError;
use super::input::{Input, Source, read_bytes};
use super::terminal::{Painter, Terminal, clean, counted};
use super::{Exit, gate};

/// The most that a log may have, in bytes.
const LIMIT: usize = 1 << 30;

/// A log, and what was found out about it.
#[derive(Serialize)]
struct About<'r, T> {
    log: &'r Path,
    #[serde(flatten)]
    report: &'r T,
}

pub(crate) fn replay(args: &ReplayArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let contract = args.contract.as_deref();
    let contract = contract.map(|file| Input::read(Some(file))).transpose()?;
    let mut reports = Vec::new();
    for file in logs(&args.logs, terminal)? {
        let text = read(&file)?;
        let beside = match &contract {
            Some(contract) => Some(contract.text.clone()),
            None => contract_beside(&file),
        };
        let report = Log::read(&text)
            .and_then(|log| ralph_gate_history::replay(&log, beside.as_deref(), &ask));
        let report = report.map_err(|error| refused(&file, error))?;
        reports.push((file, report));
    }
    print(terminal, &reports, describe_replay)?;
    let is_good = |report: &ReplayReport| report.same && report.breaks.is_empty();
    Ok(if reports.iter().all(|(_, report)| is_good(report)) {
        Exit::Success
    } else {
        Exit::Error
    })
}

pub(crate) fn what_if(args: &WhatIfArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let contract = Input::read(Some(&args.contract))?;
    let mut reports = Vec::new();
    for file in logs(&args.logs, terminal)? {
        let text = read(&file)?;
        let report = Log::read(&text)
            .and_then(|log| ralph_gate_history::what_if(&log, &contract.text, &ask));
        let report = report.map_err(|error| refused_contract(&file, &contract.source, error))?;
        reports.push((file, report));
    }
    print(terminal, &reports, describe_what_if)?;
    Ok(Exit::Success)
}

/// The gate that this program carries.
fn ask(function: &str, input: &str) -> Result<String, Unanswered> {
    let gate = gate().map_err(|error| Unanswered(error.to_string()))?;
    let answer = gate.call(function, input);
    answer.map_err(|error| Unanswered(error.to_string()))
}

/// The logs that are meant: files, folders of sessions, or keys of sessions. Without any, that of the session that is
/// running or was written last.
#[cfg(unix)]
fn logs(named: &[PathBuf], terminal: &Terminal) -> Result<Vec<PathBuf>, CliError> {
    use ralph_gate::memory::SessionKey;

    use super::args::LoopArgs;
    use super::loops::place::{Place, roots};

    let here = LoopArgs {
        key: None,
        draft: false,
        root: None,
    };
    if named.is_empty() {
        let message = "there is no session here; name a log, or the key of a session".to_owned();
        let Place { root, key } = Place::find(&here, terminal)?;
        let key = key.ok_or(CliError::Usage { message })?;
        return Ok(vec![log_in(&root.join(key.folder()))]);
    }
    let roots = LazyCell::new(|| roots(&here, terminal));
    // A session wins over a draft of the same name.
    let log_of = |key: &str| {
        let keys = [SessionKey::Session, SessionKey::Draft].map(|kind| kind(key.to_owned()));
        let folders = keys.iter().map(SessionKey::folder);
        let mut folders = folders.flat_map(|name| roots.iter().map(move |root| root.join(&name)));
        folders.find_map(|folder| Some(folder.join("events.jsonl")).filter(|log| log.exists()))
    };
    let logs = named.iter().map(|name| {
        let key = name.to_str().filter(|_| !name.exists());
        key.and_then(log_of).unwrap_or_else(|| log_in(name))
    });
    Ok(logs.collect())
}

/// The logs that are meant: files, or folders of sessions.
#[cfg(not(unix))]
fn logs(named: &[PathBuf], _terminal: &Terminal) -> Result<Vec<PathBuf>, CliError> {
    Ok(named.iter().map(|name| log_in(name)).collect())
}

/// A session's folder stands for the log in it.
fn log_in(place: &Path) -> PathBuf {
    if place.is_dir() {
        place.join("events.jsonl")
    } else {
        place.to_owned()
    }
}

/// Bytes that are no text are damage like any other: the line's seal is broken.
fn read(file: &Path) -> Result<String, CliError> {
    let bytes = read_bytes(file, LIMIT)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Logs of earlier versions have their contract beside them.
fn contract_beside(log: &Path) -> Option<String> {
    let file = log.parent()?.join("contract.json");
    Input::read(Some(&file)).ok().map(|input| input.text)
}

fn refused(file: &Path, error: HistoryError) -> CliError {
    CliError::History {
        file: Source::File(file.to_owned()),
        error,
    }
}

/// What is wrong with the contract is said of its file, at its place.
fn refused_contract(log: &Path, contract: &Source, error: HistoryError) -> CliError {
    let answer = ralph_gate_history::answer::<()>(&Err(error.clone()));
    let gate_error = serde_json::to_value(&error).and_then(serde_json::from_value::<GateError>);
    match gate_error {
        Ok(gate_error) => CliError::Gate {
            file: contract.clone(),
            error: Box::new(gate_error),
            answer,
            shift: 0,
        },
        Err(_) => refused(log, error),
    }
}

fn print<T: Serialize>(
    terminal: &Terminal,
    reports: &[(PathBuf, T)],
    describe: fn(Painter, &Path, &T) -> String,
) -> Result<(), CliError> {
    let logs: Vec<About<'_, T>> = reports
        .iter()
        .map(|(log, report)| About { log, report })
        .collect();
    let answer = serde_json::to_string(&serde_json::json!({ "logs": logs }));
    let answer = answer.map_err(|error| CliError::Answer {
        reason: error.to_string(),
    })?;
    terminal.print_answer(&answer, |painter| {
        reports
            .iter()
            .map(|(log, report)| describe(painter, log, report))
            .collect()
    })
}

fn describe_replay(painter: Painter, log: &Path, report: &ReplayReport) -> String {
    let mut text = breaks(painter, log, &report.breaks);
    let log = clean(&log.display().to_string());
    for iteration in &report.iterations {
        let (index, line) = (iteration.index, iteration.line);
        let _ = match (&iteration.difference, &iteration.problem) {
            (Some(difference), _) => write!(text, "{}", differs(painter, &log, difference)),
            (None, Some(problem)) => writeln!(
                text,
                "{log}:{line}: iteration {index} was {}: {}",
                painter.bold("not replayed"),
                clean(problem)
            ),
            (None, None) => Ok(()),
        };
    }
    let count = report.iterations.len();
    let summary = if report.same {
        let good = painter.good("same bytes");
        format!("{}, each answered with the {good}", iterations(count))
    } else {
        let (equal, different, rest) = (report.equal, report.different, report.not_replayed);
        format!(
            "{}: {equal} equal, {} {}, {rest} not replayed",
            iterations(count),
            different,
            painter.bad("different")
        )
    };
    let _ = writeln!(text, "{log}: {summary}");
    text
}

fn differs(painter: Painter, log: &str, difference: &Difference) -> String {
    let value = |value: &Option<String>| match value {
        Some(json) => clean(&shorten(json)),
        None => painter.dim("nothing"),
    };
    let path = match difference.path.as_str() {
        "" => "the whole verdict",
        path => path,
    };
    format!(
        "{log}:{}: iteration {} {} at {}\n  recorded  {}\n  replayed  {}\n",
        difference.line,
        difference.iteration,
        painter.bad("differs"),
        painter.bold(&clean(path)),
        value(&difference.recorded),
        value(&difference.replayed),
    )
}

fn describe_what_if(painter: Painter, log: &Path, report: &WhatIfReport) -> String {
    let mut text = breaks(painter, log, &report.breaks);
    let name = clean(&log.display().to_string());
    let _ = writeln!(text, "{}", painter.bold(&name));
    let _ = writeln!(text, "  recorded  {}", stands(painter, &report.recorded));
    let _ = writeln!(text, "  what if   {}", stands(painter, &report.other));
    if let Some(saved) = &report.saved {
        let _ = writeln!(text, "  {}     {}", painter.good("saved"), spent(saved));
    }
    if let Some(unknown) = &report.unknown {
        let _ = writeln!(
            text,
            "  {}   {}",
            painter.bold("unknown"),
            clean(&unknown.message)
        );
    }
    let changes = report.iterations.iter().filter(|it| it.changed);
    for iteration in changes {
        let other = iteration.other.as_ref().map_or_else(String::new, decides);
        let _ = writeln!(
            text,
            "  iteration {}: {} instead of {}",
            iteration.index,
            painter.bold(&clean(&other)),
            clean(&decides(&iteration.recorded))
        );
    }
    if report.changed.is_empty() {
        let _ = writeln!(text, "  no decision changes");
    }
    for note in &report.notes {
        let _ = writeln!(text, "  {}", painter.dim(&format!("note: {}", clean(note))));
    }
    text
}

/// How a loop stands, and what it has used.
fn stands(painter: Painter, standing: &Standing) -> String {
    let how = if standing.ended {
        clean(&decides(&standing.decided))
    } else {
        painter.bold("goes on")
    };
    format!("{how} after {}", spent(&standing.decided.totals))
}

/// `stop: REASON (DETAIL)`
fn decides(decided: &Decided) -> String {
    let mut text = decided.decision.clone();
    if let Some(reason) = &decided.stop_reason {
        let _ = write!(text, ": {reason}");
    }
    if let Some(detail) = &decided.detail {
        let _ = write!(text, " ({detail})");
    }
    text
}

fn spent(totals: &Totals) -> String {
    format!(
        "{}, {}.{:03} s, {}, {} USD",
        iterations(totals.iterations as usize),
        totals.elapsed_ms / 1000,
        totals.elapsed_ms % 1000,
        counted(totals.tool_calls as usize, "tool call"),
        totals.cost_usd
    )
}

fn iterations(count: usize) -> String {
    counted(count, "iteration")
}

fn breaks(painter: Painter, log: &Path, breaks: &[LogBreak]) -> String {
    let log = clean(&log.display().to_string());
    let line = |found: &LogBreak| {
        let message = clean(&found.message);
        format!(
            "{log}:{}: {} {message}\n",
            found.line,
            painter.bad("changed:")
        )
    };
    breaks.iter().map(line).collect()
}

/// Values may be of any length.
fn shorten(json: &str) -> String {
    match json.char_indices().nth(200) {
        None => json.to_owned(),
        Some((end, _)) => format!("{}…", json.get(..end).unwrap_or_default()),
    }
}
