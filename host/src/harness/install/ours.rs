//! Recognises our own entries among a client's hooks, by what they run.

use std::path::Path;

use super::client::{Giver, PROGRAM, Recipe, Setting, Shape};
use super::scan::{Document, Item, Kind, Span};
use super::shell;
use crate::harness::Harness;
use ralph_gate_component::Word as _;

/// How an entry names its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A program and its arguments, as earlier versions wrote it.
    Arguments,
    /// A line for a shell.
    Line,
}

/// An entry that runs our program for this client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) command: String,
    pub(super) giver: Giver,
    form: Form,
}

/// All of ours in a file.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Each with the event that it hears of.
    entries: Vec<(String, Entry)>,
}

impl Found {
    pub(super) fn new(document: &Document<'_>, harness: Harness) -> Self {
        let mut found = Self::default();
        let hooks = document.member(document.root(), "hooks");
        let lists = hooks.into_iter().flat_map(|hooks| document.items(hooks));
        for list in lists {
            let name = list.key.and_then(|key| document.string(key));
            for entry in entries(document, harness, list.value) {
                if let Some(ours) = recognise(document, harness, entry) {
                    let name = name.clone().unwrap_or_default();
                    found.entries.push((name.into_owned(), ours));
                }
            }
        }
        found
    }

    /// The program that ours run, by the first of them.
    pub(super) fn command(&self) -> Option<&str> {
        self.entries
            .first()
            .map(|(_, entry)| entry.command.as_str())
    }

    /// Whether the setting beside the hooks came with ours.
    pub(super) fn giver(&self) -> Giver {
        let ours = |(_, entry): &(String, Entry)| entry.giver == Giver::Us;
        if self.entries.iter().any(ours) {
            Giver::Us
        } else {
            Giver::Them
        }
    }

    fn hears(&self, event: &str) -> usize {
        let heard = self.entries.iter().filter(|(name, _)| name == event);
        heard.count()
    }

    /// What is needed and not there.
    pub(super) fn missing(&self, document: &Document<'_>, harness: Harness) -> Vec<String> {
        let events = harness.events().iter();
        let events = events.filter(|event| self.hears(event) == 0);
        let mut missing: Vec<String> = events.map(|event| format!("hooks.{event}")).collect();
        if let Some(setting) = harness.setting()
            && self.giver() == Giver::Us
            && setting_in(document, setting).is_none()
        {
            missing.push(setting.keys.join("."));
        }
        missing
    }

    /// Whether there is nothing to do to have what a recipe asks for.
    pub(super) fn satisfies(&self, document: &Document<'_>, recipe: &Recipe) -> bool {
        let events = recipe.harness.events();
        let same = |(_, entry): &(String, Entry)| {
            entry.command == recipe.command && entry.form == Form::Line
        };
        self.entries.len() == events.len()
            && events.iter().all(|event| self.hears(event) == 1)
            && self.entries.iter().all(same)
            && self.setting_fits(document, recipe)
    }

    fn setting_fits(&self, document: &Document<'_>, recipe: &Recipe) -> bool {
        let Some(setting) = recipe.harness.setting() else {
            return true;
        };
        let there = setting_in(document, setting);
        match recipe.setting {
            Some(_) => there.is_some(),
            None => {
                let given = there.is_some_and(|value| document.raw(value) == setting.value);
                !(given && self.giver() == Giver::Us)
            }
        }
    }
}

/// The value of a setting, if it is there.
pub(super) fn setting_in(document: &Document<'_>, setting: Setting) -> Option<Span> {
    let mut keys = setting.keys.iter();
    keys.try_fold(document.root(), |object, key| document.member(object, key))
}

/// The entries of an event's list.
pub(super) fn entries<'t>(
    document: &'t Document<'_>,
    harness: Harness,
    list: Span,
) -> impl Iterator<Item = Span> + use<'t> {
    let elements = document.items(list).map(|element| element.value);
    elements.flat_map(move |element| match harness.shape() {
        Shape::Flat => Entries::One(Some(element)),
        Shape::Grouped => Entries::Group(group(document, element)),
    })
}

enum Entries<I> {
    One(Option<Span>),
    Group(I),
}

impl<I: Iterator<Item = Span>> Iterator for Entries<I> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        match self {
            Self::One(one) => one.take(),
            Self::Group(group) => group.next(),
        }
    }
}

/// The entries of one group.
pub(super) fn group<'t>(
    document: &'t Document<'_>,
    group: Span,
) -> impl Iterator<Item = Span> + use<'t> {
    let list = document.member(group, "hooks").into_iter();
    list.filter(|list| document.kind(*list) == Kind::List)
        .flat_map(|list| document.items(list))
        .map(|item| item.value)
}

/// What an entry runs, if that is our program for this client.
pub(super) fn recognise(document: &Document<'_>, harness: Harness, entry: Span) -> Option<Entry> {
    let command_key = harness.command_key();
    let command = document.member(entry, command_key)?;
    if let Some(kind) = document.member(entry, "type")
        && document.string(kind)? != "command"
    {
        return None;
    }
    let args = document.member(entry, "args");
    let args = args.filter(|_| harness == Harness::ClaudeCode);
    let command = document.string(command)?;
    let (form, words) = match args {
        Some(args) => (Form::Arguments, with_arguments(document, &command, args)?),
        None => (Form::Line, shell::words(&command)?),
    };
    let [program, hook, word] = <[String; 3]>::try_from(words).ok()?;
    let named = Path::new(&program).file_name() == Some(PROGRAM.as_ref());
    let ours = named && hook == "hook" && word == harness.as_str();
    ours.then(|| Entry {
        command: program,
        giver: giver(document, harness, entry),
        form,
    })
}

fn with_arguments(document: &Document<'_>, command: &str, args: Span) -> Option<Vec<String>> {
    let mut words = vec![command.to_owned()];
    // One more than ours have is enough to tell that these are not ours.
    for argument in document.items(args).take(3) {
        words.push(document.string(argument.value)?.into_owned());
    }
    Some(words)
}

/// Who gave the setting beside the hooks, by the order of an entry's keys.
fn giver(document: &Document<'_>, harness: Harness, entry: Span) -> Giver {
    let place = |key: &str| {
        let has = |item: &Item| document.has_key(item, key);
        document.items(entry).position(|item| has(&item))
    };
    let (limit, _) = harness.limit();
    match (place(harness.command_key()), place(limit)) {
        (Some(command), Some(limit)) if limit < command => Giver::Them,
        _ => Giver::Us,
    }
}
