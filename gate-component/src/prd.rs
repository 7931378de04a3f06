//! The checklist `prd.json`: read it, and change lines of it while every other byte stays.
//!
//! Two shapes are read: the public Ralph format, `{"userStories": [{"id", "title", "passes", …}]}`, and
//! a plain `{"items": […]}` of the same objects. What else is common is read as one of them: `stories` as the first,
//! `tasks` and a list without an object around it as the second.
//!
//! An id is a string or a number. Whether a line has passed is its `passes`, or else its `complete` or `done`; only `true`
//! is passed, and anything else is not. An item may also be a plain string, which is its id and its title and has not
//! passed; an update turns it into an object. Of a key that an object has twice the last value counts. Every other field
//! belongs to whoever wrote it.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

use crate::error::{ErrorCode, GateError, Problem};
use crate::order::{Index, sort};
use crate::tree::decode::{Decoder, Path, closest, shorten};
use crate::tree::json::Repeat;
use crate::tree::{At, Entry, Node, Source, TextFormat, Value};
use crate::vocabulary::{Word, vocabulary};

/// Ids that are compared with an unknown one before a suggestion is given up.
const MAX_SUGGESTIONS: usize = 1000;
/// Problems of a list of updates that are reported.
const MAX_PROBLEMS: usize = 100;

vocabulary! {
    /// Which of the two shapes of `prd.json` it is.
    PrdShape {
        /// The public Ralph format: `userStories[].passes`.
        UserStories = "user_stories",
        /// A plain list: `items[]`.
        Items = "items",
    }
}

impl PrdShape {
    /// The field of `prd.json` that holds the list.
    fn field(self) -> &'static str {
        match self {
            Self::UserStories => "userStories",
            Self::Items => "items",
        }
    }

    /// What others call that field. It counts where neither of the two is there.
    fn other_field(self) -> &'static str {
        match self {
            Self::UserStories => "stories",
            Self::Items => "tasks",
        }
    }
}

/// The fields that say whether a line has passed: the first one that is there counts.
const STATUS_FIELDS: [&str; 3] = ["passes", "complete", "done"];

/// One line of the checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrdItem {
    /// Unique in the checklist.
    pub id: String,
    /// For people. May be empty.
    pub title: String,
    /// Whether it is done.
    pub passes: bool,
}

/// The checklist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prd {
    /// How the file is written.
    pub shape: PrdShape,
    /// Every line, in the order of the file.
    pub items: Vec<PrdItem>,
    /// How many pass.
    pub passed: u32,
    /// How many there are.
    pub total: u32,
    /// What is read, but hardly meant like that: keys that are there twice, `passes` that is no boolean.
    pub warnings: Vec<Problem>,
}

/// A change to one line of the checklist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrdUpdate {
    /// The line to change.
    pub id: String,
    /// What `passes` becomes.
    pub passes: bool,
    /// What proves it. None leaves `evidence` as it is.
    pub evidence: Option<String>,
}

impl PrdUpdate {
    /// From the JSON face. `id` and `passes` must be there: a default would change a line by accident.
    pub fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Self> {
        let fields = decoder.object(node, path, &["id", "passes", "evidence"])?;
        let id = decoder
            .require(fields, path, "id")
            .and_then(|node| decoder.string(node, path.field("id")));
        let passes = decoder
            .require(fields, path, "passes")
            .and_then(|node| decoder.bool(node, path.field("passes")));
        let evidence = match fields.get("evidence") {
            None => Some(None),
            Some(node) => decoder
                .string(node, path.field("evidence"))
                .map(|text| Some(text.to_owned())),
        };
        Some(Self {
            id: id?.to_owned(),
            passes: passes?,
            evidence: evidence?,
        })
    }
}

/// Read a checklist.
///
/// ```
/// let prd = ralph_gate_component::prd::read(r#"{"items": [{"id": "a", "passes": true}, "b"]}"#)?;
/// assert_eq!((prd.passed, prd.total), (1, 2));
/// # Ok::<(), ralph_gate_component::error::GateError>(())
/// ```
pub fn read(text: &str) -> Result<Prd, GateError> {
    let (root, repeats) = tree(text)?;
    let (shape, lines) = lines(text, &root)?;
    let warnings = warnings(Source::new(text, TextFormat::Json), &lines, &repeats);
    let items: Vec<PrdItem> = lines.into_iter().map(|line| line.item).collect();
    let passed = items.iter().filter(|item| item.passes).count();
    Ok(Prd {
        shape,
        passed: saturate(passed),
        total: saturate(items.len()),
        items,
        warnings,
    })
}

