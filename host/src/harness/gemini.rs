//! Gemini CLI. What it tells grows with each attempt, so that an old promise stays in sight.

use super::Harness;
use super::answer::{Answer, Reply};
use super::error::HarnessError;
use super::event::{Event, Fields, Message, Moment, Source};

pub(super) fn read(fields: &Fields) -> Result<Event, HarnessError> {
    let moment = match fields.text("hook_event_name")?.as_str() {
        "AfterAgent" => Moment::Stop,
        "SessionStart" => Moment::SessionStart(match fields.optional("source") {
            Some("resume") => Source::Again,
            _ => Source::New,
        }),
        "PreCompress" => Moment::PreCompact,
        other => Moment::Other(other.to_owned()),
    };
    let response = fields.optional("prompt_response");
    Ok(Event {
        harness: Harness::Gemini,
        moment,
        session: fields.text("session_id")?,
        folder: fields.text("cwd")?.into(),
        message: response.map_or(Message::Unsaid, |text| Message::Grown(text.to_owned())),
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
