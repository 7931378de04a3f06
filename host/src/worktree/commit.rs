//! Commits all of the work, through libgit2: no hook runs and nothing is signed.
//!
//! The order is: objects, index, branch. Until the branch moves, nothing is committed; a process that dies before
//! leaves objects that nobody refers to, or the work staged and not committed, which a person can finish with
//! `git commit` or take back with `git reset`. Branch before index would be worse: the next `git commit` of a person
//! would then undo the work. If the branch can't be moved, the index is put back as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use git2::{IndexEntry, Signature};

use super::error::WorktreeError;
use super::look::{Look, is_flagged, stage_of};
use super::name::{self, shown};
use super::repository::{ChangeKind, Entries, Open, Repository};

/// In whose name to commit, where the repository's settings name nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// A name.
    pub name: String,
    /// An address.
    pub email: String,
}

/// What came of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// All changes are in this commit, and the index equals it.
    Committed(String),
    /// Nothing is changed.
    Nothing,
    /// Nothing was touched.
    Refused(Refusal),
}

/// Why no commit was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody has staged something, or a merge left something to decide.
    Staged,
    /// A merge, a rebase or the like is under way.
    UnderWay(&'static str),
    /// HEAD is at no branch, or at one that is only another name.
    Detached,
    /// A changed file can't be read, or has a name that git refuses.
    Unreadable(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Staged => f.write_str("something is staged already"),
            Self::UnderWay(operation) => write!(f, "a {operation} is under way"),
            Self::Detached => f.write_str("HEAD is not at a branch"),
            Self::Unreadable(path) => write!(f, "{path} can't be read by git"),
        }
    }
}

impl Repository {
    /// Whether the index equals HEAD, for the whole repository.
    pub fn index_is_clean(&self) -> Result<bool, WorktreeError> {
        self.ask(Open::index_is_clean)
    }

    /// Commits everything in the workspace that is changed and neither ignored nor excluded to the current branch.
    ///
    /// Left out are nested repositories, and files that a person told git not to look at. After
    /// [`WorktreeError::TimedOut`] look at the branch: the commit may have been in its very last step.
    pub fn commit_all(
        &self,
        message: &str,
        fallback: &Identity,
    ) -> Result<CommitOutcome, WorktreeError> {
        let (message, fallback) = (message.to_owned(), fallback.clone());
        self.ask(move |open| open.commit_all(&message, &fallback))
    }
}

impl Open {
    fn index_is_clean(&self) -> Result<bool, WorktreeError> {
        let index = self
            .git
            .index()
            .map_err(self.place.failed("read the index"))?;
        let mut head = Entries::clone(&*self.head_entries()?);
        let is_same = |entry: IndexEntry| {
            let before = head.remove(&entry.path);
            stage_of(&entry) == 0
                && before.is_some_and(|before| before.mode == entry.mode && before.id == entry.id)
        };
        let same = index.iter().all(is_same);
        Ok(same && head.is_empty())
    }

    fn commit_all(
        &self,
        message: &str,
        fallback: &Identity,
    ) -> Result<CommitOutcome, WorktreeError> {
        let branch = match self.branch_to_commit_to()? {
            Ok(branch) => branch,
            Err(refusal) => return Ok(CommitOutcome::Refused(refusal)),
        };
        let work = Look::take(self)?.work;
        let work: BTreeMap<_, _> = work
            .into_iter()
            .filter(|(path, kind)| self.place.inside(path).is_some() && *kind != ChangeKind::Nested)
            .collect();
        if let Some((path, _)) = work
            .iter()
            .find(|(_, kind)| **kind == ChangeKind::Unreadable)
        {
            let path = self.place.inside(path).unwrap_or(path);
            return Ok(CommitOutcome::Refused(Refusal::Unreadable(shown(path))));
        }
        let signature = self.signature(fallback)?;
        self.write(&branch, &work, message, &signature)
    }

