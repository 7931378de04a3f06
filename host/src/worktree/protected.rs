//! Files that may not change while a loop runs, or of which parts may not. Looks at the disk itself and asks no git.
//!
//! What decides are digests. [`Stamps`] only spare the reading of files that were read before in the same process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::Stat;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::committed::Uncommitted;
use super::error::WorktreeError;
use super::excluded::Excluded;
use super::link::{Follow, Link};
use super::name::{self, shown};
use super::part::{self, Arrival, Part, Parts, Reading};
use super::pattern::Patterns;
use super::plain::{self, Root, Stamp, absent};
use super::rules::{Matched, Protection, Rules, Used};
use super::shadow;
use super::walk::{Item, Kind, Step, Visitor, walk};
use ralph_gate_memory::digest::Digest;

/// What the protected files looked like when the loop began.
///
/// Holds nothing that depends on the machine: a copy of the workspace compares the same. Folders named `.git` are
/// passed over. Empty folders do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    #[serde(flatten)]
    protection: Protection,
    excluded: Vec<String>,
    files: BTreeMap<String, Seen>,
    /// The parts of files of which only parts count. None of them where a file was there without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, Parts>,
    /// Folders that could not be opened.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    closed: BTreeSet<String>,
    /// What counts only where it is new. Absent in a baseline of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    existing: Option<Existing>,
}

/// What was there and is no difference, although a new one would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Existing {
    /// Symbolic links, and digests of where they lead.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    links: BTreeMap<String, Digest>,
    /// Files that Python imports in place of others that are looked after.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    shadows: BTreeSet<String>,
}

/// What a protected path looked like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Seen {
    File(Content),
    Executable(Content),
    /// The digest is that of where it leads. The files that it leads to in the workspace are noted below its path.
    Link {
        digest: Digest,
    },
    Special,
}

/// A larger file is not looked into: no person wrote it, and its size stands for its parts.
const PARTS_LIMIT: u64 = 16 << 20;

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
    /// The part of the file, where only parts of it count.
    pub part: Option<String>,
    /// Which rule it breaks.
    pub rule: Rule,
    /// In what way.
    pub kind: DifferenceKind,
    /// Why it can't be read, where that is known.
    pub reason: Option<String>,
}

