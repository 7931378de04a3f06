//! Puts the last message together, from lines that come the last one first.

use super::Last;

/// What one line of a transcript means here.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A message of the assistant, or a part of one.
    Assistant {
        /// Lines with the same id are parts of one message.
        id: Option<String>,
        /// None if it only thinks or uses tools.
        text: Option<String>,
    },
    /// Somebody asked for something: what was said before is no answer to it.
    Prompt,
    /// A tool's result, a subagent's line, bookkeeping.
    Other,
    /// Not JSON, or not what the harness writes.
    Unreadable,
}

/// Whether more lines are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Further,
    Known,
}

/// The answer, as far as it is known.
#[derive(Debug, Default)]
pub(super) enum Answer {
    #[default]
    NotFound,
    Found {
        id: Option<String>,
        /// The message's texts, the last one first.
        texts: Vec<String>,
    },
}

impl Answer {
    /// Adds the line before those that were added already.
    pub(super) fn add(&mut self, line: Line) -> Step {
        match line {
            Line::Other | Line::Unreadable => Step::Further,
            Line::Prompt => Step::Known,
            Line::Assistant { id, text } => self.add_part(id, text),
        }
    }

    fn add_part(&mut self, part_id: Option<String>, part: Option<String>) -> Step {
        match self {
            Self::NotFound => {
                let Some(text) = part else {
                    return Step::Further;
                };
                let step = match part_id {
                    Some(_) => Step::Further,
                    None => Step::Known,
                };
                *self = Self::Found {
                    id: part_id,
                    texts: vec![text],
                };
                step
            }
            Self::Found { id, texts } if *id == part_id => {
                texts.extend(part);
                Step::Further
            }
            Self::Found { .. } => Step::Known,
        }
    }

    /// The message, its texts in the order in which they were said.
    pub(super) fn finish(self) -> Last {
        match self {
            Self::NotFound => Last::None,
            Self::Found { mut texts, .. } => {
                texts.reverse();
                Last::Message(texts.join("\n"))
            }
        }
    }
}
