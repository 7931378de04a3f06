//! Files that may not change while a loop runs. Looks at the disk itself and asks no git.
//!
//! What decides are digests. [`Stamps`] only spare the reading of files that were read before in the same process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::Stat;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::error::WorktreeError;
use super::excluded::Excluded;
use super::name::{self, shown};
use super::pattern::Patterns;
use super::plain::{self, Root, Stamp, absent};
use super::walk::{Item, Kind, Step, Visitor, walk};
use ralph_gate_memory::digest::Digest;

/// What the protected files looked like when the loop began.
///
/// Holds nothing that depends on the machine: a copy of the workspace compares the same. Folders named `.git` are
/// passed over. Empty folders do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    patterns: Vec<String>,
    excluded: Vec<String>,
    files: BTreeMap<String, Seen>,
}

/// What a protected path looked like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Seen {
    File(Content),
    Executable(Content),
    /// The digest is that of where it leads.
    Link {
        digest: Digest,
    },
    Special,
}

/// A file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    size: u64,
    digest: Digest,
}

/// A fresh baseline, and what the caller may want to say about it.
#[derive(Debug)]
pub struct Taken {
    /// The baseline.
    pub baseline: Baseline,
    /// The patterns that match no file.
    pub unmatched: Vec<String>,
    /// For the first comparison.
    pub stamps: Stamps,
}

/// A protected path that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Relative to the workspace, as [`shown`](super::shown).
    pub path: String,
    /// In what way.
    pub kind: DifferenceKind,
}

/// In what way a protected path is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// It was not there.
    Added,
    /// It is no longer there, or is no longer reached without a link on the way.
    Removed,
    /// Another content, another target of a link, or executable and was not, or the reverse.
    Changed,
    /// A file, link, folder or special file that was another of these.
    Retyped,
    /// Can't be read any more, so that nobody knows.
    Unreadable,
}

/// What spares the reading of files that were read before.
///
/// A file is taken as unchanged if its size, inode, device and both its time stamps are the same. An agent can set
/// the time of modification at will, but not that of the inode's change, unless it is root and sets the clock. Files
/// that changed within two seconds before they were read are read again. What remains: a process that has mapped
/// the file into its memory may write to it for some seconds before the system notes a change. So where it counts
/// most, as before a loop is let go as completed, compare with `Stamps::default()`, which reads everything.
#[derive(Debug, Clone, Default)]
pub struct Stamps(BTreeMap<Vec<u8>, (Stamp, Digest)>);

impl Baseline {
    /// Notes what the files look like that match the patterns: globs relative to the workspace, where a pattern
    /// without a slash matches at any depth, a folder stands for everything inside, and `!` takes out again.
    pub fn take(
        workspace: &Path,
        patterns: &[String],
        excluded: &[String],
    ) -> Result<Taken, WorktreeError> {
        let mut taking = Taking {
            files: BTreeMap::new(),
            used: BTreeSet::new(),
            stamps: Stamps::default(),
        };
        let compiled = look(workspace, patterns, excluded, &mut taking)?;
        let unused = |(index, _): &(usize, &String)| !taking.used.contains(index);
        let unmatched = compiled.texts().iter().enumerate().filter(unused);
        Ok(Taken {
            unmatched: unmatched.map(|(_, text)| text.clone()).collect(),
            baseline: Self {
                patterns: patterns.to_vec(),
                excluded: excluded.to_vec(),
                files: taking.files,
            },
            stamps: taking.stamps,
        })
    }

    /// Goes on protecting what was protected before as it was then, as far as the patterns still name it.
    pub fn keep(&mut self, before: &Self) -> Result<(), WorktreeError> {
        let (named, named_before) = (
            Patterns::new(&self.patterns)?,
            Patterns::new(&before.patterns)?,
        );
        let is = |patterns: &Patterns, path: &str| !patterns.matching(path.as_bytes()).is_empty();
        // What was named and not found was not there.
        self.files.retain(|path, _| !is(&named_before, path));
        let kept = before.files.iter().filter(|(path, _)| is(&named, path));
        self.files
            .extend(kept.map(|(path, seen)| (path.clone(), *seen)));
        Ok(())
    }

    /// What is different now, sorted by path.
    ///
    /// Reads only files that have the size they had: one that an agent blew up costs nothing.
    pub fn compare(
        &self,
        workspace: &Path,
        stamps: &mut Stamps,
    ) -> Result<Vec<Difference>, WorktreeError> {
        let mut comparing = Comparing {
            before: &self.files,
            seen: BTreeSet::new(),
            closed: BTreeSet::new(),
            differences: BTreeMap::new(),
            stamps,
        };
        look(workspace, &self.patterns, &self.excluded, &mut comparing)?;
        Ok(comparing.finish())
    }

