//! `ralph-gate audit`: what turned out after a loop had ended, by checks that are run again or by somebody's labels.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph_gate::audit::{
    Audited, Auditor, CsvProblem, Fate, Import, ImportError, Imported, Keeping, labels,
};
use ralph_gate::engine::{Outcome, Problem};
use ralph_gate::memory::SessionKey;
use ralph_gate::memory::course::Truth;
use ralph_gate::process::{self, Role, Signals, Stop};
use ralph_gate::runner::{self, RunError};
use serde_json::{Value, json};

use super::args::AuditArgs;
use super::error::CliError;
use super::input::Input;
use super::loops::place::{Place, root};
use super::policy::Policies;
use super::terminal::{Painter, Terminal, clean};
use super::words::word;
use super::{Exit, gate};

/// The longest name of whoever audits, in bytes.
const NAME: usize = 1000;
/// The exit code of a process that was interrupted twice.
const INTERRUPTED: i32 = 130;

pub(crate) fn run(args: &AuditArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    if let Some(by) = &args.by
        && (by.is_empty() || by.len() > NAME)
    {
        let message = format!("--by must have 1 to {NAME} bytes, not {}", by.len());
        return Err(CliError::Usage { message });
    }
    // The inner process is one that the outer one started, and that one was asked already.
    let is_inner = args.labels.is_none() && process::role() == Role::Inner;
    if !is_inner && runner::is_inside_a_loop() {
        return Err(RunError::FromInside.into());
    }
    match &args.labels {
        Some(file) => import(args, file, terminal),
        None if is_inner => audit(args, terminal),
        None => guarded(),
    }
}

impl AuditArgs {
    fn by(&self) -> String {
        let user = || std::env::var("USER").unwrap_or_else(|_| "somebody".to_owned());
        self.by.clone().unwrap_or_else(user)
    }

    fn keeping(&self) -> Keeping {
        if self.dry_run {
            Keeping::Forget
        } else {
            Keeping::Append
        }
    }
}

/// Checks run programs: whoever kills this process kills all of them.
fn guarded() -> Result<Exit, CliError> {
    let system = |error| RunError::System {
        what: "this program can't be started again",
        error,
    };
    let mut inner = Command::new(std::env::current_exe().map_err(system)?);
    inner.args(std::env::args_os().skip(1));
    let code = process::guard(inner, None).map_err(RunError::from)?;
    Ok(Exit::Code(code))
}

fn audit(args: &AuditArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let (signals, _) = process::enter().map_err(RunError::from)?;
    let stop = Stop::new().map_err(|error| RunError::System {
        what: "the checks can't be controlled",
        error,
    })?;
    end_with(signals, stop.clone());
    let place = Place::find(&args.place, terminal)?;
    let Some(key) = &place.key else {
        let root = place.root;
        return Err(RunError::NothingToResume { root }.into());
    };
    let config = args.config.as_deref().map(absolute);
    let audited = Auditor {
        gate: gate()?,
        root: &place.root,
        key,
        folder: &absolute(Path::new(".")),
        config: config.as_deref(),
        by: &args.by(),
        policies: Some(&*Policies::shared(terminal)),
        stop: &stop,
    }
    .audit(args.keeping())?;
    let answer = answer(key, &audited);
    terminal.print_answer(&answer.to_string(), |painter| {
        describe(painter, key, &audited)
    })?;
    Ok(exit(audited.record.truth))
}

/// Whoever interrupts wants the checks to end, and nothing to be found out.
fn end_with(signals: Signals, stop: Stop) {
    let wait = move || {
        for _ in signals {
            if stop.is_canceled() {
                process::end_now(INTERRUPTED);
            }
            stop.cancel();
        }
    };
    // Without it a signal ends the process by itself, and the guard the rest.
    let _ = std::thread::Builder::new()
        .name("interrupts".into())
        .spawn(wait);
}

/// Checks may change their folder.
fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.components().collect()
}

fn exit(truth: Truth) -> Exit {
    match truth {
        Truth::Complete => Exit::Success,
        Truth::Incomplete => Exit::Stopped,
        Truth::Unknown => Exit::Error,
    }
}

