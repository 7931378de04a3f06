//! The loop state file `.claude/ralph-loop.local.md`, in the format of the official Ralph plugin.
//!
//! ```text
//! ---
//! active: true
//! iteration: 1
//! session_id: 0b6f…
//! max_iterations: 50
//! completion_promise: "COMPLETE"
//! started_at: "2026-01-13T10:00:00Z"
//! ---
//!
//! The prompt.
//! ```
//!
//! The front matter is YAML 1.2, so `010` is ten, a comment is a comment and `iteration:3` is not a field.
//!
//! * `iteration` must be there. Absent `active` is true, absent `max_iterations` is 0, the rest is none.
//! * A `completion_promise` that is empty or says `null`, even in quotes, is none: that is how the plugin
//!   reads it. An empty `session_id` or `started_at` is none too.
//! * The plugin once wrote a promise between quotes without escaping it. Where the line is not YAML, it
//!   is read as it was meant.
//! * The first `---` line after the front matter began ends it. All that follows is the prompt.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

use crate::error::{ErrorCode, GateError, Problem};
use crate::front_matter::{FrontMatter, Places, problem_at, scalar_text};
use crate::order::sort;
use crate::tree::decode::{Decoder, Path};
use crate::tree::{Entry, Node, Source, TextFormat, Value};

/// The fields of the front matter, in the plugin's order.
const FIELDS: [&str; 6] = [
    "active",
    "iteration",
    "session_id",
    "max_iterations",
    "completion_promise",
    "started_at",
];

/// More problems than this are not listed.
const MAX_PROBLEMS: usize = 100;

/// The loop state file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoopFile {
    /// Whether the loop runs.
    pub active: bool,
    /// The iteration that the agent is in.
    pub iteration: u32,
    /// The session that owns the loop. None: the first one that stops.
    pub session_id: Option<String>,
    /// 0 is what the file says for "unlimited"; the gate never runs unlimited.
    pub max_iterations: u32,
    /// The promise that ends the loop.
    pub completion_promise: Option<String>,
    /// When the loop began, as the file says it.
    pub started_at: Option<String>,
    /// Byte for byte what follows the front matter, the empty line included.
    pub prompt: String,
}

/// What to change in a loop state file. Absent fields stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopFileChange {
    /// Whether the loop runs.
    pub active: Option<bool>,
    /// The iteration that the agent is in.
    pub iteration: Option<u32>,
    /// The session that owns the loop.
    pub session_id: Option<String>,
}

impl LoopFile {
    /// From the JSON face. A new loop is active and in its first iteration unless it says otherwise.
    pub fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Self> {
        let mut known = FIELDS.to_vec();
        known.push("prompt");
        let fields = decoder.object(node, path, &known)?;
        let active = match fields.get("active") {
            None => Some(true),
            Some(node) => decoder.bool(node, path.field("active")),
        };
        let mut number = |name, default| match fields.get(name) {
            None => Some(default),
            Some(node) => decoder.integer(node, path.field(name), 0, u32::MAX),
        };
        let (iteration, max_iterations) = (number("iteration", 1), number("max_iterations", 0));
        let mut text = |name| match fields.get(name) {
            None => Some(None),
            Some(node) => decoder
                .string(node, path.field(name))
                .map(|text| Some(text.to_owned())),
        };
        let (session_id, completion_promise) = (text("session_id"), text("completion_promise"));
        let (started_at, prompt) = (text("started_at"), text("prompt"));
        Some(Self {
            active: active?,
            iteration: iteration?,
            session_id: session_id?,
            max_iterations: max_iterations?,
            completion_promise: completion_promise?,
            started_at: started_at?,
            prompt: prompt?.unwrap_or_default(),
        })
    }
}

impl LoopFileChange {
    /// From the JSON face.
    pub fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Self> {
        let fields = decoder.object(node, path, &["active", "iteration", "session_id"])?;
        let active = match fields.get("active") {
            None => Some(None),
            Some(node) => decoder.bool(node, path.field("active")).map(Some),
        };
        let iteration = match fields.get("iteration") {
            None => Some(None),
            Some(node) => decoder
                .integer(node, path.field("iteration"), 0, u32::MAX)
                .map(Some),
        };
        let session_id = match fields.get("session_id") {
            None => Some(None),
            Some(node) => decoder
                .string(node, path.field("session_id"))
                .map(|text| Some(text.to_owned())),
        };
        Some(Self {
            active: active?,
            iteration: iteration?,
            session_id: session_id?,
        })
    }
}

