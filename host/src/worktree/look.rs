//! One look at the work: what the index says, what the files say, and the tree that a commit of all of it would have.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;

use git2::{
    Delta, DiffOptions, Index, IndexEntry, IndexEntryExtendedFlag, IndexEntryFlag, IndexTime, Oid,
};

use super::error::WorktreeError;
use super::excluded::within;
use super::guard;
use super::limits::{DEPTH_LIMIT, ENTRY_LIMIT};
use super::name::{self, shown_path};
use super::repository::{ChangeKind, Open, Trust};

/// The mode of a nested repository in a tree of ours; git has none for it.
const NESTED: u32 = 0o040_000;
/// The mode of something that can't be read.
const UNREADABLE: u32 = 0;
const PLAIN_FILE: u32 = 0o100_644;
const SUBMODULE: u32 = 0o160_000;

/// What a tree holds at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: u32,
    pub(super) id: Oid,
}

impl Entry {
    /// File, link, submodule.
    pub(super) fn kind(&self) -> u32 {
        self.mode & 0o170_000
    }

    pub(super) fn is_file(&self) -> bool {
        self.kind() == PLAIN_FILE & 0o170_000
    }
}

/// One look at the work inside of the workspace. Paths are the repository's.
pub(super) struct Look {
    /// What the index holds.
    pub(super) index: BTreeMap<Vec<u8>, Entry>,
    pub(super) unmerged: BTreeSet<Vec<u8>>,
    /// In what way files are not as in the index.
    pub(super) work: BTreeMap<Vec<u8>, ChangeKind>,
    /// What a commit of all files would hold.
    pub(super) tree: BTreeMap<Vec<u8>, Entry>,
    /// Files that are missing and that the index says not to look for.
    pub(super) left_out: BTreeSet<Vec<u8>>,
}

impl Look {
    pub(super) fn take(open: &Open) -> Result<Self, WorktreeError> {
        let failed = open.place.failed("read the index");
        let index = open.git.index().map_err(&failed)?;
        if index.len() > ENTRY_LIMIT {
            return Err(WorktreeError::TooMany {
                place: shown_path(index.path().unwrap_or(&open.place.root)),
                limit: ENTRY_LIMIT,
            });
        }
        let entries: Vec<IndexEntry> = index
            .iter()
            .filter(|entry| within(&entry.path, &open.place.prefix))
            .collect();
        let tracked: BTreeSet<&[u8]> = entries.iter().map(|entry| entry.path.as_slice()).collect();
        guard::check_files(&open.git, &open.place.root, &open.place.prefix, &tracked)?;
        let (staged, unmerged): (Vec<_>, Vec<_>) =
            entries.iter().partition(|entry| stage_of(entry) == 0);
        let mut look = Self {
            index: staged
                .iter()
                .map(|entry| (entry.path.clone(), Entry::of(entry)))
                .collect(),
            unmerged: unmerged.iter().map(|entry| entry.path.clone()).collect(),
            work: BTreeMap::new(),
            tree: BTreeMap::new(),
            left_out: BTreeSet::new(),
        };
        look.compare(open, &index, &staged)?;
        Ok(look)
    }

    /// Compares the files with the index, and finds the content of those that differ.
    fn compare(
        &mut self,
        open: &Open,
        index: &Index,
        staged: &[&IndexEntry],
    ) -> Result<(), WorktreeError> {
        let failed = open.place.failed("compare the files with the index");
        // Where nothing in it hides a file, it can be used as git itself would use it.
        let is_plain = open.place.trust == Trust::Stamps
            && self.unmerged.is_empty()
            && !staged.iter().any(|entry| is_flagged(entry));
        let made = if is_plain {
            None
        } else {
            Some(believed(open, index, staged, &self.unmerged).map_err(&failed)?)
        };
        let believed = made.as_ref().unwrap_or(index);
        let mut found = differences(open, believed, None).map_err(&failed)?;
        // Before contents are read: the gate's own memory grows with every iteration.
        found.retain(|path, _| open.place.inside(path).is_some());
        for entry in staged.iter().filter(|entry| is_skipped(entry)) {
            let is_missing = |found: &Found| found.kind == ChangeKind::Deleted;
            if found.get(&entry.path).is_some_and(is_missing) {
                found.remove(&entry.path);
                self.left_out.insert(entry.path.clone());
            }
        }
        let unknown: BTreeMap<&[u8], u32> = found
            .iter()
            .filter(|(_, found)| found.needs_content())
            .map(|(path, found)| (path.as_slice(), found.entry.mode))
            .collect();
        let known = contents(open, &unknown).map_err(&failed)?;
        self.tree = self.index.clone();
        for (path, mut found) in found {
            if found.needs_content() {
                found.complete(known.get(&path));
            }
            self.note(path, &found);
        }
        self.tree
            .retain(|path, _| open.place.inside(path).is_some());
        Ok(())
    }