    /// The full name of the branch, if this is a moment to commit to it.
    fn branch_to_commit_to(&self) -> Result<Result<String, Refusal>, WorktreeError> {
        if let Some(operation) = self.operation() {
            return Ok(Err(Refusal::UnderWay(operation)));
        }
        let head = self
            .git
            .find_reference("HEAD")
            .map_err(self.place.failed("find HEAD"))?;
        let Ok(Some(branch)) = head.symbolic_target() else {
            return Ok(Err(Refusal::Detached));
        };
        let leads_on = self
            .git
            .find_reference(branch)
            .is_ok_and(|reference| reference.symbolic_target_bytes().is_some());
        if leads_on || !branch.starts_with("refs/heads/") {
            return Ok(Err(Refusal::Detached));
        }
        if !self.index_is_clean()? {
            return Ok(Err(Refusal::Staged));
        }
        Ok(Ok(branch.to_owned()))
    }

    fn write(
        &self,
        branch: &str,
        work: &BTreeMap<Vec<u8>, ChangeKind>,
        message: &str,
        signature: &Signature<'_>,
    ) -> Result<CommitOutcome, WorktreeError> {
        let failed = self.place.failed("commit the work");
        let mut index = self.git.index().map_err(&failed)?;
        let before: Vec<IndexEntry> = index.iter().collect();
        stage(&mut index, work, &before).map_err(&failed)?;
        let tree = index
            .write_tree()
            .and_then(|id| self.git.find_tree(id))
            .map_err(&failed)?;
        let head = self
            .head()?
            .map(|id| self.git.find_commit(id))
            .transpose()
            .map_err(&failed)?;
        let same = match &head {
            Some(head) => head.tree_id() == tree.id(),
            None => tree.is_empty(),
        };
        if same {
            return Ok(CommitOutcome::Nothing);
        }
        self.go_on()?;
        index.write().map_err(&failed)?;
        let parents: Vec<&git2::Commit<'_>> = head.iter().collect();
        let moved = self.go_on().and_then(|()| {
            self.git
                .commit(Some(branch), signature, signature, message, &tree, &parents)
                .map_err(&failed)
        });
        match moved {
            Ok(id) => Ok(CommitOutcome::Committed(id.to_string())),
            Err(error) => {
                put_back(&mut index, &before).map_err(&failed)?;
                Err(error)
            }
        }
    }

    /// Nothing is written for somebody who has been told that it took too long.
    fn go_on(&self) -> Result<(), WorktreeError> {
        if self.abandoned.is_set() {
            return Err(WorktreeError::Stopped {
                place: name::shown_path(&self.place.root),
            });
        }
        Ok(())
    }

    /// Who commits. The settings are the agent's to write: a line break in a name would forge the commit's fields.
    fn signature(&self, fallback: &Identity) -> Result<Signature<'static>, WorktreeError> {
        let failed = self.place.failed("name who commits");
        let config = self.git.config().map_err(&failed)?;
        let setting = |key: &str, fallback: &str| {
            let set = config
                .get_string(key)
                .map(|text| clean(&text))
                .unwrap_or_default();
            if set.is_empty() { clean(fallback) } else { set }
        };
        let name = setting("user.name", &fallback.name);
        let email = setting("user.email", &fallback.email);
        Signature::now(&name, &email).map_err(&failed)
    }
}

fn clean(text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|character| !character.is_control() && !matches!(character, '<' | '>'))
        .collect();
    text.trim().to_owned()
}

/// Puts the work into an index in memory, and its content into the repository.
fn stage(
    index: &mut git2::Index,
    work: &BTreeMap<Vec<u8>, ChangeKind>,
    before: &[IndexEntry],
) -> Result<(), git2::Error> {
    let flagged: BTreeSet<&[u8]> = before
        .iter()
        .filter(|entry| is_flagged(entry))
        .map(|entry| entry.path.as_slice())
        .collect();
    let work = || {
        work.iter()
            .filter(|(path, _)| !flagged.contains(path.as_slice()))
    };
    // First what is gone: a folder may have taken the place of a file.
    for (path, kind) in work() {
        if *kind == ChangeKind::Deleted {
            index.remove_path(name::path(path))?;
        }
    }
    for (path, kind) in work() {
        if *kind != ChangeKind::Deleted {
            index.add_path(name::path(path))?;
        }
    }
    Ok(())
}

fn put_back(index: &mut git2::Index, before: &[IndexEntry]) -> Result<(), git2::Error> {
    index.clear()?;
    for entry in before {
        index.add(entry)?;
    }
    index.write()
}
