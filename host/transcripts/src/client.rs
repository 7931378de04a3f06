//! The clients whose transcripts are known.

use serde::{Deserialize, Serialize};

use crate::json::{fields, text};

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// `~/.claude/projects/<project>/<session>.jsonl`
    ClaudeCode,
    /// `~/.codex/sessions/<year>/<month>/<day>/rollout-*.jsonl`
    Codex,
    /// `~/.gemini/tmp/<project>/chats/session-*.jsonl`, or `.json`
    Gemini,
}

/// Kinds of lines that Claude Code writes, and that may come first.
const CLAUDE_CODE: &[&str] = &[
    "assistant",
    "attachment",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "progress",
    "queue-operation",
    "summary",
    "system",
    "tools-used",
    "user",
];

/// Kinds of lines that Codex writes.
const CODEX: &[&str] = &[
    "compacted",
    "event_msg",
    "response_item",
    "session_meta",
    "turn_context",
];

impl Client {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Gemini];

    /// As it is called on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Whose line it is, if only one client writes such lines.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let names = [
            "type",
            "payload",
            "sessionId",
            "projectHash",
            "$set",
            "message",
            "leafUuid",
            "timestamp",
        ];
        let [kind, payload, session, hash, set, message, leaf, timestamp] = fields(line, names)?;
        let kind = text(kind);
        let is = |kinds: &[&str]| kind.as_deref().is_some_and(|kind| kinds.contains(&kind));
        if hash.is_some() && session.is_some() || set.is_some() {
            Some(Self::Gemini)
        } else if payload.is_some() && is(CODEX) {
            Some(Self::Codex)
        } else if is(CLAUDE_CODE) && (session.is_some() || message.is_some() || leaf.is_some()) {
            Some(Self::ClaudeCode)
        } else if kind.is_none() && timestamp.is_some() && line.contains("\"instructions\"") {
            // The first line of Codex before its lines had a `payload`; the instructions may be null.
            Some(Self::Codex)
        } else {
            None
        }
    }
}
