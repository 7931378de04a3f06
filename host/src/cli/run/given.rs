//! The configuration of a loop: a file, what the command line adds to it, or the command line alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ralph_gate::config::{self, Config, ConfigError, starter};
use ralph_gate::memory::course::{Given, LoopRecord, RunnerCommand};
use ralph_gate::memory::{SessionKey, View};
use ralph_gate::runner::{self, RunError};
use ralph_gate_component::Word as _;

use super::super::args::RunArgs;
use super::super::error::CliError;
use super::super::terminal::Terminal;
use super::load;

/// The configuration with what was given for this loop. A loop that is resumed keeps what it began with, as far as
/// nothing else is given.
pub(super) fn configuration(args: &RunArgs, terminal: &Terminal) -> Result<Config, CliError> {
    let (mut config, missing) = match load(args.config.as_deref()) {
        Err(error) if args.config.is_none() && is_missing(&error) => {
            let here = std::path::absolute(".").unwrap_or_else(|_| PathBuf::from("."));
            (Config::empty(&here)?, Some(error))
        }
        config => (config?, None),
    };
    let mut given = given(args);
    if args.resume
        && let Some(before) = given_before(args, &config)
    {
        given = given.or(before);
    }
    if let Some(missing) = missing {
        if given.checks.is_empty() {
            return Err(missing);
        }
        if given.protection.is_none() && !args.resume {
            let (protection, names) = starter::protection(&config.workspace);
            if !terminal.is_json() {
                let names = names.join(", ");
                terminal.warn(|_| {
                    format!("frozen tests, lock files and test settings of {names}; new test files are allowed\n")
                });
            }
            given.protection = Some(protection);
            given.runners = runners(&given.checks, &config.workspace);
            if let Some(line) = told(&given.runners).filter(|_| !terminal.is_json()) {
                terminal.warn(|_| line.clone());
            }
        }
    }
    config.give(&given)?;
    Ok(config)
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

fn is_missing(error: &CliError) -> bool {
    matches!(
        error,
        CliError::Run(RunError::Config(ConfigError::Missing { .. }))
    )
}

/// What was given when the loop began that is to be resumed. Where that can't be found, resuming says why.
fn given_before(args: &RunArgs, config: &Config) -> Option<Given> {
    let root = config.workspace.join(&config.memory.root);
    let key = match &args.session {
        Some(key) if args.draft => SessionKey::Draft(key.clone()),
        Some(key) => SessionKey::Session(key.clone()),
        None => runner::newest(&root).ok()?,
    };
    let (_, records) = View::open(&root, &key).ok()?.recall().ok()?;
    let begun: LoopRecord = records.first()?.read()?;
    begun.given
}