/// What was said about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// It may neither change nor appear.
    Protected,
    /// What was there may not change.
    Frozen,
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
    /// A new link to a directory that is not looked into: outside of the workspace, or taken out of what is looked after.
    Unfollowed,
    /// A new file that Python imports in place of one that is looked after.
    Shadowing,
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
    /// Notes what the files look like that are to be looked after.
    pub fn take(
        workspace: &Path,
        protection: &Protection,
        excluded: &[String],
    ) -> Result<Taken, WorktreeError> {
        let rules = Rules::new(protection)?;
        let mut taking = Taking {
            rules: &rules,
            files: BTreeMap::new(),
            values: BTreeMap::new(),
            closed: BTreeSet::new(),
            existing: Existing::default(),
            used: Used::default(),
            stamps: Stamps::default(),
        };
        look(workspace, &rules, excluded, &mut taking)?;
        taking.keep_shadows();
        Ok(Taken {
            unmatched: rules.unused(&taking.used),
            baseline: Self {
                protection: protection.clone(),
                excluded: excluded.to_vec(),
                files: taking.files,
                values: taking.values,
                closed: taking.closed,
                existing: Some(taking.existing),
            },
            stamps: taking.stamps,
        })
    }

    /// Goes on protecting what was protected before as it was then, as far as the patterns still name it.
    pub fn keep(&mut self, before: &Self) -> Result<(), WorktreeError> {
        let (named, named_before) = (
            Rules::new(&self.protection)?,
            Rules::new(&before.protection)?,
        );
        let whole = |rules: &Rules, path: &str| {
            let matched = rules.matching(path.as_bytes());
            matched.is_some_and(|matched| matched.whole())
        };
        // What was named and not found was not there.
        self.files.retain(|path, _| !whole(&named_before, path));
        let kept = before.files.iter().filter(|(path, _)| whole(&named, path));
        self.files
            .extend(kept.map(|(path, seen)| (path.clone(), *seen)));
        let pointers = |rules: &Rules, path: &str| {
            let matched = rules.matching(path.as_bytes());
            matched.map_or_else(Vec::new, |matched| rules.pointers(&matched))
        };
        for (path, parts) in &mut self.values {
            let known = pointers(&named_before, path);
            parts.retain(|part, _| !part::is_named(part, &known));
        }
        for (path, parts) in &before.values {
            let still = pointers(&named, path);
            let kept = parts
                .iter()
                .filter(|(part, _)| part::is_named(part, &still))
                .map(|(part, digest)| (part.clone(), *digest));
            self.values.entry(path.clone()).or_default().extend(kept);
        }
        self.keep_existing(before, &named_before);
        Ok(())
    }

    /// Takes for the beginning what the newest commit has of files that differ from it: `committed` was taken of these,
    /// and `uncommitted` says which they are. What git ignores stays as it was found.
    pub fn correct(&mut self, committed: &Self, uncommitted: &Uncommitted) {
        let is_other =
            |path: &str| uncommitted.added.contains(path) || uncommitted.changed.contains(path);
        self.files.retain(|path, _| !is_other(path));
        self.values.retain(|path, _| !is_other(path));
        if let Some(existing) = &mut self.existing {
            existing.links.retain(|path, _| !is_other(path));
            existing.shadows.retain(|path| !is_other(path));
        }
        let named = |path: &&String| uncommitted.changed.contains(*path);
        let files = committed.files.iter().filter(|(path, _)| named(path));
        self.files
            .extend(files.map(|(path, seen)| (path.clone(), *seen)));
        let values = committed.values.iter().filter(|(path, _)| named(path));
        self.values
            .extend(values.map(|(path, parts)| (path.clone(), parts.clone())));
    }

    /// What was there before, and from then on only where nobody looked before.
    fn keep_existing(&mut self, before: &Self, named_before: &Rules) {
        let (Some(now), Some(before)) = (&mut self.existing, &before.existing) else {
            self.existing = None;
            return;
        };
        let was_watched = |path: &str| named_before.watch_links(path.as_bytes());
        now.links.retain(|path, _| !was_watched(path));
        let links = before.links.iter();
        now.links
            .extend(links.map(|(path, digest)| (path.clone(), *digest)));
        now.shadows.retain(|path| {
            let mut hidden = shadow::hidden(path).into_iter();
            !hidden.any(|hidden| named_before.matching(hidden.as_bytes()).is_some())
        });
        now.shadows.extend(before.shadows.iter().cloned());
    }

    /// What is different now, sorted by path.
    ///
    /// Reads only files that have the size they had: one that an agent blew up costs nothing.
    pub fn compare(
        &self,
        workspace: &Path,
        stamps: &mut Stamps,
    ) -> Result<Vec<Difference>, WorktreeError> {
        let rules = Rules::new(&self.protection)?;
        let mut comparing = Comparing {
            before: self,
            rules: &rules,
            seen: BTreeSet::new(),
            parted: BTreeSet::new(),
            closed: BTreeSet::new(),
            differences: BTreeMap::new(),
            stamps,
        };
        look(workspace, &rules, &self.excluded, &mut comparing)?;
        Ok(comparing.finish())
    }

    /// How many files it holds, with those of which only parts count.
    pub fn len(&self) -> usize {
        let parted = self.values.values().filter(|parts| !parts.is_empty());
        self.files.len() + parted.count()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it holds a file that matches one of these patterns, or a part of one.
    pub fn holds(&self, patterns: &[String]) -> Result<bool, WorktreeError> {
        let patterns = Patterns::new(patterns)?;
        let is_meant = |path: &String| !patterns.matching(path.as_bytes()).is_empty();
        let parted = self.values.iter().filter(|(_, parts)| !parts.is_empty());
        Ok(self.files.keys().any(is_meant) || parted.map(|(path, _)| path).any(is_meant))
    }

    /// Whether it holds parts of source files that are tests.
    pub fn holds_test_items(&self) -> bool {
        let mut parts = self.values.values().flat_map(Parts::keys);
        parts.any(|part| part::is_test(part))
    }

    /// Whether it holds anything in the directory of a file. The workspace itself always counts.
    fn holds_beside(&self, path: &str) -> bool {
        let Some((folder, _)) = path.rsplit_once('/') else {
            return true;
        };
        let folder = format!("{folder}/");
        let from = (Bound::Included(folder.as_str()), Bound::Unbounded);
        let is_below = |path: Option<&String>| path.is_some_and(|path| path.starts_with(&folder));
        let file = self.files.range::<str, _>(from).next();
        let value = self.values.range::<str, _>(from).next();
        is_below(file.map(|(path, _)| path)) || is_below(value.map(|(path, _)| path))
    }
}

