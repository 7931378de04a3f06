//! What the newest commit has of the files that differ from it: the only witness of a beginning that nobody saw.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::error::WorktreeError;
use super::look::{Entry, Look};
use super::name::{self, shown};
use super::repository::{Open, Repository};
use super::tree::ChangedKind;
use crate::memory::private_directory::Content;

/// The kinds of entries in a commit that have a content.
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
/// Set in the mode of an executable file.
const EXECUTABLE: u32 = 0o111;

/// Files of the workspace that differ from the newest commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uncommitted {
    /// Those that it does not have, and that git does not ignore, as [`shown`](super::shown).
    pub added: BTreeSet<String>,
    /// Those that it has and that were changed or deleted, as [`shown`](super::shown).
    pub changed: BTreeSet<String>,
    /// What it has of these, relative to the workspace.
    pub committed: Vec<(PathBuf, Content)>,
}

impl Repository {
    /// What differs from the newest commit. None if there is no commit.
    pub fn uncommitted(&self) -> Result<Option<Uncommitted>, WorktreeError> {
        self.ask(Open::uncommitted)
    }

    /// The text of a file of the workspace in the newest commit. None if it is not there, or no text.
    pub fn committed_text(&self, path: &str) -> Result<Option<String>, WorktreeError> {
        let path = path.as_bytes().to_vec();
        self.ask(move |open| {
            let path = open.place.in_repository(&path);
            let Some(entry) = open.head_entries()?.get(&path).copied() else {
                return Ok(None);
            };
            if entry.kind() != FILE {
                return Ok(None);
            }
            Ok(String::from_utf8(open.blob(entry)?).ok())
        })
    }
}

impl Open {
    fn uncommitted(&self) -> Result<Option<Uncommitted>, WorktreeError> {
        let Some(head) = self.head()? else {
            return Ok(None);
        };
        let entries = self.commit_entries(head)?;
        let mut found = Uncommitted::default();
        for (path, different) in self.different(&Look::take(self)?, Some(&head.to_string()))? {
            if different.kind == ChangedKind::Added {
                found.added.insert(shown(&path));
                continue;
            }
            found.changed.insert(shown(&path));
            if let Some(entry) = entries.get(&self.place.in_repository(&path))
                && let Some(content) = self.content(*entry)?
            {
                found
                    .committed
                    .push((name::path(&path).to_owned(), content));
            }
        }
        Ok(Some(found))
    }

    /// None of a submodule.
    fn content(&self, entry: Entry) -> Result<Option<Content>, WorktreeError> {
        Ok(match entry.kind() {
            FILE => Some(Content::File {
                bytes: self.blob(entry)?,
                is_executable: entry.mode & EXECUTABLE != 0,
            }),
            LINK => Some(Content::Link {
                target: name::path(&self.blob(entry)?).to_owned(),
            }),
            _ => None,
        })
    }

    fn blob(&self, entry: Entry) -> Result<Vec<u8>, WorktreeError> {
        let blob = self.git.find_blob(entry.id);
        let blob = blob.map_err(self.place.failed("read a file of a commit"))?;
        Ok(blob.content().to_vec())
    }
}
