//! Where a client works: the configuration that says when its agent may stop.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::HarnessError;
use super::git::{self, Top};
use crate::config::{Config, ConfigError, FILE_NAMES};
use crate::worktree::{Repository, Settings};

/// How many folders are looked at, from the one in which the client works upwards.
const HEIGHT: usize = 64;

/// The configuration of the folder in which a client works, or of one above it in the same repository.
pub(super) fn find_config(folder: &Path) -> Result<Option<Config>, HarnessError> {
    for folder in folders(folder) {
        let file = match Config::find(&folder) {
            Ok(file) => file,
            Err(ConfigError::Missing { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        see_that_it_is_ours(&file)?;
        return Ok(Some(Config::load(&file)?));
    }
    Ok(None)
}

/// The configuration as the newest commit has it, for a session whose beginning nobody saw: what is in the work tree may be
/// the agent's. None where git does not know of one.
pub(super) fn committed_config(folder: &Path) -> Option<Config> {
    let folders = folders(folder);
    let top = folders
        .iter()
        .rfind(|it| it.join(".git").symlink_metadata().is_ok())?;
    let repository = Repository::discover(top, &Settings::default()).ok()??;
    for folder in &folders {
        let Ok(relative) = folder.strip_prefix(top) else {
            continue;
        };
        for name in FILE_NAMES {
            let path = relative.join(name);
            let text = repository.committed_text(path.to_str()?).ok()?;
            if let Some(text) = text {
                return Config::read(&folder.join(name), &text).ok();
            }
        }
    }
    None
}

/// The folder and those above it, up to the top of its repository; of a further work tree also the first one. A
/// submodule is a part of the repository above it.
pub(super) fn folders(start: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    // The folder may be gone, those above it may be there.
    let start = start.canonicalize().unwrap_or_else(|_| start.to_owned());
    for folder in start.ancestors().take(HEIGHT) {
        folders.push(folder.to_owned());
        match git::top(folder) {
            Top::None | Top::Submodule => {}
            Top::Repository => break,
            Top::WorkTree { main } => {
                folders.push(main);
                break;
            }
        }
    }
    folders
}

/// What a configuration says is run: one that another user could have put into a folder above is not followed.
fn see_that_it_is_ours(file: &Path) -> Result<(), HarnessError> {
    let us = rustix::process::geteuid().as_raw();
    match file.metadata() {
        Ok(metadata) if metadata.uid() != us && metadata.uid() != 0 => {
            Err(HarnessError::ForeignConfig {
                file: file.to_owned(),
            })
        }
        // What can't be looked at can't be read either, and that is said then.
        _ => Ok(()),
    }
}
