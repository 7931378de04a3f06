//! Takes our entries out of a settings text, and leaves every other byte as it is.

use super::client::{Giver, Setting, Shape};
use super::ours::{Found, group, recognise};
use super::scan::{Document, Item, Kind, Span};
use crate::harness::Harness;

/// What is left of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pruned {
    /// This text.
    Text(String),
    /// Nothing: all of it was ours. This is the text to write where the file itself must stay.
    Nothing(String),
}

/// A part of the text, and what comes in its place.
#[derive(Debug)]
struct Edit<'t> {
    start: usize,
    end: usize,
    with: &'t str,
}

impl Edit<'_> {
    fn cut(start: usize, end: usize) -> Self {
        Self {
            start,
            end,
            with: "",
        }
    }
}

/// What becomes of a value.
enum Fate<'t> {
    Stays(Vec<Edit<'t>>),
    Goes,
}

/// The text without ours.
pub(super) fn prune(document: &Document<'_>, harness: Harness) -> Pruned {
    let found = Found::new(document, harness);
    let setting = harness
        .setting()
        .filter(|_| found.command().is_some() && found.giver() == Giver::Us);
    let pruner = Pruner {
        document: *document,
        harness,
        setting,
    };
    let root = document.root();
    match pruner.thin(root, |item| pruner.top(item)) {
        Fate::Stays(edits) => Pruned::Text(applied(document.text(), &edits)),
        Fate::Goes if made_by_us(document) => Pruned::Nothing(emptied(document)),
        Fate::Goes => Pruned::Text(emptied(document)),
    }
}

struct Pruner<'t> {
    document: Document<'t>,
    harness: Harness,
    /// The setting beside the hooks, if it came with ours.
    setting: Option<Setting>,
}

impl<'t> Pruner<'t> {
    /// A member of all of the file.
    fn top(&self, item: &Item) -> Fate<'t> {
        if self.document.has_key(item, "hooks") && self.document.kind(item.value) == Kind::Object {
            return self.thin(item.value, |event| self.event(event));
        }
        let Some(setting) = self.setting else {
            return stays();
        };
        match setting.keys {
            [only] => self.setting(item, only, setting.value),
            [outer, inner] if self.document.has_key(item, outer) => {
                self.thin(item.value, |item| self.setting(item, inner, setting.value))
            }
            _ => stays(),
        }
    }

    /// Ours only as long as nobody gave it another value.
    fn setting(&self, item: &Item, key: &str, value: &str) -> Fate<'t> {
        if self.document.has_key(item, key) && self.document.raw(item.value) == value {
            return Fate::Goes;
        }
        stays()
    }

    fn event(&self, event: &Item) -> Fate<'t> {
        if self.document.kind(event.value) != Kind::List {
            return stays();
        }
        self.thin(event.value, |element| match self.harness.shape() {
            Shape::Flat => self.entry(element.value),
            Shape::Grouped => self.group(element.value),
        })
    }

    fn entry(&self, entry: Span) -> Fate<'t> {
        match recognise(&self.document, self.harness, entry) {
            Some(_) => Fate::Goes,
            None => stays(),
        }
    }

    /// A group without entries would make some clients refuse all of their settings, so it goes whole.
    fn group(&self, element: Span) -> Fate<'t> {
        let mut entries = group(&self.document, element).peekable();
        let any = entries.peek().is_some();
        let ours = |entry| recognise(&self.document, self.harness, entry).is_some();
        if any && entries.all(ours) {
            return Fate::Goes;
        }
        match self.document.member(element, "hooks") {
            Some(list) => self.thin(list, |item| self.entry(item.value)),
            None => stays(),
        }
    }

    /// What becomes of a container, by what becomes of its items: it goes with the last of them, unless it was there
    /// before them.
    fn thin(&self, container: Span, fate: impl Fn(&Item) -> Fate<'t>) -> Fate<'t> {
        let mut edits = Vec::new();
        let (mut first, mut previous) = (None, container.start + 1);
        let (mut any_stays, mut any_goes) = (false, false);
        for item in self.document.items(container) {
            let start = item.start();
            let first = *first.get_or_insert(start);
            match fate(&item) {
                Fate::Goes if any_stays => edits.push(Edit::cut(previous, item.value.end)),
                Fate::Goes => any_goes = true,
                Fate::Stays(inner) => {
                    if any_goes && !any_stays {
                        edits.extend(self.mark(container, first));
                        edits.push(Edit::cut(first, start));
                    }
                    any_stays = true;
                    edits.extend(inner);
                }
            }
            previous = item.value.end;
        }
        match first {
            Some(first) if !any_stays => self.without_items(container, first, previous),
            _ => Fate::Stays(edits),
        }
    }

    /// What becomes of a container that lost all of its items.
    fn without_items(&self, container: Span, first: usize, last: usize) -> Fate<'t> {
        let inside = Span {
            start: container.start + 1,
            end: container.end - 1,
        };
        let lead = self.document.slice(inside.start, first);
        match held(lead, self.document.slice(last, inside.end)) {
            Some(with) => Fate::Stays(vec![Edit {
                start: inside.start,
                end: inside.end,
                with,
            }]),
            None => Fate::Goes,
        }
    }

    /// The mark of a container that was there and empty. It is of no use beside other items.
    fn mark(&self, container: Span, first: usize) -> Option<Edit<'t>> {
        let start = container.start + 1;
        let lead = self.document.slice(start, first);
        let length = [super::insert::HELD_BEFORE, super::insert::HELD_BEHIND]
            .iter()
            .find(|mark| lead.starts_with(**mark))?
            .len();
        Some(Edit::cut(start, start + length))
    }
}

fn stays<'t>() -> Fate<'t> {
    Fate::Stays(Vec::new())
}

/// What an empty container held before ours came, by the mark that they left.
fn held<'t>(lead: &'t str, trail: &'t str) -> Option<&'t str> {
    if let Some(rest) = lead.strip_prefix(super::insert::HELD_BEFORE) {
        return rest.split(['\n', '\r']).next();
    }
    lead.strip_prefix(super::insert::HELD_BEHIND).map(|_| trail)
}

/// Whether the file is laid out like one of ours, with nothing around it.
fn made_by_us(document: &Document<'_>) -> bool {
    let root = document.root();
    let text = document.text();
    let first = document.items(root).next();
    let lead = first.map(|item| document.slice(root.start + 1, item.start()));
    let behind = document.slice(root.end, text.len());
    root.start == 0 && lead == Some("\n  ") && behind.chars().all(|character| character == '\n')
}

/// The file with nothing in it, for one that was there before.
fn emptied(document: &Document<'_>) -> String {
    let root = document.root();
    let text = document.text();
    let last = document.items(root).last();
    let trail = last.map_or("", |item| document.slice(item.value.end, root.end));
    format!(
        "{}{trail}{}",
        document.slice(0, root.start + 1),
        document.slice(root.end, text.len())
    )
}

fn applied(text: &str, edits: &[Edit<'_>]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        result.push_str(text.get(at..edit.start).unwrap_or_default());
        result.push_str(edit.with);
        at = edit.end;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}
