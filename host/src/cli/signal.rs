//! `ralph-gate signal`: the loop signal for the states of issues.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ralph_gate::engine::{IssueFile, SignalReport};
use serde_json::json;

use super::Exit;
use super::answer::Question;
use super::args::SignalArgs;
use super::error::CliError;
use super::input::{Input, Source};
use super::terminal::{Painter, Severity, Terminal, clean};
use super::words::word;
use super::wrap::wrap;

pub(crate) fn run(args: &SignalArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let states = States::read(&args.files)?;
    let question = Question {
        function: "decide_signal",
        input: &states.call,
        file: &states.source,
        shift: states.shift,
    };
    let answer = question.ask::<SignalReport>()?;
    terminal.print_answer(&answer.json, |painter| {
        describe(painter, &states.source, &answer.value)
    })?;
    Ok(Exit::Success)
}

/// The call to the gate, and what it is about.
struct States {
    call: String,
    source: Source,
    shift: u32,
}

impl States {
    fn read(files: &[PathBuf]) -> Result<Self, CliError> {
        match files {
            [] => Self::from_json(None),
            [file] if !is_issue(file) => Self::from_json(Some(file)),
            files => Self::from_issues(files),
        }
    }

    fn from_json(file: Option<&PathBuf>) -> Result<Self, CliError> {
        let input = Input::read_json(file.map(PathBuf::as_path))?;
        let (call, shift) = wrap("states", &input.text);
        Ok(Self {
            call,
            source: input.source,
            shift,
        })
    }

    fn from_issues(files: &[PathBuf]) -> Result<Self, CliError> {
        if let Some(other) = files.iter().find(|file| !is_issue(file)) {
            return Err(CliError::Usage {
                message: format!(
                    "{} is not an issue file (*.md); name one JSON file, or issue files only",
                    other.display()
                ),
            });
        }
        let mut issues = Vec::with_capacity(files.len());
        for file in files {
            let Input { text, .. } = Input::read(Some(file))?;
            issues.push(IssueFile {
                path: file.display().to_string(),
                text,
            });
        }
        let call = json!({ "states": { "issues": [], "files": issues } }).to_string();
        let source = match files {
            [file] => Source::File(file.clone()),
            _ => Source::File(format!("{} issue files", files.len()).into()),
        };
        Ok(Self {
            call,
            source,
            shift: 0,
        })
    }
}

fn is_issue(file: &Path) -> bool {
    let extension = Source::File(file.to_owned()).extension();
    matches!(extension.as_deref(), Some("md" | "markdown"))
}

fn describe(painter: Painter, source: &Source, report: &SignalReport) -> String {
    let mut text = format!(
        "{}\n{}\n",
        painter.bold(&word(&report.signal)),
        clean(&report.reason)
    );
    let _ = writeln!(
        text,
        "proposed {}, in progress {}, blocked {}, done {}",
        report.proposed, report.in_progress, report.blocked, report.done
    );
    if !report.selectable.is_empty() {
        let _ = writeln!(text, "selectable: {}", clean(&report.selectable.join(", ")));
    }
    for problem in &report.problems {
        text.push_str(&painter.problem(Severity::Error, &source.to_string(), problem, 0, None));
    }
    text
}
