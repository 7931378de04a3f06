//! What a client is answered.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Harness, claude_code, codex, copilot, cursor, gemini, opencode};

/// What a client is answered, in one form for all clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
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
    /// The user sent a command that was run: the agent does not get it, and this is what the user should know.
    Done {
        /// For the user.
        text: String,
    },
    /// The user sent a prompt that the agent gets, with something more to know.
    Inform {
        /// For the agent.
        text: String,
        /// For the user.
        note: String,
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
            Self::Inform { note, .. } => Some(note),
            Self::Done { .. } | Self::Remind { .. } => None,
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
            Answer::Done { text } => {
                object.insert("decision".to_owned(), json!("block"));
                object.insert("reason".to_owned(), json!(text));
            }
            Answer::Inform { text, .. } => {
                let output =
                    json!({ "hookEventName": "UserPromptSubmit", "additionalContext": text });
                object.insert("hookSpecificOutput".to_owned(), output);
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

#[cfg(test)]
mod tests {
    use ralph_gate_component::Word as _;

    use super::*;

    fn block() -> Answer {
        Answer::Block {
            reason: "Two tests fail: \"a\"\nand <b>.".to_owned(),
            note: Some("iteration 1 of 5".to_owned()),
        }
    }

    fn told() -> Answer {
        Answer::Allow {
            note: Some("completed".to_owned()),
        }
    }

    /// What a client finds in an answer: the fields, and what each of them says.
    fn fields(harness: Harness, answer: &Answer) -> Vec<(String, Value)> {
        let reply = answer.reply(harness);
        if reply.stdout.is_empty() {
            return Vec::new();
        }
        assert_eq!(reply.stdout.lines().count(), 1, "{reply:?}");
        assert!(reply.stdout.starts_with('{'), "{reply:?}");
        let value: Map<String, Value> = serde_json::from_str(&reply.stdout).unwrap();
        value.into_iter().collect()
    }

    fn named(fields: &[(&str, &str)]) -> Vec<(String, Value)> {
        let pair = |(name, text): &(&str, &str)| ((*name).to_owned(), json!(text));
        fields.iter().map(pair).collect()
    }

    /// Each row is what one client takes for "go on": anything else it takes for leave to stop, or ignores.
    #[test]
    fn every_client_is_blocked_with_exactly_what_it_takes() {
        let reason = "Two tests fail: \"a\"\nand <b>.";
        let plain = [("decision", "block"), ("reason", reason)];
        let shown = [plain[0], plain[1], ("systemMessage", "iteration 1 of 5")];
        let rows: [(Harness, &[(&str, &str)]); 6] = [
            (Harness::ClaudeCode, &shown),
            (Harness::Codex, &shown),
            (Harness::Gemini, &shown),
            // Knows no field for the person: it is told on standard error.
            (Harness::Copilot, &plain),
            (Harness::Cursor, &[("followup_message", reason)]),
            (Harness::Opencode, &plain),
        ];
        assert_eq!(rows.len(), Harness::ALL.len());
        for (harness, expected) in rows {
            let mut found = fields(harness, &block());
            found.sort_by(|one, other| one.0.cmp(&other.0));
            assert_eq!(found, named(expected), "{harness}");
        }
    }

    #[test]
    fn leave_to_stop_is_silence_or_a_word_for_the_person_alone() {
        for harness in Harness::ALL.iter().copied() {
            assert_eq!(Answer::SILENT.reply(harness), Reply::default(), "{harness}");
            let found = fields(harness, &told());
            match harness {
                Harness::ClaudeCode | Harness::Codex | Harness::Gemini => {
                    assert_eq!(found, named(&[("systemMessage", "completed")]), "{harness}");
                }
                _ => {
                    assert!(found.is_empty(), "{harness}");
                    assert_eq!(told().reply(harness).stderr, "completed\n");
                }
            }
        }
    }

    #[test]
    fn a_session_that_begins_is_told_in_the_field_for_that() {
        let remind = Answer::Remind {
            text: "the task".to_owned(),
        };
        for harness in [Harness::ClaudeCode, Harness::Codex, Harness::Gemini] {
            let expected =
                json!({ "hookEventName": "SessionStart", "additionalContext": "the task" });
            let expected = vec![("hookSpecificOutput".to_owned(), expected)];
            assert_eq!(fields(harness, &remind), expected, "{harness}");
        }
        assert_eq!(remind.reply(Harness::Cursor), Reply::default());
    }
}