/// Is told of everything that the patterns match.
pub(super) trait Finder {
    /// Something that matches these patterns. Folders too.
    fn found(
        &mut self,
        item: &Item<'_>,
        matched: &Matched,
        root: &Root,
    ) -> Result<(), WorktreeError>;

    /// A folder that can't be opened, and in which there may be something.
    fn closed(&mut self, item: &Item<'_>, root: &Root) -> Result<(), WorktreeError>;

    /// Anything that is come across, whether a pattern matches it or not.
    fn passed(&mut self, _item: &Item<'_>) {}

    /// Whether what a link leads to counts as well.
    fn follow(&mut self, _link: &Item<'_>, _is_whole: bool) -> io::Result<Follow> {
        Ok(Follow::No)
    }

    /// A file behind a new link, at the path by which it is reached.
    fn behind(&mut self, _item: &Item<'_>, _matched: &Matched) {}

    /// A new link to a directory that is not looked into.
    fn unfollowed(&mut self, _link: &[u8]) {}
}

pub(super) fn look(
    workspace: &Path,
    rules: &Rules,
    excluded: &[String],
    finder: &mut impl Finder,
) -> Result<(), WorktreeError> {
    let root = Root::open(workspace)?;
    let mut search = Search {
        root: &root,
        rules,
        excluded: Excluded::new(excluded)?,
        finder,
    };
    walk(&root, &mut search)
}

struct Search<'a, F> {
    root: &'a Root,
    rules: &'a Rules,
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
        self.finder.passed(item);
        let matched = self.rules.matching(item.path);
        if let Some(matched) = &matched {
            self.finder.found(item, matched, self.root)?;
        }
        if item.kind == Kind::Link {
            self.link(item, matched.is_some_and(|matched| matched.whole()))?;
        }
        let inside = item.kind == Kind::Folder
            && item.name.to_bytes() != b".git"
            && self.rules.reach_into(item.path);
        Ok(if inside { Step::Into } else { Step::Over })
    }
}

impl<F: Finder> Search<'_, F> {
    fn link(&mut self, item: &Item<'_>, is_whole: bool) -> Result<(), WorktreeError> {
        if !is_whole && !self.rules.watch_links(item.path) {
            return Ok(());
        }
        let failed = |error: io::Error| {
            WorktreeError::io(&self.root.path.join(name::path(item.path)), error)
        };
        let follow = self.finder.follow(item, is_whole).map_err(failed)?;
        let link = Link {
            root: self.root,
            rules: self.rules,
            excluded: &self.excluded,
            finder: self.finder,
            path: item.path,
        };
        link.follow(follow)
    }
}

struct Taking<'a> {
    rules: &'a Rules,
    files: BTreeMap<String, Seen>,
    values: BTreeMap<String, Parts>,
    closed: BTreeSet<String>,
    existing: Existing,
    used: Used,
    stamps: Stamps,
}

impl Taking<'_> {
    /// Forgets files that stand before none that is looked after.
    fn keep_shadows(&mut self) {
        let files = &self.files;
        self.existing.shadows.retain(|path| {
            let mut hidden = shadow::hidden(path).into_iter();
            hidden.any(|hidden| files.contains_key(&hidden))
        });
    }
}

impl Finder for Taking<'_> {
    fn found(
        &mut self,
        item: &Item<'_>,
        matched: &Matched,
        root: &Root,
    ) -> Result<(), WorktreeError> {
        let failed =
            |error: io::Error| WorktreeError::io(&root.path.join(name::path(item.path)), error);
        let seen = match item.kind {
            Kind::Folder | Kind::Closed => return Ok(()),
            _ if !matched.whole() => None,
            Kind::Special => Some(Seen::Special),
            Kind::Link => link(item).map_err(failed)?,
            Kind::File => read(item, &mut self.stamps).map_err(failed)?,
        };
        if let Some(seen) = seen {
            self.files.insert(shown(item.path), seen);
        }
        let pointers = self.rules.pointers(matched);
        let parts = parts_of(item, &pointers).map_err(failed)?.parts;
        // Whether the file was there counts only where that decides about what appears in it.
        let is_noted = !pointers.is_empty() && part::arrival(item.path) == Arrival::InNewFolders;
        if is_noted || !parts.is_empty() {
            let parts = parts.into_iter();
            let parts = parts.map(|(name, part)| (name, part.digest)).collect();
            self.values.insert(shown(item.path), parts);
        }
        self.used.add(matched);
        Ok(())
    }

    fn closed(&mut self, item: &Item<'_>, _: &Root) -> Result<(), WorktreeError> {
        self.closed.insert(shown(item.path));
        Ok(())
    }

    fn passed(&mut self, item: &Item<'_>) {
        if shadow::is_possible(item) {
            self.existing.shadows.insert(shown(item.path));
        }
    }

    fn follow(&mut self, item: &Item<'_>, is_whole: bool) -> io::Result<Follow> {
        if let Some(Seen::Link { digest }) = link(item)? {
            self.existing.links.insert(shown(item.path), digest);
        }
        Ok(if is_whole { Follow::Known } else { Follow::No })
    }
}