fn answer(key: &SessionKey, audited: &Audited) -> Value {
    let record = &audited.record;
    json!({
        "key": key,
        "truth": record.truth,
        "witness": record.witness,
        "by": record.by,
        "reason": record.reason,
        "checks": audited.checks,
        "event": audited.event,
    })
}

fn describe(painter: Painter, key: &SessionKey, audited: &Audited) -> String {
    let mut text = format!("{}\n", painter.bold(&clean(key.text())));
    let width = audited.checks.iter().map(|check| check.id.len()).max();
    for check in &audited.checks {
        let outcome = format!("{:<7}", word(&check.outcome));
        let outcome = match check.outcome {
            Outcome::Pass => painter.good(&outcome),
            Outcome::Fail => painter.bad(&outcome),
            _ => painter.bold(&outcome),
        };
        let (id, width) = (clean(&check.id), width.unwrap_or(0));
        let optional = if check.required { "" } else { "(optional) " };
        let reason = clean(check.reason.lines().next().unwrap_or_default());
        let _ = writeln!(text, "  {outcome}  {id:<width$}  {optional}{reason}");
    }
    let record = &audited.record;
    let truth = match record.truth {
        Truth::Complete => painter.good("complete"),
        Truth::Incomplete => painter.bad("incomplete"),
        Truth::Unknown => painter.bold("unknown"),
    };
    let kept = match audited.event {
        Some(event) => format!("appended to the log as event {event}"),
        None => "nothing was written".to_owned(),
    };
    let _ = writeln!(text, "{truth}: {}; {kept}", clean(&record.reason));
    text
}

fn import(args: &AuditArgs, file: &Path, terminal: &Terminal) -> Result<Exit, CliError> {
    let input = Input::read(Some(file))?;
    let refused = |problems: Vec<CsvProblem>| CliError::Labels {
        file: input.source.clone(),
        problems: problems.into_iter().map(problem).collect(),
    };
    let labels = labels::read(&input.text).map_err(refused)?;
    let root = root(&args.place, terminal);
    let import = Import {
        gate: gate()?,
        root: &root,
        by: &args.by(),
    };
    let imported = match import.import(labels, args.keeping()) {
        Ok(imported) => imported,
        Err(ImportError::Problems(problems)) => return Err(refused(problems)),
        Err(ImportError::Memory { appended: 0, error }) => return Err(error.into()),
        Err(error @ ImportError::Memory { .. }) => {
            return Err(CliError::Usage {
                message: format!("{error}; import the same file again to go on"),
            });
        }
    };
    let answer = json!({ "root": root, "labels": imported.iter().map(label).collect::<Vec<_>>() });
    terminal.print_answer(&answer.to_string(), |painter| {
        describe_labels(painter, &imported)
    })?;
    Ok(Exit::Success)
}

fn problem(found: CsvProblem) -> Problem {
    Problem {
        path: String::new(),
        line: u32::try_from(found.line).unwrap_or(u32::MAX),
        column: 1,
        message: found.message,
        help: None,
    }
}

fn label(imported: &Imported) -> Value {
    let label = &imported.label;
    json!({
        "line": label.line, "key": imported.key, "truth": label.truth, "by": label.by, "reason": label.reason,
        "fate": imported.fate,
    })
}

fn describe_labels(painter: Painter, imported: &[Imported]) -> String {
    let mut text = String::new();
    for it in imported {
        let fate = match it.fate {
            Fate::Appended => painter.good("appended"),
            Fate::Known => painter.dim("known   "),
            Fate::New => painter.bold("new     "),
        };
        let truth = word(&it.label.truth);
        let _ = writeln!(text, "  {fate}  {truth:<10}  {}", clean(it.key.text()));
    }
    let count = |fate: Fate| imported.iter().filter(|it| it.fate == fate).count();
    let new = match count(Fate::New) {
        0 => format!("{} appended", count(Fate::Appended)),
        new => format!("{new} would be appended"),
    };
    let _ = writeln!(
        text,
        "{} labels: {new}, {} known",
        imported.len(),
        count(Fate::Known)
    );
    text
}
