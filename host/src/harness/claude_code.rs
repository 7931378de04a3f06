//! Claude Code.

use super::Harness;
use super::answer::{Answer, Reply};
use super::error::HarnessError;
use super::event::{Event, Fields, Moment};

/// How often in a row it goes on, unless it is told otherwise.
const CAP: u32 = 8;
/// Tells it otherwise; 0 means always.
const CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

pub(super) fn read(fields: &Fields) -> Result<Event, HarnessError> {
    let moment = match fields.optional("hook_event_name") {
        Some("UserPromptSubmit") => {
            let prompt = fields.optional("prompt").unwrap_or_default();
            Moment::Prompt(prompt.to_owned())
        }
        _ => fields.moment()?,
    };
    // Of an agent's own agent, only its own words count as said.
    let transcript = match moment {
        Moment::SubagentStop => fields.path("agent_transcript_path"),
        _ => fields.path("transcript_path"),
    };
    Ok(Event {
        harness: Harness::ClaudeCode,
        session: fields.text("session_id")?,
        folder: fields.text("cwd")?.into(),
        message: fields.message("last_assistant_message"),
        transcript,
        is_continued: fields.flag("stop_hook_active"),
        // A shell may run for ever, and a server does: what was said is judged all the same.
        is_paused: fields.has_other("background_tasks", "type", "shell"),
        is_planning: fields.optional("permission_mode") == Some("plan"),
        at_ms: None,
        moment,
    })
}

pub(super) fn write(answer: &Answer) -> Reply {
    Reply::with_system_message(answer)
}

pub(super) fn cap(environment: impl Fn(&str) -> Option<String>) -> Option<u32> {
    match environment(CAP_VARIABLE).and_then(|text| text.trim().parse().ok()) {
        Some(0) => None,
        Some(cap) => Some(cap),
        None => Some(CAP),
    }
}