/// The parts of what is at a path. What has no content counts as a whole.
fn parts_of(item: &Item<'_>, pointers: &[String]) -> io::Result<Reading> {
    if pointers.is_empty() {
        return Ok(Reading::default());
    }
    let whole = |digest| Reading::from(part::whole(item.path, digest, pointers));
    let plain = match item.kind {
        Kind::Folder | Kind::Closed => return Ok(Reading::default()),
        Kind::File => absent(plain::open_plain(item.folder, item.name))?.flatten(),
        Kind::Link => {
            let Some(Seen::Link { digest }) = link(item)? else {
                return Ok(Reading::default());
            };
            return Ok(whole(digest));
        }
        Kind::Special => None,
    };
    let Some((file, stat)) = plain else {
        return Ok(whole(Digest::of(&[b"special"])));
    };
    let size = plain::size(&stat);
    if size > PARTS_LIMIT {
        return Ok(whole(Digest::of(&[b"large", &size.to_le_bytes()])));
    }
    let content = plain::read(&file, size)?;
    Ok(part::read(item.path, &content, pointers))
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
    before: &'a Baseline,
    rules: &'a Rules,
    seen: BTreeSet<String>,
    /// Those of `seen` of which parts were compared.
    parted: BTreeSet<String>,
    /// Folders that can't be opened.
    closed: BTreeSet<String>,
    differences: Differences,
    stamps: &'a mut Stamps,
}

/// By path and part: the rule, the kind and the reason.
type Differences = BTreeMap<(String, Option<String>), (Rule, DifferenceKind, Option<String>)>;

impl Finder for Comparing<'_> {
    fn found(
        &mut self,
        item: &Item<'_>,
        matched: &Matched,
        root: &Root,
    ) -> Result<(), WorktreeError> {
        let path = shown(item.path);
        self.compare_parts(item, &path, matched);
        if !matched.whole() {
            return Ok(());
        }
        let is_protected = !matched.protected.is_empty();
        let kind = match (self.before.files.get(&path), item.kind) {
            (None, Kind::Folder) => return Ok(()),
            (None, _) => is_protected.then_some(DifferenceKind::Added),
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
            let rule = if is_protected {
                Rule::Protected
            } else {
                Rule::Frozen
            };
            self.note(&path, rule, kind);
        }
        self.seen.insert(path);
        Ok(())
    }

    fn closed(&mut self, item: &Item<'_>, _: &Root) -> Result<(), WorktreeError> {
        let path = shown(item.path);
        if !self.before.closed.contains(&path) {
            let rule = if self.rules.protected.reach_into(item.path) {
                Rule::Protected
            } else {
                Rule::Frozen
            };
            self.note(&path, rule, DifferenceKind::Unreadable);
        }
        self.closed.insert(path);
        Ok(())
    }

    fn passed(&mut self, item: &Item<'_>) {
        let Some(existing) = self
            .before
            .existing
            .as_ref()
            .filter(|_| shadow::is_possible(item))
        else {
            return;
        };
        let path = shown(item.path);
        let mut hidden = shadow::hidden(&path).into_iter();
        if !existing.shadows.contains(&path)
            && hidden.any(|hidden| self.before.files.contains_key(&hidden))
        {
            self.note(&path, Rule::Protected, DifferenceKind::Shadowing);
        }
    }

    /// Where there was no link, it stands for nothing that was there.
    fn follow(&mut self, item: &Item<'_>, is_whole: bool) -> io::Result<Follow> {
        let path = shown(item.path);
        let before = self.before.files.get(&path);
        if is_whole && matches!(before, Some(Seen::Link { .. })) {
            return Ok(Follow::Known);
        }
        let (Some(existing), true) = (&self.before.existing, self.rules.watch_links(item.path))
        else {
            return Ok(Follow::No);
        };
        Ok(match link(item)? {
            Some(Seen::Link { digest }) if existing.links.get(&path) != Some(&digest) => {
                Follow::New
            }
            _ => Follow::No,
        })
    }

    fn behind(&mut self, item: &Item<'_>, matched: &Matched) {
        let path = shown(item.path);
        if !self.before.values.contains_key(&path) {
            self.compare_parts(item, &path, matched);
        }
        let is_new = !self.before.files.contains_key(&path);
        if is_new && item.kind != Kind::Folder && !matched.protected.is_empty() {
            self.note(&path, Rule::Protected, DifferenceKind::Added);
        }
    }

    fn unfollowed(&mut self, link: &[u8]) {
        let place = (shown(link), None);
        let found = (Rule::Protected, DifferenceKind::Unfollowed, None);
        self.differences.entry(place).or_insert(found);
    }
}

