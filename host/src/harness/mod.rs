//! Agent clients: what a client tells its hook, and what it takes for an answer.
//!
//! Nothing is decided here. A client's event becomes an [`Event`], the same for all; a [`Question`] finds its loop and
//! lets the runner judge; the [`Answer`] becomes what that client understands.

mod answer;
pub mod attendant;
mod case;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
pub mod doctor;
mod error;
mod event;
mod gemini;
mod git;
mod hook;
pub mod install;
pub mod log;
pub mod loop_file;
mod opencode;
pub mod person;
mod project;
mod reason;
pub mod slash;
pub mod state;
pub mod transcript;

pub use answer::{Answer, Reply};
pub use error::HarnessError;
pub use event::{Event, LONGEST, Message, Moment, Source};
pub use hook::{Asker, Gathering, Hook, Patient, Question, Trail};

use crate::words::words;

words! {
    /// A client that runs agents.
    Harness {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex CLI.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Copilot CLI.
        Copilot = "copilot",
        /// Cursor.
        Cursor = "cursor",
        /// opencode, through a plugin of ours.
        Opencode = "opencode",
    }
}

impl std::fmt::Display for Harness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(ralph_gate_component::Word::as_str(*self))
    }
}

impl Harness {
    /// How often in a row the client lets itself be told to go on. None if there is no limit, or none that is known.
    pub fn cap(self, environment: impl Fn(&str) -> Option<String>) -> Option<u32> {
        match self {
            Self::ClaudeCode => claude_code::cap(environment),
            Self::Copilot => Some(copilot::CAP),
            Self::Codex | Self::Gemini | Self::Cursor | Self::Opencode => None,
        }
    }
}