/// Change lines of a checklist. Everything else stays byte for byte.
///
/// ```
/// use ralph_gate_component::prd::{PrdUpdate, update};
/// let done = PrdUpdate { id: "a".into(), passes: true, evidence: Some("14 passed".into()) };
/// assert_eq!(
///     update(r#"{"items": [{"id": "a", "passes": false, "mine": 1.50}]}"#, &[done])?,
///     r#"{"items": [{"id": "a", "passes": true, "evidence": "14 passed", "mine": 1.50}]}"#
/// );
/// # Ok::<(), ralph_gate_component::error::GateError>(())
/// ```
pub fn update(text: &str, updates: &[PrdUpdate]) -> Result<String, GateError> {
    let (root, _) = tree(text)?;
    let (_, lines) = lines(text, &root)?;
    let targets = targets(updates, &lines)?;
    let mut edits = Vec::new();
    for (line, update) in targets {
        line.edit(text, update, &mut edits);
    }
    Ok(apply(text, edits))
}

fn tree(text: &str) -> Result<(Node<'_>, Vec<Repeat>), GateError> {
    Source::new(text, TextFormat::Json)
        .read_repeated()
        .map_err(|problem| invalid(vec![problem]))
}

/// What a person should look at, in the order of the text.
fn warnings(source: Source<'_>, lines: &[Line<'_, '_>], repeats: &[Repeat]) -> Vec<Problem> {
    let mut decoder = Decoder::new(source);
    for repeat in repeats {
        let message = format!(
            "the key `{}` appears twice, and the last one counts",
            shorten(&repeat.key)
        );
        let help = "keep one of them".to_owned();
        decoder.problem(repeat.at, Path::Root, message, Some(help));
    }
    for line in lines {
        let unknown = status(line.node)
            .filter(|entry| !matches!(entry.node.value, Value::Bool(_) | Value::Null));
        if let Some(entry) = unknown {
            let message = format!(
                "`{}` of `{}` is neither true nor false, so it has not passed",
                entry.key,
                shorten(&line.item.id)
            );
            let help = "write `true` without quotes when it has".to_owned();
            decoder.problem(entry.node.at, Path::Root, message, Some(help));
        }
    }
    decoder.into_problems()
}

fn invalid(problems: Vec<Problem>) -> GateError {
    GateError::from_problems(ErrorCode::InvalidFile, "prd.json", problems)
}

/// One line of the checklist and the value that it was read from.
struct Line<'n, 'a> {
    item: PrdItem,
    node: &'n Node<'a>,
    /// Its place in the list.
    index: usize,
}

/// Every line of the checklist, or every problem of the file.
fn lines<'n, 'a>(
    text: &str,
    root: &'n Node<'a>,
) -> Result<(PrdShape, Vec<Line<'n, 'a>>), GateError> {
    let mut decoder = Decoder::new(Source::new(text, TextFormat::Json));
    let list = find_list(&mut decoder, root);
    let mut lines = Vec::new();
    if let Some(List { field, node, .. }) = list {
        let field = field.map_or(Path::Root, |field| Path::Root.field(field));
        for (index, node) in decoder.list(node, field).iter().enumerate() {
            let item = decode_item(&mut decoder, node, field.item(index));
            lines.extend(item.map(|item| Line { item, node, index }));
        }
        report_repeated(&mut decoder, &lines, field);
    }
    let problems = decoder.into_problems();
    match list {
        Some(list) if problems.is_empty() => Ok((list.shape, lines)),
        _ => Err(invalid(problems)),
    }
}

fn report_repeated(decoder: &mut Decoder<'_>, lines: &[Line<'_, '_>], list: Path<'_>) {
    let ids = lines.iter().map(|line| line.item.id.as_str()).collect();
    for (first, later) in Index::new(ids).repeated() {
        let (Some(first), Some(later)) = (lines.get(first), lines.get(later)) else {
            continue;
        };
        let id = shorten(&later.item.id);
        let message = format!("repeats the id `{id}` of {}", list.item(first.index));
        let help = "give each line an id of its own".to_owned();
        let path = list.item(later.index);
        decoder.problem(id_place(later.node), path.field("id"), message, Some(help));
    }
}

/// The list of a checklist.
#[derive(Clone, Copy)]
struct List<'n, 'a> {
    shape: PrdShape,
    /// The field that holds it. None where there is no object around it.
    field: Option<&'static str>,
    node: &'n Node<'a>,
}