    fn note(&mut self, path: Vec<u8>, found: &Found) {
        let kind = if self.unmerged.contains(&path) {
            ChangeKind::Unmerged
        } else {
            found.kind
        };
        if found.kind == ChangeKind::Deleted {
            self.tree.remove(&path);
        } else {
            self.tree.insert(path.clone(), found.entry);
        }
        self.work.insert(path, kind);
    }
}

impl Entry {
    fn of(entry: &IndexEntry) -> Self {
        Self {
            mode: entry.mode,
            id: entry.id,
        }
    }
}

pub(super) fn stage_of(entry: &IndexEntry) -> u16 {
    (entry.flags >> 12) & 3
}

fn is_assumed(entry: &IndexEntry) -> bool {
    IndexEntryFlag::from_bits_truncate(entry.flags).is_valid()
}

fn is_skipped(entry: &IndexEntry) -> bool {
    IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended).is_skip_worktree()
}

/// Whether a person told git not to look at the file.
pub(super) fn is_flagged(entry: &IndexEntry) -> bool {
    is_assumed(entry) || is_skipped(entry)
}

/// The index as far as it is believed: in memory, without the marks that hide a file from git.
///
/// An entry whose time stamps are not older than the index itself is not believed: the file may have changed in the
/// same instant. libgit2 does the same, but only for an index that it read itself.
fn believed(
    open: &Open,
    index: &Index,
    entries: &[&IndexEntry],
    unmerged: &BTreeSet<Vec<u8>>,
) -> Result<Index, git2::Error> {
    let written = index
        .path()
        .and_then(|path| path.symlink_metadata().ok())
        .map_or((0, 0), |metadata| (metadata.mtime(), metadata.mtime_nsec()));
    let mut believed = Index::new()?;
    for entry in entries {
        let changed = (
            i64::from(entry.mtime.seconds()),
            // Some programs write none.
            Some(i64::from(entry.mtime.nanoseconds()))
                .filter(|nanoseconds| *nanoseconds > 0)
                .unwrap_or(i64::MAX),
        );
        let trusted = open.place.trust == Trust::Stamps && changed < written;
        believed.add(&if trusted {
            without_marks(entry)
        } else {
            unread(entry.path.clone(), entry.mode, entry.id)
        })?;
    }
    for path in unmerged {
        believed.add(&unread(path.clone(), PLAIN_FILE, nothing_known()))?;
    }
    Ok(believed)
}

fn without_marks(entry: &IndexEntry) -> IndexEntry {
    IndexEntry {
        flags: 0,
        flags_extended: 0,
        path: entry.path.clone(),
        ..*entry
    }
}

/// An entry that can only be compared by reading the file.
fn unread(path: Vec<u8>, mode: u32, id: Oid) -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(0, 0),
        mtime: IndexTime::new(0, 0),
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path,
    }
}

/// An id that no content has, so that libgit2 finds every file changed and says the id of what is there.
fn nothing_known() -> Oid {
    Oid::from_bytes(&[0xff; 20]).unwrap_or(Oid::ZERO_SHA1)
}

/// In what way a path differs, and what is there now. An id of zeros is not known yet.
struct Found {
    kind: ChangeKind,
    entry: Entry,
}

impl Found {
    fn needs_content(&self) -> bool {
        let has_some = matches!(
            self.kind,
            ChangeKind::Modified | ChangeKind::Retyped | ChangeKind::Untracked
        );
        has_some && self.entry.id.is_zero()
    }

    /// What libgit2 does not say was taken away meanwhile, or can't be read, or has a name that git refuses.
    fn complete(&mut self, id: Option<&Oid>) {
        match id {
            Some(id) if !id.is_zero() => self.entry.id = *id,
            _ => {
                self.kind = ChangeKind::Unreadable;
                self.entry.mode = UNREADABLE;
            }
        }
    }
}

