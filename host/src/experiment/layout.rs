//! Where the files of an experiment are.

use std::path::{Path, PathBuf};

use super::order::RunId;

/// The folder with the results.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    output: PathBuf,
}

impl Layout {
    pub(super) fn new(output: &Path) -> Self {
        Self {
            output: output.to_owned(),
        }
    }

    pub(super) fn output(&self) -> &Path {
        &self.output
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.output.join("plan.lock.json")
    }

    /// Everything that counts.
    pub(super) fn runs(&self) -> PathBuf {
        self.output.join("runs")
    }

    /// One run.
    pub(super) fn run(&self, id: &RunId) -> RunFolder {
        RunFolder(self.runs().join(id.path()))
    }

    /// What counts nowhere, with a number for each time that the run was begun in vain.
    pub(super) fn set_aside(&self, id: &RunId, number: u32) -> PathBuf {
        let folder = self.output.join("set-aside").join(id.path());
        folder.join(number.to_string())
    }
}

/// The folder of one run.
#[derive(Debug, Clone)]
pub(super) struct RunFolder(PathBuf);

impl RunFolder {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.0.join("workspace")
    }

    pub(super) fn request(&self) -> PathBuf {
        self.0.join("request.json")
    }

    pub(super) fn prompt(&self) -> PathBuf {
        self.0.join("prompt.md")
    }

    pub(super) fn record(&self) -> PathBuf {
        self.0.join("run.json")
    }
}
