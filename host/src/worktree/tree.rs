//! The state of all files as one digest, and the files that differ from a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::error::WorktreeError;
use super::limits::ContentLimits;
use super::look::{Entry, Look};
use super::name::{self, shown, shown_path};
use super::plain::{self, Root};
use super::repository::{Open, Repository};
use ralph_gate_memory::digest::{self, Digest};

/// A digest over all files of the workspace that git does not ignore: path, mode and content of each.
///
/// The same files have the same digest, be they committed, staged or neither. Content counts as git would store it,
/// so that line endings that git converts make no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeDigest(Digest);

impl fmt::Display for TreeDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A file that differs from a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the workspace, as [`shown`](super::shown).
    pub path: String,
    /// In what way.
    pub kind: ChangedKind,
    /// The bytes in the file. None if it is deleted or not a plain file, and beyond the limits.
    pub content: Option<Vec<u8>>,
    /// Of the mode and the content as git would store it. Zero bytes and a deleted file have different ones.
    pub digest: Digest,
}

/// In what way a file differs from a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedKind {
    /// The commit has no such file.
    Added,
    /// Another content or mode.
    Modified,
    /// The commit has a file that is no longer there.
    Deleted,
}

impl Repository {
    /// The state of all files as one digest. Nothing is written.
    pub fn digest(&self) -> Result<TreeDigest, WorktreeError> {
        self.ask(|open| Ok(open.digest(&Look::take(open)?)))
    }

    /// The files that differ from a commit, untracked ones included, sorted. Without a commit, all files.
    ///
    /// All of them are listed; the limits are about content.
    pub fn changed_files(
        &self,
        since: Option<&str>,
        limits: &ContentLimits,
    ) -> Result<Vec<ChangedFile>, WorktreeError> {
        let (_, files) = self.digest_and_changed_files(since, limits)?;
        Ok(files)
    }

    /// Both of one look, which costs half as much as two.
    pub fn digest_and_changed_files(
        &self,
        since: Option<&str>,
        limits: &ContentLimits,
    ) -> Result<(TreeDigest, Vec<ChangedFile>), WorktreeError> {
        let (since, limits) = (since.map(str::to_owned), *limits);
        self.ask(move |open| {
            let look = Look::take(open)?;
            let different = open.different(&look, since.as_deref())?;
            let mut reader = Reader {
                root: Root::open(&open.place.workspace)?,
                limits,
            };
            let files: Result<Vec<ChangedFile>, WorktreeError> = different
                .into_iter()
                .map(|(path, different)| reader.changed(&path, &different))
                .collect();
            Ok((open.digest(&look), files?))
        })
    }
}

/// A path whose entry differs between a commit and the files.
pub(super) struct Different {
    pub(super) kind: ChangedKind,
    /// What is there now; none if it is deleted.
    pub(super) entry: Option<Entry>,
}

impl Open {
    fn digest(&self, look: &Look) -> TreeDigest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"ralph-gate tree 1\n");
        for (path, entry) in &look.tree {
            digest::add(&mut hasher, self.place.inside(path).unwrap_or(path));
            hasher.update(&entry.mode.to_le_bytes());
            digest::add(&mut hasher, entry.id.as_bytes());
        }
        TreeDigest(Digest::so_far(&hasher))
    }

    /// What differs between a commit and the files. Paths are the workspace's.
    pub(super) fn different(
        &self,
        look: &Look,
        since: Option<&str>,
    ) -> Result<BTreeMap<Vec<u8>, Different>, WorktreeError> {
        let before = match since {
            None => Arc::default(),
            Some(text) => self.commit_entries(self.commit_id(text)?)?,
        };
        let now = &look.tree;
        let paths: BTreeSet<&Vec<u8>> = before.keys().chain(now.keys()).collect();
        let mut different = BTreeMap::new();
        for path in paths {
            let Some(inside) = self.place.inside(path) else {
                continue;
            };
            let entry = now.get(path).copied();
            let kind = match (before.get(path), entry) {
                (before, now) if before.copied() == now => continue,
                (None, _) => ChangedKind::Added,
                (Some(_), None) => ChangedKind::Deleted,
                (Some(_), Some(_)) => ChangedKind::Modified,
            };
            different.insert(inside.to_vec(), Different { kind, entry });
        }
        Ok(different)
    }

    pub(super) fn commit_id(&self, text: &str) -> Result<git2::Oid, WorktreeError> {
        let id = git2::Oid::from_str(text).and_then(|id| self.git.find_commit(id));
        match id {
            Ok(commit) if commit.id().to_string() == text => Ok(commit.id()),
            _ => Err(WorktreeError::NoCommit {
                commit: shown(text.as_bytes()),
                place: shown_path(&self.place.root),
            }),
        }
    }
}

/// Reads contents until the limits are reached.
struct Reader {
    root: Root,
    /// What is left of them.
    limits: ContentLimits,
}

impl Reader {
    fn changed(
        &mut self,
        path: &[u8],
        different: &Different,
    ) -> Result<ChangedFile, WorktreeError> {
        let content = match different.entry {
            Some(entry) if entry.is_file() => self.content(path)?,
            _ => None,
        };
        let digest = match different.entry {
            None => Digest::of(&[b"deleted"]),
            Some(entry) => Digest::of(&[&entry.mode.to_le_bytes(), entry.id.as_bytes()]),
        };
        Ok(ChangedFile {
            path: shown(path),
            kind: different.kind,
            content,
            digest,
        })
    }

    fn content(&mut self, path: &[u8]) -> Result<Option<Vec<u8>>, WorktreeError> {
        if self.limits.files == 0 {
            return Ok(None);
        }
        let limit = self.limits.file_bytes.min(self.limits.total_bytes);
        let Some((file, stat)) = self.root.file(path)? else {
            return Ok(None);
        };
        if plain::size(&stat) > limit {
            return Ok(None);
        }
        let bytes = plain::read(&file, limit)
            .map_err(|error| WorktreeError::io(&self.root.path.join(name::path(path)), error))?;
        self.limits.files -= 1;
        self.limits.total_bytes -= bytes.len() as u64;
        Ok(Some(bytes))
    }
}
