//! Takes a client's output as it arrives and makes a [`Turn`] of it.

use super::bounded::{LINE_LIMIT, Lines};
use super::claude::Claude;
use super::command::Printed;
use super::gemini::Gemini;
use super::notes::{End, Notes, Reading};
use super::{Client, Form, Turn, codex, gemini};

/// Reads an agent's standard output, in chunks of any size.
///
/// Only whole lines, or the whole document, are parsed: what looks like an event inside of a tool's output is text in
/// a JSON string. If nothing can be read as the client's form, the whole output is the answer, and a warning says so.
///
/// ```
/// use ralph_gate::runner::agents::{Client, Form, Reader};
///
/// let mut reader = Reader::new(Client::Codex, Form::Stream);
/// reader.feed(br#"{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}"#);
/// reader.feed(b"\n");
/// assert_eq!(reader.activity().as_deref(), Some("says: Done."));
/// reader.feed(br#"{"type":"turn.completed","usage":{"input_tokens":100,"output_tokens":7}}"#);
/// let turn = reader.finish();
/// assert_eq!((turn.output.as_str(), turn.tokens), ("Done.", 107));
/// ```
#[derive(Debug)]
pub struct Reader {
    client: Client,
    input: Input,
    read: Read,
}

/// How the bytes are put together.
#[derive(Debug)]
enum Input {
    Text,
    Stream(Lines),
    Document(Document),
}

/// What the pieces have said so far.
#[derive(Debug)]
struct Read {
    dialect: Dialect,
    notes: Notes,
    broken: u64,
    torn: Torn,
    /// The plain output, until the first event shows that it is not needed.
    printed: Option<Printed>,
}

/// The events of a client, and what must be remembered between them.
#[derive(Debug)]
enum Dialect {
    Claude(Claude),
    Codex,
    Gemini(Gemini),
    None,
}

/// Whether a document was begun and is not one. The plain text of half a document could end like an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Torn {
    No,
    Yes,
}

#[derive(Debug)]
enum Document {
    Fits(Vec<u8>),
    Overlong,
}

impl Reader {
    /// A reader for what a client prints in a form. A form that the client doesn't have is read as the nearest one.
    pub fn new(client: Client, form: Form) -> Self {
        let (dialect, form) = match (client, form) {
            (Client::Command, _) | (_, Form::Text) => (Dialect::None, Form::Text),
            (Client::Claude, form) => (Dialect::Claude(Claude::default()), form),
            (Client::Codex, _) => (Dialect::Codex, Form::Stream),
            (Client::Gemini, form) => (Dialect::Gemini(Gemini::default()), form),
        };
        let input = match form {
            Form::Text => Input::Text,
            Form::Stream => Input::Stream(Lines::default()),
            Form::Json => Input::Document(Document::Fits(Vec::new())),
        };
        let read = Read {
            dialect,
            notes: Notes::default(),
            broken: 0,
            torn: Torn::No,
            printed: Some(Printed::default()),
        };
        Self {
            client,
            input,
            read,
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) {
        if let Some(printed) = &mut self.read.printed {
            printed.feed(chunk);
        }
        match &mut self.input {
            Input::Text => {}
            Input::Stream(lines) => lines.feed(chunk, |line| self.read.line(line)),
            Input::Document(document) => document.feed(chunk),
        }
    }

    /// The newest thing to show a person while the agent works, as one short clean line, if there is something new
    /// since the last time.
    pub fn activity(&mut self) -> Option<String> {
        match (&self.input, &mut self.read.printed) {
            (Input::Text, Some(printed)) => printed.activity(),
            _ => self.read.notes.take_activity(),
        }
    }

    /// What the agent did, once its output has ended.
    pub fn finish(mut self) -> Turn {
        let overlong = match &mut self.input {
            Input::Text => return self.read.plain().into_turn(),
            Input::Stream(lines) => {
                lines.finish(|line| self.read.line(line));
                lines.overlong
            }
            Input::Document(Document::Fits(bytes)) => {
                self.read.document(bytes);
                0
            }
            Input::Document(Document::Overlong) => {
                self.read.torn = Torn::Yes;
                1
            }
        };
        self.read.conclude(self.client, overlong)
    }
}

impl Document {
    fn feed(&mut self, chunk: &[u8]) {
        if let Self::Fits(bytes) = self {
            if bytes.len().saturating_add(chunk.len()) > LINE_LIMIT {
                *self = Self::Overlong;
            } else {
                bytes.extend_from_slice(chunk);
            }
        }
    }
}

impl Read {
    fn line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return;
        }
        let notes = &mut self.notes;
        let reading = match &mut self.dialect {
            Dialect::Claude(claude) => claude.read(line, notes),
            Dialect::Codex => codex::read(line, notes),
            Dialect::Gemini(gemini) => gemini.read(line, notes),
            Dialect::None => return,
        };
        self.take(reading);
    }

    /// A wrapper may have printed lines of its own in front of the document.
    fn document(&mut self, bytes: &[u8]) {
        let document = String::from_utf8_lossy(bytes);
        let document = document.trim_start_matches('\u{feff}').trim();
        let start = if document.starts_with(['{', '[']) {
            Some(0)
        } else {
            document.find("\n{").or_else(|| document.find("\n[{"))
        };
        let Some((before, document)) = start.and_then(|start| document.split_at_checked(start))
        else {
            return;
        };
        let document = document.trim_start();
        let notes = &mut self.notes;
        let reading = match &mut self.dialect {
            Dialect::Claude(claude) => claude.read_document(document, notes),
            Dialect::Gemini(_) => gemini::read_document(document, notes),
            Dialect::Codex | Dialect::None => return,
        };
        self.broken += before.lines().count() as u64;
        if reading == Reading::Broken {
            self.torn = Torn::Yes;
        }
        self.take(reading);
    }

    fn take(&mut self, reading: Reading) {
        match reading {
            Reading::Known => self.printed = None,
            Reading::Unknown => {}
            Reading::Broken => self.broken += 1,
        }
    }

    /// The whole output is the answer.
    fn plain(self) -> Notes {
        let mut notes = Notes::default();
        if let Some(printed) = self.printed {
            printed.answer(&mut notes);
        }
        notes
    }

    fn conclude(self, client: Client, overlong: u64) -> Turn {
        let mut notes = match self.printed {
            Some(_) => self.conclude_plain(client),
            None => self.conclude_events(client),
        };
        if overlong > 0 {
            notes.warn_of_output(format!(
                "passed over because they are longer than {LINE_LIMIT} bytes: {overlong}"
            ));
        }
        notes.into_turn()
    }

    fn conclude_plain(self, client: Client) -> Notes {
        let torn = self.torn;
        let mut notes = self.plain();
        if torn == Torn::Yes {
            notes.fail(&format!("{client}'s document can't be read as a whole"));
        }
        notes.warn_of_output(if notes.answer.is_empty() {
            format!("{client} printed nothing")
        } else {
            format!("the output is taken as plain text: nothing in it has {client}'s form")
        });
        notes
    }

    fn conclude_events(self, client: Client) -> Notes {
        let mut notes = self.notes;
        if notes.end == End::Open && notes.error.is_none() {
            notes.fail(&format!(
                "{client} ended before it said that its turn was over"
            ));
        }
        if self.broken > 0 {
            notes.warn_of_output(format!(
                "lines passed over that are no events of {client}: {}",
                self.broken
            ));
        }
        notes
    }
}
