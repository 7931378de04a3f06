//! Finds other hooks that would send an agent back to work beside ours. They are named, never touched.

use std::path::Path;

use super::ours::{Found, entries, recognise};
use super::scan::{Document, Span, position};
use crate::harness::Harness;

/// Plugins that loop in their own way.
const PLUGINS: [&str; 2] = ["ralph-wiggum", "ralph-loop"];

/// The most that is told about one file.
const MOST: usize = 10;

/// What a person should know about the hooks in a file.
pub(super) fn notes(file: &Path, document: &Document<'_>, harness: Harness) -> Vec<String> {
    let mut notes = Vec::new();
    let root = document.root();
    let hooks = document.member(root, "hooks").into_iter();
    for list in hooks.flat_map(|hooks| document.items(hooks)) {
        let entries = entries(document, harness, list.value);
        let foreign = entries.filter_map(|entry| foreign(file, document, harness, entry));
        notes.extend(foreign.take(MOST.saturating_sub(notes.len())));
    }
    let plugins = document.member(root, "enabledPlugins").into_iter();
    for plugin in plugins.flat_map(|plugins| document.items(plugins)) {
        if notes.len() >= MOST {
            break;
        }
        let name = plugin.key.and_then(|key| document.string(key));
        let known = name.and_then(|name| loop_plugin(&name));
        if let Some(known) = known.filter(|_| document.raw(plugin.value) != "false") {
            notes.push(format!(
                "{}: the plugin {known} is enabled: it decides beside ralph-gate when the agent may stop; disable it",
                place(file, document, plugin.start())
            ));
        }
    }
    if document
        .member(root, "disableAllHooks")
        .map(|value| document.raw(value))
        == Some("true")
    {
        notes.push(format!(
            "{}: `disableAllHooks` is true: no hook runs",
            file.display()
        ));
    }
    notes
}

/// Whether ours are in a file as well.
pub(super) fn has_ours(document: &Document<'_>, harness: Harness) -> bool {
    Found::new(document, harness).command().is_some()
}

/// The plugin's name without its source, if it is one that loops.
fn loop_plugin(name: &str) -> Option<&'static str> {
    let name = name.split('@').next()?;
    PLUGINS.into_iter().find(|plugin| *plugin == name)
}

fn foreign(file: &Path, document: &Document<'_>, harness: Harness, entry: Span) -> Option<String> {
    let command = document.member(entry, harness.command_key())?;
    let text = document.string(command)?;
    let what = if text.contains("ralph") && text.contains("stop-hook") {
        "another Ralph hook decides beside ralph-gate when the agent may stop; remove it"
    } else if text.contains("ralph-gate") && recognise(document, harness, entry).is_none() {
        "a hook runs ralph-gate in a way of its own; it is left alone, and the gate may be asked twice"
    } else {
        return None;
    };
    Some(format!("{}: {what}", place(file, document, command.start)))
}

fn place(file: &Path, document: &Document<'_>, at: usize) -> String {
    let (line, column) = position(document.text().as_bytes(), at);
    format!("{}:{line}:{column}", file.display())
}
