//! The loop file of the official Ralph plugin, `.claude/ralph-loop.local.md`, as either side left it.
//!
//! What is in it is read and changed by the gate; here it is found, read, written and put aside. A lock on its folder
//! keeps a hook and whoever cancels apart.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::HarnessError;
use super::project::folders;
use crate::config::{Config, Promises, Request, Task};
use crate::engine::{GateEngine, LoopFile, LoopFileChange, Mode};
use crate::memory::{foreign, save_text, update_text};
use crate::plain_file::{self, Unreadable};
use crate::runner::LoopFileRecord;

/// Where it is, below the folder in which the client works.
pub const PLACE: &str = ".claude/ralph-loop.local.md";
/// What it is called when its loop is over.
const ENDED: &str = "ralph-loop.ended.local.md";
/// What it is called when its agent changed it.
const CHANGED: &str = "ralph-loop.changed.local.md";
/// How long to wait for whoever else changes it. An agent could hold the lock for ever; what it keeps apart are only a
/// hook and a person who cancels at the same moment.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often is looked whether the lock is free.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// The longest one that is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The most iterations that the gate allows.
const MAX_ITERATIONS: u32 = 10_000;

/// The limit that a loop file sets. None where it sets none, or one that the gate does not allow.
pub(super) fn limit_of(file: &LoopFile) -> Option<u32> {
    Some(file.max_iterations).filter(|limit| (1..=MAX_ITERATIONS).contains(limit))
}

/// What a loop file asks for.
pub(super) struct Asked {
    pub(super) request: Request,
    pub(super) task: Task,
    /// Iterations before its own that are not counted.
    pub(super) uncounted: u32,
}

/// A loop file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// What the gate reads in it.
    pub file: LoopFile,
    text: String,
}

