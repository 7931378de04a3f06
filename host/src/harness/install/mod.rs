//! Puts the hooks of ralph-gate into the settings of agent clients, and takes exactly that out again.
//!
//! Settings are never written anew from what was read of them: new text is spliced in, and the same text is cut out,
//! so that every other byte stays. What is ours is recognised by what it runs, and nothing else is kept about it.

mod beside;
mod client;
mod diff;
mod error;
mod file;
mod insert;
mod layout;
mod ours;
mod plan;
mod prune;
mod scan;
mod shell;
#[cfg(test)]
mod tests;

use std::path::Path;

use super::Harness;

use client::Recipe;
pub use client::{LoopDetection, Scope};
pub use error::{Action as DiskAction, BadCommand, InstallError, Refusal};
use file::{Place, Seen, Way};
use ours::Found;
pub use plan::{FileChange, Plan};
use prune::{Pruned, prune};
pub use scan::Problem;
use scan::{Document, Fault};

/// Whose settings are meant.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The client.
    pub harness: Harness,
    /// For whom.
    pub scope: Scope,
    /// The project's folder.
    pub root: &'a Path,
    /// The person's home folder.
    pub home: &'a Path,
}

/// What is put in.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The program: an absolute path, or the bare name to have it looked up. It must be called `ralph-gate`.
    pub command: &'a Path,
    /// The text of the plugin, for a client that has plugins instead of hooks.
    pub plugin: &'a str,
    /// Whether Gemini's own detection of loops is switched off.
    pub loop_detection: LoopDetection,
}

/// What to do.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// Put the hooks in. Those of ours that are there are brought up to date.
    Install(Wanted<'a>),
    /// Take them out.
    Uninstall,
}

/// Whether the hooks are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// None of them.
    NotInstalled,
    /// All of them.
    Installed {
        /// The program that they run; for a plugin, its file.
        command: String,
    },
    /// Some of them.
    Partly {
        /// The settings that are missing, with dots between the keys.
        missing: Vec<String>,
    },
    /// It can't be told.
    Unreadable(String),
}

/// Works out what to change, without changing it.
///
/// ```
/// # use std::path::Path;
/// use ralph_gate::harness::Harness;
/// use ralph_gate::harness::install::{Action, LoopDetection, Scope, Target, Wanted, plan};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let root = folder.path();
/// let target = Target { harness: Harness::Codex, scope: Scope::Project, root, home: root };
/// let wanted = Wanted {
///     command: Path::new("/usr/bin/ralph-gate"),
///     plugin: "",
///     loop_detection: LoopDetection::SwitchOff,
/// };
/// let plan = plan(&target, &Action::Install(wanted)).unwrap();
/// assert!(plan.diff().contains("/usr/bin/ralph-gate hook codex"));
/// plan.apply().unwrap();
/// ```
pub fn plan(target: &Target<'_>, action: &Action<'_>) -> Result<Plan, InstallError> {
    let place = target.place()?;
    match action {
        Action::Install(wanted) => install(target, place, wanted),
        Action::Uninstall => uninstall(target, place),
    }
}

/// Whether the hooks are there. Nothing is changed.
pub fn status(target: &Target<'_>) -> Status {
    let looked = target.place().and_then(|place| {
        let seen = place.look()?;
        target.judge(&place, &seen)
    });
    looked.unwrap_or_else(|error| Status::Unreadable(error.to_string()))
}

/// Whether the settings of Claude Code that hold in a project run our hook, and its program is there: then a plugin of ours
/// would ask a second time.
pub fn asks_in_settings(root: &Path, environment: impl Fn(&str) -> Option<String>) -> bool {
    let home = environment("HOME").unwrap_or_default();
    let path = environment("PATH").unwrap_or_default();
    let root = environment("CLAUDE_PROJECT_DIR").map_or_else(|| root.to_owned(), Into::into);
    let is_there = |command: &str| {
        let command = Path::new(command);
        let mut directories = std::env::split_paths(&path);
        command.is_file() || directories.any(|directory| directory.join(command).is_file())
    };
    [Scope::Project, Scope::Local, Scope::User]
        .into_iter()
        .any(|scope| {
            let target = Target {
                harness: Harness::ClaudeCode,
                scope,
                root: &root,
                home: Path::new(&home),
            };
            matches!(status(&target), Status::Installed { command } if is_there(&command))
        })
}

