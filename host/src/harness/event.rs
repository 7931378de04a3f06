//! What a client tells its hook, in one form for all clients.

use std::path::PathBuf;

use ralph_gate_component::Word as _;
use serde_json::{Map, Value};

use super::error::HarnessError;
use super::{Harness, claude_code, codex, copilot, cursor, gemini, opencode};
use crate::moment::milliseconds;
use crate::runner::ClientRecord;

/// The longest event that is read, in bytes.
pub const LONGEST: usize = 16 << 20;

/// Something that a client tells its hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The client.
    pub harness: Harness,
    /// What happens.
    pub moment: Moment,
    /// The session, as the client names it.
    pub session: String,
    /// Where the client works.
    pub folder: PathBuf,
    /// What the agent said last.
    pub message: Message,
    /// The client's record of the session.
    pub transcript: Option<PathBuf>,
    /// Whether the agent goes on only because a hook told it so.
    pub is_continued: bool,
    /// Whether the agent only waits for something that it started and that will wake it.
    pub is_paused: bool,
    /// Whether the agent may only plan, and could not do what it is told.
    pub is_planning: bool,
    /// When the client asked, in milliseconds since 1970, if it says so. With the session it names one stop.
    pub at_ms: Option<u64>,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// The agent wants to stop.
    Stop,
    /// The agent was ended, by a person or by an error.
    Aborted,
    /// An agent that the agent itself started wants to stop.
    SubagentStop,
    /// A session begins, or begins anew.
    SessionStart(Source),
    /// The user sends a prompt, with this text.
    Prompt(String),
    /// The client is about to shorten what the agent remembers.
    PreCompact,
    /// Something else.
    Other(String),
}

/// Why a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is a new one.
    New,
    /// It goes on, and the agent may have forgotten what it was told.
    Again,
}

/// What the agent said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// This.
    Said(String),
    /// All that it said since a person spoke last: only what is new counts.
    Grown(String),
    /// The event does not say.
    Unsaid,
}

impl Event {
    /// Reads an event. The client is recognised where it is not named.
    pub fn read(text: &[u8], harness: Option<Harness>) -> Result<Self, HarnessError> {
        if text.len() > LONGEST {
            return Err(HarnessError::EventTooLong {
                bytes: text.len(),
                limit: LONGEST,
            });
        }
        let value: Value =
            serde_json::from_slice(text).map_err(|error| HarnessError::EventNotJson {
                reason: error.to_string(),
            })?;
        let Value::Object(fields) = value else {
            return Err(HarnessError::EventNotJson {
                reason: "it is not an object".to_owned(),
            });
        };
        let fields = Fields(fields);
        let harness = match (harness, recognise(&fields)) {
            // Copilot runs the hooks of Claude Code too, as they are.
            (Some(Harness::ClaudeCode), Some(Harness::Copilot)) => Harness::Copilot,
            (Some(harness), _) => harness,
            (None, found) => found.ok_or(HarnessError::UnknownClient)?,
        };
        match harness {
            Harness::ClaudeCode => claude_code::read(&fields),
            Harness::Codex => codex::read(&fields),
            Harness::Gemini => gemini::read(&fields),
            Harness::Copilot => copilot::read(&fields),
            Harness::Cursor => cursor::read(&fields),
            Harness::Opencode => opencode::read(&fields),
        }
    }
}

impl Event {
    /// Whether the agent only goes on because a hook told it so, and no person has spoken since the client asked last.
    ///
    /// Where a client tells all that was said since a person spoke, that is a better sign than its flag, which Gemini
    /// takes back as soon as a tool is used.
    pub(super) fn is_continued_after(&self, last: Option<&ClientRecord>) -> bool {
        let heard = last.and_then(|last| last.heard.as_ref());
        match (&self.message, heard) {
            (Message::Grown(text), Some(heard)) => heard.rest_of(text).is_some(),
            _ => self.is_continued,
        }
    }
}

/// Which client sent an event, by what only it sends.
fn recognise(fields: &Fields) -> Option<Harness> {
    let named = fields.optional("harness");
    if let Some(named) = Harness::ALL.iter().find(|it| named == Some(it.as_str())) {
        return Some(*named);
    }
    let has = |name: &str| fields.0.contains_key(name);
    if has("conversation_id") {
        Some(Harness::Cursor)
    } else if has("sessionId") || has("stop_reason") || has("initial_prompt") {
        Some(Harness::Copilot)
    } else if has("prompt_response") || fields.optional("hook_event_name") == Some("AfterAgent") {
        Some(Harness::Gemini)
    } else if has("turn_id") {
        Some(Harness::Codex)
    } else if has("session_id") && has("hook_event_name") {
        Some(Harness::ClaudeCode)
    } else {
        None
    }
}

/// The fields of an event. What is of a wrong type is as good as absent, except where it is needed.
#[derive(Debug)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// A text that must be there.
    pub(super) fn text(&self, name: &'static str) -> Result<String, HarnessError> {
        let text = self.optional(name).filter(|text| !text.is_empty());
        text.map(str::to_owned)
            .ok_or(HarnessError::FieldMissing { name })
    }

    pub(super) fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn path(&self, name: &str) -> Option<PathBuf> {
        let text = self.optional(name).filter(|text| !text.is_empty());
        text.map(PathBuf::from)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether it is a number above 0.
    pub(super) fn is_positive(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_u64) > Some(0)
    }

    /// The first text of a list.
    pub(super) fn first(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_array()?.first()?.as_str()
    }

    /// A time, as a number of milliseconds or as text.
    pub(super) fn time(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => milliseconds(text),
            _ => None,
        }
    }

    /// Whether a list has an object in which a field is another word than this.
    pub(super) fn has_other(&self, name: &str, field: &str, word: &str) -> bool {
        let list = self.0.get(name).and_then(Value::as_array);
        let is_other = |it: &Value| it.get(field).and_then(Value::as_str) != Some(word);
        list.is_some_and(|list| list.iter().any(is_other))
    }

    /// What the agent said last, if the event says so.
    pub(super) fn message(&self, name: &str) -> Message {
        let text = self.optional(name);
        text.map_or(Message::Unsaid, |text| Message::Said(text.to_owned()))
    }

    /// The moments that Claude Code named, and others after it.
    pub(super) fn moment(&self) -> Result<Moment, HarnessError> {
        Ok(match self.text("hook_event_name")?.as_str() {
            "Stop" => Moment::Stop,
            "SubagentStop" => Moment::SubagentStop,
            "SessionStart" => Moment::SessionStart(match self.optional("source") {
                Some("resume" | "compact") => Source::Again,
                _ => Source::New,
            }),
            "PreCompact" => Moment::PreCompact,
            other => Moment::Other(other.to_owned()),
        })
    }
}
