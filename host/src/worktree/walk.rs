//! Walks through a folder tree without following links, in a fixed order.

use std::ffi::{CStr, CString};
use std::fmt;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

use super::error::WorktreeError;
use super::limits::{DEPTH_LIMIT, ENTRY_LIMIT};
use super::name::{self, join, shown_path};
use super::plain::{self, Root, absent};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
    /// A folder that this process may not open.
    Closed,
}

impl Kind {
    pub(super) fn of(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            _ => Self::Special,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Special => "a pipe, a socket or a device",
            Self::Closed => "a folder without permission to read it",
        })
    }
}

/// Something found in a folder.
pub(super) struct Item<'a> {
    /// Relative to where the walk began.
    pub(super) path: &'a [u8],
    pub(super) name: &'a CStr,
    /// The open folder that it is in.
    pub(super) folder: BorrowedFd<'a>,
    pub(super) kind: Kind,
}

/// Whether to look into a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Into,
    Over,
}

/// Is told what a walk finds.
pub(super) trait Visitor {
    /// A folder was opened.
    fn enter(&mut self, _folder: BorrowedFd<'_>, _path: &[u8]) -> Result<(), WorktreeError> {
        Ok(())
    }

    /// Something is in it.
    fn item(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError>;
}

/// Names, with their kinds if the system tells.
type Names = Vec<(CString, Option<Kind>)>;

/// A folder that is being walked through.
struct Frame {
    folder: OwnedFd,
    path: Vec<u8>,
    /// The last comes first.
    rest: Names,
}

/// Walks through everything below a folder, names in order, a folder before what is in it.
pub(super) fn walk(root: &Root, visitor: &mut impl Visitor) -> Result<(), WorktreeError> {
    let mut count = 0;
    let folder = plain::open_folder(root.folder.as_fd(), c".")
        .map_err(|error| WorktreeError::io(&root.path, error))?;
    let mut frames = vec![enter(root, folder, Vec::new(), &mut count, visitor)?];
    while let Some(frame) = frames.last_mut() {
        let Some((name, kind)) = frame.rest.pop() else {
            frames.pop();
            continue;
        };
        let path = join(&frame.path, name.to_bytes());
        let found = visit(root, frame.folder.as_fd(), &path, &name, kind, visitor)?;
        if let Some(folder) = found {
            if frames.len() >= DEPTH_LIMIT {
                return Err(WorktreeError::TooDeep {
                    place: shown_path(&root.path.join(name::path(&path))),
                    limit: DEPTH_LIMIT,
                });
            }
            frames.push(enter(root, folder, path, &mut count, visitor)?);
        }
    }
    Ok(())
}

fn enter(
    root: &Root,
    folder: OwnedFd,
    path: Vec<u8>,
    count: &mut usize,
    visitor: &mut impl Visitor,
) -> Result<Frame, WorktreeError> {
    visitor.enter(folder.as_fd(), &path)?;
    let rest = names(folder.as_fd(), count)
        .map_err(|error| WorktreeError::io(&root.path.join(name::path(&path)), error))?;
    match rest {
        Some(rest) => Ok(Frame { folder, path, rest }),
        None => Err(WorktreeError::TooMany {
            place: shown_path(&root.path),
            limit: ENTRY_LIMIT,
        }),
    }
}

/// Tells of one thing, and opens it if it is a folder to look into.
fn visit(
    root: &Root,
    folder: BorrowedFd<'_>,
    path: &[u8],
    name: &CStr,
    kind: Option<Kind>,
    visitor: &mut impl Visitor,
) -> Result<Option<OwnedFd>, WorktreeError> {
    let failed = |error: Errno| WorktreeError::io(&root.path.join(name::path(path)), error);
    let kind = match kind {
        Some(kind) => kind,
        None => match absent(kind_of(folder, name)).map_err(failed)? {
            Some(kind) => kind,
            None => return Ok(None),
        },
    };
    let mut tell = |kind| {
        visitor.item(&Item {
            path,
            name,
            folder,
            kind,
        })
    };
    if tell(kind)? == Step::Over || kind != Kind::Folder {
        return Ok(None);
    }
    match plain::open_folder(folder, name) {
        Ok(open) => return Ok(Some(open)),
        Err(Errno::ACCESS | Errno::PERM) => tell(Kind::Closed)?,
        // Replaced since its folder was listed.
        Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => {
            match absent(kind_of(folder, name)).map_err(failed)? {
                Some(now) => tell(now)?,
                None => Step::Over,
            }
        }
        Err(Errno::NOENT) => Step::Over,
        Err(error) => return Err(failed(error)),
    };
    Ok(None)
}

fn kind_of(folder: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<Kind> {
    let stat = plain::stat(folder, name)?;
    Ok(Kind::of(FileType::from_raw_mode(stat.st_mode)))
}

/// The names in a folder, the last one first. None if there are too many.
fn names(folder: BorrowedFd<'_>, count: &mut usize) -> rustix::io::Result<Option<Names>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        *count += 1;
        if *count > ENTRY_LIMIT {
            return Ok(None);
        }
        let kind = match entry.file_type() {
            FileType::Unknown => None,
            known => Some(Kind::of(known)),
        };
        names.push((entry.file_name().to_owned(), kind));
    }
    names.sort_unstable_by(|one, other| other.0.cmp(&one.0));
    Ok(Some(names))
}