impl Comparing<'_> {
    fn note(&mut self, path: &str, rule: Rule, kind: DifferenceKind) {
        self.differences
            .insert((path.to_owned(), None), (rule, kind, None));
    }

    fn compare_parts(&mut self, item: &Item<'_>, path: &str, matched: &Matched) {
        let pointers = self.rules.pointers(matched);
        if pointers.is_empty() || item.kind == Kind::Folder {
            return;
        }
        self.parted.insert(path.to_owned());
        let nothing = Parts::new();
        let before = self.before.values.get(path).unwrap_or(&nothing);
        let now = match parts_of(item, &pointers) {
            Ok(now) => now,
            Err(error) => {
                let reason = Some(error.to_string());
                return self.note_unreadable(path, reason);
            }
        };
        let named = before.keys().filter(|part| part::is_named(part, &pointers));
        let parts: BTreeSet<&String> = named.chain(now.parts.keys()).collect();
        let differences = parts.into_iter().filter_map(|part| {
            let kind = match (before.get(part), now.parts.get(part)) {
                (Some(before), Some(now)) if *before == now.digest => return None,
                (None, Some(now)) if self.may_appear(path, matched, now) => return None,
                (None, None) => return None,
                (None, Some(_)) => DifferenceKind::Added,
                (Some(_), None) => DifferenceKind::Removed,
                (Some(_), Some(_)) => DifferenceKind::Changed,
            };
            Some((part.clone(), kind))
        });
        let differences: Vec<(String, DifferenceKind)> = differences.collect();
        // Where the file can't be read, its parts say less than the reason.
        if now.problem.is_some() && !differences.is_empty() {
            return self.note_unreadable(path, now.problem);
        }
        for (part, kind) in differences {
            self.differences
                .insert((path.to_owned(), Some(part)), (Rule::Frozen, kind, None));
        }
    }

    fn note_unreadable(&mut self, path: &str, reason: Option<String>) {
        let difference = (Rule::Frozen, DifferenceKind::Unreadable, reason);
        self.differences.insert((path.to_owned(), None), difference);
    }

    /// Whether a part of a file may appear.
    fn may_appear(&self, path: &str, matched: &Matched, part: &Part) -> bool {
        match part.arrival {
            Arrival::Always => true,
            Arrival::Never => false,
            Arrival::InNewTestFiles => {
                !matched.frozen.is_empty() && !self.before.files.contains_key(path)
            }
            Arrival::InNewFolders => {
                !self.before.values.contains_key(path) && !self.before.holds_beside(path)
            }
        }
    }

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

    /// Whether it is in a folder that can't be opened, so that nobody knows.
    fn is_closed(&self, path: &str) -> bool {
        let mut folders = path
            .match_indices('/')
            .filter_map(|(end, _)| path.get(..end));
        folders.any(|folder| self.closed.contains(folder))
    }

    fn finish(mut self) -> Vec<Difference> {
        let mut removed = Vec::new();
        for path in self.before.files.keys() {
            if !self.seen.contains(path) && !self.is_closed(path) {
                let rule = if self.rules.protected.matching(path.as_bytes()).is_empty() {
                    Rule::Frozen
                } else {
                    Rule::Protected
                };
                removed.push(((path.clone(), None), rule));
            }
        }
        for (path, parts) in &self.before.values {
            if !self.parted.contains(path) && !self.is_closed(path) {
                let parts = parts.keys().cloned();
                removed.extend(parts.map(|part| ((path.clone(), Some(part)), Rule::Frozen)));
            }
        }
        let removed = removed
            .into_iter()
            .map(|(place, rule)| (place, (rule, DifferenceKind::Removed, None)));
        self.differences.extend(removed);
        self.differences
            .into_iter()
            .map(|((path, part), (rule, kind, reason))| Difference {
                path,
                part,
                rule,
                kind,
                reason,
            })
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
