//! Why a configuration or a request can't be used.

use std::path::PathBuf;

use thiserror::Error;

use crate::engine::{EngineError, ErrorCode, GateError, Problem};

/// Where a configuration was looked for beside one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchScope {
    /// Nowhere.
    Directory,
    /// In the directories above it, up to this one.
    UpTo(PathBuf),
    /// Nowhere, because it is neither in a repository nor below the home directory.
    Outside,
}

/// Something is wrong with what a person wrote.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no configuration.
    #[error("there is no ralph-gate.toml (or .yaml, .json) in {}{}", folder.display(), above(search))]
    Missing {
        /// The directory in which the search began.
        folder: PathBuf,
        /// Where it was looked for beside that.
        search: SearchScope,
    },
    /// There are two, and neither is the one.
    #[error("there are two configurations, {} and {}", first.display(), second.display())]
    Ambiguous {
        /// One.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// There is one, where none may be.
    #[error("there is a configuration already, {}", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// A file can't be read.
    #[error("{} can't be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file has problems. All of them are listed.
    #[error("{}: {message}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// All of it in a sentence.
        message: String,
        /// The kind of error, where the gate found it.
        code: ErrorCode,
        /// Every problem, at its place in the file.
        problems: Vec<Problem>,
    },
    /// A check of the command line can't be run.
    #[error("the check `{text}` can't be used: {reason}")]
    Check {
        /// What was written.
        text: String,
        /// Why.
        reason: String,
    },
    /// What the configuration or the command line names can't work here. All of it is listed.
    #[error("{message}")]
    CannotWork {
        /// The file.
        file: PathBuf,
        /// All of it in a sentence.
        message: String,
        /// Every problem of the file, at its place in it.
        problems: Vec<Problem>,
        /// Every problem of the command line. Paths are arguments, such as `--check "make test"`.
        arguments: Vec<Problem>,
    },
    /// Nothing must hold, and no mode is written: the request is empty.
    #[error("{}: {}", file.display(), nothing_asked(checks))]
    NothingAsked {
        /// The file.
        file: PathBuf,
        /// The checks that it describes.
        checks: Vec<String>,
    },
    /// The contract asks for no loop.
    #[error("the contract is in standard mode: there is no loop to run")]
    Standard,
    /// The gate could not be run.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl ConfigError {
    /// Every problem of a file that has some.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid { problems, .. } | Self::CannotWork { problems, .. } => problems,
            _ => &[],
        }
    }

    /// Every problem of the command line. Paths are arguments.
    pub fn arguments(&self) -> &[Problem] {
        match self {
            Self::CannotWork { arguments, .. } => arguments,
            _ => &[],
        }
    }

    /// The error's name for machines, in `snake_case`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "config_missing",
            Self::Ambiguous { .. } => "config_ambiguous",
            Self::Exists { .. } => "config_exists",
            Self::Unreadable { .. } => "unreadable_input",
            Self::Invalid { .. } => "invalid_config",
            Self::Check { .. } => "invalid_check",
            Self::CannotWork { .. } => "preflight_failed",
            Self::NothingAsked { .. } => "nothing_asked",
            Self::Standard => "standard_mode",
            Self::Engine(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } => Some(
                "`ralph-gate init` writes one that fits this folder; `--config` names another; `run --check COMMAND` needs none",
            ),
            Self::Ambiguous { .. } => Some("remove one of them, or name one with `--config`"),
            Self::Exists { .. } => Some(
                "edit it, or write a new one with `--force`, which keeps the old one beside it",
            ),
            Self::Unreadable { .. } => Some("see that it is there and can be read"),
            Self::NothingAsked { checks, .. } if checks.is_empty() => {
                Some("name a check or a token in [contract], or write `mode = \"standard\"` there")
            }
            Self::NothingAsked { .. } => Some(
                "name them in `completion_checks` of [contract], or write `mode = \"standard\"` there",
            ),
            Self::Standard => {
                Some("name a check or a token in [contract], or set `mode = \"ralph\"` there")
            }
            Self::Invalid { .. }
            | Self::CannotWork { .. }
            | Self::Check { .. }
            | Self::Engine(_) => None,
        }
    }

    /// Problems that were found in a file.
    pub(crate) fn invalid(file: PathBuf, problems: Vec<Problem>) -> Self {
        let message = match problems.as_slice() {
            [] => "it can't be used".to_owned(),
            [only] => only.message.clone(),
            all => format!("{} problems", all.len()),
        };
        Self::Invalid {
            file,
            message,
            code: ErrorCode::InvalidInput,
            problems,
        }
    }

    /// What the gate said, with problems that are at their places in the file.
    pub(super) fn gate(file: PathBuf, error: GateError, problems: Vec<Problem>) -> Self {
        Self::Invalid {
            file,
            message: error.message,
            code: error.code,
            problems,
        }
    }
}

fn above(search: &SearchScope) -> String {
    match search {
        SearchScope::Directory => String::new(),
        SearchScope::UpTo(top) => format!(" or above it, up to {}", top.display()),
        SearchScope::Outside => {
            ", and above it none is looked for outside of a repository and of the home directory"
                .to_owned()
        }
    }
}

pub(super) fn nothing_asked(checks: &[String]) -> String {
    match checks {
        [] => "nothing must hold, and no mode is written".to_owned(),
        checks => format!(
            "it describes checks that nothing asks for ({}), and no mode is written",
            checks.join(", ")
        ),
    }
}
