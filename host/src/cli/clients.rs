//! `ralph-gate init <client>` and `uninstall <client>`: hooks in the settings of agent clients.

use std::path::{Path, PathBuf};

use ralph_gate::harness::Harness;
use ralph_gate::harness::install::{
    self, Action, FileChange, InstallError, LoopDetection, Plan, Scope, Target, Wanted,
};
use ralph_gate_component::Word as _;
use serde_json::json;

use super::Exit;
use super::args::{HookScope, InitArgs, UninstallArgs};
use super::error::CliError;
use super::terminal::{Painter, Terminal, clean};

/// The plugin for opencode, which has no hooks.
const PLUGIN: &str = include_str!("../../../bindings/harness-plugins/opencode/ralph-gate.js");

/// Puts the hooks in.
pub(crate) fn install(
    harness: Harness,
    args: &InitArgs,
    terminal: &Terminal,
) -> Result<Exit, CliError> {
    let command = match &args.command {
        Some(command) => command.clone(),
        None => this_program()?,
    };
    let wanted = Wanted {
        command: &command,
        plugin: PLUGIN,
        loop_detection: if args.keep_loop_detection {
            LoopDetection::Leave
        } else {
            LoopDetection::SwitchOff
        },
    };
    change(
        harness,
        args.scope,
        &Action::Install(wanted),
        args.dry_run,
        terminal,
    )
}

/// Takes them out.
pub(crate) fn uninstall(args: &UninstallArgs, terminal: &Terminal) -> Result<Exit, CliError> {
    change(
        args.client,
        args.scope,
        &Action::Uninstall,
        args.dry_run,
        terminal,
    )
}

fn change(
    harness: Harness,
    scope: HookScope,
    action: &Action<'_>,
    dry_run: bool,
    terminal: &Terminal,
) -> Result<Exit, CliError> {
    let root = std::env::current_dir().map_err(|error| CliError::Usage {
        message: format!("the current folder can't be used: {error}"),
    })?;
    let home = std::env::home_dir().unwrap_or_else(|| root.clone());
    let target = Target {
        harness,
        scope: scope.scope(),
        root: &root,
        home: &home,
    };
    let plan = install::plan(&target, action)?;
    if !dry_run {
        plan.apply()?;
    }
    let files: Vec<_> = plan
        .changes
        .iter()
        .map(|change| json!({ "path": change.path, "change": word(change) }))
        .collect();
    let answer = json!({
        "client": harness.as_str(), "dry_run": dry_run, "files": files, "diff": plan.diff(), "notes": plan.notes,
    });
    terminal.print_answer(&answer.to_string(), |painter| {
        describe(painter, harness, &plan, dry_run)
    })?;
    Ok(Exit::Success)
}

/// The name of this program where the `PATH` leads to it, because teams commit these settings; otherwise its path.
fn this_program() -> Result<PathBuf, CliError> {
    let this = std::env::current_exe().map_err(|error| CliError::Usage {
        message: format!("this program can't be found: {error}; name it with --command"),
    })?;
    let name = Path::new("ralph-gate");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path).filter(|it| it.is_absolute());
    let first = directories.find_map(|directory| directory.join(name).canonicalize().ok());
    Ok(match (first, this.canonicalize()) {
        (Some(first), Ok(found)) if first == found => name.to_owned(),
        _ => this,
    })
}

fn word(change: &FileChange) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "created",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) => "changed",
    }
}

fn describe(painter: Painter, harness: Harness, plan: &Plan, dry_run: bool) -> String {
    let mut text = String::new();
    for line in plan.diff().lines() {
        let line = clean(line);
        let shown = match line.chars().next() {
            Some('+') => painter.good(&line),
            Some('-') => painter.bad(&line),
            _ => line,
        };
        text.push_str(&shown);
        text.push('\n');
    }
    if plan.is_empty() {
        text.push_str(&format!("{harness}: there is nothing to change\n"));
    }
    for change in &plan.changes {
        let path = clean(&change.path.display().to_string());
        let done = if dry_run { "would be " } else { "" };
        text.push_str(&format!("{done}{} {path}\n", painter.good(word(change))));
    }
    for note in &plan.notes {
        text.push_str(&format!("{} {}\n", painter.help(), clean(note)));
    }
    text
}

impl HookScope {
    fn scope(self) -> Scope {
        match self {
            Self::Project => Scope::Project,
            Self::Local => Scope::Local,
            Self::User => Scope::User,
        }
    }
}

impl From<InstallError> for CliError {
    fn from(error: InstallError) -> Self {
        Self::Install {
            help: error.help(),
            error: Box::new(error),
        }
    }
}