/// The list of the checklist, in either shape.
fn find_list<'n, 'a>(decoder: &mut Decoder<'_>, root: &'n Node<'a>) -> Option<List<'n, 'a>> {
    if let Value::List(_) = root.value {
        return Some(List {
            shape: PrdShape::Items,
            field: None,
            node: root,
        });
    }
    let entries = decoder.entries(root, Path::Root);
    let lists = |field: fn(PrdShape) -> &'static str| -> Vec<(List<'n, 'a>, &'n Entry<'a>)> {
        let found = entries.iter().filter_map(|entry| {
            let shape = PrdShape::ALL
                .iter()
                .copied()
                .find(|shape| field(*shape) == entry.key)?;
            let list = List {
                shape,
                field: Some(field(shape)),
                node: &entry.node,
            };
            Some((list, entry))
        });
        found.collect()
    };
    let mut found = lists(PrdShape::field);
    if found.is_empty() {
        found = lists(PrdShape::other_field);
    }
    match found.as_slice() {
        [(list, _)] => Some(*list),
        [(first, _), (second, entry), ..] => {
            let name = |list: &List<'_, '_>| list.field.unwrap_or_default();
            let message = format!("stands beside `{}`", name(first));
            let help = "keep one list, so that it is clear what has to pass".to_owned();
            let path = Path::Root.field(name(second));
            decoder.problem(entry.at, path, message, Some(help));
            None
        }
        [] => {
            if let Value::Map(_) = root.value {
                let help = closest_list(entries).unwrap_or_else(|| "add one of them".to_owned());
                let message = "there is no `userStories`, `stories`, `items` or `tasks`";
                decoder.problem(root.at, Path::Root, message, Some(help));
            }
            None
        }
    }
}

/// A suggestion, when a key looks like one of the two lists.
fn closest_list(entries: &[Entry<'_>]) -> Option<String> {
    let fields = || PrdShape::ALL.iter().map(|shape| shape.field());
    entries.iter().take(MAX_SUGGESTIONS).find_map(|entry| {
        let field = closest(&entry.key, fields())?;
        Some(format!(
            "did you mean `{field}` instead of `{}`?",
            shorten(&entry.key)
        ))
    })
}

fn decode_item(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<PrdItem> {
    if let Value::String(text) = &node.value {
        return decode_id(decoder, node, path).map(|id| PrdItem {
            id: id.into_owned(),
            title: text.to_string(),
            passes: false,
        });
    }
    let fields = decoder.any_object(node, path)?;
    let id = decoder
        .require(fields, path, "id")
        .and_then(|node| decode_id(decoder, node, path.field("id")));
    let title = match fields.get("title") {
        None => Some(""),
        Some(node) => decoder.string(node, path.field("title")),
    };
    let passes = status(node).is_some_and(|entry| matches!(entry.node.value, Value::Bool(true)));
    Some(PrdItem {
        id: id?.into_owned(),
        title: title?.to_owned(),
        passes,
    })
}

/// An id: a string that is not empty, or a number as it is written.
fn decode_id<'n>(
    decoder: &mut Decoder<'_>,
    node: &'n Node<'_>,
    path: Path<'_>,
) -> Option<Cow<'n, str>> {
    let id = match &node.value {
        Value::Number(text) => text.as_ref(),
        _ => decoder.string(node, path)?,
    };
    if id.is_empty() {
        decoder.problem(node.at, path, "is empty", None);
        return None;
    }
    Some(Cow::Borrowed(id))
}

/// Where an item's id stands.
fn id_place(node: &Node<'_>) -> At {
    field(node, "id").map_or(node.at, |entry| entry.node.at)
}

/// The field that says whether a line has passed.
fn status<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Entry<'a>> {
    STATUS_FIELDS.iter().find_map(|name| field(node, name))
}

fn field<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Entry<'a>> {
    match &node.value {
        Value::Map(entries) => entries.iter().find(|entry| entry.key == name),
        _ => None,
    }
}

