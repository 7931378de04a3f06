//! Reads a transcript: lines, or one document.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::claude_code::{ClaudeCode, Reading};
use crate::client::Client;
use crate::codex::Codex;
use crate::error::ImportError;
use crate::gate::Gate;
use crate::gemini::Gemini;
use crate::lines::{LONGEST, Line, Lines, trimmed};
use crate::record::Recorder;
use crate::run::{ImportedRun, Subagent};

/// Lines that are looked at to find out whose transcript it is, and how much of them is kept meanwhile.
const NEAR: usize = 100;
const NEAR_BYTES: usize = LONGEST;

/// What is one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Split {
    /// A session; an official loop in it is one of its own.
    #[default]
    Session,
    /// The answer to each prompt of a person; an official loop is one of its own.
    Prompt,
}

/// What to read, and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only transcripts of this client.
    pub client: Option<Client>,
    /// What is one run.
    pub split: Split,
}

/// What was in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Who wrote it.
    pub client: Client,
    /// Its runs: one or more, or none where it is a subagent's.
    pub runs: Vec<ImportedRun>,
    /// What the subagent used whose transcript it is. None: it is a session's own.
    pub subagent: Option<Subagent>,
    /// What subagents did is in the transcript itself, among the lines of the agent.
    pub has_sidechains: bool,
    /// How many lines, or messages of a document, it has.
    pub lines: u64,
    /// Lines that were passed over because they are no JSON object.
    pub broken: u64,
    /// Lines that were passed over because they are too long.
    pub too_long: u64,
    /// Lines of a kind that tells nothing here.
    pub others: u64,
    /// The last line could not be read: the end may be missing.
    pub torn: bool,
}

/// Reads a transcript. `file` is what it is called; its last part stands in for a session without a name.
///
/// ```
/// use ralph_gate_transcripts::{Client, Ending, Options, Unanswered, read};
///
/// let gate = |function: &str, input: &str| -> Result<String, Unanswered> {
///     Ok(ralph_gate_component::json::call(function, input))
/// };
/// let text = r#"{"type":"user","sessionId":"s","message":{"content":"Build it."}}
/// {"type":"assistant","sessionId":"s","message":{"id":"m","stop_reason":"end_turn","content":[{"type":"text","text":"<promise>DONE</promise>"}]}}
/// "#;
/// let imported = read(text.as_bytes(), "s.jsonl", &Options::default(), &gate)?;
/// assert_eq!(imported.client, Client::ClaudeCode);
/// assert_eq!(imported.runs[0].claim.text.as_deref(), Some("DONE"));
/// assert_eq!(imported.runs[0].ending, Ending::Released);
/// # Ok::<(), ralph_gate_transcripts::ImportError>(())
/// ```
pub fn read(
    reader: impl BufRead,
    file: &str,
    options: &Options,
    gate: &dyn Gate,
) -> Result<Imported, ImportError> {
    let mut lines = Lines::of(reader);
    let mut near = Near::default();
    let client = loop {
        match lines.next()? {
            None if near.is_empty => return Err(ImportError::Empty),
            None => return Err(ImportError::Foreign),
            Some(Line::TooLong) => near.too_long += 1,
            Some(Line::Whole(bytes)) => {
                let text = String::from_utf8_lossy(trimmed(bytes));
                if text.is_empty() {
                    near.is_empty &= bytes.is_empty();
                    continue;
                }
                if near.is_empty && is_document(&text) {
                    let head = [bytes, b"\n"].concat();
                    return document(head, lines.into_rest(), file, options, gate);
                }
                near.is_empty = false;
                let client = Client::of_line(&text);
                near.keep(&text);
                if let Some(client) = client {
                    break client;
                }
                if near.kept.len() >= NEAR || near.bytes > NEAR_BYTES {
                    return Err(ImportError::Foreign);
                }
            }
        }
    };
    let mut reading = Session::begin(client, file, options, gate)?;
    reading.imported.too_long = near.too_long;
    for text in &near.kept {
        reading.line(text);
    }
    while let Some(line) = lines.next()? {
        match line {
            Line::TooLong => {
                reading.imported.lines += 1;
                reading.imported.too_long += 1;
                reading.imported.torn = true;
            }
            Line::Whole(bytes) => {
                let text = String::from_utf8_lossy(trimmed(bytes));
                if !text.is_empty() {
                    reading.line(&text);
                }
            }
        }
    }
    reading.finish(file)
}

/// The lines before it is known whose they are.
struct Near {
    kept: Vec<String>,
    bytes: usize,
    too_long: u64,
    is_empty: bool,
}

impl Default for Near {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            bytes: 0,
            too_long: 0,
            is_empty: true,
        }
    }
}

impl Near {
    fn keep(&mut self, text: &str) {
        self.bytes += text.len();
        self.kept.push(text.to_owned());
    }
}

/// Whether a first line is the beginning of a document that goes on below.
fn is_document(line: &str) -> bool {
    line.starts_with('{') && serde_json::from_str::<IgnoredAny>(line).is_err()
}

enum Form {
    ClaudeCode(ClaudeCode),
    Codex(Codex),
    Gemini(Gemini),
}

struct Session<'g> {
    form: Form,
    record: Recorder<'g>,
    imported: Imported,
}

impl<'g> Session<'g> {
    fn begin(
        client: Client,
        file: &str,
        options: &Options,
        gate: &'g dyn Gate,
    ) -> Result<Self, ImportError> {
        if options.client.is_some_and(|wanted| wanted != client) {
            return Err(ImportError::OtherClient(client.as_str()));
        }
        let each_prompt = options.split == Split::Prompt;
        Ok(Self {
            form: match client {
                Client::ClaudeCode => Form::ClaudeCode(ClaudeCode::default()),
                Client::Codex => Form::Codex(Codex::default()),
                Client::Gemini => Form::Gemini(Gemini::default()),
            },
            record: Recorder::new(gate, client, file, each_prompt),
            imported: Imported {
                client,
                runs: Vec::new(),
                subagent: None,
                has_sidechains: false,
                lines: 0,
                broken: 0,
                too_long: 0,
                others: 0,
                torn: false,
            },
        })
    }

