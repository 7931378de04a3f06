//! Which loop is meant, and how it is reached.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ralph_gate::config::{Config, ConfigError};
use ralph_gate::memory::{DEFAULT_ROOT, Holder, SessionKey, holder, list};
use ralph_gate::runner::{self, Ask, Reply, RunError};

use super::super::args::LoopArgs;
use super::super::error::CliError;
use super::super::run::load;
use super::super::terminal::{Severity, Terminal, clean};

/// How long a loop that has just begun, or is just ending, may take to be reached.
const REACHING: Duration = Duration::from_secs(2);
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(20);

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

    /// Asks the loop, if it listens.
    pub(super) fn ask(&self, ask: &Ask) -> Result<Option<Reply>, CliError> {
        let Some(key) = &self.key else {
            return Ok(None);
        };
        runner::ask(&self.root.join(key.folder()), ask).map_err(|error| {
            CliError::Run(RunError::System {
                what: "the loop can't be asked",
                error,
            })
        })
    }

    /// Tells the loop something. None if it is not running; an error if it is and can't be told.
    pub(super) fn order(&self, order: &Ask) -> Result<Option<Reply>, CliError> {
        let until = Instant::now() + REACHING;
        loop {
            if let Some(reply) = self.ask(order)? {
                return Ok(Some(reply));
            }
            let Some(holder) = self.holder()? else {
                return Ok(None);
            };
            if Instant::now() > until {
                return Err(CliError::Unreachable { holder });
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Who runs the loop.
    pub(super) fn holder(&self) -> Result<Option<Holder>, CliError> {
        match &self.key {
            Some(key) => Ok(holder(&self.root, key)?),
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
    let config = match Config::find(Path::new(".")) {
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
