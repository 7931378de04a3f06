//! The agent clients: where each keeps its hooks, and what ours look like there.

use std::fmt;
use std::path::Path;

use ralph_gate_component::Word as _;

use super::error::{BadCommand, InstallError};
use super::layout::{Layout, Stand, Value};
use super::shell;
use crate::harness::Harness;

/// What our program is called, wherever it is.
pub(super) const PROGRAM: &str = "ralph-gate";
/// How long a client waits for the gate, in seconds.
const PATIENCE: u32 = 600;
/// How often Cursor may be sent back to work.
const LOOP_LIMIT: u32 = 100;

impl Harness {
    /// The events that ours hear of.
    pub(super) fn events(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &[
                "Stop",
                "SubagentStop",
                "SessionStart",
                "UserPromptSubmit",
                "PreCompact",
            ],
            Self::Codex => &["Stop"],
            Self::Gemini => &["AfterAgent"],
            Self::Copilot => &["agentStop"],
            Self::Cursor => &["stop"],
            Self::Opencode => &[],
        }
    }

    pub(super) fn shape(self) -> Shape {
        match self {
            Self::ClaudeCode | Self::Codex | Self::Gemini => Shape::Grouped,
            Self::Copilot | Self::Cursor | Self::Opencode => Shape::Flat,
        }
    }

    /// The setting beside the hooks that ours depend on.
    pub(super) fn setting(self) -> Option<Setting> {
        match self {
            Self::ClaudeCode => Some(Setting {
                keys: &["env", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"],
                value: "\"0\"",
            }),
            Self::Gemini => Some(Setting {
                keys: &["model", "disableLoopDetection"],
                value: "true",
            }),
            Self::Copilot | Self::Cursor => Some(Setting {
                keys: &["version"],
                value: "1",
            }),
            Self::Codex | Self::Opencode => None,
        }
    }

    /// The key of an entry that holds the command.
    pub(super) fn command_key(self) -> &'static str {
        match self {
            Self::Copilot => "bash",
            _ => "command",
        }
    }

    /// The key of an entry that holds its limit, and the limit.
    pub(super) fn limit(self) -> (&'static str, u32) {
        match self {
            Self::Gemini => ("timeout", PATIENCE * 1000),
            Self::Copilot => ("timeoutSec", PATIENCE),
            Self::Cursor => ("loop_limit", LOOP_LIMIT),
            Self::ClaudeCode | Self::Codex | Self::Opencode => ("timeout", PATIENCE),
        }
    }

    /// Where its settings are, inside the root or the home.
    pub(super) fn file(self, scope: Scope) -> Result<&'static str, InstallError> {
        Ok(match (self, scope) {
            (Self::ClaudeCode, Scope::Project | Scope::User) => ".claude/settings.json",
            (Self::ClaudeCode, Scope::Local) => ".claude/settings.local.json",
            (Self::Codex, Scope::Project) => ".codex/hooks.json",
            (Self::Gemini, Scope::Project) => ".gemini/settings.json",
            (Self::Copilot, Scope::Project) => ".github/hooks/ralph-gate.json",
            (Self::Cursor, Scope::Project) => ".cursor/hooks.json",
            (Self::Opencode, Scope::Project) => ".opencode/plugins/ralph-gate.js",
            (harness, scope) => return Err(InstallError::Scope { harness, scope }),
        })
    }
}

/// For whom the hooks are. Only Claude Code has other settings than the project's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Everyone who works in the root.
    Project,
    /// This person, in the root.
    Local,
    /// This person, everywhere.
    User,
}

impl Scope {
    /// Its word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Local => "local",
            Self::User => "user",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is in an event's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Groups, each with a list of entries under `hooks`.
    Grouped,
    /// The entries.
    Flat,
}

/// A setting beside the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) keys: &'static [&'static str],
    pub(super) value: &'static str,
}

/// Who put the setting beside the hooks into the file.
///
/// The order of an entry's keys remembers it: the command stands before the limit if we did, behind it if not. A
/// client that writes its settings anew keeps that order, but no white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Giver {
    Us,
    Them,
}

