//! The git repository that the workspace is in, and what state it is in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use git2::{ErrorCode, RepositoryOpenFlags, RepositoryState};

use super::error::WorktreeError;
use super::excluded::Excluded;
use super::guard::{self, Abandoned, PlainFolders};
use super::look::{Entry, Look, flatten};
use super::name::{self, shown, shown_path};

/// How long git may take for one answer, unless told otherwise.
const PATIENCE: Duration = Duration::from_mins(2);

/// How a repository is looked at.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folders relative to the workspace that never count, such as the gate's memory.
    pub excluded: Vec<String>,
    /// Whether the index is believed.
    pub trust: Trust,
    /// How long git may take for one answer.
    pub patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            excluded: Vec::new(),
            trust: Trust::Stamps,
            patience: PATIENCE,
        }
    }
}

/// Whether the index is believed, which is a file that the agent can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// As git does it: a file whose size and time stamps are those in the index has the content that the index says.
    /// An agent that makes an index by hand can hide a change.
    Stamps,
    /// Every tracked file is read.
    Nothing,
}

/// The git repository that the workspace is in. Each question opens it anew and looks at the disk.
#[derive(Debug, Clone)]
pub struct Repository {
    place: Arc<Place>,
}

/// Where the files are.
#[derive(Debug)]
pub(super) struct Place {
    /// The repository's work tree.
    pub(super) root: PathBuf,
    pub(super) workspace: PathBuf,
    /// The workspace, relative to the work tree. Empty if they are the same.
    pub(super) prefix: Vec<u8>,
    pub(super) excluded: Excluded,
    pub(super) trust: Trust,
    patience: Duration,
    /// What was found to be in order before.
    pub(super) seen: PlainFolders,
    /// The files of a commit that was asked for before; a commit never changes.
    flattened: Mutex<Option<(git2::Oid, Arc<Entries>)>>,
}

/// What a tree holds, by path.
pub(super) type Entries = BTreeMap<Vec<u8>, Entry>;

impl Place {
    /// A path of the repository as one of the workspace. None if it is outside or excluded.
    pub(super) fn inside<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let path = match self.prefix.as_slice() {
            b"" => path,
            prefix => path.strip_prefix(prefix)?.strip_prefix(b"/")?,
        };
        (!self.excluded.covers(path)).then_some(path)
    }

    /// A path of the workspace as one of the repository.
    pub(super) fn in_repository(&self, path: &[u8]) -> Vec<u8> {
        name::join(&self.prefix, path)
    }

    pub(super) fn failed(&self, task: &'static str) -> impl Fn(git2::Error) -> WorktreeError {
        move |error| WorktreeError::git(task, &self.root, &error)
    }
}

/// A repository that is open for one question.
pub(super) struct Open {
    pub(super) git: git2::Repository,
    pub(super) place: Arc<Place>,
    pub(super) abandoned: Abandoned,
}

/// What state the repository is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitState {
    /// The branch; none if HEAD is detached.
    pub branch: Option<String>,
    /// The commit; none if there is no commit yet.
    pub head: Option<String>,
    /// What is staged, changed or untracked, and not ignored; sorted.
    pub changes: Vec<Change>,
    /// The files that a merge left for somebody to decide, sorted.
    pub unmerged: Vec<String>,
    /// What is under way: `merge`, `rebase` and the like.
    pub operation: Option<&'static str>,
    /// Files that are missing and count as unchanged, because the index says not to look for them; sorted. A sparse
    /// checkout does that, and an agent that hides what it deleted.
    pub left_out: Vec<String>,
}

/// A path that is not as in HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the workspace, as [`shown`](super::shown).
    pub path: String,
    /// The index against HEAD.
    pub staged: Option<ChangeKind>,
    /// The file against the index.
    pub unstaged: Option<ChangeKind>,
}

/// In what way a path is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// New.
    Added,
    /// Another content, or executable and was not, or the reverse.
    Modified,
    /// Gone.
    Deleted,
    /// A link that was a file, and the like.
    Retyped,
    /// Not known to git.
    Untracked,
    /// A repository of its own.
    Nested,
    /// Left by a merge for somebody to decide.
    Unmerged,
    /// Can't be read, or has a name that git refuses. That it is there counts, not its content.
    Unreadable,
}