    /// How many files it holds.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether it protects nothing.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// Is told of everything that the patterns match.
pub(super) trait Finder {
    /// Something that matches these patterns. Folders too.
    fn found(
        &mut self,
        item: &Item<'_>,
        patterns: &[usize],
        root: &Root,
    ) -> Result<(), WorktreeError>;

    /// A folder that can't be opened, and in which there may be something.
    fn closed(&mut self, item: &Item<'_>, root: &Root) -> Result<(), WorktreeError>;
}

pub(super) fn look(
    workspace: &Path,
    patterns: &[String],
    excluded: &[String],
    finder: &mut impl Finder,
) -> Result<Patterns, WorktreeError> {
    let root = Root::open(workspace)?;
    let mut search = Search {
        root: &root,
        patterns: Patterns::new(patterns)?,
        excluded: Excluded::new(excluded)?,
        finder,
    };
    walk(&root, &mut search)?;
    Ok(search.patterns)
}

struct Search<'a, F> {
    root: &'a Root,
    patterns: Patterns,
    excluded: Excluded,
    finder: &'a mut F,
}

impl<F: Finder> Visitor for Search<'_, F> {
    fn item(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError> {
        if self.excluded.covers(item.path) {
            return Ok(Step::Over);
        }
        if item.kind == Kind::Closed {
            self.finder.closed(item, self.root)?;
            return Ok(Step::Over);
        }
        let patterns = self.patterns.matching(item.path);
        if !patterns.is_empty() {
            self.finder.found(item, &patterns, self.root)?;
        }
        let inside = item.kind == Kind::Folder
            && item.name.to_bytes() != b".git"
            && self.patterns.reach_into(item.path);
        Ok(if inside { Step::Into } else { Step::Over })
    }
}

struct Taking {
    files: BTreeMap<String, Seen>,
    used: BTreeSet<usize>,
    stamps: Stamps,
}

impl Finder for Taking {
    fn found(
        &mut self,
        item: &Item<'_>,
        patterns: &[usize],
        root: &Root,
    ) -> Result<(), WorktreeError> {
        let failed =
            |error: io::Error| WorktreeError::io(&root.path.join(name::path(item.path)), error);
        let seen = match item.kind {
            Kind::Folder | Kind::Closed => return Ok(()),
            Kind::Special => Some(Seen::Special),
            Kind::Link => link(item).map_err(failed)?,
            Kind::File => read(item, &mut self.stamps).map_err(failed)?,
        };
        if let Some(seen) = seen {
            self.files.insert(shown(item.path), seen);
            self.used.extend(patterns);
        }
        Ok(())
    }

