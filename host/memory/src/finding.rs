//! What a store found when it looked at a session's files, and what it did about it.

use std::fmt::{Display, Write as _};

use serde::Serialize;

/// What was found. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingCode {
    /// A checkpoint can't be used; an older one was.
    CheckpointDamaged,
    /// A save that was not finished when the process or the machine stopped.
    SaveUnfinished,
    /// The end of a log was torn and was written again.
    LogTorn,
    /// A file was not up to date with the newest checkpoint and was brought up to date.
    FileRedone,
    /// A file could not be brought up to date now; the next save tries again.
    FileBehind,
    /// A file was missing and was written again.
    FileRestored,
    /// Something that is not a plain file of this session stood in its place.
    FileReplaced,
    /// Text was added to the progress log by somebody else. It stays.
    ProgressAdded,
    /// The progress log was edited by somebody else. The edit stays.
    ProgressEdited,
    /// The checklist was edited by somebody else. The edit stays.
    PrdEdited,
    /// The checklist can't be read; the last good one was restored.
    PrdDamaged,
    /// A line of the checklist that was to be updated is no longer there.
    PrdLineMissing,
    /// The pinned contract was edited by somebody else; it was restored.
    ContractEdited,
    /// Lines were added to the event log by somebody else; they were set aside.
    EventsAdded,
    /// Old lines of the event log were edited by somebody else; they stay as they are.
    EventsEdited,
    /// Lines of the event log are gone.
    EventsLost,
    /// Old checkpoints could not be cleared away.
    NotCleared,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub code: FindingCode,
    /// The file, relative to the session's folder.
    pub file: String,
    /// What happened and what was done, in one sentence without its full stop.
    pub message: String,
    /// Where the bytes are that were set aside, relative to the session's folder.
    pub kept: Option<String>,
}

impl Finding {
    pub(super) fn new(code: FindingCode, file: &dyn Display, message: impl Into<String>) -> Self {
        Self {
            code,
            file: file.to_string(),
            message: message.into(),
            kept: None,
        }
    }

    pub(super) fn kept(self, place: Option<impl ToString>) -> Self {
        Self {
            kept: place.map(|place| place.to_string()),
            ..self
        }
    }
}

/// The findings as one paragraph for a person. Empty if there are none.
///
/// ```
/// assert_eq!(ralph_gate_memory::paragraph(&[]), "");
/// ```
pub fn paragraph(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        if !text.is_empty() {
            text.push(' ');
        }
        let _ = write!(text, "{}: {}", finding.file, finding.message);
        if let Some(kept) = &finding.kept {
            let _ = write!(text, " (kept as {kept})");
        }
        text.push('.');
    }
    text
}