/// Asks libgit2 in what way the files differ from an index: all in the workspace, or those at some paths.
fn differences(
    open: &Open,
    index: &Index,
    paths: Option<&BTreeMap<&[u8], u32>>,
) -> Result<BTreeMap<Vec<u8>, Found>, git2::Error> {
    let mut options = DiffOptions::new();
    options
        .include_typechange(true)
        .include_unreadable(true)
        .ignore_submodules(true)
        .disable_pathspec_match(true)
        .skip_binary_check(true)
        .enable_fast_untracked_dirs(true);
    match paths {
        None => {
            options.include_untracked(true).recurse_untracked_dirs(true);
            if !open.place.prefix.is_empty() {
                options.pathspec(name::path(&open.place.prefix));
            }
        }
        Some(paths) => {
            for path in paths.keys() {
                options.pathspec(name::path(path));
            }
        }
    }
    let diff = open
        .git
        .diff_index_to_workdir(Some(index), Some(&mut options))?;
    Ok(diff
        .deltas()
        .filter_map(|delta| difference(&delta))
        .collect())
}

fn difference(delta: &git2::DiffDelta<'_>) -> Option<(Vec<u8>, Found)> {
    let file = delta.new_file();
    let path = file
        .path_bytes()
        .or_else(|| delta.old_file().path_bytes())?;
    let (path, is_folder) = match path.strip_suffix(b"/") {
        Some(folder) => (folder, true),
        None => (path, false),
    };
    let kind = match delta.status() {
        Delta::Untracked if is_folder => ChangeKind::Nested,
        Delta::Untracked | Delta::Added => ChangeKind::Untracked,
        Delta::Modified => ChangeKind::Modified,
        Delta::Typechange => ChangeKind::Retyped,
        Delta::Deleted => ChangeKind::Deleted,
        Delta::Unreadable => ChangeKind::Unreadable,
        _ => return None,
    };
    let mode = match kind {
        ChangeKind::Deleted | ChangeKind::Unreadable => UNREADABLE,
        ChangeKind::Nested => NESTED,
        _ => u32::from(file.mode()),
    };
    let kind = if mode == SUBMODULE || mode == NESTED {
        ChangeKind::Nested
    } else {
        kind
    };
    // Zeros if libgit2 did not have to read the file.
    let entry = Entry {
        mode,
        id: file.id(),
    };
    Some((path.to_vec(), Found { kind, entry }))
}

/// The ids that the content of some files would have in git, without writing anything.
///
/// libgit2 is shown an index in which these files have another content, and says what they have. So line endings
/// are treated exactly as in a commit.
fn contents(
    open: &Open,
    paths: &BTreeMap<&[u8], u32>,
) -> Result<BTreeMap<Vec<u8>, Oid>, git2::Error> {
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut index = Index::new()?;
    for (path, mode) in paths {
        // Refused are names that git never takes, such as `git~1`.
        let _ = index.add(&unread(path.to_vec(), *mode, nothing_known()));
    }
    let found = differences(open, &index, Some(paths))?;
    Ok(found
        .into_iter()
        .map(|(path, found)| (path, found.entry.id))
        .collect())
}

/// All files of a tree and of those inside of it.
pub(super) fn flatten(
    open: &Open,
    tree: &git2::Tree<'_>,
) -> Result<BTreeMap<Vec<u8>, Entry>, WorktreeError> {
    let mut entries = BTreeMap::new();
    let mut rest = vec![(Vec::new(), tree.id(), 0)];
    let mut count = 0;
    while let Some((path, id, depth)) = rest.pop() {
        let tree = open
            .git
            .find_tree(id)
            .map_err(open.place.failed("read a commit"))?;
        count += tree.len();
        if count > ENTRY_LIMIT {
            return Err(WorktreeError::TooMany {
                place: shown_path(&open.place.root),
                limit: ENTRY_LIMIT,
            });
        }
        if depth > DEPTH_LIMIT {
            return Err(WorktreeError::TooDeep {
                place: shown_path(&open.place.root.join(name::path(&path))),
                limit: DEPTH_LIMIT,
            });
        }
        for entry in &tree {
            let path = name::join(&path, entry.name_bytes());
            let mode = u32::try_from(entry.filemode()).unwrap_or(UNREADABLE);
            if entry.kind() == Some(git2::ObjectType::Tree) {
                rest.push((path, entry.id(), depth + 1));
            } else {
                entries.insert(
                    path,
                    Entry {
                        mode,
                        id: entry.id(),
                    },
                );
            }
        }
    }
    Ok(entries)
}
