//! What a store does to files, as a trait: a real folder, memory, another language's files, or a simulator that loses power.
//!
//! Nothing here is durable unless it says so. A file's content is durable after [`Disk::sync`], its name after
//! [`Disk::sync_folder`].

mod ram;

use std::borrow::Cow;
use std::fmt;
use std::io;

use thiserror::Error;

pub use ram::Ram;

/// A folder of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Folder {
    /// The session's own.
    Session,
    /// Its `checkpoints/`.
    Checkpoints,
    /// Its `quarantine/`.
    Quarantine,
}

impl Folder {
    /// Its name inside the session's folder; none for that one itself.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Session => None,
            Self::Checkpoints => Some("checkpoints"),
            Self::Quarantine => Some("quarantine"),
        }
    }
}

/// The place of a file in a session. Can't be outside: a name is never a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    folder: Folder,
    name: Cow<'static, str>,
}

impl Place {
    /// A file of the session's own folder.
    pub const fn member(name: &'static str) -> Self {
        Self {
            folder: Folder::Session,
            name: Cow::Borrowed(name),
        }
    }

    /// A file in a folder. What would make the name a path is replaced.
    pub fn new(folder: Folder, name: &str) -> Self {
        let name = match name {
            "" | "." | ".." => "_".to_owned(),
            name => name.replace(['/', '\\', '\0'], "_"),
        };
        Self {
            folder,
            name: Cow::Owned(name),
        }
    }

    /// The folder it is in.
    pub fn folder(&self) -> Folder {
        self.folder
    }

    /// Its name in that folder.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.folder.name() {
            Some(folder) => write!(f, "{folder}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Length in bytes.
    pub len: u64,
    /// Which file it is, when it was written, and when it or its attributes were changed.
    pub version: [u64; 5],
}

/// Why a thing in a session's folder is not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Leads elsewhere.
    SymbolicLink,
    /// Has another name elsewhere.
    HardLink,
    /// A folder where a file belongs.
    Folder,
    /// A file where a folder belongs.
    NotAFolder,
    /// A pipe, a socket or a device.
    Special,
    /// Another folder than the one that was opened.
    Swapped,
    /// More than [`READ_LIMIT`].
    TooLarge,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SymbolicLink => "a symbolic link",
            Self::HardLink => "a hard link to a file that has other names",
            Self::Folder => "a folder",
            Self::NotAFolder => "not a folder",
            Self::Special => "a pipe, a socket or a device",
            Self::Swapped => "no longer the one that was opened",
            Self::TooLarge => "larger than 256 MiB",
        })
    }
}

/// The most that is read of a file, in bytes. What an agent blows up beyond that is set aside like a link.
pub const READ_LIMIT: u64 = 256 << 20;

/// What was being done when the disk said no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Opening or reading.
    Read,
    /// Creating or writing.
    Write,
    /// Making durable.
    Sync,
    /// Renaming.
    Rename,
    /// Removing.
    Remove,
    /// Locking.
    Lock,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "written",
            Self::Sync => "synced to disk",
            Self::Rename => "renamed",
            Self::Remove => "removed",
            Self::Lock => "locked",
        })
    }
}

/// The disk said no.
#[derive(Debug, Error)]
pub enum DiskError {
    /// The system reported an error.
    #[error("{place} can't be {action}: {error}")]
    Io {
        /// What was being done.
        action: Action,
        /// To which file or folder.
        place: String,
        /// What the system said. Part of the message, and so no source.
        error: io::Error,
    },
    /// Something stands there that is never opened.
    #[error("{place} is {what}")]
    Refused {
        /// The file or folder.
        place: String,
        /// What it is.
        what: Refusal,
    },
}

impl DiskError {
    /// What the system said.
    pub fn io(action: Action, place: impl fmt::Display, error: impl Into<io::Error>) -> Self {
        Self::Io {
            action,
            place: place.to_string(),
            error: error.into(),
        }
    }

    /// What is never opened.
    pub fn refused(place: impl fmt::Display, what: Refusal) -> Self {
        Self::Refused {
            place: place.to_string(),
            what,
        }
    }

    /// What the system said, if it was the system.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { error, .. } => Some(error.kind()),
            Self::Refused { .. } => None,
        }
    }
}

/// A result of a [`Disk`].
pub type DiskResult<T> = Result<T, DiskError>;

/// Whether a new file is made durable at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Its content is, before the call returns.
    Synced,
    /// Whenever the system gets to it.
    Eventual,
}

/// The files of one session.
///
/// Symbolic links are never followed; what is not a plain file with one name is refused.
pub trait Disk {
    /// The session, for messages.
    fn name(&self) -> String;

    /// Checks that the session's folders are still the ones that were opened.
    fn guard(&self) -> DiskResult<()>;

    /// The names in a folder, sorted. None if there is no such folder.
    fn list(&self, folder: Folder) -> DiskResult<Option<Vec<String>>>;

    /// What a file looks like from outside. None if it is not there.
    fn stamp(&self, place: &Place) -> DiskResult<Option<Stamp>>;

    /// A file's bytes from an offset on, with the stamp that they were read under. None if it is not there. Beyond
    /// the end there is nothing.
    fn read(&self, place: &Place, from: u64) -> DiskResult<Option<(Vec<u8>, Stamp)>>;

    /// Makes a file that is not there yet. On an error it may be there, with any part of the content.
    fn create(&self, place: &Place, bytes: &[u8], durability: Durability) -> DiskResult<Stamp>;

    /// Adds to the end of a file, which is made if it is not there. On an error any part may have been added.
    fn append(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp>;

    /// Shortens a file.
    fn cut(&self, place: &Place, len: u64) -> DiskResult<()>;

    /// Makes a file's content durable.
    fn sync(&self, place: &Place) -> DiskResult<()>;

    /// Gives a file another name, and replaces what had that name.
    fn rename(&self, from: &Place, to: &Place) -> DiskResult<()>;

    /// Swaps two files in one step. False where the file system can't.
    fn exchange(&self, one: &Place, other: &Place) -> DiskResult<bool>;

    /// Removes a file. It is no error if it is not there.
    fn remove(&self, place: &Place) -> DiskResult<()>;

    /// Makes a folder, unless it is there.
    fn make_folder(&self, folder: Folder) -> DiskResult<()>;

    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: Folder) -> DiskResult<()>;

    /// Lets a moment pass in which somebody else may finish writing. Where nobody can wait, none passes.
    fn pause(&self) {}
}