impl Found {
    /// The nearest loop file that is wanted, from a folder upwards.
    pub fn find(
        gate: &GateEngine,
        folder: &Path,
        is_wanted: impl Fn(&Self) -> bool,
    ) -> Result<Option<Self>, HarnessError> {
        for folder in folders(folder) {
            let path = folder.join(PLACE);
            if let Some(text) = read(&path)? {
                let found = Self::parse(gate, path, text)?;
                if is_wanted(&found) {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// The loop file in one place, if there is one.
    pub(super) fn at(gate: &GateEngine, path: &Path) -> Result<Option<Self>, HarnessError> {
        let text = read(path)?;
        text.map(|text| Self::parse(gate, path.to_owned(), text))
            .transpose()
    }

    fn parse(gate: &GateEngine, path: PathBuf, text: String) -> Result<Self, HarnessError> {
        match gate.read_loop_file(&text) {
            Ok(file) => Ok(Self { path, file, text }),
            Err(error) => Err(HarnessError::LoopFile {
                path,
                reason: error.to_string(),
            }),
        }
    }

    /// Whose loop it is: a session's, or that of the first one that stops.
    pub fn is_of(&self, session: &str) -> bool {
        let owner = self.file.session_id.as_deref();
        self.file.active && owner.is_none_or(|owner| owner == session)
    }

    /// Where it asks for what the gate does: a task under a configuration.
    ///
    /// A file that sets no limit that the gate could keep gets that of the configuration, counted from its iteration.
    pub(super) fn route(
        &self,
        gate: &GateEngine,
        config: &Config,
        promises: Promises,
    ) -> Result<Asked, HarnessError> {
        let limit = limit_of(&self.file);
        let request = self.request(config, promises, limit);
        let task = config.route(gate, Some(&request))?;
        let before = self.file.iteration.saturating_sub(1);
        let asked = |request, task, uncounted| Asked {
            request,
            task,
            uncounted,
        };
        if limit.is_some() || before == 0 || task.routing.mode != Mode::Ralph {
            return Ok(asked(request, task, 0));
        }
        let at_most = before.saturating_add(task.terms()?.at_most());
        if at_most > MAX_ITERATIONS {
            return Ok(asked(request, task, before));
        }
        let request = self.request(config, promises, Some(at_most));
        let task = config.route(gate, Some(&request))?;
        Ok(asked(request, task, 0))
    }

    /// What it asks for. It counts as said in the configuration: this file changes with every iteration.
    fn request(&self, config: &Config, promises: Promises, at_most: Option<u32>) -> Request {
        let has_config = !config.text().is_empty();
        Request::of_loop_file(&config.file, &self.file, promises, has_config, at_most)
    }

    /// What a loop remembers of it.
    pub(super) fn record(&self, uncounted: u32) -> LoopFileRecord {
        LoopFileRecord {
            path: self.path.clone(),
            file: self.file.clone(),
            uncounted,
        }
    }

    /// Whether it still asks for what a loop began with.
    pub(super) fn is_as(&self, record: &LoopFileRecord) -> bool {
        let (now, then) = (&self.file, &record.file);
        self.path == record.path
            && now.prompt == then.prompt
            && now.completion_promise == then.completion_promise
            && now.max_iterations == then.max_iterations
            && now.started_at == then.started_at
    }

    /// The folder that the loop file belongs to.
    pub fn workspace(&self) -> &Path {
        let folder = self.path.parent().and_then(Path::parent);
        folder.unwrap_or(Path::new("/"))
    }

    /// Writes a change, unless somebody else changed or took away the file meanwhile.
    /// Gives the file as it is then; none if nothing was written.
    pub fn change(
        &self,
        gate: &GateEngine,
        change: &LoopFileChange,
    ) -> Result<Option<Self>, HarnessError> {
        let _lock = lock(&self.path);
        if read(&self.path)?.as_ref() != Some(&self.text) {
            return Ok(None);
        }
        let text = gate
            .update_loop_file(&self.text, change)
            .map_err(|error| self.failed(&error.to_string()))?;
        // The loop itself is in the memory: of an old file, only the number is behind.
        update_text(&self.path, &text).map_err(|error| self.failed(&error.to_string()))?;
        Self::parse(gate, self.path.clone(), text).map(Some)
    }

    /// Puts the file aside: its loop is over, and nothing of it is lost.
    pub fn put_aside(&self) -> Result<(), HarnessError> {
        Self::put_aside_at(&self.path)
    }

    /// The same for one that can't be read.
    pub(super) fn put_aside_at(path: &Path) -> Result<(), HarnessError> {
        let _lock = lock(path);
        // Where there is none, somebody else has ended it.
        let moved = foreign::put_aside(path, ENDED);
        moved.map(|_| ()).map_err(|error| HarnessError::LoopFile {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }

    /// A file that is yet to be written.
    pub(super) fn new(path: PathBuf, file: LoopFile) -> Self {
        let text = String::new();
        Self { path, file, text }
    }

    /// Writes the file of a loop again whose agent took it away or changed it. What stands there is put aside; what has
    /// become another session's is left alone.
    pub(super) fn restore(
        gate: &GateEngine,
        path: &Path,
        file: &LoopFile,
    ) -> Result<(), HarnessError> {
        let found = read(path)
            .map(|text| text.and_then(|text| Self::parse(gate, path.to_owned(), text).ok()));
        let owner = found.ok().flatten().and_then(|found| found.file.session_id);
        if owner.is_some() && owner != file.session_id {
            return Ok(());
        }
        let aside = foreign::put_aside(path, CHANGED);
        aside.map_err(|error| HarnessError::LoopFile {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Self::write(gate, path, file)
    }

    /// Writes a file.
    pub(super) fn write(
        gate: &GateEngine,
        path: &Path,
        file: &LoopFile,
    ) -> Result<(), HarnessError> {
        let failed = |reason: String| HarnessError::LoopFile {
            path: path.to_owned(),
            reason,
        };
        foreign::make_room(path).map_err(|error| failed(error.to_string()))?;
        let text = gate
            .write_loop_file(file)
            .map_err(|error| failed(error.to_string()))?;
        save_text(path, &text).map_err(|error| failed(error.to_string()))
    }

    fn failed(&self, reason: &str) -> HarnessError {
        HarnessError::LoopFile {
            path: self.path.clone(),
            reason: reason.to_owned(),
        }
    }
}

/// Held as long as a loop file is being changed.
fn lock(path: &Path) -> Option<File> {
    let folder = File::open(path.parent()?).ok()?;
    let until = Instant::now() + PATIENCE;
    while folder.try_lock().is_err() {
        if Instant::now() >= until {
            return None;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Some(folder)
}

/// What is in a file. None if there is none.
fn read(path: &Path) -> Result<Option<String>, HarnessError> {
    let failed = |reason: String| HarnessError::LoopFile {
        path: path.to_owned(),
        reason,
    };
    match fs::symlink_metadata(path) {
        Err(_) => return Ok(None),
        Ok(metadata) if !metadata.is_file() => {
            return Err(failed("it is not a plain file".to_owned()));
        }
        Ok(_) => {}
    }
    let bytes = match plain_file::read(path, LONGEST) {
        Ok(bytes) => bytes,
        Err(Unreadable::Missing) => return Ok(None),
        Err(reason) => return Err(failed(reason.to_string())),
    };
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".to_owned()))?;
    Ok(Some(text))
}