    fn closed(&mut self, item: &Item<'_>, root: &Root) -> Result<(), WorktreeError> {
        Err(WorktreeError::io(
            &root.path.join(name::path(item.path)),
            Errno::ACCESS,
        ))
    }
}

/// Where a link leads, as a digest. None if it is none by now.
fn link(item: &Item<'_>) -> io::Result<Option<Seen>> {
    match rustix::fs::readlinkat(item.folder, item.name, Vec::new()) {
        Ok(target) => Ok(Some(Seen::Link {
            digest: Digest::of(&[b"link", target.to_bytes()]),
        })),
        Err(Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A file's content, as a digest. None if it is not there any more.
fn read(item: &Item<'_>, stamps: &mut Stamps) -> io::Result<Option<Seen>> {
    match absent(plain::open_plain(item.folder, item.name))? {
        None => Ok(None),
        Some(None) => Ok(Some(Seen::Special)),
        Some(Some((file, stat))) => content(item.path, &file, &stat, stamps).map(Some),
    }
}

fn content(path: &[u8], file: &File, stat: &Stat, stamps: &mut Stamps) -> io::Result<Seen> {
    if let Some(digest) = stamps.known(path, stat) {
        return Ok(seen(stat, digest));
    }
    let begun = SystemTime::now();
    let digest = Digest::so_far(&plain::hash(file, plain::size(stat))?);
    stamps.note(path, stat, digest, begun);
    Ok(seen(stat, digest))
}

fn seen(stat: &Stat, digest: Digest) -> Seen {
    let content = Content {
        size: plain::size(stat),
        digest,
    };
    if is_executable(stat) {
        Seen::Executable(content)
    } else {
        Seen::File(content)
    }
}

fn is_executable(stat: &Stat) -> bool {
    stat.st_mode & 0o111 != 0
}

impl Stamps {
    /// Whether nothing is known, so that everything will be read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn known(&self, path: &[u8], stat: &Stat) -> Option<Digest> {
        let (stamp, digest) = self.0.get(path)?;
        (*stamp == Stamp::of(stat)).then_some(*digest)
    }

    /// Remembers a digest, unless the file changed so shortly before that a further change might not show.
    fn note(&mut self, path: &[u8], stat: &Stat, digest: Digest, begun: SystemTime) {
        let stamp = Stamp::of(stat);
        if stamp.is_settled(begun) {
            self.0.insert(path.to_vec(), (stamp, digest));
        } else {
            self.0.remove(path);
        }
    }
}

struct Comparing<'a> {
    before: &'a BTreeMap<String, Seen>,
    seen: BTreeSet<String>,
    /// Folders that can't be opened.
    closed: BTreeSet<String>,
    differences: BTreeMap<String, DifferenceKind>,
    stamps: &'a mut Stamps,
}

impl Finder for Comparing<'_> {
    fn found(&mut self, item: &Item<'_>, _: &[usize], root: &Root) -> Result<(), WorktreeError> {
        let path = shown(item.path);
        let kind = match (self.before.get(&path), item.kind) {
            (None, Kind::Folder) => return Ok(()),
            (None, _) => Some(DifferenceKind::Added),
            (Some(before), Kind::File) => self.compare_file(item, before),
            (Some(Seen::Link { digest }), Kind::Link) => {
                compare_link(item, *digest).map_err(|error| {
                    WorktreeError::io(&root.path.join(name::path(item.path)), error)
                })?
            }
            (Some(Seen::Special), Kind::Special) => None,
            _ => Some(DifferenceKind::Retyped),
        };
        if let Some(kind) = kind {
            self.differences.insert(path.clone(), kind);
        }
        self.seen.insert(path);
        Ok(())
    }

    fn closed(&mut self, item: &Item<'_>, _: &Root) -> Result<(), WorktreeError> {
        let path = shown(item.path);
        self.differences
            .insert(path.clone(), DifferenceKind::Unreadable);
        self.closed.insert(path);
        Ok(())
    }
}

impl Comparing<'_> {
    fn compare_file(&mut self, item: &Item<'_>, before: &Seen) -> Option<DifferenceKind> {
        let (Seen::File(Content { size, .. }) | Seen::Executable(Content { size, .. })) = *before
        else {
            return Some(DifferenceKind::Retyped);
        };
        let (file, stat) = match absent(plain::open_plain(item.folder, item.name)) {
            Ok(Some(Some(open))) => open,
            Ok(Some(None)) => return Some(DifferenceKind::Retyped),
            Ok(None) => return Some(DifferenceKind::Removed),
            Err(_) => return Some(DifferenceKind::Unreadable),
        };
        if plain::size(&stat) != size {
            return Some(DifferenceKind::Changed);
        }
        match content(item.path, &file, &stat, self.stamps) {
            Ok(now) if now == *before => None,
            Ok(_) => Some(DifferenceKind::Changed),
            Err(_) => Some(DifferenceKind::Unreadable),
        }
    }

    fn finish(mut self) -> Vec<Difference> {
        for path in self.before.keys() {
            let mut folders = path
                .match_indices('/')
                .filter_map(|(end, _)| path.get(..end));
            if !self.seen.contains(path) && !folders.any(|folder| self.closed.contains(folder)) {
                self.differences
                    .insert(path.clone(), DifferenceKind::Removed);
            }
        }
        self.differences
            .into_iter()
            .map(|(path, kind)| Difference { path, kind })
            .collect()
    }
}

fn compare_link(item: &Item<'_>, before: Digest) -> io::Result<Option<DifferenceKind>> {
    Ok(match link(item)? {
        Some(Seen::Link { digest }) if digest == before => None,
        Some(_) => Some(DifferenceKind::Changed),
        None => Some(DifferenceKind::Retyped),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_stamp_stands_for_a_file_that_was_at_rest_when_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        let root = Root::open(folder.path()).unwrap();
        let stat = |root: &Root| root.file(b"file").unwrap().unwrap().1;
        let digest = Digest::of(&[b"x"]);
        let mut stamps = Stamps::default();
        stamps.note(b"file", &stat(&root), digest, SystemTime::now());
        assert_eq!(stamps.known(b"file", &stat(&root)), None);
        let later = SystemTime::now() + Duration::from_secs(10);
        stamps.note(b"file", &stat(&root), digest, later);
        assert_eq!(stamps.known(b"file", &stat(&root)), Some(digest));
        std::fs::write(folder.path().join("file"), "longer").unwrap();
        assert_eq!(stamps.known(b"file", &stat(&root)), None);
    }
}