impl Target<'_> {
    fn place(&self) -> Result<Place, InstallError> {
        let relative = self.harness.file(self.scope)?;
        let base = match self.scope {
            Scope::Project | Scope::Local => self.root,
            Scope::User => self.home,
        };
        Ok(Place::new(base, relative, [self.root, self.home]))
    }

    fn with(&self, harness: Harness, scope: Scope) -> Self {
        Self {
            harness,
            scope,
            ..*self
        }
    }

    fn judge(&self, place: &Place, seen: &Seen) -> Result<Status, InstallError> {
        let Some(content) = &seen.content else {
            return Ok(Status::NotInstalled);
        };
        if self.harness == Harness::Opencode {
            return Ok(judge_plugin(place, content));
        }
        let text = utf8(content);
        let document = text.and_then(Document::new);
        let document = document.map_err(|fault| fault_in(place, content, fault, String::new()))?;
        let found = Found::new(&document, self.harness);
        let Some(command) = found.command() else {
            return Ok(Status::NotInstalled);
        };
        let missing = found.missing(&document, self.harness);
        if missing.is_empty() {
            let command = command.to_owned();
            return Ok(Status::Installed { command });
        }
        Ok(Status::Partly { missing })
    }

    /// Looks at other settings without insisting that they can be read.
    fn peek<T>(&self, look: impl FnOnce(&Path, &Document<'_>) -> T) -> Option<T> {
        let place = self.place().ok()?;
        let content = place.look().ok()?.content?;
        let document = Document::new(utf8(&content).ok()?).ok()?;
        Some(look(&place.path(), &document))
    }
}

fn judge_plugin(place: &Place, content: &[u8]) -> Status {
    if !is_plugin(content) {
        return Status::NotInstalled;
    }
    let command = place.path().display().to_string();
    Status::Installed { command }
}

/// Whether a plugin in our file's place asks our program.
fn is_plugin(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    text.contains(client::PROGRAM) && text.contains("hook")
}

fn install(target: &Target<'_>, place: Place, wanted: &Wanted<'_>) -> Result<Plan, InstallError> {
    let recipe = Recipe::new(target.harness, wanted.command, wanted.loop_detection)?;
    let mut plan = Plan::default();
    let seen = place.look()?;
    let after = match target.harness {
        Harness::Opencode => with_plugin(&place, &seen, wanted.plugin)?,
        _ => with_hooks(&place, &seen, &recipe)?,
    };
    note_file(&mut plan, &place, &seen);
    note_client(&mut plan, target, &place, &recipe);
    note_beside(&mut plan, target);
    if seen.content.as_ref() != Some(&after) {
        seen.check_writable()?;
        plan.changes.push(FileChange::new(place, seen, Some(after)));
    }
    Ok(plan)
}

fn with_plugin(place: &Place, seen: &Seen, plugin: &str) -> Result<Vec<u8>, InstallError> {
    if let Some(content) = &seen.content
        && !is_plugin(content)
    {
        return Err(InstallError::refused(&place.path(), Refusal::Foreign));
    }
    Ok(own_file(seen, plugin))
}

/// A file of our own. A folder that was there, empty, is remembered by empty lines at the end: it must stay when the
/// file goes.
fn own_file(seen: &Seen, text: &str) -> Vec<u8> {
    let lines = match (&seen.content, seen.empty_above) {
        (Some(content), _) => line_ends(content).saturating_sub(1),
        (None, Some(above)) => above + 1,
        (None, None) => 0,
    };
    let text = text.trim_end_matches('\n');
    format!("{text}\n{}", "\n".repeat(lines)).into_bytes()
}

/// How many line ends are at the end of a file.
fn line_ends(content: &[u8]) -> usize {
    let ends = content.iter().rev().take_while(|byte| **byte == b'\n');
    ends.count()
}

fn with_hooks(place: &Place, seen: &Seen, recipe: &Recipe) -> Result<Vec<u8>, InstallError> {
    let Some(content) = &seen.content else {
        return Ok(own_file(seen, &recipe.whole()));
    };
    let by_hand = || {
        format!(
            "make it plain JSON and run the command again, or put this in by hand:\n{}",
            recipe.whole()
        )
    };
    let failed = |fault| fault_in(place, content, fault, by_hand());
    let text = utf8(content).map_err(failed)?;
    let document = Document::new(text).map_err(failed)?;
    if Found::new(&document, recipe.harness).satisfies(&document, recipe) {
        return Ok(content.clone());
    }
    // A fault is told at its place in the file as it is, with those of ours that are in it.
    insert::insert(text, recipe).map_err(failed)?;
    match prune(&document, recipe.harness) {
        Pruned::Text(rest) => insert::insert(&rest, recipe)
            .map(String::into_bytes)
            .map_err(failed),
        Pruned::Nothing(_) => Ok(own_file(seen, &recipe.whole())),
    }
}