/// Pair each update with its line, or report every update that has none.
fn targets<'l, 'u, 'n, 'a>(
    updates: &'u [PrdUpdate],
    lines: &'l [Line<'n, 'a>],
) -> Result<Vec<(&'l Line<'n, 'a>, &'u PrdUpdate)>, GateError> {
    let mut targets = Vec::new();
    let mut problems = Vec::new();
    let known = Index::new(lines.iter().map(|line| line.item.id.as_str()).collect());
    let given = Index::new(updates.iter().map(|update| update.id.as_str()).collect());
    for (index, update) in updates.iter().enumerate() {
        let id = update.id.as_str();
        let line = known.find(id).and_then(|line| lines.get(line));
        let problem = match (line, given.find(id).filter(|first| *first != index)) {
            (Some(line), None) => {
                targets.push((line, update));
                continue;
            }
            (Some(_), Some(first)) => (
                format!("repeats `{}` of updates[{first}]", shorten(id)),
                Some("give each id once".to_owned()),
            ),
            (None, _) => (
                format!("names `{}`, which is not in prd.json", shorten(id)),
                closest(
                    id,
                    lines
                        .iter()
                        .map(|line| line.item.id.as_str())
                        .take(MAX_SUGGESTIONS),
                )
                .map(|known| format!("did you mean `{known}`?")),
            ),
        };
        problems.push(Problem {
            path: format!("updates[{index}].id"),
            line: 0,
            column: 0,
            message: problem.0,
            help: problem.1,
        });
        if problems.len() == MAX_PROBLEMS {
            break;
        }
    }
    if problems.is_empty() {
        return Ok(targets);
    }
    Err(GateError::from_problems(
        ErrorCode::InvalidInput,
        "the update of prd.json",
        problems,
    ))
}

/// A replacement of some bytes of the text.
struct Edit {
    range: Range<usize>,
    text: String,
}

impl Line<'_, '_> {
    fn edit(&self, text: &str, update: &PrdUpdate, edits: &mut Vec<Edit>) {
        let evidence = update.evidence.as_deref().map(quote);
        let Value::Map(entries) = &self.node.value else {
            edits.push(self.as_object(text, update, evidence));
            return;
        };
        let mut added = String::new();
        let passes = status(self.node);
        // New fields go behind `passes`, or to the end of the object.
        let Some(anchor) = passes.or(entries.last()) else {
            return;
        };
        let style = Style::of(text, entries, anchor);
        match passes {
            None => style.add("passes", &update.passes.to_string(), &mut added),
            Some(entry) if matches!(entry.node.value, Value::Bool(flag) if flag == update.passes) =>
                {}
            Some(entry) => edits.push(Edit {
                range: value_range(text, entry),
                text: update.passes.to_string(),
            }),
        }
        match (field(self.node, "evidence"), evidence) {
            (_, None) => {}
            (Some(entry), Some(evidence)) => edits.push(Edit {
                range: value_range(text, entry),
                text: evidence,
            }),
            (None, Some(evidence)) => style.add("evidence", &evidence, &mut added),
        }
        if !added.is_empty() {
            let end = value_range(text, anchor).end;
            edits.push(Edit {
                range: end..end,
                text: added,
            });
        }
    }

    /// A plain string becomes an object.
    fn as_object(&self, text: &str, update: &PrdUpdate, evidence: Option<String>) -> Edit {
        let range = range_at(text, self.node);
        let name = text.get(range.clone()).unwrap_or_default();
        let evidence = evidence.map_or(String::new(), |text| format!(r#", "evidence": {text}"#));
        let text = format!(
            r#"{{"id": {name}, "title": {name}, "passes": {}{evidence}}}"#,
            update.passes
        );
        Edit { range, text }
    }
}

/// How the fields of one object are laid out.
struct Style<'a> {
    /// White space between a comma and the next key.
    gap: &'a str,
    /// What stands between a key and its value.
    colon: &'a str,
}

impl<'a> Style<'a> {
    /// The layout around `anchor`: the space in front of its key, or of the second key where it is the first.
    fn of(text: &'a str, entries: &[Entry<'_>], anchor: &Entry<'_>) -> Self {
        let is_first = entries.first().is_some_and(|first| first.at == anchor.at);
        let model = entries.get(1).filter(|_| is_first).unwrap_or(anchor);
        let before = text.get(..model.at.byte_offset()).unwrap_or_default();
        let gap = before.len() - before.trim_end_matches(is_json_space).len();
        let gap = before.get(before.len() - gap..).unwrap_or_default();
        let key_end = end_of_string(text, anchor.at.byte_offset());
        let colon = text
            .get(key_end..anchor.node.at.byte_offset())
            .filter(|colon| !colon.contains('\n'))
            .unwrap_or(": ");
        // The only field of a one-line object: there is no comma to learn from.
        let gap = if entries.len() == 1 && gap.is_empty() && colon.ends_with(' ') {
            " "
        } else {
            gap
        };
        Self { gap, colon }
    }

    fn add(&self, key: &str, value: &str, added: &mut String) {
        let Self { gap, colon } = self;
        let field = format!(",{gap}\"{key}\"{colon}{value}");
        added.push_str(&field);
    }
}

