//! What a person does with a loop of a client: begin it, look at it, end it.

use std::path::{Path, PathBuf};

use super::error::HarnessError;
use super::loop_file::{Found, PLACE};
use super::project::{find_config, folders};
use super::state::{StateDirectory, sessions_root};
use crate::config::{ConfigError, Promises};
use crate::engine::{GateEngine, LoopFile};
use crate::memory::{DEFAULT_ROOT, list};
use crate::moment::utc;
use crate::runner::{Ask, RunError, Standing, StandingPhase, ask, cancel_stopped};

/// A loop that is to begin.
#[derive(Debug, Clone)]
pub struct NewLoop<'n> {
    /// The task.
    pub prompt: &'n str,
    /// The promise that ends it.
    pub promise: Option<&'n str>,
    /// The most iterations; the profile's limit when absent.
    pub max_iterations: Option<u32>,
    /// The session that it belongs to; the first one that stops when absent.
    pub session: Option<&'n str>,
    /// Now, in seconds since 1970.
    pub now: u64,
}

/// Begins a loop in a folder: writes its loop file, which the hook of a client finds. Gives its path.
pub fn start(gate: &GateEngine, folder: &Path, new: &NewLoop<'_>) -> Result<PathBuf, HarnessError> {
    let path = folder.join(PLACE);
    if path.symlink_metadata().is_ok() {
        return Err(HarnessError::LoopRuns { path });
    }
    let file = LoopFile {
        active: true,
        iteration: 1,
        session_id: new.session.map(str::to_owned),
        max_iterations: new.max_iterations.unwrap_or(0),
        completion_promise: new.promise.map(str::to_owned),
        started_at: Some(utc(new.now)),
        // As the official plugin lays it out.
        prompt: format!("\n{}\n", new.prompt.trim_end_matches('\n')),
    };
    see_that_it_could_complete(gate, folder, &path, &file)?;
    Found::write(gate, &path, &file)?;
    Ok(path)
}

/// A contract that can't be met should not hold an agent: the gate is asked before.
fn see_that_it_could_complete(
    gate: &GateEngine,
    folder: &Path,
    path: &Path,
    file: &LoopFile,
) -> Result<(), HarnessError> {
    let config = super::case::config_or_empty(folder, folder)?;
    let found = Found::new(path.to_owned(), file.clone());
    found.route(gate, &config, Promises::Contract)?;
    Ok(())
}

/// The loop of a folder.
pub fn look(gate: &GateEngine, folder: &Path) -> Result<Option<Found>, HarnessError> {
    Found::find(gate, folder, |found| found.file.active)
}

/// Who wants a loop to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Canceler {
    /// A person, from a shell of their own.
    Person,
    /// The agent, whose person may have asked for it: the next question of its client tells.
    Agent,
}

/// Loops that were ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canceled {
    /// The iteration that the loop was in, or the last one of those that have no loop file.
    pub iteration: u32,
    /// Where its loop file was.
    pub path: Option<PathBuf>,
}

/// Ends the loop of a folder: its file is put aside, and its memory says that it was canceled. Without a loop file, the
/// loops end that the configuration asks for. None if there is none.
///
/// What can't be read is put aside as well: nothing else would end such a loop.
pub fn cancel(
    gate: &GateEngine,
    folder: &Path,
    canceler: Canceler,
    state: Option<&StateDirectory>,
) -> Result<Option<Canceled>, HarnessError> {
    let found = match Found::find(gate, folder, |_| true) {
        Ok(found) => found,
        Err(HarnessError::LoopFile { path, reason }) => {
            return match Found::put_aside_at(&path) {
                Ok(()) => Ok(Some(Canceled {
                    iteration: 0,
                    path: Some(path),
                })),
                Err(_) => Err(HarnessError::LoopFile { path, reason }),
            };
        }
        Err(error) => return Err(error),
    };
    // The file first: a hook that is judging finds it gone.
    if let Some(found) = &found {
        found.put_aside()?;
    }
    let session = found.as_ref().and_then(|it| it.file.session_id.as_deref());
    let ended = match (canceler, &found) {
        (Canceler::Agent, Some(_)) => None,
        (Canceler::Person, Some(_)) if session.is_none() => None,
        (Canceler::Agent, None) => {
            // Without a loop file there is nothing by which its client could tell what its person wants.
            return match open_loops(gate, folder, None, state)?.as_slice() {
                [] => Ok(None),
                _ => Err(RunError::FromInside.into()),
            };
        }
        (Canceler::Person, _) => end_all(gate, folder, session, state)?,
    };
    Ok(match found {
        Some(found) => Some(Canceled {
            iteration: found.file.iteration,
            path: Some(found.path),
        }),
        None => ended.map(|iteration| Canceled {
            iteration,
            path: None,
        }),
    })
}

/// Ends open loops of clients. Gives the last iteration.
fn end_all(
    gate: &GateEngine,
    folder: &Path,
    session: Option<&str>,
    state: Option<&StateDirectory>,
) -> Result<Option<u32>, HarnessError> {
    let open = open_loops(gate, folder, session, state)?;
    for (root, standing) in &open {
        // Whoever runs its checks lets go of its memory.
        let _ = ask(&root.join(standing.key.folder()), &Ask::Cancel);
        cancel_stopped(gate, root, &standing.key)?;
    }
    Ok(open.iter().map(|(_, standing)| standing.iteration).max())
}

/// The open loops of clients that are remembered for a folder, each with its root: one session's, or all that have no
/// loop file.
fn open_loops(
    gate: &GateEngine,
    folder: &Path,
    session: Option<&str>,
    state: Option<&StateDirectory>,
) -> Result<Vec<(PathBuf, Standing)>, HarnessError> {
    let is_meant = |standing: &Standing| match session {
        Some(session) => standing.attended.session == session,
        None => standing.attended.loop_file.is_none(),
    };
    let mut open = Vec::new();
    for root in roots(folder, state)? {
        let keys = list(&root).unwrap_or_default().into_iter();
        let standings = keys.filter_map(|listed| Standing::read(gate, &root, &listed.key?).ok());
        let wanted = standings.filter(|it| is_meant(it) && it.phase() == StandingPhase::Open);
        open.extend(wanted.map(|standing| (root.clone(), standing)));
    }
    Ok(open)
}

/// Where loops of clients may be remembered that work in a directory.
pub fn roots(folder: &Path, state: Option<&StateDirectory>) -> Result<Vec<PathBuf>, HarnessError> {
    match find_config(folder) {
        Ok(Some(config)) => Ok(vec![sessions_root(&config, state)]),
        // A configuration that can't be read keeps nobody from ending a loop.
        Ok(None) | Err(HarnessError::Config(ConfigError::Invalid { .. })) => {
            let directories = folders(folder).into_iter();
            let roots = directories.flat_map(|directory| {
                let elsewhere = state.map(|state| state.sessions_of(&directory));
                elsewhere.into_iter().chain([directory.join(DEFAULT_ROOT)])
            });
            Ok(roots.collect())
        }
        Err(error) => Err(error),
    }
}