fn uninstall(target: &Target<'_>, place: Place) -> Result<Plan, InstallError> {
    let mut plan = Plan::default();
    let seen = place.look()?;
    let Some(content) = &seen.content else {
        return Ok(plan);
    };
    let after = match target.harness {
        Harness::Opencode if is_plugin(content) => None,
        Harness::Opencode => {
            plan.note(
                &place.path(),
                "this plugin does not ask ralph-gate: it is left as it is",
            );
            return Ok(plan);
        }
        harness => without_hooks(&place, &seen, content, harness)?,
    };
    if after.as_ref() == Some(content) {
        return Ok(plan);
    }
    note_file(&mut plan, &place, &seen);
    seen.check_writable()?;
    let emptied = emptied(&place, content);
    let change = FileChange::new(place, seen, after).with_emptied(emptied);
    plan.changes.push(change);
    Ok(plan)
}

/// What is left of the settings; none if that is nothing, and the file may go.
fn without_hooks(
    place: &Place,
    seen: &Seen,
    content: &[u8],
    harness: Harness,
) -> Result<Option<Vec<u8>>, InstallError> {
    let by_hand = || {
        format!(
            "make it plain JSON and run the command again, or take the hooks that run `ralph-gate hook {harness}` \
             out by hand"
        )
    };
    let document = utf8(content).and_then(Document::new);
    let document = document.map_err(|fault| fault_in(place, content, fault, by_hand()))?;
    Ok(match (prune(&document, harness), seen.way) {
        (Pruned::Nothing(_), Way::Straight | Way::LinkedFolder) => None,
        (Pruned::Nothing(rest), Way::LinkedFile) | (Pruned::Text(rest), _) => {
            Some(rest.into_bytes())
        }
    })
}

/// The folders that may go with a file of ours, by the empty lines at its end.
fn emptied(place: &Place, content: &[u8]) -> Vec<std::path::PathBuf> {
    let folders = place.folders();
    let stay = match line_ends(content) {
        0 | 1 => 0,
        ends => folders.len().saturating_sub(ends - 2),
    };
    folders.into_iter().skip(stay).collect()
}

fn note_file(plan: &mut Plan, place: &Place, seen: &Seen) {
    if seen.way != Way::Straight {
        let target = seen.target.display();
        plan.note(
            &place.path(),
            &format!("a link leads to {target}, which is edited; the link stays"),
        );
    }
    if seen.names > 1 {
        plan.note(
            &place.path(),
            "the file has other names (hard links), which keep the old text",
        );
    }
}

/// What a client needs beside its settings, or makes of them.
fn note_client(plan: &mut Plan, target: &Target<'_>, place: &Place, recipe: &Recipe) {
    let path = place.path();
    match target.harness {
        Harness::Codex => plan.note(&path, "Codex runs new hooks only after you trusted them"),
        Harness::Copilot => plan.note(
            &path,
            "Copilot loads hooks only with COPILOT_ALLOW_ALL=true",
        ),
        Harness::ClaudeCode | Harness::Gemini => note_own_setting(plan, target, &path, recipe),
        Harness::Cursor | Harness::Opencode => {}
    }
}

/// A setting that the person gave another value stays, and works against the gate.
fn note_own_setting(plan: &mut Plan, target: &Target<'_>, path: &Path, recipe: &Recipe) {
    let Some(setting) = recipe.setting else {
        return;
    };
    let other = target.peek(|_, document| {
        let value = ours::setting_in(document, setting);
        value.is_some_and(|value| document.raw(value) != setting.value)
    });
    if other == Some(true) {
        let name = setting.keys.join(".");
        let value = setting.value;
        plan.note(path, &format!("`{name}` has a value of your own, which is kept: the client may end turns that the gate sent back, unless it is {value}"));
    }
}

/// Other hooks that would decide as well, in every file that the client reads.
fn note_beside(plan: &mut Plan, target: &Target<'_>) {
    let scopes: &[Scope] = match target.harness {
        Harness::ClaudeCode => &[Scope::Project, Scope::Local, Scope::User],
        _ => &[Scope::Project],
    };
    for scope in scopes {
        let other = target.with(target.harness, *scope);
        let notes = other.peek(|file, document| {
            let mut notes = beside::notes(file, document, target.harness);
            if *scope != target.scope && beside::has_ours(document, target.harness) {
                notes.push(format!(
                    "{}: ralph-gate is in this file as well: it may be asked twice",
                    file.display()
                ));
            }
            notes
        });
        plan.notes.extend(notes.unwrap_or_default());
    }
}

fn utf8(content: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(content).map_err(|error| Fault {
        at: error.valid_up_to(),
        problem: Problem::NotUtf8,
    })
}

fn fault_in(place: &Place, content: &[u8], fault: Fault, by_hand: String) -> InstallError {
    InstallError::settings(&place.path(), content, fault, by_hand)
}