    fn line(&mut self, text: &str) {
        let reading = match &mut self.form {
            Form::ClaudeCode(form) => form.read(text, &mut self.record),
            Form::Codex(form) => form.read(text, &mut self.record),
            Form::Gemini(form) => form.read(text, &mut self.record),
        };
        self.imported.lines += 1;
        self.imported.broken += u64::from(reading == Reading::Broken);
        self.imported.others += u64::from(reading == Reading::Other);
        // Whatever follows a line that can't be read, the end of the transcript is known again.
        self.imported.torn = reading == Reading::Broken;
    }

    fn finish(mut self, file: &str) -> Result<Imported, ImportError> {
        // Whether it is a subagent's; and if so, which session started it, where that is told.
        let parent = match &mut self.form {
            Form::ClaudeCode(form) => {
                form.end(&mut self.record);
                self.imported.has_sidechains = form.sidechain > 0;
                let is_subagent = form.sidechain > 0 && form.main == 0;
                is_subagent.then(|| self.record.session_name())
            }
            Form::Codex(form) => form.is_subagent().then(|| form.parent()),
            Form::Gemini(form) => form.is_subagent().then_some(None),
        };
        if let Some(parent) = parent {
            self.imported.subagent = Some(self.record.spent(parent));
            return Ok(self.imported);
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        self.imported.runs = self.record.finish(self.imported.torn, stem)?;
        if self.imported.runs.is_empty() {
            return Err(ImportError::NoTurn);
        }
        Ok(self.imported)
    }
}

/// Reads Gemini's document, message by message: no more of it is in memory than one of them.
fn document(
    head: Vec<u8>,
    rest: impl Read,
    file: &str,
    options: &Options,
    gate: &dyn Gate,
) -> Result<Imported, ImportError> {
    let left = Rc::new(Cell::new(LONGEST));
    let reader = Metered {
        reader: io::Cursor::new(head).chain(rest),
        left: Rc::clone(&left),
    };
    let reader = io::BufReader::new(reader);
    let mut session = Session::begin(Client::Gemini, file, options, gate);
    let mut found = Found {
        session: session.as_mut().ok(),
        left: &left,
        names: 0,
    };
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    let read = DocumentSeed(&mut found).deserialize(&mut deserializer);
    let is_session = found.names >= 2;
    if let Err(error) = &read
        && error.is_io()
        && left.get() > 0
    {
        return Err(ImportError::Unreadable(io::Error::other(error.to_string())));
    }
    if !is_session {
        return Err(ImportError::Foreign);
    }
    let mut session = session?;
    session.imported.torn = read.is_err();
    session.imported.broken += u64::from(read.is_err());
    session.finish(file)
}

/// Lets no more pass than is left.
struct Metered<R> {
    reader: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::other("a message is too long"));
        }
        let room = block.len().min(left);
        let block = block.get_mut(..room).unwrap_or_default();
        let read = self.reader.read(block)?;
        self.left.set(left - read);
        Ok(read)
    }
}

/// What was found in the document.
struct Found<'f, 'g> {
    session: Option<&'f mut Session<'g>>,
    left: &'f Cell<usize>,
    /// How many of the names were there that only this document has.
    names: u32,
}

struct DocumentSeed<'s, 'f, 'g>(&'s mut Found<'f, 'g>);

impl<'de> DeserializeSeed<'de> for DocumentSeed<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentSeed<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            self.0.left.set(LONGEST);
            match name.as_str() {
                "sessionId" => {
                    self.0.names += 1;
                    let value: Box<RawValue> = map.next_value()?;
                    self.0.head(&value, None);
                }
                "kind" => {
                    let value: Box<RawValue> = map.next_value()?;
                    self.0.head_kind(&value);
                }
                "projectHash" => {
                    self.0.names += 1;
                    map.next_value::<IgnoredAny>()?;
                }
                "messages" => map.next_value_seed(MessagesSeed(&mut *self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct MessagesSeed<'s, 'f, 'g>(&'s mut Found<'f, 'g>);

impl<'de> DeserializeSeed<'de> for MessagesSeed<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for MessagesSeed<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut messages: A) -> Result<(), A::Error> {
        while let Some(message) = messages.next_element::<Box<RawValue>>()? {
            self.0.left.set(LONGEST);
            self.0.message(message.get());
        }
        Ok(())
    }
}

impl Found<'_, '_> {
    fn head(&mut self, session: &RawValue, kind: Option<&str>) {
        let session_id = crate::json::text(Some(session));
        self.with_form(|form, record| form.head(session_id, kind, record));
    }

    fn head_kind(&mut self, kind: &RawValue) {
        let kind = crate::json::text(Some(kind));
        self.with_form(|form, record| form.head(None, kind.as_deref(), record));
    }

    fn message(&mut self, message: &str) {
        let mut reading = Reading::Other;
        self.with_form(|form, record| reading = form.message(message, record));
        if let Some(session) = &mut self.session {
            session.imported.lines += 1;
            session.imported.broken += u64::from(reading == Reading::Broken);
            session.imported.others += u64::from(reading == Reading::Other);
        }
    }

    fn with_form(&mut self, act: impl FnOnce(&mut Gemini, &mut Recorder<'_>)) {
        if let Some(session) = &mut self.session
            && let Form::Gemini(form) = &mut session.form
        {
            act(form, &mut session.record);
        }
    }
}
