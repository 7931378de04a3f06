//! `ralph-gate memory`: look at sessions, verify, mend, carry them elsewhere.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ralph_gate::memory::{
    DEFAULT_ROOT, FileReport, FileStore, Finding, Listed, Patience, Reading, SessionKey, Standing,
    Verification, View, import, list, paragraph, save_text,
};
use serde_json::{Value, json};

use super::args::{ExportArgs, ImportArgs, MemoryCommand, RootArgs, SessionArgs};
use super::error::CliError;
use super::input::Input;
use super::loops::place::{client_roots, root_of};
use super::terminal::{Painter, Terminal, clean, print};
use super::{Exit, gate};

/// Entries of the progress log that `show` names.
const NEWEST: usize = 5;

pub(crate) fn run(command: &MemoryCommand, terminal: &Terminal) -> Result<Exit, CliError> {
    match command {
        MemoryCommand::List(args) => list_sessions(args, terminal),
        MemoryCommand::Show(args) => show(args, terminal),
        MemoryCommand::Verify(args) => verify(args, terminal),
        MemoryCommand::Repair(args) => repair(args, terminal),
        MemoryCommand::Export(args) => export(args, terminal),
        MemoryCommand::Import(args) => import_session(args, terminal),
    }
}

impl SessionArgs {
    fn key(&self) -> SessionKey {
        if self.draft {
            SessionKey::Draft(self.key.clone())
        } else {
            SessionKey::Session(self.key.clone())
        }
    }

    fn view(&self) -> Result<View<ralph_gate::memory::disk::SessionFolder>, CliError> {
        Ok(View::open(&self.root(), &self.key())?)
    }

    /// The root that was named, or else the one that has the session: loops of clients are remembered elsewhere.
    fn root(&self) -> PathBuf {
        let named = &self.root.root;
        if named != Path::new(DEFAULT_ROOT) {
            return named.clone();
        }
        let mut roots = vec![named.clone()];
        roots.extend(client_roots());
        root_of(&roots, &self.key())
    }
}

fn list_sessions(args: &RootArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let mut sessions = list(&args.root)?;
    if args.root == Path::new(DEFAULT_ROOT) {
        let here = args.root.canonicalize().ok();
        let is_other = |root: &PathBuf| root.canonicalize().ok() != here;
        for root in client_roots().into_iter().filter(is_other) {
            sessions.extend(list(&root)?);
        }
    }
    let answer = json!({ "root": args.root, "sessions": sessions });
    terminal.print_answer(&answer.to_string(), |painter| {
        describe_list(painter, &args.root, &sessions)
    })?;
    Ok(Exit::Success)
}

fn describe_list(painter: Painter, root: &Path, sessions: &[Listed]) -> String {
    if sessions.is_empty() {
        return format!("no session in {}\n", clean(&root.display().to_string()));
    }
    let mut text = String::new();
    for session in sessions {
        let key = session.key.as_ref().map_or("unknown key", SessionKey::text);
        let _ = write!(
            text,
            "{}  {}",
            painter.bold(&clean(&shorten(key))),
            painter.dim(&clean(&session.folder))
        );
        let _ = match &session.problem {
            Some(problem) => writeln!(text, "\n  {}", clean(problem)),
            None => writeln!(
                text,
                "\n  iteration {}, revision {}, {} events",
                session.iteration, session.revision, session.events
            ),
        };
    }
    text
}

/// Keys may be of any length.
fn shorten(key: &str) -> String {
    match key.char_indices().nth(60) {
        None => key.to_owned(),
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
    }
}

fn show(args: &SessionArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let view = args.view()?;
    let reading = view.read(gate()?)?;
    let snapshot = match &reading.state.snapshot {
        None => None,
        Some(text) => gate()?.read_snapshot(text).ok(),
    };
    let stopped = snapshot.and_then(|view| view.stopped);
    let stopped = json!(stopped);
    let answer = reading_json(view.path(), &reading, &stopped);
    terminal.print_answer(&answer.to_string(), |painter| {
        describe_reading(painter, view.path(), &reading, &stopped)
    })?;
    Ok(Exit::Success)
}

fn reading_json(path: &Path, reading: &Reading, stopped: &Value) -> Value {
    let state = &reading.state;
    json!({
        "path": path,
        "key": reading.key,
        "revision": state.revision,
        "iteration": state.iteration,
        "stopped": stopped,
        "contract": state.contract,
        "snapshot": state.snapshot,
        "prd": reading.prd.as_ref().ok(),
        "progress": reading.progress,
        "events": state.events,
        "handoff": state.handoff,
        "findings": reading.findings,
    })
}