/// Read a loop state file.
///
/// ```
/// let text = "---\niteration: 2\nmax_iterations: 50\ncompletion_promise: \"COMPLETE\"\n---\nDo it.";
/// let file = ralph_gate_component::loop_file::read(text)?;
/// assert_eq!((file.active, file.iteration, file.max_iterations), (true, 2, 50));
/// assert_eq!(file.completion_promise.as_deref(), Some("COMPLETE"));
/// assert_eq!(file.prompt, "Do it.");
/// # Ok::<(), ralph_gate_component::error::GateError>(())
/// ```
pub fn read(text: &str) -> Result<LoopFile, GateError> {
    let front = FrontMatter::split(text).map_err(|problem| invalid(vec![problem]))?;
    let settings = Settings::read(&front).map_err(invalid)?;
    let iteration = settings.iteration.ok_or_else(no_iteration)?;
    Ok(LoopFile {
        active: settings.active.unwrap_or(true),
        iteration,
        session_id: settings.session_id,
        max_iterations: settings.max_iterations.unwrap_or(0),
        completion_promise: settings.completion_promise,
        started_at: settings.started_at,
        prompt: front.body.to_owned(),
    })
}

/// Change the front matter. Only the changed values are touched; a field that is missing is added.
///
/// ```
/// use ralph_gate_component::loop_file::{LoopFileChange, update};
/// let next = LoopFileChange { iteration: Some(3), ..LoopFileChange::default() };
/// assert_eq!(
///     update("---\niteration: 2 # rounds\n---\niteration: 2\n", &next)?,
///     "---\niteration: 3 # rounds\n---\niteration: 2\n"
/// );
/// # Ok::<(), ralph_gate_component::error::GateError>(())
/// ```
pub fn update(text: &str, change: &LoopFileChange) -> Result<String, GateError> {
    let front = FrontMatter::split(text).map_err(|problem| invalid(vec![problem]))?;
    let before = Settings::read(&front).map_err(invalid)?;
    let wanted = before.clone().with(change);
    if wanted.iteration.is_none() {
        return Err(no_iteration());
    }
    let result = with_edits(&front, &before, &wanted);
    // YAML has more forms than an edit of a value knows. What does not read back as wanted is refused.
    let is_as_wanted = FrontMatter::split(&result).is_ok_and(|after| {
        after.body == front.body && Settings::read(&after).is_ok_and(|after| after == wanted)
    });
    if is_as_wanted {
        return Ok(result);
    }
    let message = "the front matter is written in a form that can't be changed in place";
    let help = "write each field on a line of its own, for example `iteration: 1`".to_owned();
    Err(invalid(vec![problem_at((1, 1), "", message, Some(help))]))
}

/// A new loop state file, in the plugin's layout. `prompt` gets the empty line in front and the line
/// break at the end that the plugin writes, where it does not have them.
pub fn write(file: &LoopFile) -> String {
    let promise = promise_text(file.completion_promise.as_deref().unwrap_or_default());
    let promise = promise.map_or_else(|| "null".to_owned(), double_quoted);
    let session = file.session_id.as_deref().filter(|id| !id.is_empty());
    let session = session.map_or_else(String::new, |id| Quotes::None.write(id));
    let started_at = file.started_at.as_deref().filter(|text| !text.is_empty());
    let started_at = started_at.map_or_else(String::new, |text| {
        format!("started_at: {}\n", double_quoted(text))
    });
    let LoopFile {
        active,
        iteration,
        max_iterations,
        prompt,
        ..
    } = file;
    let empty_line = if prompt.starts_with(['\n', '\r']) {
        ""
    } else {
        "\n"
    };
    let line_end = if prompt.ends_with('\n') { "" } else { "\n" };
    format!(
        "---\nactive: {active}\niteration: {iteration}\nsession_id: {session}\n\
         max_iterations: {max_iterations}\ncompletion_promise: {promise}\n{started_at}---\n\
         {empty_line}{prompt}{line_end}"
    )
}

fn invalid(problems: Vec<Problem>) -> GateError {
    GateError::from_problems(ErrorCode::InvalidFile, "the loop state file", problems)
}

fn no_iteration() -> GateError {
    let help = "add a line such as `iteration: 1`".to_owned();
    invalid(vec![problem_at(
        (1, 1),
        "iteration",
        "is missing",
        Some(help),
    )])
}

// ------------------------------------------------------------------------------------ settings

/// The front matter of a loop state file. None: not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Settings {
    active: Option<bool>,
    iteration: Option<u32>,
    session_id: Option<String>,
    max_iterations: Option<u32>,
    completion_promise: Option<String>,
    started_at: Option<String>,
}

