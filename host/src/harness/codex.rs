//! Codex CLI. An answer with a field that it does not know is as good as none.

use super::Harness;
use super::answer::{Answer, Reply};
use super::error::HarnessError;
use super::event::{Event, Fields};

pub(super) fn read(fields: &Fields) -> Result<Event, HarnessError> {
    Ok(Event {
        harness: Harness::Codex,
        moment: fields.moment()?,
        session: fields.text("session_id")?,
        folder: fields.text("cwd")?.into(),
        message: fields.message("last_assistant_message"),
        transcript: fields.path("transcript_path"),
        is_continued: fields.flag("stop_hook_active"),
        is_paused: false,
        is_planning: false,
        at_ms: None,
    })
}

pub(super) fn write(answer: &Answer) -> Reply {
    Reply::with_system_message(answer)
}
