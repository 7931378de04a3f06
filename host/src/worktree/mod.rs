//! What the work looks like on disk: a git repository, the files that may not change, and an optional commit.
//!
//! The agent whose work is looked at controls every byte in the workspace, `.git` included. So:
//!
//! - git is libgit2 inside this process: no hook, no external filter and no other program is ever run.
//! - Files are opened relative to folders that are open already, never through a link, and only if they are plain
//!   files: nothing leads out of the workspace and no pipe is waited for. What libgit2 itself would open by path is
//!   looked at first, and refused unless it is a plain file.
//! - Each question to git has a time limit, should a background process of the agent swap a file after that look.
//! - Numbers and sizes have limits; beyond them there is an error that names the value and the limit.
//!
//! Everything is about the workspace: where it is a folder inside of a larger repository, what lies outside does not
//! count. Paths are relative to the workspace, as text: see [`shown`] for names that are not.
//!
//! A nested repository (a folder with a `.git` of its own) counts as one thing that is there or not; its content
//! does not count and is never committed. A submodule counts as the commit that the index names. If git tracks files
//! inside of such a folder, then the folder is one like any other.
//!
//! [`Baseline`] does not use git at all.

mod bounded;
mod commit;
mod committed;
mod error;
mod excluded;
mod fresh;
mod guard;
mod items;
mod limits;
mod link;
mod look;
mod markers;
mod matching;
mod name;
mod part;
mod pattern;
mod plain;
mod protected;
mod repository;
mod rules;
mod shadow;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub use bounded::{BOUNDED_BYTES, BOUNDED_FILES, HEAVY_DIRECTORIES, bounded_files};
pub use commit::{CommitOutcome, Identity, Refusal};
pub use committed::Uncommitted;
pub use error::WorktreeError;
pub use fresh::begin_repository;
pub use limits::{ContentLimits, DEPTH_LIMIT, ENTRY_LIMIT, FILE_LIMIT};
pub use markers::{ConflictMarker, ConflictMarkers};
pub use matching::{MatchingFile, matching_files};
pub use name::shown;
pub use pattern::check_pattern;
pub use protected::{Baseline, Difference, DifferenceKind, Rule, Stamps, Taken};
pub use ralph_gate_memory::Digest;
pub use repository::{Change, ChangeKind, GitState, Repository, Settings, Trust};
pub use rules::Protection;
pub use tree::{ChangedFile, ChangedKind, TreeDigest};
pub use walk::Kind;