impl Settings {
    fn read(front: &FrontMatter<'_>) -> Result<Self, Vec<Problem>> {
        let text = readable(front.head);
        let source = Source::new(&text, TextFormat::Yaml);
        let root = source.read().map_err(|problem| explain(front, problem))?;
        let mut decoder = Decoder::new(source);
        let settings = match root.value {
            Value::Null => Self::default(),
            _ => {
                Self::decode(&mut decoder, &root, &mut Places::new(front.head)).unwrap_or_default()
            }
        };
        let problems = decoder.into_problems();
        match root.value {
            _ if problems.is_empty() => Ok(settings),
            Value::Map(_) => Err(problems),
            _ => Err(problems
                .into_iter()
                .flat_map(|problem| explain(front, problem))
                .collect()),
        }
    }

    fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>, places: &mut Places<'_>) -> Option<Self> {
        let fields = decoder.any_object(root, Path::Root)?;
        let active = fields
            .get("active")
            .and_then(|node| decoder.bool(node, Path::Root.field("active")));
        let mut number = |name| {
            let node = fields.get(name)?;
            decoder.integer(node, Path::Root.field(name), 0, u32::MAX)
        };
        let (iteration, max_iterations) = (number("iteration"), number("max_iterations"));
        let mut text = |name| {
            let node = fields.get(name)?;
            let text = scalar_text(decoder, node, Path::Root.field(name), places)?;
            Some(text.into_owned()).filter(|text| !text.is_empty())
        };
        Some(Self {
            active,
            iteration,
            session_id: text("session_id"),
            max_iterations,
            completion_promise: text("completion_promise")
                .filter(|text| promise_text(text).is_some()),
            started_at: text("started_at"),
        })
    }

    fn with(mut self, change: &LoopFileChange) -> Self {
        self.active = change.active.or(self.active);
        self.iteration = change.iteration.or(self.iteration);
        if let Some(id) = &change.session_id {
            self.session_id = Some(id.clone()).filter(|id| !id.is_empty());
        }
        self
    }
}

/// A promise, unless it is what the plugin takes for none.
fn promise_text(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty() && *text != "null")
}

/// The front matter, with an unescaped promise of the plugin escaped where it is not YAML otherwise.
fn readable(head: &str) -> Cow<'_, str> {
    let reads = |text: &str| Source::new(text, TextFormat::Yaml).read().is_ok();
    if reads(head) {
        return Cow::Borrowed(head);
    }
    let mut changed = false;
    let mut text = String::with_capacity(head.len());
    for line in head.split_inclusive('\n') {
        let promise = line.strip_prefix("completion_promise: \"");
        match promise.and_then(|rest| rest.trim_end().strip_suffix('"')) {
            Some(promise) if !changed => {
                changed = true;
                text.push_str("completion_promise: ");
                text.push_str(&double_quoted(promise));
                text.push('\n');
            }
            _ => text.push_str(line),
        }
    }
    if changed && reads(&text) {
        return Cow::Owned(text);
    }
    Cow::Borrowed(head)
}

// ---------------------------------------------------------------------------------------- editing

/// A better explanation of a text that is no mapping: fields without a space after the colon.
fn explain(front: &FrontMatter<'_>, problem: Problem) -> Vec<Problem> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(front.head.lines()) {
        let Some((field, value)) = text.split_once(':') else {
            continue;
        };
        if FIELDS.contains(&field) && value.starts_with(|first: char| !first.is_whitespace()) {
            let column = u32::try_from(field.len()).unwrap_or(0) + 2;
            let help = "YAML needs a space after the colon".to_owned();
            found.push(problem_at(
                (line, column),
                field,
                "has no space after its colon",
                Some(help),
            ));
        }
    }
    if found.is_empty() {
        found.push(problem);
    }
    found.truncate(MAX_PROBLEMS);
    found
}

/// The text with every value replaced or added that differs between the two.
fn with_edits(front: &FrontMatter<'_>, before: &Settings, wanted: &Settings) -> String {
    let readable = readable(front.head);
    let root = Source::new(&readable, TextFormat::Yaml).read().ok();
    let entries = match root.as_ref().map(|root| &root.value) {
        Some(Value::Map(entries)) => entries.as_slice(),
        _ => &[],
    };
    let mut editor = Editor::new(front.head, entries);
    if before.active != wanted.active {
        editor.set("active", |_| wanted.active.unwrap_or(true).to_string());
    }
    if before.iteration != wanted.iteration {
        editor.set("iteration", |_| wanted.iteration.unwrap_or(0).to_string());
    }
    if before.session_id != wanted.session_id {
        let id = wanted.session_id.as_deref().unwrap_or_default();
        editor.set("session_id", |quotes| quotes.write(id));
    }
    format!(
        "{}{}{}{}",
        front.mark,
        editor.finish(),
        front.fence,
        front.body
    )
}

/// How a scalar is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    /// A text in these quotes, or in double ones where it needs them.
    fn write(self, text: &str) -> String {
        let is_word = text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
            && !text.eq_ignore_ascii_case("null");
        match self {
            Self::None if is_word => text.to_owned(),
            Self::Single if !text.chars().any(needs_escape) => {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => double_quoted(text),
        }
    }
}

