//! Copilot CLI. Its event does not say what the agent said.

use super::Harness;
use super::answer::{Answer, Reply};
use super::error::HarnessError;
use super::event::{Event, Fields, Message, Moment, Source};

/// How often in a row it goes on. Nothing lifts that.
pub(super) const CAP: u32 = 8;

pub(super) fn read(fields: &Fields) -> Result<Event, HarnessError> {
    let moment = match fields.optional("hook_event_name") {
        Some("SessionStart" | "sessionStart") => session_start(fields),
        // Its own hooks are not told which event it is.
        None if fields.has("initialPrompt") || fields.has("source") => session_start(fields),
        None if fields.has("prompt") => Moment::Other("userPromptSubmitted".to_owned()),
        None | Some("Stop" | "agentStop") => Moment::Stop,
        Some(other) => Moment::Other(other.to_owned()),
    };
    let session = match fields.text("sessionId") {
        Ok(session) => session,
        Err(_) => fields.text("session_id")?,
    };
    let transcript = fields.path("transcriptPath");
    Ok(Event {
        harness: Harness::Copilot,
        moment,
        session,
        folder: fields.text("cwd")?.into(),
        message: Message::Unsaid,
        transcript: transcript.or_else(|| fields.path("transcript_path")),
        is_continued: fields.flag("stop_hook_active"),
        is_paused: false,
        is_planning: false,
        at_ms: fields.time("timestamp"),
    })
}

fn session_start(fields: &Fields) -> Moment {
    Moment::SessionStart(match fields.optional("source") {
        Some("resume") => Source::Again,
        _ => Source::New,
    })
}

pub(super) fn write(answer: &Answer) -> Reply {
    Reply::plain(answer)
}
