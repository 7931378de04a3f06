//! Which loop is meant.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ralph_gate::config::{Config, ConfigError};
use ralph_gate::harness::person;
use ralph_gate::harness::state::StateDirectory;
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
        let roots = roots(args, terminal);
        let named = match &args.key {
            Some(key) if args.draft => Some(SessionKey::Draft(key.clone())),
            Some(key) => Some(SessionKey::Session(key.clone())),
            None => None,
        };
        match named {
            Some(key) => {
                let root = root_of(&roots, &key);
                let key = Some(key);
                Ok(Self { root, key })
            }
            None => choose(&roots),
        }
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
        Ok(config) => config.workspace.join(config.memory.root()),
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

/// Where sessions may be: the root of loops that are run here, and those of the loops of clients.
pub(in crate::cli) fn roots(args: &LoopArgs, terminal: &Terminal) -> Vec<PathBuf> {
    let mut roots = vec![root(args, terminal)];
    if args.root.is_none() {
        roots.extend(client_roots());
    }
    let mut known = Vec::new();
    roots.retain(|root| {
        let place = root.canonicalize().unwrap_or_else(|_| root.clone());
        let is_new = !known.contains(&place);
        known.push(place);
        is_new
    });
    roots
}

/// Where the loops of clients are remembered that work here.
pub(in crate::cli) fn client_roots() -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let state = StateDirectory::find(|name| std::env::var(name).ok());
    let roots = person::roots(&here, state.as_ref()).unwrap_or_default();
    roots.into_iter().filter(|root| root.is_dir()).collect()
}

/// The root in which a session is; the first one where it is in none.
pub(in crate::cli) fn root_of(roots: &[PathBuf], key: &SessionKey) -> PathBuf {
    let has_it = |root: &&PathBuf| root.join(key.folder()).symlink_metadata().is_ok();
    let found = roots.iter().find(has_it).or(roots.first());
    found.cloned().unwrap_or_default()
}

/// The session that is running, or else the one that was written last: what anybody may touch says less than a lock.
fn choose(roots: &[PathBuf]) -> Result<Place, CliError> {
    let mut running = Vec::new();
    for root in roots {
        let sessions = list(root)?.into_iter();
        let known = sessions.filter(|session| session.problem.is_none());
        for key in known.filter_map(|session| session.key) {
            if holder(root, &key)?.is_some() {
                running.push((root, key));
            }
        }
    }
    if running.len() > 1 {
        let keys = running.iter().map(|(_, key)| key.text().to_owned());
        let keys = keys.collect();
        return Err(CliError::SeveralLoops { keys });
    }
    let place = |root: &PathBuf, key| Place {
        root: root.clone(),
        key,
    };
    if let Some((root, only)) = running.pop() {
        return Ok(place(root, Some(only)));
    }
    let mut newest: Option<(Option<SystemTime>, &PathBuf, SessionKey)> = None;
    for root in roots {
        match runner::newest(root) {
            Ok(key) => {
                let found = (written(root, &key), root, key);
                // Of two that were written at the same time, the one that is run here.
                if newest.as_ref().is_none_or(|(time, ..)| found.0 > *time) {
                    newest = Some(found);
                }
            }
            Err(RunError::NothingToResume { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(match newest {
        Some((_, root, key)) => place(root, Some(key)),
        None => Place {
            root: roots.first().cloned().unwrap_or_default(),
            key: None,
        },
    })
}

/// When a session was written last.
fn written(root: &Path, key: &SessionKey) -> Option<SystemTime> {
    let checkpoints = root.join(key.folder()).join("checkpoints");
    checkpoints.metadata().ok()?.modified().ok()
}
