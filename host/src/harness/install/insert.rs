//! Puts our entries into a settings text, and leaves every other byte as it is.
//!
//! A container that is missing is made, and goes again with ours. One that is there and empty must stay: it is marked
//! by spaces behind its opening bracket, which no container that we make has.

use super::client::{Giver, Recipe};
use super::layout::{Layout, Stand, Value};
use super::ours::setting_in;
use super::scan::{Document, Fault, Item, Kind, Problem, Span};

/// Marks a container that was there, empty, on one line: what it held is behind the mark.
pub(super) const HELD_BEFORE: &str = "  ";
/// Marks a container that was there, empty, over several lines: what it held is behind the items.
pub(super) const HELD_BEHIND: &str = " ";

/// The text with all of ours, in which none of ours is yet.
pub(super) fn insert(text: &str, recipe: &Recipe) -> Result<String, Fault> {
    let document = Document::new(text)?;
    let layout = Layout::of(&document);
    let mut text = text.to_owned();
    let mut giver = recipe.giver();
    if let Some(setting) = recipe.setting {
        let value = Value::Raw(setting.value.to_owned());
        if setting_in(&document, setting).is_none() {
            giver = Giver::Us;
        }
        text = put(&text, &layout, setting.keys, Last::Value(value))?;
    }
    for event in recipe.harness.events() {
        let element = recipe.element(giver);
        text = put(&text, &layout, &["hooks", event], Last::Element(element))?;
    }
    Ok(text)
}

/// What is at the end of a path of keys.
#[derive(Debug, Clone)]
enum Last {
    /// A value, which is left alone if there is one.
    Value(Value),
    /// A list, to which this is added.
    Element(Value),
}

/// Follows the keys as far as they are there, and adds what is not.
fn put(text: &str, layout: &Layout, keys: &[&'static str], last: Last) -> Result<String, Fault> {
    let document = &Document::new(text)?;
    let mut container = document.root();
    for (depth, key) in keys.iter().enumerate() {
        let (above, below) = (keys.get(..depth), keys.get(depth + 1..));
        expect(document, container, Kind::Object, above.unwrap_or_default())?;
        match only_member(
            document,
            container,
            key,
            keys.get(..=depth).unwrap_or_default(),
        )? {
            Some(value) => container = value,
            None => {
                let value = nested(below.unwrap_or_default(), last);
                return Ok(add(document, layout, container, |stand| {
                    layout.member(key, &value, stand)
                }));
            }
        }
    }
    match last {
        Last::Value(_) => Ok(document.text().to_owned()),
        Last::Element(element) => {
            expect(document, container, Kind::List, keys)?;
            Ok(add(document, layout, container, |stand| {
                layout.value(&element, stand)
            }))
        }
    }
}

/// A value inside objects with these keys.
fn nested(keys: &[&'static str], last: Last) -> Value {
    let value = match last {
        Last::Value(value) => value,
        Last::Element(element) => Value::List(vec![element]),
    };
    let keys = keys.iter().rev();
    keys.fold(value, |value, key| Value::single(key, value))
}

fn expect(
    document: &Document<'_>,
    value: Span,
    expected: Kind,
    keys: &[&str],
) -> Result<(), Fault> {
    let found = document.kind(value);
    if found == expected {
        return Ok(());
    }
    Err(Fault {
        at: value.start,
        problem: Problem::WrongShape {
            place: keys.join("."),
            found: found.name(),
            expected: expected.name(),
        },
    })
}

/// The member with this key. Two of them are a fault: clients may disagree about which one counts.
fn only_member(
    document: &Document<'_>,
    object: Span,
    key: &str,
    keys: &[&str],
) -> Result<Option<Span>, Fault> {
    let members = document.items(object);
    let mut members = members.filter(|item| document.has_key(item, key));
    let only = members.next();
    match members.next() {
        None => Ok(only.map(|item| item.value)),
        Some(second) => Err(Fault {
            at: second.start(),
            problem: Problem::Twice {
                place: keys.join("."),
            },
        }),
    }
}

/// Adds an item at the end of a container.
fn add(
    document: &Document<'_>,
    layout: &Layout,
    container: Span,
    write: impl Fn(&Stand) -> String,
) -> String {
    match document.items(container).last() {
        Some(last) => add_behind(document, layout, &last, write),
        None => add_first(document, layout, container, write),
    }
}

fn add_behind(
    document: &Document<'_>,
    layout: &Layout,
    last: &Item,
    write: impl Fn(&Stand) -> String,
) -> String {
    let stand = layout.beside(document, last);
    let new = format!(",{}{}", layout.lead(&stand), write(&stand));
    spliced(document, last.value.end, &new, last.value.end)
}

fn add_first(
    document: &Document<'_>,
    layout: &Layout,
    container: Span,
    write: impl Fn(&Stand) -> String,
) -> String {
    let (outer, inner) = layout.around(document, container);
    let (start, end) = (container.start + 1, container.end - 1);
    let held = document.slice(start, end);
    let lead = layout.line(&inner);
    let item = write(&layout.stand(inner));
    let new = if held.contains(['\n', '\r']) {
        format!("{HELD_BEHIND}{lead}{item}{held}")
    } else {
        format!("{HELD_BEFORE}{held}{lead}{item}{}", layout.line(&outer))
    };
    spliced(document, start, &new, end)
}

/// The text with `new` in place of what is between two bytes.
fn spliced(document: &Document<'_>, start: usize, new: &str, end: usize) -> String {
    let text = document.text();
    format!(
        "{}{new}{}",
        document.slice(0, start),
        document.slice(end, text.len())
    )
}
