//! The configuration of a loop: a file, what the command line adds to it, or the command line alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_gate::config::starter::{self, ProtectedFiles};
use ralph_gate::config::{self, Config, ConfigDraft, ConfigError, FILE_NAMES};
use ralph_gate::memory::course::{Given, LoopRecord, RunnerCommand};
use ralph_gate::memory::{Record, SessionKey, View};
use ralph_gate::runner::{self, RunError};
use ralph_gate_component::Word as _;

use super::super::args::RunArgs;
use super::super::error::CliError;
use super::super::terminal::counted;
use super::file;

/// The configuration of a loop.
pub(super) struct LoopConfig {
    pub(super) draft: ConfigDraft,
    /// Whether files are protected although no configuration says which.
    pub(super) protects_by_default: bool,
    /// What is run in place of what was written, in a line.
    pub(super) runners: Option<String>,
}

/// The configuration with what was given for this loop. A loop that is resumed keeps what it began with, as far as
/// nothing else is given.
pub(super) fn configuration(args: &RunArgs) -> Result<LoopConfig, CliError> {
    let (mut draft, missing) = match draft(args) {
        Err(error @ ConfigError::Missing { .. }) if args.config.is_none() => {
            let here = std::path::absolute(".").unwrap_or_else(|_| PathBuf::from("."));
            let [name, ..] = FILE_NAMES;
            (ConfigDraft::read(&here.join(name), "")?, Some(error))
        }
        draft => (draft?, None),
    };
    let mut given = given(args);
    if args.resume {
        match given_before(args, draft.config()) {
            Ok(before) => given = given.or(before.unwrap_or_default()),
            // Without a configuration there is nothing else that resuming could report.
            Err(error) if missing.is_some() => return Err(error.into()),
            Err(_) => {}
        }
    }
    let mut protects_by_default = false;
    if let Some(missing) = missing {
        if given.checks.is_empty() {
            return Err(missing.into());
        }
        if given.protection.is_none() && !args.resume {
            let workspace = &draft.config().workspace;
            given.protection = Some(starter::protection(workspace, &given.checks)?);
            given.runners = runners(&given.checks, workspace);
            protects_by_default = true;
        }
    }
    draft.give(&given)?;
    Ok(LoopConfig {
        draft,
        protects_by_default,
        runners: told(&given.runners).filter(|_| !args.resume),
    })
}

fn draft(args: &RunArgs) -> Result<ConfigDraft, ConfigError> {
    ConfigDraft::load(&file(args.config.as_deref())?)
}

/// What is protected, in a line. None where no file is.
pub(super) fn describe(existing: &ProtectedFiles) -> Option<String> {
    if existing.files == 0 {
        return None;
    }
    let files = counted(existing.files, "existing file");
    let ecosystems = existing.ecosystems.iter().map(|name| match *name {
        "task runner" => "the task runner",
        name => name,
    });
    let ecosystems: Vec<&str> = ecosystems.collect();
    let of = match ecosystems.as_slice() {
        [] => String::new(),
        [only] => format!(" of {only}"),
        [others @ .., last] => format!(" of {} and {last}", others.join(", ")),
    };
    Some(format!(
        "protected until the loop ends: {files} (tests, lock files and test settings{of}); new test files are allowed\n"
    ))
}

fn given(args: &RunArgs) -> Given {
    Given::new(args.checks.clone(), args.iterations, args.budget.clone())
}

/// How those of the commands are run that start a known test runner.
fn runners(checks: &[String], workspace: &Path) -> BTreeMap<String, RunnerCommand> {
    let runner = |text: &String| {
        let mut found = config::recognize(&config::check_command(text).ok()?)?;
        // What can't run says so when it is run.
        let _ = found.settle(|proposal| config::probe(workspace, proposal));
        let format = found
            .results
            .map(|results| results.format.as_str().to_owned());
        let argv = found.argv;
        Some((text.clone(), RunnerCommand { argv, format }))
    };
    checks.iter().filter_map(runner).collect()
}

/// What is run in place of what was written, in a line.
fn told(runners: &BTreeMap<String, RunnerCommand>) -> Option<String> {
    let told = runners.iter().map(|(text, runner)| {
        let argv = runner.argv.join(" ");
        let counted = if runner.format.is_some() {
            ", and its tests are counted"
        } else {
            ""
        };
        format!("`{text}` is run as `{argv}`{counted}")
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("{}\n", told.join("; ")))
}

/// What was given when the loop began that is to be resumed. An error where there is no such loop.
fn given_before(args: &RunArgs, config: &Config) -> Result<Option<Given>, RunError> {
    let root = config.workspace.join(config.memory.root());
    let key = match &args.session {
        Some(key) if args.draft => SessionKey::Draft(key.clone()),
        Some(key) => SessionKey::Session(key.clone()),
        None => runner::newest(&root)?,
    };
    let (_, records) = View::open(&root, &key)?.recall()?;
    let begun = records.first().and_then(Record::read::<LoopRecord>);
    Ok(begun.and_then(|begun| begun.given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_protected_is_said_in_a_sentence() {
        let of = |files, ecosystems: &[&'static str]| {
            describe(&ProtectedFiles {
                files,
                ecosystems: ecosystems.to_vec(),
            })
            .unwrap_or_default()
        };
        assert_eq!(
            of(1, &["Python"]),
            "protected until the loop ends: 1 existing file (tests, lock files and test settings of Python); new test files \
             are allowed\n"
        );
        assert!(of(2, &["Rust", "Go", "JVM"]).contains("2 existing files"));
        assert!(of(2, &["Rust", "Go", "JVM"]).contains("of Rust, Go and JVM)"));
        assert!(of(2, &["task runner"]).contains("of the task runner)"));
        assert!(of(2, &[]).contains("settings);"));
        assert_eq!(of(0, &[]), "");
    }
}
