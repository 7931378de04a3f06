//! What a person does with a loop of a client: begin it, look at it, end it.

use std::path::{Path, PathBuf};

use ralph_gate_component::Word as _;

use super::Harness;
use super::error::HarnessError;
use super::loop_file::{Found, PLACE};
use super::project::{find_config, folders};
use crate::config::{ConfigError, Promises};
use crate::engine::{GateEngine, LoopFile};
use crate::memory::DEFAULT_ROOT;
use crate::moment::utc;
use crate::runner::{ClientSession, cancel_stopped};

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
    let request = found.request(&config, Promises::Contract);
    config.route(gate, Some(&request))?;
    Ok(())
}

/// The loop of a folder.
pub fn look(gate: &GateEngine, folder: &Path) -> Result<Option<Found>, HarnessError> {
    let found = Found::find(gate, folder)?;
    Ok(found.filter(|found| found.file.active))
}

/// A loop that was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canceled {
    /// The iteration that it was in.
    pub iteration: u32,
    /// Where its loop file was.
    pub path: Option<PathBuf>,
}

/// Ends the loop of a folder: its file is put aside, and its memory says that it was canceled. None if there is none.
///
/// What can't be read is put aside as well: nothing else would end such a loop.
pub fn cancel(gate: &GateEngine, folder: &Path) -> Result<Option<Canceled>, HarnessError> {
    let found = match Found::find(gate, folder) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(None),
        Err(HarnessError::LoopFile { path, reason }) => {
            let aside = Found::put_aside_at(&path);
            return match aside {
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
    found.put_aside()?;
    if let Some(session) = &found.file.session_id {
        forget(gate, folder, session)?;
    }
    Ok(Some(Canceled {
        iteration: found.file.iteration,
        path: Some(found.path.clone()),
    }))
}

/// Says in the memory that a session's loop was canceled, whichever client's it is.
fn forget(gate: &GateEngine, folder: &Path, session: &str) -> Result<(), HarnessError> {
    for root in roots(folder)? {
        for harness in Harness::ALL {
            let session = ClientSession {
                harness: harness.as_str(),
                id: session,
            };
            let newest = session.newest(&root);
            if newest > 0 {
                cancel_stopped(gate, &root, &session.key(newest))?;
            }
        }
    }
    Ok(())
}

/// Where loops of a folder may be remembered.
fn roots(folder: &Path) -> Result<Vec<PathBuf>, HarnessError> {
    match find_config(folder) {
        Ok(Some(config)) => Ok(vec![config.workspace.join(&config.memory.root)]),
        // A configuration that can't be read keeps nobody from ending a loop.
        Ok(None) | Err(HarnessError::Config(ConfigError::Invalid { .. })) => {
            let folders = folders(folder).into_iter();
            Ok(folders.map(|it| it.join(DEFAULT_ROOT)).collect())
        }
        Err(error) => Err(error),
    }
}