impl Repository {
    /// Looks for a repository from the workspace upwards. None if there is none.
    ///
    /// A `.git` that is there and can't be used is not passed over: otherwise an agent could break the repository to
    /// have another one looked at. Every question to it is an error.
    pub fn discover(workspace: &Path, settings: &Settings) -> Result<Option<Self>, WorktreeError> {
        let workspace = workspace
            .canonicalize()
            .map_err(|error| WorktreeError::io(workspace, error))?;
        let Some(root) = find(&workspace)? else {
            return Ok(None);
        };
        let prefix = workspace.strip_prefix(&root).unwrap_or(Path::new(""));
        let repository = Self {
            place: Arc::new(Place {
                prefix: name::bytes(prefix).to_vec(),
                root,
                excluded: Excluded::new(&settings.excluded)?,
                trust: settings.trust,
                patience: settings.patience,
                seen: PlainFolders::default(),
                flattened: Mutex::new(None),
                workspace,
            }),
        };
        Ok(Some(repository))
    }

    /// Whether git ignores a path of the workspace, there or not. A folder's name ends with `/`.
    pub fn ignores(&self, path: &str) -> Result<bool, WorktreeError> {
        let path = path.as_bytes().to_vec();
        self.ask(move |open| {
            let path = name::join(&open.place.prefix, &path);
            let ignored = open.git.is_path_ignored(name::path(&path));
            ignored.map_err(open.place.failed("ask whether a path is ignored"))
        })
    }

    /// Whether commits were added to an earlier one, or whether there are any where there were none.
    pub fn is_ahead_of(&self, earlier: Option<&str>) -> Result<bool, WorktreeError> {
        let earlier = earlier.map(str::to_owned);
        self.ask(move |open| match (open.head()?, earlier) {
            (None, _) => Ok(false),
            (Some(_), None) => Ok(true),
            (Some(head), Some(earlier)) => {
                let earlier = open.commit_id(&earlier)?;
                let ahead = open.git.graph_descendant_of(head, earlier);
                ahead.map_err(open.place.failed("compare two commits"))
            }
        })
    }

    /// What state it is in now.
    pub fn state(&self) -> Result<GitState, WorktreeError> {
        self.ask(Open::state)
    }

    /// Opens the repository in a thread of its own and asks it something.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Open) -> Result<T, WorktreeError> + Send + 'static,
    ) -> Result<T, WorktreeError> {
        let place = Arc::clone(&self.place);
        guard::within(self.place.patience, &self.place.root, move |abandoned| {
            question(&Open::new(place, abandoned)?)
        })
    }
}

/// The folder with a `.git` that is nearest.
fn find(workspace: &Path) -> Result<Option<PathBuf>, WorktreeError> {
    for folder in workspace.ancestors() {
        if folder.join(".git").symlink_metadata().is_ok() {
            return Ok(Some(folder.to_owned()));
        }
        let is = |name: &str| folder.join(name).symlink_metadata().is_ok();
        if is("HEAD") && is("objects") && is("refs") {
            return Err(WorktreeError::Bare {
                place: shown_path(folder),
            });
        }
    }
    Ok(None)
}

impl Open {
    fn new(place: Arc<Place>, abandoned: Abandoned) -> Result<Self, WorktreeError> {
        guard::check_repository(&place.root, &place.seen)?;
        let none: [&str; 0] = [];
        let git = git2::Repository::open_ext(&place.root, RepositoryOpenFlags::NO_SEARCH, none)
            .map_err(place.failed("open the repository"))?;
        check_belongs(&git, &place.root)?;
        guard::check_settings(&git)?;
        Ok(Self {
            git,
            place,
            abandoned,
        })
    }

    fn state(&self) -> Result<GitState, WorktreeError> {
        let look = Look::take(self)?;
        let changes = changes(&*self.head_entries()?, &look);
        let inside = |path: &Vec<u8>| self.place.inside(path).map(shown);
        Ok(GitState {
            branch: self.branch()?.map(|name| shown(&name)),
            head: self.head()?.map(|id| id.to_string()),
            changes: changes
                .into_iter()
                .filter_map(|(path, (staged, unstaged))| {
                    Some(Change {
                        path: inside(&path)?,
                        staged,
                        unstaged,
                    })
                })
                .collect(),
            unmerged: look.unmerged.iter().filter_map(inside).collect(),
            operation: self.operation(),
            left_out: look.left_out.iter().filter_map(inside).collect(),
        })
    }

    /// What HEAD leads to if it is not detached: the name of a branch, without `refs/heads/`.
    pub(super) fn branch(&self) -> Result<Option<Vec<u8>>, WorktreeError> {
        let head = self
            .git
            .find_reference("HEAD")
            .map_err(self.place.failed("find HEAD"))?;
        let target = head.symbolic_target_bytes();
        Ok(target.map(|name| name.strip_prefix(b"refs/heads/").unwrap_or(name).to_vec()))
    }

