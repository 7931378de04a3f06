//! A place for one loop: a real repository, room beside it, and a mark on everything that runs there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use crate::git;
use crate::logs::Scratch;
use crate::processes::Mark;
use rustix::process::{Signal, kill_process};

/// A folder with a repository. When it is dropped, no process that was started in it may be alive.
#[derive(Debug)]
pub struct Place {
    folder: Scratch,
    /// What everything carries that is started here.
    pub mark: Mark,
}

impl Place {
    /// A repository with these files, committed.
    ///
    /// # Panics
    ///
    /// If it can't be made.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let place = Self {
            folder: Scratch::new(),
            mark: Mark::new(),
        };
        fs::create_dir(place.work()).expect("a folder in it");
        for (path, text) in files {
            place.write(path, text);
        }
        git::repository(&place.work());
        place
    }

    /// The repository.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A path beside the repository, for what is not part of the work.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Says that the logs of its loops are damaged on purpose, and how.
    pub fn spoiled(&self, how: &'static str) {
        self.folder.spoiled(how);
    }

    /// Writes a file of the work, and the folders above it.
    ///
    /// # Panics
    ///
    /// If it can't.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.work().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("its folder");
        fs::write(path, text).expect("written");
    }

    /// A file of the work.
    ///
    /// # Panics
    ///
    /// If it is not there.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.work().join(path)).expect("a text")
    }

    /// A program in the repository, untouched by a person's own settings, and marked.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in env::vars_os() {
            let shown = name.to_string_lossy();
            if shown.starts_with("RALPH_GATE_") || shown.starts_with("OTEL_") {
                command.env_remove(&name);
            }
        }
        git::apart(&mut command)
            .current_dir(self.work())
            .env("RUST_BACKTRACE", "1")
            .envs([self.mark.variable()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let alive = self.mark.alive();
        for (process, _) in &alive {
            let _ = kill_process(*process, Signal::KILL);
        }
        if !thread::panicking() {
            assert!(alive.is_empty(), "left alive: {alive:?}");
        }
    }
}
