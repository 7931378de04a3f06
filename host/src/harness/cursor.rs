//! Cursor. It tells nothing of what the agent said, and is answered with what the agent is to be told.

use serde_json::{Map, json};

use super::Harness;
use super::answer::{Answer, Reply};
use super::error::HarnessError;
use super::event::{Event, Fields, Message, Moment};

pub(super) fn read(fields: &Fields) -> Result<Event, HarnessError> {
    let moment = match (
        fields.optional("hook_event_name"),
        fields.optional("status"),
    ) {
        (None | Some("stop"), Some("aborted" | "error")) => Moment::Aborted,
        (None | Some("stop"), _) => Moment::Stop,
        (Some(other), _) => Moment::Other(other.to_owned()),
    };
    let folder = fields.first("workspace_roots").or(fields.optional("cwd"));
    Ok(Event {
        harness: Harness::Cursor,
        moment,
        session: fields.text("conversation_id")?,
        folder: folder
            .ok_or(HarnessError::FieldMissing {
                name: "workspace_roots",
            })?
            .into(),
        message: Message::Unsaid,
        transcript: None,
        is_continued: fields.is_positive("loop_count"),
        is_paused: false,
        is_planning: false,
        at_ms: None,
    })
}

pub(super) fn write(answer: &Answer) -> Reply {
    let mut object = Map::new();
    if let Answer::Block { reason, .. } = answer {
        object.insert("followup_message".to_owned(), json!(reason));
    }
    Reply::json(object).with_note(answer)
}
