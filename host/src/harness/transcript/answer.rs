//! Puts the last message together, from lines that come the last one first.

use super::Last;

/// What one line of a transcript means here.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A message of the assistant, or a part of one.
    Assistant {
        /// Lines with the same id are parts of one message.
        id: Option<String>,
        /// What it says behind its last use of a tool. None if it only thinks or uses tools.
        text: Option<String>,
        /// Whether a tool is used in it.
        uses_tool: bool,
    },
    /// Somebody asked for something: what was said before is no answer to it.
    Prompt,
    /// The client asks its hooks whether the agent may stop, in milliseconds since 1970: all that was said before stands
    /// above this line.
    Asked(u64),
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
            Line::Asked(_) | Line::Other | Line::Unreadable => Step::Further,
            Line::Prompt => Step::Known,
            Line::Assistant {
                id,
                text,
                uses_tool,
            } => self.add_part(id, text, uses_tool),
        }
    }

    fn add_part(&mut self, part_id: Option<String>, part: Option<String>, uses_tool: bool) -> Step {
        match self {
            Self::NotFound => {
                let Some(text) = part else {
                    // What was said before a tool was used is not the end of what was said.
                    return if uses_tool {
                        Step::Known
                    } else {
                        Step::Further
                    };
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
