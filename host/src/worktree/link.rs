//! What a link leads to, as long as that is inside of the workspace.

use std::ffi::CString;
use std::os::fd::AsFd as _;
use std::path::PathBuf;

use super::error::WorktreeError;
use super::excluded::{Excluded, within};
use super::name::{self, join};
use super::plain::Root;
use super::protected::Finder;
use super::rules::Rules;
use super::walk::{Item, Kind, Step, Visitor, walk};

/// What to do with a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    /// What it leads to does not count.
    No,
    /// It is looked after: what it leads to counts as if it were there.
    Known,
    /// It was not there before: a file that may not appear may not be behind it either.
    New,
}

/// A link, and what it leads to.
pub(super) struct Link<'a, F> {
    pub(super) root: &'a Root,
    pub(super) rules: &'a Rules,
    pub(super) excluded: &'a Excluded,
    pub(super) finder: &'a mut F,
    /// Its own path, relative to the workspace.
    pub(super) path: &'a [u8],
}

impl<F: Finder> Link<'_, F> {
    /// Tells of the files that it leads to, as if they were in it. Further links are not followed.
    pub(super) fn follow(self, follow: Follow) -> Result<(), WorktreeError> {
        if follow == Follow::No || (follow == Follow::New && !self.leads_to_folder(self.path)) {
            return Ok(());
        }
        let Some((target, real)) = self.target() else {
            if follow == Follow::New {
                self.finder.unfollowed(self.path);
            }
            return Ok(());
        };
        let mut behind = Behind {
            real,
            follow,
            link: self,
        };
        if target.is_dir() {
            let Ok(folder) = Root::open(&target) else {
                return Ok(());
            };
            return walk(&folder, &mut behind);
        }
        let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
            return Ok(());
        };
        let name = name::bytes(name.as_ref());
        let (Ok(folder), Ok(text)) = (Root::open(parent), CString::new(name)) else {
            return Ok(());
        };
        behind.real.clear();
        let item = Item {
            path: name,
            name: &text,
            folder: folder.folder.as_fd(),
            kind: Kind::File,
        };
        behind.item(&item).map(|_| ())
    }

    /// Whether a link of the workspace leads to a directory, wherever that is.
    fn leads_to_folder(&self, link: &[u8]) -> bool {
        self.root.path.join(name::path(link)).is_dir()
    }

    /// Where it leads: itself, and relative to the workspace. None if that is outside, around the link itself, or not
    /// looked after.
    fn target(&self) -> Option<(PathBuf, Vec<u8>)> {
        let workspace = self.root.path.canonicalize().ok()?;
        let target = workspace.join(name::path(self.path)).canonicalize().ok()?;
        let real = name::bytes(target.strip_prefix(&workspace).ok()?).to_vec();
        let is_meant = !real.is_empty()
            && !within(self.path, &real)
            && !within(&real, b".git")
            && !self.excluded.covers(&real)
            && !self.rules.is_spared(&real);
        is_meant.then_some((target, real))
    }
}

/// What is behind a link.
struct Behind<'a, F> {
    link: Link<'a, F>,
    /// What it leads to, relative to the workspace.
    real: Vec<u8>,
    follow: Follow,
}

impl<F: Finder> Visitor for Behind<'_, F> {
    fn item(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError> {
        let real = join(&self.real, item.path);
        if self.link.excluded.covers(&real) || item.name.to_bytes() == b".git" {
            return Ok(Step::Over);
        }
        let path = join(self.link.path, item.path);
        let item = Item {
            path: &path,
            ..*item
        };
        if self.follow == Follow::New {
            self.new_item(&item);
        } else if item.kind == Kind::Closed {
            self.link.finder.closed(&item, self.link.root)?;
        } else if let Some(matched) = self.link.rules.matching(&path) {
            self.link.finder.found(&item, &matched, self.link.root)?;
        }
        Ok(match item.kind {
            Kind::Folder => Step::Into,
            _ => Step::Over,
        })
    }
}

impl<F: Finder> Behind<'_, F> {
    /// What a new link leads to stands for nothing that was there: it can only be too much.
    fn new_item(&mut self, item: &Item<'_>) {
        self.link.finder.passed(item);
        if let Some(matched) = self.link.rules.matching(item.path) {
            self.link.finder.behind(item, &matched);
        }
        if item.kind == Kind::Link && self.link.leads_to_folder(item.path) {
            self.link.finder.unfollowed(item.path);
        }
    }
}
