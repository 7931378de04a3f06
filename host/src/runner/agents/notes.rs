//! What has been read so far, the same for every client.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::bounded::Tail;
use super::decimal::Decimal;
use super::json::{fields, text};
use super::line;
use super::{Span, Turn};

/// Warnings kept; more say no more.
const WARNINGS: usize = 16;
/// Denied tools that are named; the name of a tool is a short word.
const DENIED: usize = 16;
/// Longest identity of a session that is believed.
const SESSION_LIMIT: usize = 256;

/// What a tool's input is about, in the order in which it tells a person most.
const TELLING: [&str; 8] = [
    "command",
    "file_path",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
];

/// What one line or document was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Something that the client prints.
    Known,
    /// An event, but not one that this version of the adapter knows.
    Unknown,
    /// No event at all.
    Broken,
}

/// Whether the client said that its turn is over.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Open,
    Reported,
}

/// A [`Turn`] in the making.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) answer: Tail,
    pub(super) tool_calls: u32,
    pub(super) tokens: u64,
    pub(super) cost: Option<Decimal>,
    pub(super) span: Span,
    pub(super) error: Option<String>,
    pub(super) end: End,
    session_id: Option<String>,
    denied: BTreeSet<String>,
    warnings: Vec<String>,
    activity: Option<String>,
    /// What was shown last, so that a tool's start and end are one thing.
    shown: String,
}

impl Notes {
    /// The agent's answer is this, and not what it was before.
    pub(super) fn answer_is(&mut self, text: &str) {
        self.answer.clear();
        self.answer.push(text.as_bytes());
    }

    /// The client said what was used. Of several statements the largest counts: a later line can't lower a cost, whoever
    /// printed it.
    pub(super) fn used(&mut self, tokens: u64, cost: Option<Decimal>) {
        self.tokens = self.tokens.max(tokens);
        self.cost = self.cost.max(cost);
    }

    /// The agent called a tool.
    pub(super) fn called(&mut self) {
        self.tool_calls = self.tool_calls.saturating_add(1);
    }

    /// Shows a tool at work.
    pub(super) fn show_tool(&mut self, name: &str, about: &str) {
        self.show(&format!("tool: {name} {}", start(about)));
    }

    /// Shows a tool at work, with the part of its input that tells most.
    pub(super) fn show_tool_input(&mut self, name: Option<String>, input: Option<&RawValue>) {
        let values = input.and_then(|input| fields(input.get(), TELLING));
        let about = values.and_then(|values| values.into_iter().find_map(text));
        self.show_tool(&name.unwrap_or_default(), &about.unwrap_or_default());
    }

    /// Shows what the agent says.
    pub(super) fn show_text(&mut self, text: &str) {
        let first = text.lines().find(|line| !line.trim().is_empty());
        if let Some(first) = first {
            self.show(&format!("says: {}", start(first)));
        }
    }

    /// Shows the newest line of an answer that arrives in pieces.
    pub(super) fn show_answer(&mut self) {
        let newest = self.answer.newest_line();
        self.show_text(&newest);
    }

    fn show(&mut self, what: &str) {
        let what = line::short(what);
        if what != self.shown {
            self.shown.clone_from(&what);
            self.activity = Some(what);
        }
    }

    pub(super) fn take_activity(&mut self) -> Option<String> {
        self.activity.take()
    }

    pub(super) fn session(&mut self, id: Option<String>) {
        let id = id.filter(|id| !id.is_empty() && id.len() <= SESSION_LIMIT);
        if let Some(id) = id.filter(|id| !id.chars().any(char::is_control)) {
            self.session_id = Some(id);
        }
    }

    /// The client's permissions denied a tool to the agent.
    pub(super) fn denied(&mut self, tool: &str) {
        let tool = line::short(tool);
        if !tool.is_empty() && self.denied.len() < DENIED {
            self.denied.insert(tool);
        }
    }

    pub(super) fn warn(&mut self, warning: &str) {
        let warning = line::message(warning);
        if self.warnings.len() < WARNINGS && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// A warning about the output as a whole, which has a place even if the client warned a lot.
    pub(super) fn warn_of_output(&mut self, warning: String) {
        self.warnings.insert(0, warning);
    }

    pub(super) fn fail(&mut self, message: &str) {
        let message = line::message(message);
        let unsaid = || "the client reported an error without a message".to_owned();
        self.error = Some(message)
            .filter(|m| !m.is_empty())
            .or_else(|| Some(unsaid()));
    }

    /// The agent went on after an error, so that it is only worth a warning.
    pub(super) fn recover(&mut self) {
        if let Some(error) = self.error.take() {
            self.warn(&error);
        }
    }

    pub(super) fn into_turn(self) -> Turn {
        let (output, omitted) = self.answer.into_text();
        Turn {
            output,
            omitted,
            tool_calls: self.tool_calls,
            tokens: u32::try_from(self.tokens).unwrap_or(u32::MAX),
            cost_usd: self.cost.map(|cost| cost.to_string()),
            span: self.span,
            error: self.error,
            session_id: self.session_id,
            denied: self.denied.into_iter().collect(),
            warnings: self.warnings,
        }
    }
}

/// As much of a text as a line could show, so that a text of megabytes is not copied.
fn start(text: &str) -> &str {
    text.get(..text.floor_char_boundary(2000))
        .unwrap_or_default()
}
