//! Why an experiment can't begin or go on. What was done stays done.

use std::path::PathBuf;

use thiserror::Error;

use crate::config::ConfigError;
use crate::engine::EngineError;
use crate::memory::MemoryError;
use crate::process::StartError;
use crate::worktree::WorktreeError;

/// An experiment that can't begin or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The plan, or the configuration of a task, can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something is not what it was when the experiment began.
    #[error(
        "{} is not the experiment that began in {}: changed {}",
        plan.display(),
        output.display(),
        list(parts)
    )]
    Changed {
        /// The plan.
        plan: PathBuf,
        /// Where its results are.
        output: PathBuf,
        /// What changed.
        parts: Vec<String>,
    },
    /// The record of what was planned is not one.
    #[error("{} can't be read as the record of an experiment: {reason}", file.display())]
    Lock {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// Another process works on it.
    #[error("another process is running the experiment in {}", output.display())]
    Busy {
        /// Where its results are.
        output: PathBuf,
    },
    /// A folder holds something else.
    #[error("{} holds something else than an experiment", output.display())]
    Occupied {
        /// The folder.
        output: PathBuf,
    },
    /// The disk said no.
    #[error(transparent)]
    Disk(#[from] MemoryError),
    /// A task's folder can't be read.
    #[error("{} can't be read: {reason}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A workspace can't be made a repository.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// A program can't be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A loop did not begin, which says nothing about its arm.
    #[error("the run {run} did not begin: {reason}")]
    NotBegun {
        /// The run.
        run: String,
        /// What was said.
        reason: String,
    },
    /// A loop ended for want of something that no agent is to blame for.
    #[error("the run {run} could not go on: {reason}")]
    Hindered {
        /// The run.
        run: String,
        /// What was said.
        reason: String,
    },
    /// What is really done could not be found out.
    #[error("the run {run} could not be audited: {reason}")]
    NotAudited {
        /// The run.
        run: String,
        /// What was said.
        reason: String,
    },
    /// The gate could not be run.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The first few of them, in a sentence.
fn list(parts: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = parts
        .iter()
        .take(SHOWN)
        .map(|part| format!("`{part}`"))
        .collect();
    match parts.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl ExperimentError {
    /// The error's name for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Changed { .. } => "experiment_changed",
            Self::Lock { .. } => "experiment_lock",
            Self::Busy { .. } => "experiment_busy",
            Self::Occupied { .. } => "experiment_occupied",
            Self::Disk(error) => error.code(),
            Self::Unreadable { .. } => "unreadable_input",
            Self::Worktree(_) => "worktree",
            Self::Start(_) => "agent_not_started",
            Self::NotBegun { .. } => "run_not_begun",
            Self::Hindered { .. } => "run_hindered",
            Self::NotAudited { .. } => "run_not_audited",
            Self::Engine(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::Config(error) => return error.help(),
            Self::Changed { .. } => {
                "a plan is fixed before the first run, or its result means nothing: take the change back, or begin \
                 another experiment with another `output`"
            }
            Self::Lock { .. } => {
                "restore the file, or begin another experiment with another `output`"
            }
            Self::Busy { .. } => "wait for it to end, or end it; its lock ends with it",
            Self::Occupied { .. } => "name another folder with `output`",
            Self::Disk(error) => error.help(),
            Self::Unreadable { .. } => "see that it is there and can be read",
            Self::Worktree(_) => "see that git can work with the task's folder",
            Self::Start(_) => "check the agent's name and its path",
            Self::NotBegun { .. } => {
                "mend that and run the experiment again: it goes on where it stopped"
            }
            Self::Hindered { .. } => {
                "mend that and run the experiment again: this run is set aside and run anew"
            }
            Self::NotAudited { .. } => {
                "mend that and run the experiment again: only the audit is run anew"
            }
            Self::Engine(error) => error.help(),
        })
    }
}
