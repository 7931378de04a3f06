//! The configuration of a loop: a file, what the command line adds to it, or the command line alone.

use std::path::PathBuf;

use ralph_gate::config::{Config, ConfigError, starter};
use ralph_gate::memory::course::{Given, LoopRecord};
use ralph_gate::memory::{SessionKey, View};
use ralph_gate::runner::{self, RunError};

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
        }
    }
    config.give(&given)?;
    Ok(config)
}

fn given(args: &RunArgs) -> Given {
    Given::new(args.checks.clone(), args.iterations, args.budget.clone())
}

fn is_missing(error: &CliError) -> bool {
    matches!(
        error,
        CliError::Run(RunError::Config(ConfigError::Missing { .. }))
    )
}

/// What was given when the loop began that is to be resumed. Where that can't be found, resuming says why.
fn given_before(args: &RunArgs, config: &Config) -> Option<Given> {
    let root = config.workspace.join(config.memory.root());
    let key = match &args.session {
        Some(key) if args.draft => SessionKey::Draft(key.clone()),
        Some(key) => SessionKey::Session(key.clone()),
        None => runner::newest(&root).ok()?,
    };
    let (_, records) = View::open(&root, &key).ok()?.recall().ok()?;
    let begun: LoopRecord = records.first()?.read()?;
    begun.given
}