    /// The newest commit of the branch. None if there is no commit yet.
    pub(super) fn head(&self) -> Result<Option<git2::Oid>, WorktreeError> {
        match self.git.refname_to_id("HEAD") {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(self.place.failed("find HEAD")(error)),
        }
    }

    /// All files of the newest commit.
    pub(super) fn head_entries(&self) -> Result<Arc<Entries>, WorktreeError> {
        match self.head()? {
            None => Ok(Arc::default()),
            Some(id) => self.commit_entries(id),
        }
    }

    pub(super) fn commit_entries(&self, id: git2::Oid) -> Result<Arc<Entries>, WorktreeError> {
        let mut flattened = self
            .place
            .flattened
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*flattened {
            Some((known, entries)) if *known == id => Ok(Arc::clone(entries)),
            _ => {
                let entries = Arc::new(self.flatten_commit(id)?);
                *flattened = Some((id, Arc::clone(&entries)));
                Ok(entries)
            }
        }
    }

    fn flatten_commit(&self, id: git2::Oid) -> Result<Entries, WorktreeError> {
        let failed = self.place.failed("read a commit");
        let tree = self
            .git
            .find_commit(id)
            .and_then(|commit| commit.tree())
            .map_err(&failed)?;
        flatten(self, &tree)
    }

    /// What is under way.
    pub(super) fn operation(&self) -> Option<&'static str> {
        match self.git.state() {
            RepositoryState::Clean => None,
            RepositoryState::Merge => Some("merge"),
            RepositoryState::Revert | RepositoryState::RevertSequence => Some("revert"),
            RepositoryState::CherryPick | RepositoryState::CherryPickSequence => {
                Some("cherry-pick")
            }
            RepositoryState::Bisect => Some("bisect"),
            RepositoryState::Rebase
            | RepositoryState::RebaseInteractive
            | RepositoryState::RebaseMerge => Some("rebase"),
            RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => Some("am"),
        }
    }
}

/// A repository belongs to the folder that its `.git` is in. If that is only a pointer to elsewhere, then what it
/// points to must point back: otherwise an agent could have a commit made in somebody else's repository.
fn check_belongs(git: &git2::Repository, root: &Path) -> Result<(), WorktreeError> {
    let Some(files) = git.workdir() else {
        return Err(WorktreeError::Bare {
            place: shown_path(root),
        });
    };
    let other = |path: &Path| WorktreeError::OtherFiles {
        place: shown_path(root),
        other: shown_path(path),
    };
    if files.canonicalize().ok().as_deref() != Some(root) {
        return Err(other(files));
    }
    let link = root.join(".git");
    let is_pointer = link
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_file());
    let is_whole = git.commondir() == git.path();
    let points_back = || {
        git.config()
            .is_ok_and(|config| config.get_path("core.worktree").is_ok())
    };
    let belongs = match (is_pointer, git.is_worktree()) {
        (false, _) => is_whole,
        (true, true) => is_listed(git, &link),
        (true, false) => is_whole && points_back(),
    };
    if !belongs {
        return Err(other(git.commondir()));
    }
    Ok(())
}

/// Whether a repository knows of the work tree: it keeps a folder for each of its own.
fn is_listed(git: &git2::Repository, link: &Path) -> bool {
    let own = git.path().canonicalize().ok();
    let kept = git.commondir().join("worktrees").canonicalize().ok();
    let is_kept = own
        .as_deref()
        .and_then(Path::parent)
        .is_some_and(|folder| Some(folder) == kept.as_deref());
    let named = guard::pointer(&git.path().join("gitdir")).ok().flatten();
    let named = named.and_then(|named| name::path(&named).canonicalize().ok());
    is_kept && named.is_some() && named == link.canonicalize().ok()
}

type Kinds = (Option<ChangeKind>, Option<ChangeKind>);

fn changes(head: &BTreeMap<Vec<u8>, Entry>, look: &Look) -> BTreeMap<Vec<u8>, Kinds> {
    let mut changes: BTreeMap<Vec<u8>, Kinds> = BTreeMap::new();
    let paths: BTreeSet<&Vec<u8>> = head.keys().chain(look.index.keys()).collect();
    for path in paths {
        let kind = match (head.get(path), look.index.get(path)) {
            (None, _) => ChangeKind::Added,
            (Some(_), None) if look.unmerged.contains(path) => continue,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(before), Some(now)) if before == now => continue,
            (Some(before), Some(now)) if before.kind() != now.kind() => ChangeKind::Retyped,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        changes.entry(path.clone()).or_default().0 = Some(kind);
    }
    for (path, kind) in &look.work {
        changes.entry(path.clone()).or_default().1 = Some(*kind);
    }
    changes
}
