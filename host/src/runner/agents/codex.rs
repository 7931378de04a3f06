//! Codex: `codex exec --json`.
//!
//! Checked against 0.166.0. `turn.completed` has the usage of the whole thread, with all earlier runs if it was
//! resumed; there is no cost. Cached input is part of the input, reasoning part of the output.

use serde_json::value::RawValue;

use super::argv;
use super::json::{each_element, fields, text, total};
use super::notes::{End, Notes, Reading};
use super::{Form, Prepared, Span};

/// Names of variables with credentials.
pub(super) const CREDENTIALS: &[&str] = &["CODEX_ACCESS_TOKEN", "CODEX_API_KEY", "OPENAI_API_KEY"];

/// Names of the variables that set it up.
pub(super) const VARIABLES: &[&str] = &["CODEX_*", "OPENAI_*"];

/// Options before `exec` whose value is the next word.
const VALUED: &[&str] = &[
    "-c",
    "--config",
    "--enable",
    "--disable",
    "--remote",
    "--remote-auth-token-env",
    "-i",
    "--image",
    "-m",
    "--model",
    "--local-provider",
    "-p",
    "--profile",
    "-s",
    "--sandbox",
    "-C",
    "--cd",
    "--add-dir",
    "-a",
    "--ask-for-approval",
];

/// Asks for events where the person did not. Only `exec` prints them.
pub(super) fn prepare(argv: &[String], client: usize) -> Prepared {
    let Some(exec) = exec(argv, client + 1) else {
        return Prepared::unchanged(argv, Form::Text);
    };
    let words = argv.get(exec + 1..).unwrap_or_default();
    let chosen = ["--json", "--experimental-json"];
    if argv::before_dashes(words).any(|word| chosen.contains(&word)) {
        return Prepared::unchanged(argv, Form::Stream);
    }
    Prepared {
        argv: argv::with(argv, exec + 1, &["--json"]),
        form: Form::Stream,
    }
}

/// The place of the word `exec`, if that is the subcommand.
fn exec(argv: &[String], start: usize) -> Option<usize> {
    let mut words = argv.iter().enumerate().skip(start);
    while let Some((place, word)) = words.next() {
        if VALUED.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            return matches!(word.as_str(), "exec" | "e").then_some(place);
        } else if word == "--" {
            return None;
        }
    }
    None
}

pub(super) fn read(event: &str, notes: &mut Notes) -> Reading {
    let names = ["type", "thread_id", "item", "usage", "error", "message"];
    let Some([kind, thread, item, usage, error, message]) = fields(event, names) else {
        return Reading::Broken;
    };
    match text(kind).as_deref() {
        Some("thread.started") => notes.session(text(thread)),
        Some("turn.started") => notes.end = End::Open,
        Some("turn.completed") => completed(usage, notes),
        Some("turn.failed") => {
            let message = error.and_then(|error| fields(error.get(), ["message"]));
            let message = message.and_then(|[message]| text(message));
            notes.end = End::Reported;
            notes.fail(&message.unwrap_or_default());
        }
        // Also a lost connection that is tried again: the turn may still complete.
        Some("error") => notes.fail(&text(message).unwrap_or_default()),
        Some("item.started" | "item.updated") => read_item(item, Progress::Running, notes),
        Some("item.completed") => read_item(item, Progress::Completed, notes),
        _ => return Reading::Unknown,
    }
    Reading::Known
}

fn completed(usage: Option<&RawValue>, notes: &mut Notes) {
    notes.end = End::Reported;
    notes.span = Span::Session;
    notes.recover();
    let usage = usage.and_then(|usage| fields(usage.get(), ["input_tokens", "output_tokens"]));
    match usage {
        Some(counts) => notes.used(total(&counts), None),
        None => notes.warn("codex did not say how many tokens it used"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Running,
    Completed,
}

fn read_item(item: Option<&RawValue>, progress: Progress, notes: &mut Notes) {
    let names = [
        "type", "text", "message", "command", "changes", "server", "tool", "query",
    ];
    let Some([kind, said, message, command, changes, server, tool, query]) =
        item.and_then(|item| fields(item.get(), names))
    else {
        return;
    };
    let kind = text(kind).unwrap_or_default();
    let about = match kind.as_str() {
        "command_execution" => text(command),
        "file_change" => changes.and_then(first_path),
        "mcp_tool_call" => text(server)
            .zip(text(tool))
            .map(|(server, tool)| format!("{server} {tool}")),
        "collab_tool_call" => text(tool),
        "web_search" => text(query),
        "agent_message" | "error" if progress == Progress::Running => return,
        "agent_message" => {
            let said = text(said).unwrap_or_default();
            notes.show_text(&said);
            return notes.answer_is(&said);
        }
        "error" => return notes.warn(&text(message).unwrap_or_default()),
        _ => return,
    };
    notes.show_tool(&kind, &about.unwrap_or_default());
    if progress == Progress::Completed {
        notes.called();
    }
}

fn first_path(changes: &RawValue) -> Option<String> {
    let mut first = None;
    each_element(changes.get(), |change| {
        let path = || text(fields(change.get(), ["path"])?[0]);
        first = first.take().or_else(path);
    });
    first
}
