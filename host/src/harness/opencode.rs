//! opencode, whose plugin is ours: it tells what is needed, in the words of the others.

use super::Harness;
use super::answer::{Answer, Reply};
use super::error::HarnessError;
use super::event::{Event, Fields};

pub(super) fn read(fields: &Fields) -> Result<Event, HarnessError> {
    Ok(Event {
        harness: Harness::Opencode,
        moment: fields.moment()?,
        session: fields.text("session_id")?,
        folder: fields.text("cwd")?.into(),
        message: fields.message("last_assistant_message"),
        transcript: None,
        is_continued: fields.flag("stop_hook_active"),
        is_paused: false,
        is_planning: false,
        at_ms: None,
    })
}

pub(super) fn write(answer: &Answer) -> Reply {
    Reply::plain(answer)
}