/// Whether Gemini's own detection of loops, which ends a turn that the gate sent back, is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopDetection {
    /// It is, unless the person set it to something already.
    #[default]
    SwitchOff,
    /// The person does not agree: it stays as it is.
    Leave,
}

/// What is put into a client's settings.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub(super) harness: Harness,
    pub(super) command: String,
    pub(super) setting: Option<Setting>,
}

impl Recipe {
    pub(super) fn new(
        harness: Harness,
        command: &Path,
        loop_detection: LoopDetection,
    ) -> Result<Self, InstallError> {
        let setting = match (harness, loop_detection) {
            (Harness::Gemini, LoopDetection::Leave) => None,
            _ => harness.setting(),
        };
        Ok(Self {
            harness,
            command: checked(command)?,
            setting,
        })
    }

    /// Who gave the setting if it is not put in with this: nobody could, where the client has none.
    pub(super) fn giver(&self) -> Giver {
        self.harness.setting().map_or(Giver::Us, |_| Giver::Them)
    }

    /// What is put into an event's list.
    pub(super) fn element(&self, giver: Giver) -> Value {
        match self.harness.shape() {
            Shape::Grouped => Value::single("hooks", Value::List(vec![self.entry(giver)])),
            Shape::Flat => self.entry(giver),
        }
    }

    fn entry(&self, giver: Giver) -> Value {
        let (limit, number) = self.harness.limit();
        let limit = (limit, Value::Raw(number.to_string()));
        let mut members = Vec::new();
        if self.harness != Harness::Cursor {
            members.push(("type", Value::text("command")));
        }
        match giver {
            Giver::Us => {
                members.push(self.call());
                members.push(limit);
            }
            Giver::Them => {
                members.push(limit);
                members.push(self.call());
            }
        }
        Value::Object(members)
    }

    /// One command line for every client: several versions of Claude Code ignore `args`, and so does Copilot, which
    /// reads the same file. They would run the program without arguments.
    fn call(&self) -> (&'static str, Value) {
        let word = self.harness.as_str();
        let line = format!("{} hook {word}", shell::quote(&self.command));
        (self.harness.command_key(), Value::text(&line))
    }

    /// All of it, as a file of its own.
    pub(super) fn whole(&self) -> String {
        let giver = self.setting.map_or(self.giver(), |_| Giver::Us);
        let mut members = Vec::new();
        if let Some(setting) = self.setting {
            let value = Value::Raw(setting.value.to_owned());
            members.extend(match setting.keys {
                [outer, inner] => Some((*outer, Value::single(inner, value))),
                [only] => Some((*only, value)),
                _ => None,
            });
        }
        let lists = self.harness.events().iter();
        let lists = lists.map(|event| (*event, Value::List(vec![self.element(giver)])));
        members.push(("hooks", Value::Object(lists.collect())));
        let whole = Layout::usual().value(&Value::Object(members), &Stand::Line(String::new()));
        whole + "\n"
    }
}

/// The command, if it can be written everywhere and found again.
fn checked(command: &Path) -> Result<String, InstallError> {
    let bad = |reason| InstallError::Command {
        command: command.to_owned(),
        reason,
    };
    let text = command.to_str().ok_or_else(|| bad(BadCommand::NotUtf8))?;
    let breaks =
        |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    if text.contains(breaks) {
        return Err(bad(BadCommand::ControlCharacter));
    }
    if command.file_name() != Some(PROGRAM.as_ref()) {
        return Err(bad(BadCommand::OtherName));
    }
    if !command.is_absolute() && text != PROGRAM {
        return Err(bad(BadCommand::Relative));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_could_not_be_found_again_is_refused() {
        for (command, part) in [
            ("/bin/ralph-gate-2", "is not called ralph-gate"),
            ("target/ralph-gate", "is not an absolute path"),
            ("/a\nb/ralph-gate", "control character"),
            ("/a\u{2028}b/ralph-gate", "control character"),
        ] {
            let error = checked(Path::new(command)).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        for command in ["ralph-gate", "/it's a \"path\"/ralph-gate"] {
            assert_eq!(checked(Path::new(command)).unwrap(), command);
        }
    }
}