fn describe_reading(painter: Painter, path: &Path, reading: &Reading, stopped: &Value) -> String {
    let state = &reading.state;
    let mut text = format!(
        "{}  {}\n",
        painter.bold(&clean(&shorten(reading.key.text()))),
        painter.dim(&clean(&path.display().to_string()))
    );
    let stopped = stopped
        .as_str()
        .map_or("the loop goes on".to_owned(), |reason| {
            format!("stopped: {reason}")
        });
    let _ = writeln!(text, "iteration  {} ({stopped})", state.iteration);
    let _ = writeln!(text, "revision   {}", state.revision);
    let _ = match &reading.prd {
        Ok(None) => writeln!(text, "checklist  none"),
        Ok(Some(prd)) => writeln!(text, "checklist  {} of {} pass", prd.passed, prd.total),
        Err(error) => writeln!(
            text,
            "checklist  can't be read: {}",
            clean(&error.to_string())
        ),
    };
    let _ = writeln!(text, "events     {}", state.events);
    let entries = &reading.progress.entries;
    let _ = writeln!(text, "progress   {} entries", entries.len());
    for entry in entries.iter().rev().take(NEWEST) {
        let title = if entry.title.is_empty() {
            "(a note)"
        } else {
            &entry.title
        };
        let _ = writeln!(text, "  {:>5}  {}", entry.iteration, clean(&shorten(title)));
    }
    if state.handoff.is_some() {
        let _ = writeln!(
            text,
            "handoff    {}",
            clean(&path.join("handoff.md").display().to_string())
        );
    }
    text.push_str(&describe_findings(&reading.findings));
    text
}

fn verify(args: &SessionArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let view = args.view()?;
    let verification = view.verify(gate()?)?;
    let standing = verification.standing();
    let answer = json!({
        "path": view.path(),
        "standing": standing,
        "key": verification.key,
        "revision": verification.revision,
        "files": verification.files,
    });
    terminal.print_answer(&answer.to_string(), |painter| {
        describe_verification(painter, &verification)
    })?;
    Ok(match standing {
        Standing::Right | Standing::Changed => Exit::Success,
        Standing::Wrong => Exit::Error,
    })
}

fn describe_verification(painter: Painter, verification: &Verification) -> String {
    let mut text: String = verification
        .files
        .iter()
        .map(|report| describe_file(painter, report))
        .collect();
    let summary = match verification.standing() {
        Standing::Right => painter.good("everything is as it was saved"),
        Standing::Changed => {
            painter.bold("nothing is wrong; some files were changed since they were saved")
        }
        Standing::Wrong => painter.bold(
            "something is not as it was saved; `ralph-gate memory repair` restores what can be",
        ),
    };
    let _ = writeln!(text, "{summary}");
    text
}

fn describe_file(painter: Painter, report: &FileReport) -> String {
    let standing = match report.standing {
        Standing::Right => painter.good("right"),
        Standing::Changed => painter.bold("changed"),
        Standing::Wrong => painter.bad("wrong"),
    };
    format!(
        "{standing}  {}: {}\n",
        clean(&report.file),
        clean(&report.message)
    )
}

fn repair(args: &SessionArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let store = FileStore::open(gate()?, &args.root(), &args.key(), Patience::None)?;
    let answer = json!({
        "path": store.path(),
        "revision": store.state().revision,
        "findings": store.findings(),
    });
    terminal.print_answer(&answer.to_string(), |_| match store.findings() {
        [] => "nothing had to be mended\n".to_owned(),
        findings => describe_findings(findings),
    })?;
    Ok(Exit::Success)
}

fn describe_findings(findings: &[Finding]) -> String {
    match paragraph(findings) {
        text if text.is_empty() => text,
        text => format!("{}\n", clean(&text)),
    }
}

fn export(args: &ExportArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let view = args.session.view()?;
    let text = view.export()?;
    let Some(output) = args
        .output
        .as_deref()
        .filter(|output| *output != Path::new("-"))
    else {
        print(&text)?;
        return Ok(Exit::Success);
    };
    save_text(output, &text)?;
    let answer = json!({ "path": view.path(), "file": output, "bytes": text.len() });
    terminal.print_answer(&answer.to_string(), |_| {
        format!(
            "{}: {} bytes\n",
            clean(&output.display().to_string()),
            text.len()
        )
    })?;
    Ok(Exit::Success)
}

fn import_session(args: &ImportArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let input = Input::read_up_to(args.file.as_deref(), IMPORT_LIMIT)?;
    let imported = import(&args.root.root, &input.source.to_string(), &input.text)?;
    let answer =
        json!({ "path": imported.path, "key": imported.key, "revision": imported.revision });
    terminal.print_answer(&answer.to_string(), |_| {
        format!(
            "{}: revision {}\n",
            clean(&imported.path.display().to_string()),
            imported.revision
        )
    })?;
    Ok(Exit::Success)
}

/// The most that an exported session may have, in bytes.
const IMPORT_LIMIT: usize = 1 << 30;
