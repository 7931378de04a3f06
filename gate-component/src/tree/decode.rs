//! From a tree to types: collects every problem instead of stopping at the first.

use std::borrow::Cow;
use std::fmt;

use super::{At, Entry, Node, Source, Value};
use crate::decimal::Decimal;
use crate::error::Problem;
use crate::order::sort;
use crate::vocabulary::Word;

/// More problems than this are not listed; a person fixes a hundred first.
const MAX_PROBLEMS: usize = 100;

/// A path into a tree, built without allocating until a problem needs it.
#[derive(Debug, Clone, Copy)]
pub enum Path<'p> {
    /// The whole text.
    Root,
    /// A field of a mapping.
    Field(&'p Path<'p>, &'p str),
    /// An item of a sequence.
    Item(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// A field below this path.
    pub fn field<'p>(&'p self, name: &'p str) -> Path<'p> {
        Path::Field(self, name)
    }

    /// An item below this path.
    pub fn item(&self, index: usize) -> Path<'_> {
        Path::Item(self, index)
    }
}

impl Path<'_> {
    /// The place that a path leads to, or else the last place on the way.
    pub fn locate(&self, root: &Node<'_>) -> At {
        self.find(root).unwrap_or_else(|at| at).at
    }

    fn find<'n, 'a>(&self, root: &'n Node<'a>) -> Result<&'n Node<'a>, &'n Node<'a>> {
        let (parent, child) = match self {
            Path::Root => return Ok(root),
            Path::Field(parent, name) => {
                let parent = parent.find(root)?;
                let child = match &parent.value {
                    Value::Map(entries) => entries
                        .iter()
                        .find(|entry| entry.key == *name)
                        .map(|entry| &entry.node),
                    _ => None,
                };
                (parent, child)
            }
            Path::Item(parent, index) => {
                let parent = parent.find(root)?;
                let child = match &parent.value {
                    Value::List(items) => items.get(*index),
                    _ => None,
                };
                (parent, child)
            }
        };
        child.ok_or(parent)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(parent, name) => write!(f, "{parent}.{name}"),
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Collects the problems of one text.
#[derive(Debug)]
pub struct Decoder<'s> {
    source: Source<'s>,
    problems: Vec<(At, Problem)>,
}

/// The fields of a mapping, known ones only.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'n, 'a> {
    entries: &'n [Entry<'a>],
    at: At,
}

impl<'n, 'a> Fields<'n, 'a> {
    /// A field's value; null counts as absent.
    pub fn get(&self, name: &str) -> Option<&'n Node<'a>> {
        self.entries
            .iter()
            .find(|entry| entry.key == name)
            .map(|entry| &entry.node)
            .filter(|node| !matches!(node.value, Value::Null))
    }
}

impl<'s> Decoder<'s> {
    /// A decoder for a tree that was read from `source`.
    pub fn new(source: Source<'s>) -> Self {
        Self {
            source,
            problems: Vec::new(),
        }
    }

    /// Report a problem.
    pub fn problem(
        &mut self,
        at: At,
        path: Path<'_>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.problem_at(at, path.to_string(), message, help);
    }

    /// Report a problem whose path is already a text.
    pub fn problem_at(
        &mut self,
        at: At,
        path: String,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        if self.problems.len() < MAX_PROBLEMS {
            let problem = self.source.problem(at, path, message.into(), help);
            self.problems.push((at, problem));
        }
    }

    /// How many problems there are so far.
    pub fn problem_count(&self) -> usize {
        self.problems.len()
    }

    /// Every problem so far, in the order of the text.
    pub fn into_problems(mut self) -> Vec<Problem> {
        sort(&mut self.problems, |a, b| a.0.cmp(&b.0));
        self.problems
            .into_iter()
            .map(|(_, problem)| problem)
            .collect()
    }

    fn wrong_type(&mut self, node: &Node<'_>, path: Path<'_>, expected: &str) {
        let message = format!("must be {expected}, not {}", describe(&node.value));
        self.problem(node.at, path, message, None);
    }

    /// A mapping whose keys are all among `known`. Unknown ones are problems.
    pub fn object<'n, 'a>(
        &mut self,
        node: &'n Node<'a>,
        path: Path<'_>,
        known: &[&str],
    ) -> Option<Fields<'n, 'a>> {
        let fields = self.any_object(node, path)?;
        for entry in fields.entries {
            if !known.contains(&entry.key.as_ref()) {
                let name = entry.key.trim_start_matches('\0');
                let message = format!("unknown field `{}`", shorten(name));
                let help = closest(name, known.iter().copied())
                    .map(|word| format!("did you mean `{word}`?"))
                    .or_else(|| Some(format!("known fields are {}", known.join(", "))));
                self.problem(entry.at, path.field(&shorten(name)), message, help);
            }
        }
        Some(fields)
    }

    /// A mapping with any keys.
    pub fn any_object<'n, 'a>(
        &mut self,
        node: &'n Node<'a>,
        path: Path<'_>,
    ) -> Option<Fields<'n, 'a>> {
        match &node.value {
            Value::Map(entries) => Some(Fields {
                entries,
                at: node.at,
            }),
            _ => {
                self.wrong_type(node, path, "an object");
                None
            }
        }
    }

