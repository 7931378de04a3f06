//! `ralph-gate promise`: what an agent's output promises.

use std::fmt::Write as _;

use ralph_gate::engine::{PromiseReport, PromiseTag};
use serde_json::{Map, Value};

use super::Exit;
use super::answer::Question;
use super::args::PromiseArgs;
use super::error::CliError;
use super::input::Input;
use super::terminal::{Painter, Severity, Terminal, clean};
use super::words::word;

pub(crate) fn run(args: &PromiseArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    let Input { source, text } = Input::read(args.file.as_deref())?;
    let mut call = Map::new();
    call.insert("output".to_owned(), text.into());
    if let Some(rules) = &args.rules {
        call.insert("rules".to_owned(), rules.as_str().into());
    }
    let call = Value::Object(call).to_string();
    let question = Question {
        function: "parse_promises",
        input: &call,
        file: &source,
        shift: 0,
    };
    let answer = question.ask::<PromiseReport>()?;
    terminal.print_answer(&answer.json, |painter| describe(painter, &answer.value))?;
    Ok(Exit::Success)
}

fn describe(painter: Painter, report: &PromiseReport) -> String {
    let mut text = match &report.accepted {
        Some(promise) => format!("accepted: {}\n", painter.good(&clean(promise))),
        None => format!("accepted: {}\n", painter.bold("none")),
    };
    if let Some(signal) = &report.signal {
        let _ = writeln!(text, "signal: {}", word(signal));
    }
    let _ = writeln!(text, "tags found: {}", report.found);
    for tag in &report.tags {
        text.push_str(&describe_tag(painter, tag));
    }
    let hidden = (report.found as usize).saturating_sub(report.tags.len());
    if hidden > 0 {
        let _ = writeln!(text, "  and {hidden} more");
    }
    for entry in &report.context {
        let _ = writeln!(
            text,
            "context: {} = {} ({})",
            clean(&entry.key),
            clean(&entry.value),
            word(&entry.kind)
        );
    }
    if let Some(warning) = &report.context_warning {
        let _ = writeln!(
            text,
            "{} {}",
            painter.severity(Severity::Warning),
            clean(warning)
        );
    }
    text
}

fn describe_tag(painter: Painter, tag: &PromiseTag) -> String {
    format!(
        "  byte {}: {}: {} {}\n",
        tag.offset,
        painter.bold(&word(&tag.status)),
        clean(&tag.reason),
        painter.dim(&format!("({})", clean(&tag.text))),
    )
}
