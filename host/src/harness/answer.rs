//! What a client is answered.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Harness, claude_code, codex, copilot, cursor, gemini, opencode};

/// What a client is answered, in one form for all clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The agent may stop.
    Allow {
        /// For the person.
        note: Option<String>,
    },
    /// The agent must go on.
    Block {
        /// For the agent.
        reason: String,
        /// For the person.
        note: Option<String>,
    },
    /// A session begins, and this is what the agent should know.
    Remind {
        /// For the agent.
        text: String,
    },
}

impl Answer {
    /// The agent may stop, and there is nothing to be said about it.
    pub const SILENT: Self = Self::Allow { note: None };

    /// For the person.
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Allow { note } | Self::Block { note, .. } => note.as_deref(),
            Self::Remind { .. } => None,
        }
    }

    /// What that client understands.
    pub fn reply(&self, harness: Harness) -> Reply {
        match harness {
            Harness::ClaudeCode => claude_code::write(self),
            Harness::Codex => codex::write(self),
            Harness::Gemini => gemini::write(self),
            Harness::Copilot => copilot::write(self),
            Harness::Cursor => cursor::write(self),
            Harness::Opencode => opencode::write(self),
        }
    }
}

/// What is printed. The exit code is always 0: every client takes any other one for a defect of the hook, and lets the
/// agent stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Exactly one JSON object, or nothing.
    pub stdout: String,
    /// For the person, where the client has no other place for it.
    pub stderr: String,
}

impl Reply {
    /// One object, or nothing if it is empty.
    pub(super) fn json(object: Map<String, Value>) -> Self {
        Self {
            stdout: if object.is_empty() {
                String::new()
            } else {
                Value::Object(object).to_string()
            },
            stderr: String::new(),
        }
    }

    /// What all clients take that know Claude Code's answers, and no more.
    pub(super) fn plain(answer: &Answer) -> Self {
        Self::json(Self::object(answer)).with_note(answer)
    }

    /// The same, for a client that has a word for what only the person is to see.
    pub(super) fn with_system_message(answer: &Answer) -> Self {
        let mut object = Self::object(answer);
        if let Some(note) = answer.note() {
            object.insert("systemMessage".to_owned(), json!(note));
        }
        Self::json(object)
    }

    /// Claude Code's words for an answer, without those for the person.
    pub(super) fn object(answer: &Answer) -> Map<String, Value> {
        let mut object = Map::new();
        match answer {
            Answer::Allow { .. } => {}
            Answer::Block { reason, .. } => {
                object.insert("decision".to_owned(), json!("block"));
                object.insert("reason".to_owned(), json!(reason));
            }
            Answer::Remind { text } => {
                let output = json!({ "hookEventName": "SessionStart", "additionalContext": text });
                object.insert("hookSpecificOutput".to_owned(), output);
            }
        }
        object
    }

    /// The note goes where a person may find it.
    pub(super) fn with_note(mut self, answer: &Answer) -> Self {
        if let Some(note) = answer.note() {
            self.stderr = format!("{note}\n");
        }
        self
    }
}