/// A double-quoted YAML scalar on one line.
fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if needs_escape(character) => {
                let code = format!("\\u{:04x}", u32::from(character));
                quoted.push_str(&code);
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that YAML does not print as they are, or takes for line breaks.
fn needs_escape(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

/// Collects the edits of a front matter.
struct Editor<'a, 'n> {
    head: &'a str,
    places: Places<'a>,
    entries: &'n [Entry<'n>],
    edits: Vec<(Range<usize>, String)>,
    added: String,
}

impl<'a, 'n> Editor<'a, 'n> {
    fn new(head: &'a str, entries: &'n [Entry<'n>]) -> Self {
        Self {
            head,
            places: Places::new(head),
            entries,
            edits: Vec::new(),
            added: String::new(),
        }
    }

    /// Set a field to what `value` gives for the quotes that the old value has.
    fn set(&mut self, field: &str, value: impl Fn(Quotes) -> String) {
        match self.entries.iter().find(|entry| entry.key == field) {
            None => self.add(field, &value(Quotes::None)),
            Some(entry) => {
                let slot = self.slot(entry);
                let text = format!("{}{}", slot.space, value(slot.quotes));
                self.edits.push((slot.range, text));
            }
        }
    }

    /// Add a field as the last one, in line with the others.
    fn add(&mut self, field: &str, value: &str) {
        let first = self
            .entries
            .first()
            .map_or(0, |entry| self.places.offset(entry.at));
        let line = self.head.get(..first).unwrap_or_default();
        let indent = line.rsplit('\n').next().unwrap_or_default();
        let indent = if indent.trim().is_empty() { indent } else { "" };
        let line_end = if self.head.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let line = format!("{indent}{field}: {value}{line_end}");
        self.added.push_str(&line);
    }

    fn slot(&mut self, entry: &Entry<'_>) -> Slot {
        let colon = self.after_colon(entry);
        let rest = self.head.get(colon..).unwrap_or_default();
        let value = rest.trim_start_matches([' ', '\t']);
        let start = colon + rest.len() - value.len();
        match (value.chars().next(), &entry.node.value) {
            (Some('#'), Value::Null) => Slot::absent(colon..colon),
            (None | Some('\r' | '\n'), Value::Null) => Slot::absent(colon..start),
            (None | Some('\r' | '\n' | '#'), _) => {
                let start = self.places.offset(entry.node.at);
                Slot::of_scalar(self.head, start)
            }
            _ => Slot::of_scalar(self.head, start),
        }
    }

    /// Where the text behind the colon of an entry begins.
    fn after_colon(&mut self, entry: &Entry<'_>) -> usize {
        let key = self.places.offset(entry.at);
        let key_end = match self.head.get(key..).and_then(|rest| rest.chars().next()) {
            Some(quote @ ('"' | '\'')) => end_of_quoted(self.head, key, quote),
            _ => key + entry.key.len(),
        };
        let rest = self.head.get(key_end..).unwrap_or_default();
        key_end + rest.find(':').map_or(0, |colon| colon + 1)
    }

    fn finish(mut self) -> String {
        sort(&mut self.edits, |a, b| a.0.start.cmp(&b.0.start));
        let mut result = String::with_capacity(self.head.len());
        let mut position = 0;
        for (range, text) in &self.edits {
            result.push_str(self.head.get(position..range.start).unwrap_or_default());
            result.push_str(text);
            position = range.end;
        }
        result.push_str(self.head.get(position..).unwrap_or_default());
        result.push_str(&self.added);
        result
    }
}

/// Where a value stands, or would stand.
struct Slot {
    range: Range<usize>,
    quotes: Quotes,
    /// What a new value needs in front.
    space: &'static str,
}

impl Slot {
    fn absent(range: Range<usize>) -> Self {
        Self {
            range,
            quotes: Quotes::None,
            space: " ",
        }
    }

    fn of_scalar(head: &str, start: usize) -> Self {
        let rest = head.get(start..).unwrap_or_default();
        let (end, quotes) = match rest.chars().next() {
            Some('"') => (end_of_quoted(head, start, '"'), Quotes::Double),
            Some('\'') => (end_of_quoted(head, start, '\''), Quotes::Single),
            _ => {
                let line = rest.split(['\r', '\n']).next().unwrap_or_default();
                let line = line.split(" #").next().unwrap_or_default();
                let line = line.split("\t#").next().unwrap_or_default();
                (start + line.trim_end().len(), Quotes::None)
            }
        };
        Self {
            range: start..end,
            quotes,
            space: "",
        }
    }
}

/// The end of a quoted scalar that begins at `start`.
fn end_of_quoted(text: &str, start: usize, quote: char) -> usize {
    let bytes = text.as_bytes();
    let mut position = start + 1;
    while let Some(byte) = bytes.get(position) {
        let is_quote = char::from(*byte) == quote;
        let is_double = bytes.get(position + 1) == Some(byte);
        position += match (is_quote, quote) {
            (true, '\'') if is_double => 2,
            (true, _) => return position + 1,
            (false, '"') if *byte == b'\\' => 2,
            _ => 1,
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFICIAL: &str = "---\nactive: true\niteration: 1\nsession_id: 0b6f-11\nmax_iterations: 50\n\
                            completion_promise: \"ALL DONE\"\nstarted_at: \"2026-01-13T10:00:00Z\"\n---\n\nFix it.\n";

    fn official() -> LoopFile {
        LoopFile {
            active: true,
            iteration: 1,
            session_id: Some("0b6f-11".to_owned()),
            max_iterations: 50,
            completion_promise: Some("ALL DONE".to_owned()),
            started_at: Some("2026-01-13T10:00:00Z".to_owned()),
            prompt: "\nFix it.\n".to_owned(),
        }
    }

    fn next(iteration: u32) -> LoopFileChange {
        LoopFileChange {
            iteration: Some(iteration),
            ..LoopFileChange::default()
        }
    }

    fn owner(id: &str) -> LoopFileChange {
        LoopFileChange {
            session_id: Some(id.to_owned()),
            ..LoopFileChange::default()
        }
    }

    #[test]
    fn the_official_layout_is_read_and_written() {
        assert_eq!(read(OFFICIAL).unwrap(), official());
        assert_eq!(write(&official()), OFFICIAL);
        let bare = LoopFile {
            prompt: "Fix it.".to_owned(),
            ..official()
        };
        assert_eq!(write(&bare), OFFICIAL);
        let none = LoopFile {
            session_id: None,
            completion_promise: None,
            max_iterations: 0,
            started_at: None,
            ..official()
        };
        assert_eq!(
            write(&none),
            "---\nactive: true\niteration: 1\nsession_id: \nmax_iterations: 0\ncompletion_promise: null\n---\n\nFix it.\n"
        );
        assert_eq!(read(&write(&none)).unwrap(), none);
    }

    #[test]
    fn the_json_form_has_the_fields_of_the_wit() {
        assert_eq!(
            serde_json::to_string(&official()).unwrap(),
            r#"{"active":true,"iteration":1,"session_id":"0b6f-11","max_iterations":50,"completion_promise":"ALL DONE","started_at":"2026-01-13T10:00:00Z","prompt":"\nFix it.\n"}"#
        );
    }

    #[test]
    fn three_fields_are_enough() {
        let text = "---\niteration: 1\nmax_iterations: 50\ncompletion_promise: \"COMPLETE\"\n---\n[Original prompt content here]\n";
        let file = read(text).unwrap();
        assert!(file.active);
        assert_eq!((file.session_id, file.started_at), (None, None));
        assert_eq!(file.completion_promise.as_deref(), Some("COMPLETE"));
        assert_eq!(file.prompt, "[Original prompt content here]\n");
    }

    /// The front matter's fields around the given lines.
    fn with(lines: &str) -> Result<LoopFile, GateError> {
        read(&format!("---\n{lines}\n---\nx"))
    }

    #[test]
    fn numbers_are_those_of_yaml() {
        for (written, number) in [
            ("7", 7),
            ("010", 10),
            ("0", 0),
            ("0x10", 16),
            ("+3", 3),
            ("4294967295", u32::MAX),
        ] {
            assert_eq!(
                with(&format!("iteration: {written}")).unwrap().iteration,
                number,
                "{written}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (lines, message) in [
            (
                "iteration: -1",
                "line 2, column 12: `iteration` must be a whole number from 0 to 4294967295, not -1",
            ),
            (
                "iteration: 99999999999999999999",
                "line 2, column 12: `iteration` must be a whole number from 0 to 4294967295, not 99999999999999999999",
            ),
            (
                "iteration: 1.5",
                "line 2, column 12: `iteration` must be a whole number from 0 to 4294967295, not 1.5",
            ),
            (
                "a: b\niteration: three",
                "line 3, column 12: `iteration` must be a whole number, not the string \"three\"",
            ),
            (
                "iteration: \"3\"",
                "line 2, column 12: `iteration` must be a whole number, not the string \"3\"",
            ),
            (
                "iteration: [1]",
                "line 2, column 12: `iteration` must be a whole number, not a list",
            ),
            (
                "max_iterations: 5",
                "line 1, column 1: `iteration` is missing; add a line such as `iteration: 1`",
            ),
            (
                "",
                "line 1, column 1: `iteration` is missing; add a line such as `iteration: 1`",
            ),
            (
                "iteration:3",
                "line 2, column 11: `iteration` has no space after its colon; YAML needs a space after the colon",
            ),
            (
                "active: true\niteration:3\nmax_iterations: 5",
                "line 3, column 11: `iteration` has no space after its colon; YAML needs a space after the colon",
            ),
            (
                "iteration: 1\nactive: yes",
                "line 3, column 9: `active` must be true or false, not the string \"yes\"",
            ),
            (
                "iteration: 1\nsession_id: {a: b}",
                "line 3, column 13: `session_id` must be a string, not an object",
            ),
            (
                "iteration: 1\niteration: 2",
                "line 3, column 1: the key `iteration` appears twice",
            ),
            ("- 1", "line 2, column 1: must be an object, not a list"),
            (
                "iteration: 1\na: \0b: 2",
                "line 3, column 4: found unprintable character",
            ),
        ] {
            let error = with(lines).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidFile, "{lines}");
            assert_eq!(
                error.message,
                format!("the loop state file: {message}"),
                "{lines}"
            );
        }
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let error = with("iteration: x\nmax_iterations: -2\nactive: 3").unwrap_err();
        let places: Vec<(&str, u32, u32)> = error
            .problems
            .iter()
            .map(|problem| (problem.path.as_str(), problem.line, problem.column))
            .collect();
        assert_eq!(
            places,
            [
                ("iteration", 2, 12),
                ("max_iterations", 3, 17),
                ("active", 4, 9)
            ]
        );
    }

    #[test]
    fn a_text_without_both_fences_is_refused() {
        for text in [
            "",
            "iteration: 1\n",
            "\n---\niteration: 1\n---\n",
            "--- \u{a0}\niteration: 1\n---\n",
        ] {
            let message = read(text).unwrap_err().message;
            assert!(
                message.contains("there is no front matter; the file must begin"),
                "{text:?}: {message}"
            );
        }
        for text in [
            "---",
            "---\niteration: 1\n",
            "---\niteration: 1\n ---\n----\n",
        ] {
            let message = read(text).unwrap_err().message;
            assert!(
                message.contains("does not end; add a line `---`"),
                "{text:?}: {message}"
            );
        }
    }

    #[test]
    fn null_and_empty_texts_are_none() {
        for promise in ["null", "\"null\"", "'null'", "~", "", "\"\""] {
            let file = with(&format!(
                "iteration: 1\ncompletion_promise: {promise}\nsession_id:\nstarted_at: ''"
            ))
            .unwrap();
            assert_eq!(
                (file.completion_promise, file.session_id, file.started_at),
                (None, None, None),
                "{promise}"
            );
        }
    }

    #[test]
    fn scalars_are_taken_as_they_are_written() {
        let file = with("iteration: 1\nsession_id: 007 # é\ncompletion_promise: True\nstarted_at: 2026-01-13T10:00:00Z").unwrap();
        assert_eq!(file.session_id.as_deref(), Some("007"));
        assert_eq!(file.completion_promise.as_deref(), Some("True"));
        assert_eq!(file.started_at.as_deref(), Some("2026-01-13T10:00:00Z"));
        let file = with("a: &x 010\niteration: *x\nsession_id: *x").unwrap();
        assert_eq!(
            (file.iteration, file.session_id.as_deref()),
            (10, Some("10"))
        );
    }

    #[test]
    fn a_promise_that_the_plugin_did_not_escape_is_read_as_meant() {
        let text =
            "---\niteration: 1\ncompletion_promise: \"say \"hi\" in C:\\dir\"\nsession_id:\n---\nx";
        assert_eq!(
            read(text).unwrap().completion_promise.as_deref(),
            Some("say \"hi\" in C:\\dir")
        );
        assert_eq!(
            update(
                text,
                &LoopFileChange {
                    active: Some(false),
                    ..owner("s")
                }
            )
            .unwrap(),
            "---\niteration: 1\ncompletion_promise: \"say \"hi\" in C:\\dir\"\nsession_id: s\nactive: false\n---\nx"
        );
    }

    #[test]
    fn only_the_touched_values_change() {
        for (change, before, after) in [
            (next(2), OFFICIAL.to_owned(), OFFICIAL.replace("iteration: 1", "iteration: 2")),
            (next(1), OFFICIAL.to_owned(), OFFICIAL.to_owned()),
            (LoopFileChange::default(), OFFICIAL.to_owned(), OFFICIAL.to_owned()),
            (owner("new"), OFFICIAL.to_owned(), OFFICIAL.replace("0b6f-11", "new")),
            // The same in CR LF, with a byte order mark.
            (
                next(2),
                format!("\u{feff}{}", OFFICIAL.replace('\n', "\r\n")),
                format!("\u{feff}{}", OFFICIAL.replace('\n', "\r\n").replace("iteration: 1", "iteration: 2")),
            ),
            // Comments, unknown fields, odd spacing, leading zeros; and a prompt that looks like front matter.
            (
                next(11),
                "--- \n# top\n\"iteration\" :   010   # ten\nmine: {iteration: 3}\n---\t\niteration: 010\n---\niteration: 010\n---".to_owned(),
                "--- \n# top\n\"iteration\" :   11   # ten\nmine: {iteration: 3}\n---\t\niteration: 010\n---\niteration: 010\n---".to_owned(),
            ),
            (
                next(10),
                "---\niteration: 010\n---\n".to_owned(),
                "---\niteration: 010\n---\n".to_owned(),
            ),
            // The value on the next line, and an indented mapping.
            (next(2), "---\niteration:\n  1\n---\n".to_owned(), "---\niteration:\n  2\n---\n".to_owned()),
            (
                owner("s"),
                "---\n  iteration: 1\n  é: |\n    ---\n---\n".to_owned(),
                "---\n  iteration: 1\n  é: |\n    ---\n  session_id: s\n---\n".to_owned(),
            ),
            // An empty session id, as the plugin writes it.
            (owner("s"), "---\niteration: 1\nsession_id: \na: b\n---\n".to_owned(), "---\niteration: 1\nsession_id: s\na: b\n---\n".to_owned()),
            (owner("s"), "---\niteration: 1\nsession_id:\n---\n".to_owned(), "---\niteration: 1\nsession_id: s\n---\n".to_owned()),
            (owner("s"), "---\niteration: 1\nsession_id: ~ # who\n---\n".to_owned(), "---\niteration: 1\nsession_id: s # who\n---\n".to_owned()),
            (owner("s"), "---\niteration: 1\nsession_id: # who\n---\n".to_owned(), "---\niteration: 1\nsession_id: s # who\n---\n".to_owned()),
            // Quotes stay, and appear where they are needed.
            (owner("s t"), "---\niteration: 1\nsession_id: 'it''s'\n---\n".to_owned(), "---\niteration: 1\nsession_id: 's t'\n---\n".to_owned()),
            (owner("s"), "---\niteration: 1\nsession_id: \"a\\\"b\" # x\n---\n".to_owned(), "---\niteration: 1\nsession_id: \"s\" # x\n---\n".to_owned()),
            (owner("a: b"), "---\niteration: 1\nsession_id: c d\n---\n".to_owned(), "---\niteration: 1\nsession_id: \"a: b\"\n---\n".to_owned()),
            (owner("null"), "---\niteration: 1\nsession_id: c\n---\n".to_owned(), "---\niteration: 1\nsession_id: \"null\"\n---\n".to_owned()),
            (owner(""), "---\niteration: 1\nsession_id: c\n---\n".to_owned(), "---\niteration: 1\nsession_id: \"\"\n---\n".to_owned()),
            // What is missing is added.
            (
                LoopFileChange { active: Some(false), iteration: Some(4), session_id: Some("s".to_owned()) },
                "---\r\nmax_iterations: 5\r\n---\r\nx".to_owned(),
                "---\r\nmax_iterations: 5\r\nactive: false\r\niteration: 4\r\nsession_id: s\r\n---\r\nx".to_owned(),
            ),
            (next(1), "---\n---\nx".to_owned(), "---\niteration: 1\n---\nx".to_owned()),
        ] {
            assert_eq!(update(&before, &change).unwrap(), after, "{before:?}");
            assert_eq!(update(&after, &change).unwrap(), after, "twice is once: {before:?}");
        }
    }

    #[test]
    fn forms_that_an_edit_would_break_are_refused() {
        for text in [
            "---\n{iteration: 1, max_iterations: 5}\n---\n",
            "---\niteration: &n 1\nmax_iterations: *n\n---\n",
            "---\niteration: 1\n...\n---\n",
        ] {
            let change = LoopFileChange {
                active: Some(false),
                ..next(2)
            };
            let message = update(text, &change).unwrap_err().message;
            assert!(
                message.contains("can't be changed in place; write each field on a line"),
                "{text}: {message}"
            );
        }
    }

    #[test]
    fn a_file_with_a_problem_is_not_changed() {
        for text in [
            "---\niteration: x\n---\n",
            "---\niteration: 1\nmax_iterations: -1\n---\n",
            "no",
            "---\na: 1\n---\n",
        ] {
            let active = LoopFileChange {
                active: Some(false),
                ..LoopFileChange::default()
            };
            assert_eq!(
                update(text, &active).unwrap_err(),
                read(text).unwrap_err(),
                "{text}"
            );
        }
    }

    /// A small deterministic generator.
    struct Random(u64);

    impl Random {
        fn next(&mut self, below: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % below
        }

        fn text(&mut self) -> String {
            const PIECES: [&str; 30] = [
                "\n",
                "\r\n",
                "\r",
                "---\n",
                "---",
                "iteration: 3\n",
                "\"",
                "'",
                "\\",
                "#",
                " #",
                ": ",
                " ",
                "\t",
                "\0",
                "\u{1b}",
                "\u{85}",
                "\u{2028}",
                "\u{feff}",
                "é",
                "😀",
                "null",
                "~",
                "007",
                "true",
                "-",
                "{",
                "&a",
                "*a",
                "word",
            ];
            let length = self.next(6);
            (0..length)
                .map(|_| PIECES[usize::try_from(self.next(PIECES.len() as u64)).unwrap()])
                .collect()
        }

        fn option(&mut self) -> Option<String> {
            Some(self.text()).filter(|text| !text.is_empty())
        }

        fn file(&mut self) -> LoopFile {
            LoopFile {
                active: self.next(2) == 0,
                iteration: u32::try_from(self.next(1 << 32)).unwrap(),
                session_id: self.option(),
                max_iterations: u32::try_from(self.next(100)).unwrap(),
                completion_promise: self.option().filter(|text| text != "null"),
                started_at: self.option(),
                prompt: format!("\n{}\n", self.text()),
            }
        }
    }

    #[test]
    fn any_file_that_is_written_is_read_back_and_can_be_changed() {
        let mut random = Random(3);
        for round in 0..3000 {
            let file = random.file();
            let text = write(&file);
            assert_eq!(read(&text).unwrap(), file, "round {round}: {text:?}");
            let change = LoopFileChange {
                active: (random.next(2) == 0).then_some(random.next(2) == 0),
                iteration: (random.next(2) == 0).then_some(7),
                session_id: random.option(),
            };
            let expected = LoopFile {
                active: change.active.unwrap_or(file.active),
                iteration: change.iteration.unwrap_or(file.iteration),
                session_id: change.session_id.clone().or(file.session_id),
                ..file
            };
            let changed = update(&text, &change).unwrap();
            assert_eq!(
                read(&changed).unwrap(),
                expected,
                "round {round}: {changed:?}"
            );
            assert_eq!(
                changed.lines().count(),
                text.lines().count(),
                "round {round}"
            );
        }
    }

    #[test]
    fn any_text_is_answered_and_an_update_never_touches_the_prompt() {
        let mut random = Random(4);
        for round in 0..5000 {
            let text = format!(
                "---\n{}iteration: 1\n{}\n---\n{}",
                random.text(),
                random.text(),
                random.text()
            );
            if let Ok(changed) = update(&text, &next(2)) {
                let after = read(&changed).unwrap();
                assert_eq!(after.iteration, 2, "round {round}");
                assert_eq!(
                    after.prompt,
                    FrontMatter::split(&text).unwrap().body,
                    "round {round}"
                );
                if let Ok(before) = read(&text) {
                    assert_eq!(
                        after,
                        LoopFile {
                            iteration: 2,
                            ..before
                        },
                        "round {round}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_cut_at_any_byte_is_answered() {
        let text = OFFICIAL.replace("Fix it", "Fïx it");
        let closing = text.find("---\n\n").unwrap();
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            assert_eq!(
                read(text.split_at(cut).0).is_ok(),
                cut >= closing + 3,
                "cut {cut}"
            );
        }
    }

    #[test]
    fn hostile_front_matter_takes_linear_time() {
        let text = format!("---\niteration: 1\n{}---\n", "# \n".repeat(300_000));
        assert_eq!(update(&text, &next(2)).unwrap().len(), text.len());
        let text = format!("---\n{}---\n", "iteration:1\n".repeat(100_000));
        assert_eq!(read(&text).unwrap_err().problems.len(), MAX_PROBLEMS);
    }

    #[test]
    fn the_json_face_names_unknown_fields() {
        let decode = |text: &str| {
            let source = Source::new(text, TextFormat::Json);
            let node = source.read().unwrap();
            let mut decoder = Decoder::new(source);
            let file = LoopFile::decode(&mut decoder, &node, Path::Root);
            (file, decoder.into_problems())
        };
        let (file, problems) = decode(r#"{"prompt": "x", "session_id": null}"#);
        let file = file.unwrap();
        assert_eq!(
            (file.active, file.iteration, file.prompt.as_str()),
            (true, 1, "x")
        );
        assert_eq!(problems, []);
        let (_, problems) = decode(r#"{"promt": "x", "iteration": -1}"#);
        assert_eq!(problems.len(), 2);
        assert_eq!(problems[0].help.as_deref(), Some("did you mean `prompt`?"));
    }
}