    /// The entries of a mapping with any keys.
    pub fn entries<'n, 'a>(&mut self, node: &'n Node<'a>, path: Path<'_>) -> &'n [Entry<'a>] {
        self.any_object(node, path)
            .map_or(&[], |fields| fields.entries)
    }

    /// A field that must be there.
    pub fn require<'n, 'a>(
        &mut self,
        fields: Fields<'n, 'a>,
        path: Path<'_>,
        name: &str,
    ) -> Option<&'n Node<'a>> {
        let found = fields.get(name);
        if found.is_none() {
            self.problem(fields.at, path.field(name), "is missing", None);
        }
        found
    }

    /// A sequence.
    pub fn list<'n, 'a>(&mut self, node: &'n Node<'a>, path: Path<'_>) -> &'n [Node<'a>] {
        match &node.value {
            Value::List(items) => items,
            _ => {
                self.wrong_type(node, path, "a list");
                &[]
            }
        }
    }

    /// A sequence, each item decoded; items with problems are left out.
    pub fn items<'n, 'a, T>(
        &mut self,
        node: Option<&'n Node<'a>>,
        path: Path<'_>,
        mut decode: impl FnMut(&mut Self, &'n Node<'a>, Path<'_>) -> Option<T>,
    ) -> Vec<T> {
        let Some(node) = node else {
            return Vec::new();
        };
        self.list(node, path)
            .iter()
            .enumerate()
            .filter_map(|(index, item)| decode(self, item, path.item(index)))
            .collect()
    }

    /// A string, borrowed from the tree.
    pub fn string<'n>(&mut self, node: &'n Node<'_>, path: Path<'_>) -> Option<&'n str> {
        match &node.value {
            Value::String(text) => Some(text),
            _ => {
                self.wrong_type(node, path, "a string");
                None
            }
        }
    }

    /// A string that is not empty and has at most `max` bytes.
    pub fn name<'n>(&mut self, node: &'n Node<'_>, path: Path<'_>, max: usize) -> Option<&'n str> {
        let text = self.string(node, path)?;
        if text.is_empty() || text.len() > max {
            let message = format!("must have 1 to {max} bytes, not {}", text.len());
            self.problem(node.at, path, message, None);
            return None;
        }
        Some(text)
    }

    /// True or false.
    pub fn bool(&mut self, node: &Node<'_>, path: Path<'_>) -> Option<bool> {
        match node.value {
            Value::Bool(flag) => Some(flag),
            _ => {
                self.wrong_type(node, path, "true or false");
                None
            }
        }
    }

    /// A whole number from `min` to `max`.
    pub fn integer(&mut self, node: &Node<'_>, path: Path<'_>, min: u32, max: u32) -> Option<u32> {
        let Value::Number(text) = &node.value else {
            self.wrong_type(node, path, "a whole number");
            return None;
        };
        let number = text.parse::<u32>().ok();
        if let Some(number) = number.filter(|number| (min..=max).contains(number)) {
            return Some(number);
        }
        let message = format!(
            "must be a whole number from {min} to {max}, not {}",
            shorten(text)
        );
        self.problem(node.at, path, message, None);
        None
    }

    /// An exact decimal, written as a number or as a string.
    pub fn decimal(&mut self, node: &Node<'_>, path: Path<'_>) -> Option<Decimal> {
        let (Value::Number(text) | Value::String(text)) = &node.value else {
            self.wrong_type(node, path, "a decimal number");
            return None;
        };
        match Decimal::parse(text) {
            Ok(number) => Some(number),
            Err(cause) => {
                self.problem(node.at, path, format!("{cause}: `{}`", shorten(text)), None);
                None
            }
        }
    }

    /// A word of a closed set.
    pub fn word<W: Word>(&mut self, node: &Node<'_>, path: Path<'_>) -> Option<W> {
        let text = self.string(node, path)?;
        if let Some(word) = W::parse(text) {
            return Some(word);
        }
        let words = || W::ALL.iter().map(|word| word.as_str());
        let message = format!(
            "`{}` is not one of {}",
            shorten(text),
            words().collect::<Vec<_>>().join(", ")
        );
        let help = closest(text, words()).map(|word| format!("did you mean `{word}`?"));
        self.problem(node.at, path, message, help);
        None
    }
}

fn describe(value: &Value<'_>) -> Cow<'static, str> {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => format!("{flag}").into(),
        Value::Number(text) => format!("the number {}", shorten(text)).into(),
        Value::String(text) => format!("the string {:?}", shorten(text)).into(),
        Value::List(_) => "a list".into(),
        Value::Map(entries) => match entries
            .first()
            .and_then(|entry| entry.key.strip_prefix("\0!"))
        {
            Some(tag) => format!("a value with the tag !{}", shorten(tag)).into(),
            None => "an object".into(),
        },
    }
}

/// The first 40 characters, so that messages stay short whatever the input.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// The word that is most like `word`, if one is like it at all. Ties go to the first.
pub fn closest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    if word.chars().count() > 40 {
        return None;
    }
    let normal = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    let wanted = normal(word);
    let limit = (wanted.chars().count() / 3).clamp(1, 3);
    words
        .map(|candidate| (distance(&wanted, &normal(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance in which swapping two neighbours counts one.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (row, letter) in a.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in b.iter().enumerate() {
            let get =
                |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX - 1);
            let change = get(&last, column) + usize::from(letter != *other);
            let mut best = change
                .min(get(&last, column + 1) + 1)
                .min(get(&current, column) + 1);
            let swapped =
                column > 0 && previous == Some(*other) && b.get(column - 1) == Some(&letter);
            if swapped && let Some(index) = column.checked_sub(1) {
                best = best.min(get(&before, index) + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut last, current);
        previous = Some(letter);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_word_is_offered_only_when_it_is_close() {
        let words = ["loop_max_iters", "max_tool_calls", "mode"];
        assert_eq!(
            closest("loop_max_iter", words.into_iter()),
            Some("loop_max_iters")
        );
        assert_eq!(
            closest("loopMaxIters", words.into_iter()),
            Some("loop_max_iters")
        );
        assert_eq!(closest("mdoe", words.into_iter()), Some("mode"));
        assert_eq!(closest("colour", words.into_iter()), None);
    }
}