fn is_json_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn value_range(text: &str, entry: &Entry<'_>) -> Range<usize> {
    range_at(text, &entry.node)
}

/// The bytes of a value. The text was read before, so it is well-formed.
fn range_at(text: &str, node: &Node<'_>) -> Range<usize> {
    let start = node.at.byte_offset();
    let end = match &node.value {
        Value::Null | Value::Bool(true) => start + 4,
        Value::Bool(false) => start + 5,
        Value::Number(number) => start + number.len(),
        Value::String(_) => end_of_string(text, start),
        Value::List(_) | Value::Map(_) => end_of_nest(text, start),
    };
    start..end
}

/// The end of the string that begins at `start`.
fn end_of_string(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut position = start + 1;
    while let Some(byte) = bytes.get(position) {
        position += match byte {
            b'"' => return position + 1,
            b'\\' => 2,
            _ => 1,
        };
    }
    bytes.len()
}

/// The end of the object or list that begins at `start`.
fn end_of_nest(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut position = start;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'"' => {
                position = end_of_string(text, position);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        position += 1;
        if depth == 0 {
            return position;
        }
    }
    bytes.len()
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    // Replacements of a value come before insertions behind it.
    sort(&mut edits, |a, b| {
        (a.range.start, a.range.end).cmp(&(b.range.start, b.range.end))
    });
    let mut result = String::with_capacity(text.len());
    let mut position = 0;
    for edit in edits {
        result.push_str(text.get(position..edit.range.start).unwrap_or_default());
        result.push_str(&edit.text);
        position = edit.range.end;
    }
    result.push_str(text.get(position..).unwrap_or_default());
    result
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(id: &str, passes: bool, evidence: Option<&str>) -> PrdUpdate {
        PrdUpdate {
            id: id.to_owned(),
            passes,
            evidence: evidence.map(str::to_owned),
        }
    }

    /// Each problem in one line.
    fn problems(error: &GateError) -> Vec<String> {
        error.problems.iter().map(Problem::sentence).collect()
    }

    #[test]
    fn both_shapes_are_read() {
        let stories = r#"{"project": "x", "userStories": [
            {"id": "US-001", "title": "Log in", "priority": 1, "passes": true, "notes": ""},
            {"id": 2, "title": "Log out", "passes": false}, {"id": "US-003", "passes": null}]}"#;
        let prd = read(stories).unwrap();
        assert_eq!(prd.shape, PrdShape::UserStories);
        assert_eq!((prd.passed, prd.total), (1, 3));
        let flat: Vec<(&str, &str, bool)> = prd
            .items
            .iter()
            .map(|item| (item.id.as_str(), item.title.as_str(), item.passes))
            .collect();
        assert_eq!(
            flat,
            [
                ("US-001", "Log in", true),
                ("2", "Log out", false),
                ("US-003", "", false)
            ]
        );

        let prd = read(r#"{"items": [{"id": "a", "passes": true}, "b"]}"#).unwrap();
        assert_eq!(prd.shape, PrdShape::Items);
        assert_eq!(
            prd.items[1],
            PrdItem {
                id: "b".into(),
                title: "b".into(),
                passes: false
            }
        );
        assert_eq!(read(r#"{"items": []}"#).unwrap().total, 0);
    }

    #[test]
    fn what_else_is_common_is_read_as_one_of_the_two_shapes() {
        let (id, done) = (
            r#"{"id": "a", "passes": true}"#,
            r#"{"id": "b", "done": true}"#,
        );
        for (text, shape) in [
            (
                format!(r#"{{"stories": [{id}, {done}]}}"#),
                PrdShape::UserStories,
            ),
            (
                format!(r#"{{"tasks": [{id}, {done}], "x": 1}}"#),
                PrdShape::Items,
            ),
            (format!("[{id}, {done}]"), PrdShape::Items),
            // Where one of the two is there, another field of that name is somebody's own.
            (
                format!(r#"{{"tasks": "mine", "items": [{id}, {done}]}}"#),
                PrdShape::Items,
            ),
        ] {
            let prd = read(&text).unwrap();
            assert_eq!((prd.shape, prd.passed, prd.total), (shape, 2, 2), "{text}");
        }
        assert!(read(r#"{"stories": [], "tasks": []}"#).is_err());
    }

    #[test]
    fn only_true_is_passed_and_an_update_changes_the_field_that_says_so() {
        for (item, passes) in [
            (r#""passes": "yes""#, false),
            (r#""passes": 1"#, false),
            (r#""passes": "true""#, false),
            (r#""complete": true"#, true),
            (r#""done": false"#, false),
            (r#""passes": false, "done": true"#, false),
            // As other readers have it.
            (r#""passes": false, "passes": true"#, true),
            (r#""passes": true, "passes": false"#, false),
        ] {
            let text = format!(r#"{{"items": [{{"id": "a", {item}, "mine": [1.50]}}]}}"#);
            let read_one = |text: &str| read(text).unwrap().items[0].passes;
            assert_eq!(read_one(&text), passes, "{text}");
            for wanted in [true, false] {
                let after = update(&text, &[change("a", wanted, None)]).unwrap();
                assert_eq!(read_one(&after), wanted, "{after}");
                assert!(after.ends_with(r#", "mine": [1.50]}]}"#), "{after}");
            }
        }
        let text = r#"[{"id": "a", "done": false}]"#;
        let after = update(text, &[change("a", true, None)]).unwrap();
        assert_eq!(after, r#"[{"id": "a", "done": true}]"#);
    }

    #[test]
    fn the_json_form_has_the_fields_of_the_wit() {
        let prd = read(r#"{"userStories": [{"id": "a", "title": "t", "passes": true}]}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&prd).unwrap(),
            r#"{"shape":"user_stories","items":[{"id":"a","title":"t","passes":true}],"passed":1,"total":1,"warnings":[]}"#
        );
    }

    #[test]
    fn every_problem_of_a_file_is_reported_with_its_place() {
        let text = "{\"items\": [\n  {\"id\": \"a\", \"passes\": \"yes\"},\n  {\"title\": 3},\n  {\"id\": \"b\"},\n  \
                    {\"id\": \"b\"},\n  {\"id\": \"\"},\n  true\n]}";
        let error = read(text).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidFile);
        assert_eq!(
            problems(&error),
            [
                "line 3, column 3: `items[1].id` is missing",
                "line 3, column 13: `items[1].title` must be a string, not the number 3",
                "line 5, column 10: `items[3].id` repeats the id `b` of items[2]; give each line an id of its own",
                "line 6, column 10: `items[4].id` is empty",
                "line 7, column 3: `items[5]` must be an object, not true",
            ]
        );
        assert_eq!(update(text, &[]).unwrap_err(), error);
    }

    #[test]
    fn what_is_no_checklist_is_refused_with_the_remedy() {
        for (text, message) in [
            (
                "",
                "prd.json: line 1, column 1: the text is empty; a JSON value is expected",
            ),
            (
                "3",
                "prd.json: line 1, column 1: must be an object, not the number 3",
            ),
            (
                "{\"userstories\": []}",
                "prd.json: line 1, column 1: there is no `userStories`, `stories`, `items` or `tasks`; \
                 did you mean `userStories` instead of `userstories`?",
            ),
            (
                "{}",
                "prd.json: line 1, column 1: there is no `userStories`, `stories`, `items` or `tasks`; add one of them",
            ),
            (
                "{\"items\": [],\n \"userStories\": []}",
                "prd.json: line 2, column 2: `userStories` stands beside `items`; \
                 keep one list, so that it is clear what has to pass",
            ),
            (
                "{\"items\": 1}",
                "prd.json: line 1, column 11: `items` must be a list, not the number 1",
            ),
            (
                "{\"items\": [}",
                "prd.json: line 1, column 12: `}` where a value is expected",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().message, message, "{text}");
        }
    }

    #[test]
    fn updates_without_a_line_are_all_reported() {
        let text = r#"{"items": [{"id": "US-001"}, {"id": "x"}]}"#;
        let updates = [
            change("US-002", true, None),
            change("x", true, None),
            change("colour", true, None),
            change("x", false, None),
        ];
        let error = update(text, &updates).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert_eq!(
            problems(&error),
            [
                "`updates[0].id` names `US-002`, which is not in prd.json; did you mean `US-001`?",
                "`updates[2].id` names `colour`, which is not in prd.json",
                "`updates[3].id` repeats `x` of updates[1]; give each id once",
            ]
        );
    }

    #[test]
    fn only_the_touched_values_change() {
        let set = [change("a", true, Some("14 \"passed\"\n"))];
        let flip = [change("a", true, None)];
        for (updates, before, after) in [
            // Replaced in place; the layout of the rest is nobody's business.
            (
                &flip,
                "{ \"x\" : 1.50,\"items\":[ {\"passes\" : false ,\"id\":\"a\"} ] }\n\n",
                "{ \"x\" : 1.50,\"items\":[ {\"passes\" : true ,\"id\":\"a\"} ] }\n\n",
            ),
            // Already so.
            (
                &flip,
                "{\"items\":[{\"id\":\"a\",\"passes\":true}]}",
                "{\"items\":[{\"id\":\"a\",\"passes\":true}]}",
            ),
            // Null, and absent.
            (
                &flip,
                "{\"items\":[{\"id\":\"a\",\"passes\":null}]}",
                "{\"items\":[{\"id\":\"a\",\"passes\":true}]}",
            ),
            (
                &flip,
                "{\"items\":[{\"id\":\"a\"}]}",
                "{\"items\":[{\"id\":\"a\",\"passes\":true}]}",
            ),
            (
                &flip,
                "{\"items\": [{\"id\": \"a\"}]}",
                "{\"items\": [{\"id\": \"a\", \"passes\": true}]}",
            ),
            // Evidence goes beside `passes`, in the object's own layout.
            (
                &set,
                "{\"items\":[{\"id\":\"a\",\"passes\":false,\"z\":[]}]}",
                "{\"items\":[{\"id\":\"a\",\"passes\":true,\"evidence\":\"14 \\\"passed\\\"\\n\",\"z\":[]}]}",
            ),
            (
                &set,
                "\u{feff}{\r\n\t\"items\": [\r\n\t\t{\r\n\t\t\t\"passes\": false,\r\n\t\t\t\"id\": \"a\"\r\n\t\t}\r\n\t]\r\n}\r\n",
                "\u{feff}{\r\n\t\"items\": [\r\n\t\t{\r\n\t\t\t\"passes\": true,\r\n\t\t\t\"evidence\": \"14 \\\"passed\\\"\\n\",\
                 \r\n\t\t\t\"id\": \"a\"\r\n\t\t}\r\n\t]\r\n}\r\n",
            ),
            (
                &set,
                "{\n  \"items\": [\n    {\n      \"id\": \"a\",\n      \"k\": {\"}\": [\"]\"]}\n    }\n  ]\n}",
                "{\n  \"items\": [\n    {\n      \"id\": \"a\",\n      \"k\": {\"}\": [\"]\"]},\n      \"passes\": true,\n      \
                 \"evidence\": \"14 \\\"passed\\\"\\n\"\n    }\n  ]\n}",
            ),
            // Evidence that is there is replaced, whatever it is and wherever it stands.
            (
                &set,
                "{\"items\":[{\"evidence\": {\"a\": [\"}\\\"\", 1]}, \"id\": \"a\", \"passes\": false}]}",
                "{\"items\":[{\"evidence\": \"14 \\\"passed\\\"\\n\", \"id\": \"a\", \"passes\": true}]}",
            ),
            // A plain string becomes an object.
            (
                &set,
                "{\"items\":[ \"\\u0061\" ,\"b\"]}",
                "{\"items\":[ {\"id\": \"\\u0061\", \"title\": \"\\u0061\", \"passes\": true, \
                 \"evidence\": \"14 \\\"passed\\\"\\n\"} ,\"b\"]}",
            ),
        ] {
            let once = update(before, updates).unwrap();
            assert_eq!(once, after);
            assert_eq!(update(&once, updates).unwrap(), once, "twice is once");
        }
    }

    /// A small deterministic generator of checklists in many layouts.
    struct Layouts(u64);

    impl Layouts {
        fn next(&mut self, below: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % below
        }

        fn pick<'p>(&mut self, of: &[&'p str]) -> &'p str {
            of[usize::try_from(self.next(of.len() as u64)).unwrap()]
        }

        fn space(&mut self) -> &'static str {
            self.pick(&["", "", " ", "\n  ", "\r\n\t", "  "])
        }

        fn field(&mut self, key: &str, value: &str) -> String {
            format!(
                "{}\"{key}\"{}:{}{value}{}",
                self.space(),
                self.space(),
                self.space(),
                self.space()
            )
        }

        fn item(&mut self, index: usize) -> String {
            let mut fields = vec![self.field("id", &format!("\"s{index}\""))];
            let values = [
                "1.50",
                "\"}],\\\\\"",
                "{\"passes\":[false,{}]}",
                "\"\\u00e9\"",
                "[[\"{\"]]",
                "-0e1",
            ];
            for key in ["title", "passes", "evidence", "other", "é"] {
                let value = match key {
                    "title" => "\"t\"",
                    "passes" => self.pick(&["true", "false", "null"]),
                    _ => self.pick(&values),
                };
                if self.next(3) > 0 {
                    let place = usize::try_from(self.next(fields.len() as u64 + 1)).unwrap();
                    let field = self.field(key, value);
                    fields.insert(place, field);
                }
            }
            format!("{}{{{}}}{}", self.space(), fields.join(","), self.space())
        }

        fn prd(&mut self) -> (String, usize) {
            let count = usize::try_from(self.next(4) + 1).unwrap();
            let items: Vec<String> = (0..count).map(|index| self.item(index)).collect();
            let field = self.pick(&["items", "userStories"]);
            let (open, close) = (self.space(), self.space());
            (
                format!("{open}{{\"{field}\":[{}]}}{close}", items.join(",")),
                count,
            )
        }
    }

    /// The value of a text without what an update may change.
    fn rest(text: &str) -> serde_json::Value {
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        for list in value.as_object_mut().unwrap().values_mut() {
            for item in list.as_array_mut().unwrap() {
                let item = item.as_object_mut().unwrap();
                item.shift_remove("passes");
                item.shift_remove("evidence");
            }
        }
        value
    }

    #[test]
    fn an_update_of_any_layout_changes_what_it_says_and_nothing_else() {
        let mut layouts = Layouts(7);
        for round in 0..3000 {
            let (text, count) = layouts.prd();
            let target = usize::try_from(layouts.next(count as u64)).unwrap();
            let passes = layouts.next(2) == 0;
            let evidence = (layouts.next(2) == 0).then_some("proof");
            let updates = [change(&format!("s{target}"), passes, evidence)];
            let after = update(&text, &updates).unwrap();

            let (old, new) = (read(&text).unwrap(), read(&after).unwrap());
            for (index, (old, new)) in old.items.iter().zip(&new.items).enumerate() {
                let wanted = if index == target { passes } else { old.passes };
                assert_eq!(new.passes, wanted, "round {round}: {text}");
            }
            assert_eq!(rest(&after), rest(&text), "round {round}");
            let value: serde_json::Value = serde_json::from_str(&after).unwrap();
            let list = value.as_object().unwrap().values().next().unwrap();
            if let Some(evidence) = evidence {
                assert_eq!(list[target]["evidence"], evidence, "round {round}");
            }
            assert_eq!(
                update(&after, &updates).unwrap(),
                after,
                "round {round}: twice is once"
            );
            // In front of the item and behind it, every byte is the same.
            let (root, _) = tree(&text).unwrap();
            let (_, lines) = lines(&text, &root).unwrap();
            let item = range_at(&text, lines[target].node);
            assert!(
                after.starts_with(text.split_at(item.start).0),
                "round {round}"
            );
            assert!(after.ends_with(text.split_at(item.end).1), "round {round}");
        }
    }

    #[test]
    fn a_cut_file_is_an_error_and_never_a_panic() {
        let text = "{\"items\": [{\"id\": \"é\", \"passes\": false}, \"b\"]}";
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            assert_eq!(
                read(text.split_at(cut).0).unwrap_err().code,
                ErrorCode::InvalidFile,
                "cut {cut}"
            );
            assert!(update(text.split_at(cut).0, &[]).is_err(), "cut {cut}");
        }
    }

    #[test]
    fn large_lists_take_linear_time() {
        let items: Vec<String> = (0..50_000)
            .map(|index| format!("{{\"id\":{index}}}"))
            .collect();
        let text = format!("{{\"items\":[{}]}}", items.join(","));
        let updates: Vec<PrdUpdate> = (0..50_000)
            .map(|index| change(&index.to_string(), true, Some("e")))
            .collect();
        let after = update(&text, &updates).unwrap();
        assert_eq!(read(&after).unwrap().passed, 50_000);
        let unknown: Vec<PrdUpdate> = (0..50_000)
            .map(|index| change(&format!("x{index}"), true, None))
            .collect();
        assert_eq!(
            update(&text, &unknown).unwrap_err().problems.len(),
            MAX_PROBLEMS
        );
    }

    #[test]
    fn an_update_is_decoded_with_every_problem() {
        let decode = |text: &str| {
            let source = Source::new(text, TextFormat::Json);
            let node = source.read().unwrap();
            let mut decoder = Decoder::new(source);
            let update = PrdUpdate::decode(&mut decoder, &node, Path::Root);
            (
                update,
                decoder
                    .into_problems()
                    .iter()
                    .map(Problem::sentence)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            decode(r#"{"id": "a", "passes": true, "evidence": null}"#),
            (Some(change("a", true, None)), Vec::new())
        );
        let (update, problems) = decode(r#"{"id": 1, "pases": true, "evidence": []}"#);
        assert_eq!(update, None);
        assert_eq!(problems.len(), 4, "{problems:?}");
    }
}
