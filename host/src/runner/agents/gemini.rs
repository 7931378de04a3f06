//! Gemini CLI: `-o stream-json`, or one `json` document.
//!
//! Checked against 0.61.0. The usage in the `result` is that of this run, also if the session was resumed; there is
//! no cost. Text arrives in pieces without an end: a tool, a person or a blocked attempt to stop divides it. Errors in
//! the `json` form go to standard error, and nothing is printed.

use serde_json::value::RawValue;

use super::argv;
use super::json::{count, each_value, fields, text, total};
use super::notes::{End, Notes, Reading};
use super::{Form, Prepared, Span};

/// Names of variables with credentials.
pub(super) const CREDENTIALS: &[&str] = &[
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_ACCESS_TOKEN",
];

/// Names of the variables that set it up.
pub(super) const VARIABLES: &[&str] = &["GEMINI_*", "GOOGLE_*", "SANDBOX"];

/// Words that make it something else than an agent that prints an answer.
const OTHER: &[&str] = &[
    "mcp",
    "extensions",
    "extension",
    "skills",
    "skill",
    "hooks",
    "hook",
    "gemma",
];
const INTERACTIVE: &[&str] = &["-i", "--prompt-interactive", "--acp", "--experimental-acp"];

/// Asks for the stream where the person left the form open.
pub(super) fn prepare(argv: &[String], client: usize) -> Prepared {
    let words = argv.get(client + 1..).unwrap_or_default();
    let form = match argv::value(words, &["-o", "--output-format", "--outputFormat"]) {
        Some("stream-json") => Form::Stream,
        Some("json") => Form::Json,
        Some(_) => Form::Text,
        None if is_other(words) => Form::Text,
        None => {
            return Prepared {
                argv: argv::with(argv, client + 1, &["-o", "stream-json"]),
                form: Form::Stream,
            };
        }
    };
    Prepared::unchanged(argv, form)
}

fn is_other(words: &[String]) -> bool {
    let first = words.first().map(String::as_str);
    first.is_some_and(|first| OTHER.contains(&first))
        || argv::before_dashes(words).any(|word| INTERACTIVE.contains(&word) || attached_form(word))
}

/// `-ojson`, which is a choice too, but not worth reading.
fn attached_form(word: &str) -> bool {
    word.starts_with("-o") && word.len() > 2
}

/// What must be remembered between lines.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    next: Next,
}

/// What the next piece of text does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Next {
    #[default]
    Continues,
    Replaces,
}

impl Gemini {
    pub(super) fn read(&mut self, event: &str, notes: &mut Notes) -> Reading {
        let names = [
            "type",
            "session_id",
            "role",
            "content",
            "severity",
            "message",
        ];
        let Some([kind, session, role, content, severity, message]) = fields(event, names) else {
            return Reading::Broken;
        };
        match text(kind).as_deref() {
            Some("init") => notes.session(text(session)),
            Some("message") => self.message(text(role).as_deref(), text(content), notes),
            Some("tool_use") => tool_use(event, notes),
            Some("tool_result") => notes.answer.clear(),
            Some("error") => {
                self.next = Next::Replaces;
                let message = text(message).unwrap_or_default();
                match text(severity).as_deref() {
                    Some("warning") => notes.warn(&message),
                    _ => notes.fail(&message),
                }
            }
            Some("result") => result(event, notes),
            _ => return Reading::Unknown,
        }
        Reading::Known
    }

    fn message(&mut self, role: Option<&str>, content: Option<String>, notes: &mut Notes) {
        let content = content.unwrap_or_default();
        if role != Some("assistant") {
            return notes.answer.clear();
        }
        if std::mem::take(&mut self.next) == Next::Replaces {
            notes.answer.clear();
        }
        notes.recover();
        notes.answer.push(content.as_bytes());
        notes.show_answer();
    }
}

/// What was said before a tool is used is not the answer.
fn tool_use(event: &str, notes: &mut Notes) {
    notes.answer.clear();
    notes.called();
    if let Some([name, input]) = fields(event, ["tool_name", "parameters"]) {
        notes.show_tool_input(text(name), input);
    }
}

/// Of several, the last counts, but for what was used.
fn result(event: &str, notes: &mut Notes) {
    let Some([outcome, error, stats]) = fields(event, ["status", "error", "stats"]) else {
        return;
    };
    notes.end = End::Reported;
    notes.span = Span::Run;
    let message = error.and_then(error_message);
    if text(outcome).as_deref() != Some("success") && (message.is_some() || notes.error.is_none()) {
        notes.fail(&message.unwrap_or_default());
    }
    let names = [
        "total_tokens",
        "input_tokens",
        "output_tokens",
        "tool_calls",
    ];
    let Some([all, input, output, calls]) = stats.and_then(|stats| fields(stats.get(), names))
    else {
        return notes.warn("gemini did not say how many tokens it used");
    };
    notes.used(count(all).unwrap_or_else(|| total(&[input, output])), None);
    tools(calls, notes);
}

/// The client's own count has the calls of subagents too; but what was seen was called.
fn tools(calls: Option<&RawValue>, notes: &mut Notes) {
    let calls = u32::try_from(count(calls).unwrap_or(0)).unwrap_or(u32::MAX);
    notes.tool_calls = notes.tool_calls.max(calls);
}

fn error_message(error: &RawValue) -> Option<String> {
    let [message] = fields(error.get(), ["message"])?;
    text(message)
}

pub(super) fn read_document(document: &str, notes: &mut Notes) -> Reading {
    let names = ["session_id", "response", "stats", "error"];
    let Some([session, response, stats, error]) = fields(document, names) else {
        return Reading::Broken;
    };
    if response.is_none() && error.is_none() {
        return Reading::Unknown;
    }
    notes.end = End::Reported;
    notes.span = Span::Run;
    notes.session(text(session));
    notes.answer_is(&text(response).unwrap_or_default());
    if let Some(error) = error {
        notes.fail(&error_message(error).unwrap_or_default());
    }
    let stats = stats.and_then(|stats| fields(stats.get(), ["models", "tools"]));
    if let Some([models, called]) = stats {
        notes.used(models.map_or(0, all_models), None);
        let called = called.and_then(|called| fields(called.get(), ["totalCalls"]));
        tools(called.and_then(|[calls]| calls), notes);
    }
    Reading::Known
}

fn all_models(models: &RawValue) -> u64 {
    let mut sum = 0_u64;
    each_value(models.get(), |model| {
        let tokens = fields(model.get(), ["tokens"]).and_then(|[tokens]| tokens);
        let tokens = tokens.and_then(|tokens| fields(tokens.get(), ["total"]));
        sum = sum.saturating_add(tokens.map_or(0, |counts| total(&counts)));
    });
    sum
}
