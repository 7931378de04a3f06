//! The files of a workspace that is in no repository: what changes there tells whether the work moves on.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::error::WorktreeError;
use super::excluded::Excluded;
use super::limits::ContentLimits;
use super::matching::{MatchingFile, Reading};
use super::name::{self, shown};
use super::plain::{self, Root, absent};
use super::walk::{Item, Kind, Step, Visitor, walk};

/// The most files of a workspace that are looked at.
pub const BOUNDED_FILES: usize = 20_000;
/// The most bytes of them that are read. Of the rest size and time of the last change count.
pub const BOUNDED_BYTES: u64 = 256 << 20;

/// Directories, by name, that hold what tools can make again, sorted.
pub const HEAVY_DIRECTORIES: &[&str] = &[
    ".bundle",
    ".cache",
    ".dart_tool",
    ".eggs",
    ".git",
    ".gradle",
    ".hg",
    ".idea",
    ".jj",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".yarn",
    "__pycache__",
    "_build",
    "bower_components",
    "node_modules",
    "target",
    "venv",
];

/// The regular files and links of a workspace, in the order of their paths, without excluded and heavy directories and
/// without the files named in `reports`. None if there are more than [`BOUNDED_FILES`].
pub fn bounded_files(
    workspace: &Path,
    excluded: &[String],
    reports: &[&Path],
    limits: &ContentLimits,
) -> Result<Option<Vec<MatchingFile>>, WorktreeError> {
    let root = Root::open(workspace)?;
    let mut walking = Walking {
        root: &root,
        excluded: Excluded::new(excluded)?,
        reports,
        reading: Reading::new(*limits),
        bytes: BOUNDED_BYTES,
    };
    match walk(&root, &mut walking) {
        Ok(()) => Ok(Some(walking.reading.into_files())),
        Err(WorktreeError::TooMany { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

struct Walking<'w> {
    root: &'w Root,
    excluded: Excluded,
    reports: &'w [&'w Path],
    reading: Reading,
    /// What may still be read.
    bytes: u64,
}

impl Walking<'_> {
    fn file(&mut self, item: &Item<'_>) -> io::Result<()> {
        let Some(stat) = absent(plain::stat(item.folder, item.name))? else {
            return Ok(());
        };
        let size = plain::size(&stat);
        if size <= self.bytes {
            self.bytes -= size;
            return self.reading.read(item);
        }
        self.bytes = 0;
        let unread = format!("{size} {} {}", stat.st_mtime, stat.st_mtime_nsec);
        self.reading.note(shown(item.path), unread.as_bytes());
        Ok(())
    }

    fn link(&mut self, item: &Item<'_>) -> io::Result<()> {
        let target = rustix::fs::readlinkat(item.folder, item.name, Vec::new());
        if let Some(target) = absent(target)? {
            self.reading.note(shown(item.path), target.to_bytes());
        }
        Ok(())
    }
}

impl Visitor for Walking<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<Step, WorktreeError> {
        let is_heavy = || {
            let heavy = HEAVY_DIRECTORIES.iter();
            let mut heavy = heavy.map(|name| name.as_bytes());
            heavy.any(|name| name == item.name.to_bytes())
        };
        if self.excluded.covers(item.path) {
            return Ok(Step::Over);
        }
        let mut reports = self.reports.iter();
        let looked_at = match item.kind {
            Kind::Folder if is_heavy() => return Ok(Step::Over),
            Kind::Folder => return Ok(Step::Into),
            Kind::Closed | Kind::Special => return Ok(Step::Over),
            Kind::File if reports.any(|it| it.as_os_str().as_bytes() == item.path) => Ok(()),
            Kind::File => self.file(item),
            Kind::Link => self.link(item),
        };
        let place = || self.root.path.join(name::path(item.path));
        looked_at.map_err(|error| WorktreeError::io(&place(), error))?;
        if self.reading.count() > BOUNDED_FILES {
            return Err(WorktreeError::TooMany {
                place: self.root.path.display().to_string(),
                limit: BOUNDED_FILES,
            });
        }
        Ok(Step::Over)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn paths(root: &Path, reports: &[&Path]) -> Vec<String> {
        let limits = ContentLimits::default();
        let files = bounded_files(root, &[".ralph".into()], reports, &limits).unwrap();
        files.unwrap().into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn what_tools_make_again_the_memory_and_reports_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in [
            "src/a.rs",
            "src/target/x",
            "node_modules/m/index.js",
            ".venv/bin/python",
            ".ralph/s/events.jsonl",
            "out/report.xml",
            "b.txt",
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), path).unwrap();
        }
        std::os::unix::fs::symlink("b.txt", root.join("c")).unwrap();
        let reports = [Path::new("out/report.xml")];
        assert_eq!(paths(root, &reports), ["b.txt", "c", "src/a.rs"]);
    }

    #[test]
    fn the_same_files_give_the_same_digests_and_a_change_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("a"), "one").unwrap();
        let look = || bounded_files(root, &[], &[], &ContentLimits::default()).unwrap();
        let before = look();
        assert_eq!(look(), before);
        fs::write(root.join("a"), "two").unwrap();
        assert_ne!(look(), before);
    }

    #[test]
    fn the_list_of_heavy_directories_is_sorted() {
        assert!(HEAVY_DIRECTORIES.is_sorted());
    }
}
