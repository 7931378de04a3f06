//! Why hooks can't be put in or taken out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::client::Scope;
use super::scan::{Fault, Problem, position};
use crate::harness::Harness;

/// Nothing was changed, because of this.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The settings are not the plain JSON that can be edited safely.
    #[error("{}:{line}:{column}: {problem}", file.display())]
    Settings {
        /// The file.
        file: PathBuf,
        /// The line, from one.
        line: usize,
        /// The character in the line, from one.
        column: usize,
        /// What is wrong there.
        problem: Problem,
        /// How to do by hand what was asked for.
        by_hand: String,
    },
    /// What is in the settings' place can't be edited.
    #[error("{} {refusal}", path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// What it is.
        refusal: Refusal,
    },
    /// A file was changed after the plan was made.
    #[error("{} was changed in the meantime", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The client has no such settings.
    #[error("{harness} has no hooks for the scope {scope}")]
    Scope {
        /// The client.
        harness: Harness,
        /// What was asked for.
        scope: Scope,
    },
    /// The program can't be used in a hook.
    #[error("the command {} {reason}", command.display())]
    Command {
        /// What was given.
        command: PathBuf,
        /// What is wrong with it.
        reason: BadCommand,
    },
    /// The disk said no.
    #[error("{} can't be {action}: {error}", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What was being done to it.
        action: Action,
        /// What the system said.
        error: io::Error,
    },
}

impl InstallError {
    /// The error's name for machines, in `snake_case`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Settings { .. } => "invalid_settings",
            Self::Refused { .. } => "refused_file",
            Self::Changed { .. } => "changed_meanwhile",
            Self::Scope { .. } => "unknown_scope",
            Self::Command { .. } => "invalid_command",
            Self::Disk { .. } => "disk",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Settings { by_hand, .. } => by_hand.clone(),
            Self::Refused { refusal, .. } => refusal.help().to_owned(),
            Self::Changed { .. } => "run the command again".to_owned(),
            Self::Scope { .. } => "use the scope project".to_owned(),
            Self::Command { .. } => {
                "name the absolute path of the program, which must be called ralph-gate".to_owned()
            }
            Self::Disk { .. } => {
                "see that the file and its folder belong to you and that the disk has room"
                    .to_owned()
            }
        }
    }

    pub(super) fn settings(file: &Path, bytes: &[u8], fault: Fault, by_hand: String) -> Self {
        let (line, column) = position(bytes, fault.at);
        Self::Settings {
            file: file.to_owned(),
            line,
            column,
            problem: fault.problem,
            by_hand,
        }
    }

    pub(super) fn refused(path: &Path, refusal: Refusal) -> Self {
        Self::Refused {
            path: path.to_owned(),
            refusal,
        }
    }

    pub(super) fn disk(path: &Path, action: Action, error: io::Error) -> Self {
        Self::Disk {
            path: path.to_owned(),
            action,
            error,
        }
    }
}

/// Why a file or a folder is not touched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A link to nothing, or in a circle.
    Dangling,
    /// A link that leaves both the root and the home.
    Outside {
        /// Where it leads.
        target: PathBuf,
    },
    /// A folder where a file belongs.
    Folder,
    /// A file where a folder belongs.
    NotAFolder,
    /// A pipe, a socket or a device.
    Special,
    /// A plugin of somebody else under our name.
    Foreign,
    /// A file that may not be written.
    ReadOnly,
    /// A folder in which nothing may be written.
    ReadOnlyFolder,
    /// Larger than any settings.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The most that is read.
        limit: u64,
    },
}

impl Refusal {
    fn help(&self) -> &'static str {
        match self {
            Self::Dangling => "remove the link, or create the file that it should lead to",
            Self::Outside { .. } => {
                "edit the file that it leads to yourself, or replace the link by a file"
            }
            Self::Folder | Self::NotAFolder | Self::Special | Self::Foreign => {
                "move it out of the way"
            }
            Self::ReadOnly | Self::ReadOnlyFolder => "allow writing with `chmod u+w`",
            Self::TooLarge { .. } => "see what blew it up",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dangling => f.write_str("is a link that leads nowhere"),
            Self::Outside { target } => write!(
                f,
                "is a link to {}, outside of the project and the home folder",
                target.display()
            ),
            Self::Folder => f.write_str("is a folder, where a file belongs"),
            Self::NotAFolder => f.write_str("is not a folder"),
            Self::Special => f.write_str("is a pipe, a socket or a device, where a file belongs"),
            Self::Foreign => f.write_str("is somebody else's plugin under the name of ours"),
            Self::ReadOnly => f.write_str("is read-only"),
            Self::ReadOnlyFolder => f.write_str("is a read-only folder"),
            Self::TooLarge { size, limit } => {
                write!(f, "has {size} bytes; at most {limit} are read")
            }
        }
    }
}

/// Why a program can't be used in a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadCommand {
    /// Settings are text.
    NotUtf8,
    /// Shells and scripts end a line there.
    ControlCharacter,
    /// It could not be found again to be taken out.
    OtherName,
    /// It would lead somewhere else from each folder.
    Relative,
}

impl fmt::Display for BadCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8 => "is not UTF-8 text",
            Self::ControlCharacter => "contains a control character",
            Self::OtherName => "is not called ralph-gate",
            Self::Relative => "is not an absolute path",
        })
    }
}

/// What was being done when the disk said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Looking or reading.
    Read,
    /// Creating or writing.
    Write,
    /// Removing.
    Remove,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "written",
            Self::Remove => "removed",
        })
    }
}
