//! A directory that is looked at: its names and small texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::plain_file;

/// A longer text is not one that a person wrote.
const TEXT_LIMIT: u64 = 1 << 20;
/// More entries than a person puts into one directory: then only the first ones count.
const ENTRY_LIMIT: usize = 10_000;
/// Directories in which nothing of the project itself is tested.
const PASSED_OVER: &[&str] = &[
    "node_modules",
    "vendor",
    "target",
    "build",
    "dist",
    "out",
    "venv",
    "third_party",
    "fixtures",
    "testdata",
    "tests",
    "test",
    "__tests__",
    "spec",
    "examples",
    "example",
    "docs",
    "bin",
    "obj",
    "deps",
    "_build",
    "coverage",
];

/// One directory of the workspace.
pub(super) struct Folder<'w> {
    workspace: &'w Path,
    /// Relative to the workspace; empty for the workspace itself.
    path: String,
    /// Its entries, and whether each is a directory. Without links that lead nowhere.
    entries: BTreeMap<String, bool>,
}

impl<'w> Folder<'w> {
    pub(super) fn open(workspace: &'w Path, path: String) -> Option<Self> {
        let listed = fs::read_dir(workspace.join(&path)).ok()?;
        let entry = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.path().metadata().ok()?.is_dir();
            Some((name, is_folder))
        };
        let entries = listed.flatten().take(ENTRY_LIMIT).filter_map(entry);
        Some(Self {
            workspace,
            path,
            entries: entries.collect(),
        })
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, name: &str) -> bool {
        if name.contains('/') {
            self.at(name).is_file()
        } else {
            self.entries.get(name) == Some(&false)
        }
    }

    /// Whether there is such a directory.
    pub(super) fn has_folder(&self, name: &str) -> bool {
        self.entries.get(name) == Some(&true)
    }

    /// The first of these files that is there.
    pub(super) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// The first file whose name is like that.
    pub(super) fn like(&self, is_like: impl Fn(&str) -> bool) -> Option<&str> {
        let mut files = self.entries.iter().filter(|(_, is_folder)| !**is_folder);
        files
            .find(|(name, _)| is_like(name))
            .map(|(name, _)| name.as_str())
    }

    /// The names of the modules of Python in it.
    pub(super) fn modules(&self) -> BTreeSet<String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = self.entries.iter().filter_map(|(name, is_folder)| {
            let module = if *is_folder {
                Some(name.as_str()).filter(|_| self.has(&format!("{name}/__init__.py")))
            } else {
                name.strip_suffix(".py")
            };
            module.filter(|module| module.chars().all(is_part))
        });
        names.map(str::to_owned).collect()
    }

    /// A small text.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        let bytes = plain_file::read(&self.at(name), TEXT_LIMIT).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Whether a file can be executed.
    pub(super) fn is_executable(&self, name: &str) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = self.at(name).metadata();
        metadata
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    }

    /// A path below it, relative to the workspace.
    pub(super) fn path(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}/{name}"),
        }
    }

    /// A directory in it.
    pub(super) fn below(&self, name: &str) -> Option<Self> {
        Self::open(self.workspace, self.path(name))
    }

    /// Itself; none for the workspace.
    pub(super) fn directory(&self) -> Option<String> {
        Some(self.path.clone()).filter(|path| !path.is_empty())
    }

    /// An id that says where it is.
    pub(super) fn id(&self, id: &str) -> String {
        let path = self.path.chars();
        let suffix: String = path
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        match suffix.as_str() {
            "" => id.to_owned(),
            suffix => format!("{id}_{suffix}"),
        }
    }

    /// The directories that may have tests of their own.
    pub(super) fn folders(&self) -> impl Iterator<Item = String> {
        let folders = self.entries.iter().filter(|(name, is_folder)| {
            let path = self.at(name);
            **is_folder
                && !name.starts_with('.')
                && !PASSED_OVER.contains(&name.as_str())
                && path
                    .symlink_metadata()
                    .is_ok_and(|metadata| metadata.is_dir())
        });
        folders.map(|(name, _)| self.path(name))
    }

    /// Itself and the directories above, up to the workspace, with how each is reached from here.
    pub(super) fn upwards(&self) -> Vec<(PathBuf, String, String)> {
        let mut found = Vec::new();
        let (mut path, mut back) = (self.path.clone(), String::new());
        loop {
            found.push((self.workspace.join(&path), path.clone(), back.clone()));
            if path.is_empty() {
                return found;
            }
            path = path
                .rsplit_once('/')
                .map_or_else(String::new, |(above, _)| above.to_owned());
            back.push_str("../");
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.workspace.join(&self.path).join(name)
    }
}
