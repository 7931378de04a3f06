//! Which loop is meant.

use std::path::{Path, PathBuf};

use ralph_gate::config::{Config, ConfigError};
use ralph_gate::memory::{DEFAULT_ROOT, Holder, SessionKey, holder, list};
use ralph_gate::runner::{self, Outside, RunError};

use super::super::args::LoopArgs;
use super::super::error::CliError;
use super::super::run::load;
use super::super::terminal::{Severity, Terminal, clean};

/// Where the sessions are, and which one is meant.
pub(in crate::cli) struct Place {
    pub(in crate::cli) root: PathBuf,
    pub(in crate::cli) key: Option<SessionKey>,
}

impl Place {
    /// The session that was named, or the one that is running, or the one that was written last.
    pub(in crate::cli) fn find(args: &LoopArgs, terminal: &Terminal) -> Result<Self, CliError> {
        let root = root(args, terminal);
        let key = match &args.key {
            Some(key) if args.draft => Some(SessionKey::Draft(key.clone())),
            Some(key) => Some(SessionKey::Session(key.clone())),
            None => choose(&root)?,
        };
        Ok(Self { root, key })
    }

    /// The loop that is meant, if there is one.
    pub(super) fn outside(&self) -> Option<Outside> {
        let key = self.key.clone()?;
        Some(Outside {
            root: self.root.clone(),
            key,
        })
    }

    /// Who runs the loop.
    pub(super) fn holder(&self) -> Result<Option<Holder>, CliError> {
        match self.outside() {
            Some(outside) => Ok(outside.holder()?),
            None => Ok(None),
        }
    }
}

/// The root that was named, or that of the configuration here, or `.ralph`. An agent may have broken the
/// configuration: that must not keep anybody from ending the loop.
pub(in crate::cli) fn root(args: &LoopArgs, terminal: &Terminal) -> PathBuf {
    if let Some(root) = &args.root {
        return root.clone();
    }
    let config = match Config::find_upwards(Path::new(".")) {
        Ok(_) => load(None),
        Err(ConfigError::Missing { .. }) => return PathBuf::from(DEFAULT_ROOT),
        Err(error) => Err(error.into()),
    };
    match config {
        Ok(config) => config.workspace.join(&config.memory.root),
        Err(error) => {
            terminal.warn(|painter| {
                format!(
                    "{} {}; looking for sessions in {DEFAULT_ROOT}, --root names another folder\n",
                    painter.severity(Severity::Warning),
                    clean(&error.to_string())
                )
            });
            PathBuf::from(DEFAULT_ROOT)
        }
    }
}

/// The session that is running, or else the one that was written last: what anybody may touch says less than a lock.
fn choose(root: &Path) -> Result<Option<SessionKey>, CliError> {
    let sessions = list(root)?.into_iter();
    let known = sessions.filter(|session| session.problem.is_none());
    let mut running = Vec::new();
    for key in known.filter_map(|session| session.key) {
        if holder(root, &key)?.is_some() {
            running.push(key);
        }
    }
    if running.len() > 1 {
        let keys = running.iter().map(|key| key.text().to_owned()).collect();
        return Err(CliError::SeveralLoops { keys });
    }
    if let Some(only) = running.pop() {
        return Ok(Some(only));
    }
    match runner::newest(root) {
        Ok(key) => Ok(Some(key)),
        Err(RunError::NothingToResume { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
