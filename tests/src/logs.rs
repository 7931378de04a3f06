//! Logs of loops that tests leave behind: kept where `RALPH_GATE_TEST_LOGS` says, for `cargo xtask test`, which replays
//! every one of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, thread};

use tempfile::TempDir;

/// The variable that names the folder.
pub const VARIABLE: &str = "RALPH_GATE_TEST_LOGS";
/// A log of a loop.
const LOG: &str = "events.jsonl";
/// Where the memory puts aside what it can't use: no log of a loop.
const QUARANTINE: &str = "quarantine";
/// Where logs are kept that were damaged on purpose.
const SPOILED: &str = "spoiled";

/// A folder of a test. When it goes, the logs below it are kept.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// What the test did to the logs.
    spoiled: Mutex<Option<&'static str>>,
}

impl Scratch {
    /// An empty folder.
    ///
    /// # Panics
    ///
    /// If it can't be made.
    #[expect(clippy::new_without_default, reason = "each of them is another one")]
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            spoiled: Mutex::new(None),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Says that the logs in it are damaged on purpose, and how. They can't be expected to replay.
    ///
    /// # Panics
    ///
    /// If another thread panicked while it said so.
    pub fn spoiled(&self, how: &'static str) {
        *self.spoiled.lock().expect("nobody panicked") = Some(how);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What a failing test leaves is nobody's measure.
        let Some(to) = env::var_os(VARIABLE).filter(|_| !thread::panicking()) else {
            return;
        };
        let spoiled = self.spoiled.lock().map_or(None, |how| *how);
        let kept = keep(self.path(), Path::new(&to), spoiled);
        assert!(kept.is_ok(), "the logs can't be kept: {kept:?}");
    }
}

/// Copies the logs below a folder.
fn keep(from: &Path, to: &Path, spoiled: Option<&str>) -> io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    for log in logs(from)? {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{number}", test(), std::process::id());
        let folder = match spoiled {
            None => to.to_owned(),
            Some(_) => to.join(SPOILED),
        };
        fs::create_dir_all(&folder)?;
        fs::copy(log, folder.join(format!("{name}.jsonl")))?;
        if let Some(how) = spoiled {
            fs::write(folder.join(format!("{name}.txt")), format!("{how}\n"))?;
        }
    }
    Ok(())
}

/// Every log below a folder. Links are not followed.
fn logs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if kind.is_dir() && name != OsStr::new(QUARANTINE) {
                folders.push(entry.path());
            } else if kind.is_file() && name == OsStr::new(LOG) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The test that is running: its program, and its name in it.
fn test() -> String {
    let program = env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy();
    // Without what cargo adds to tell builds apart.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let thread = thread::current();
    let name = thread.name().filter(|name| *name != "main");
    // Where a test has the process for itself, it was named when that was started.
    let named = || env::args().skip(1).find(|word| !word.starts_with('-'));
    let name = name.map(str::to_owned).or_else(named).unwrap_or_default();
    let plain = |it: char| if it.is_ascii_alphanumeric() { it } else { '_' };
    let name: String = name.chars().map(plain).take(120).collect();
    format!("{program}-{name}")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn every_log_of_a_loop_is_kept_and_what_was_spoiled_is_apart() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for folder in ["a/b", "c", "c/quarantine", "d"] {
            fs::create_dir_all(from.path().join(folder)).unwrap();
        }
        for file in [
            "a/b/events.jsonl",
            "c/events.jsonl",
            "c/quarantine/events.jsonl",
            "d/other.jsonl",
        ] {
            fs::write(from.path().join(file), file).unwrap();
        }
        std::os::unix::fs::symlink("../c/events.jsonl", from.path().join("d/events.jsonl"))
            .unwrap();
        keep(from.path(), to.path(), None).unwrap();
        let texts = |folder: &Path, ending: &str| {
            let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
            let paths = entries.filter(|it| it.extension() == Some(OsStr::new(ending)));
            let mut texts: Vec<String> = paths.map(|it| fs::read_to_string(it).unwrap()).collect();
            texts.sort();
            texts
        };
        assert_eq!(
            texts(to.path(), "jsonl"),
            ["a/b/events.jsonl", "c/events.jsonl"]
        );
        keep(&from.path().join("c"), to.path(), Some("torn")).unwrap();
        assert_eq!(texts(to.path(), "jsonl").len(), 2);
        let spoiled = to.path().join(SPOILED);
        assert_eq!(texts(&spoiled, "jsonl"), ["c/events.jsonl"]);
        assert_eq!(texts(&spoiled, "txt"), ["torn\n"]);
    }
}
