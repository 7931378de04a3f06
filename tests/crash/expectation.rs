//! What must hold after a worker was stopped, however that happened.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use ralph_gate::memory::{Patience, SessionKey, Standing, View};
use tempfile::TempDir;

use crate::gate;
use crate::worker::{key, open, title};

/// A workspace with one session, and something beside it that nobody may touch.
pub(crate) struct Workspace {
    folder: TempDir,
    /// The newest revision that was acknowledged.
    pub(crate) acknowledged: u64,
    /// Whether every revision adds one entry with its number.
    numbered: bool,
}

const CANARY: &str = "not yours";

impl Workspace {
    pub(crate) fn new() -> Result<Self> {
        let folder = TempDir::new()?;
        fs::write(folder.path().join("canary"), CANARY)?;
        Ok(Self {
            folder,
            acknowledged: 0,
            numbered: true,
        })
    }

    pub(crate) fn without_numbers() -> Result<Self> {
        Ok(Self {
            numbered: false,
            ..Self::new()?
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path().join(".ralph")
    }

    pub(crate) fn session(&self) -> PathBuf {
        self.root().join(key().folder())
    }

    pub(crate) fn canary(&self) -> PathBuf {
        self.path().join("canary")
    }

    /// Takes note of what a worker said.
    pub(crate) fn note(&mut self, output: &str) {
        for line in output.lines() {
            if let Some(revision) = line
                .strip_prefix("acknowledged ")
                .and_then(|number| number.parse().ok())
            {
                self.acknowledged = self.acknowledged.max(revision);
            }
        }
    }

    /// Opens the session as the next process would, twice, and checks everything.
    pub(crate) fn check(&mut self) -> Result<()> {
        let before = self.acknowledged;
        let store = open(&self.root(), Patience::None).context("it can't be opened")?;
        let state = store.state();
        ensure!(
            state.revision >= before,
            "revision {before} was acknowledged, {} was found",
            state.revision
        );
        ensure!(
            state.revision <= before.max(1) + 1,
            "revision {} was found, and only {before} was acknowledged",
            state.revision
        );
        let titles: Vec<String> = store
            .progress()?
            .entries
            .into_iter()
            .map(|entry| entry.title)
            .collect();
        if self.numbered {
            let expected: Vec<String> = (2..=state.revision).map(title).collect();
            ensure!(
                titles == expected,
                "the progress log has {titles:?}, not {expected:?}"
            );
        }
        drop(store);
        self.acknowledged = state.revision;
        let files = contents(&self.session())?;
        let verification = View::open(&self.root(), &key())?.verify(gate())?;
        ensure!(
            verification.standing() == Standing::Right,
            "{:?}",
            verification
                .files
                .iter()
                .filter(|file| file.standing != Standing::Right)
                .collect::<Vec<_>>()
        );
        let again = open(&self.root(), Patience::None).context("it can't be opened again")?;
        ensure!(
            again.findings().is_empty(),
            "the second recovery found {:?}",
            again.findings()
        );
        drop(again);
        ensure!(
            contents(&self.session())? == files,
            "the second recovery changed something"
        );
        self.check_outside()
    }

    /// Nothing outside the session may have changed.
    pub(crate) fn check_outside(&self) -> Result<()> {
        ensure!(
            fs::read_to_string(self.canary())? == CANARY,
            "something outside was changed"
        );
        let names = |path: &Path| -> Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in fs::read_dir(path)? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            names.sort();
            Ok(names)
        };
        ensure!(
            names(self.path())? == [".ralph", "canary"],
            "something outside was added"
        );
        let session: SessionKey = key();
        ensure!(
            names(&self.root())? == [session.folder()],
            "something beside the session was added"
        );
        Ok(())
    }

    /// The titles of the progress log.
    pub(crate) fn titles(&self) -> Result<Vec<String>> {
        let reading = View::open(&self.root(), &key())?.read(gate())?;
        Ok(reading
            .progress
            .entries
            .into_iter()
            .map(|entry| entry.title)
            .collect())
    }
}

/// Every file below a folder but the lock, whose content is for people.
fn contents(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(contents(&entry.path())?);
        } else if entry.file_name() != "lock" {
            files.insert(entry.path(), fs::read(entry.path())?);
        }
    }
    Ok(files)
}
