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
use ralph_gate_memory::digest::{self, Digest};

/// The most files of a workspace that are read. Of the rest size and time of the last change count.
pub const BOUNDED_FILES: usize = 20_000;
/// The most bytes of them that are read. Of the rest size and time of the last change count.
pub const BOUNDED_BYTES: u64 = 256 << 20;

/// What stands for all files beyond [`BOUNDED_FILES`].
const REST: &str = "all other files";

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
/// without the files named in `reports`. One entry stands for all beyond [`BOUNDED_FILES`]; what is beyond
/// [`ENTRY_LIMIT`](super::ENTRY_LIMIT) is not looked at.
pub fn bounded_files(
    workspace: &Path,
    excluded: &[String],
    reports: &[&Path],
    limits: &ContentLimits,
) -> Result<Vec<MatchingFile>, WorktreeError> {
    at_most(BOUNDED_FILES, workspace, excluded, reports, limits)
}

fn at_most(
    files: usize,
    workspace: &Path,
    excluded: &[String],
    reports: &[&Path],
    limits: &ContentLimits,
) -> Result<Vec<MatchingFile>, WorktreeError> {
    let root = Root::open(workspace)?;
    let mut walking = Walking {
        root: &root,
        excluded: Excluded::new(excluded)?,
        reports,
        reading: Reading::new(*limits),
        files,
        bytes: BOUNDED_BYTES,
        rest: None,
    };
    match walk(&root, &mut walking) {
        // The order is fixed: as long as nothing changes, the walk ends at the same file.
        Ok(()) | Err(WorktreeError::TooMany { .. }) => Ok(walking.into_files()),
        Err(error) => Err(error),
    }
}

struct Walking<'w> {
    root: &'w Root,
    excluded: Excluded,
    reports: &'w [&'w Path],
    reading: Reading,
    /// How many files are read one by one.
    files: usize,
    /// What may still be read.
    bytes: u64,
    /// Paths and state of all files beyond.
    rest: Option<blake3::Hasher>,
}

impl Walking<'_> {
    fn file(&mut self, item: &Item<'_>) -> io::Result<()> {
        let Some(stat) = absent(plain::stat(item.folder, item.name))? else {
            return Ok(());
        };
        let size = plain::size(&stat);
        if !self.is_full() && size <= self.bytes {
            self.bytes -= size;
            return self.reading.read(item);
        }
        self.bytes = 0;
        let unread = format!("{size} {} {}", stat.st_mtime, stat.st_mtime_nsec);
        self.note(item.path, unread.as_bytes());
        Ok(())
    }

    fn link(&mut self, item: &Item<'_>) -> io::Result<()> {
        let target = rustix::fs::readlinkat(item.folder, item.name, Vec::new());
        if let Some(target) = absent(target)? {
            self.note(item.path, target.to_bytes());
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.reading.count() >= self.files
    }

    /// Adds what stands for something that is not read.
    fn note(&mut self, path: &[u8], what: &[u8]) {
        if !self.is_full() {
            return self.reading.note(shown(path), what);
        }
        let rest = self.rest.get_or_insert_default();
        digest::add(rest, path);
        digest::add(rest, what);
    }

    fn into_files(mut self) -> Vec<MatchingFile> {
        if let Some(rest) = self.rest {
            let digest = Digest::so_far(&rest);
            self.reading
                .note(REST.to_owned(), digest.to_string().as_bytes());
        }
        self.reading.into_files()
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
        files.into_iter().map(|file| file.path).collect()
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
    fn beyond_the_limit_one_entry_tells_of_every_change_and_of_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["a", "b", "c", "z"] {
            fs::write(root.join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("a", root.join("y")).unwrap();
        let look = || at_most(2, root, &[], &[], &ContentLimits::default()).unwrap();
        let before = look();
        let paths: Vec<&str> = before.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a", REST, "b"]);
        assert_eq!(look(), before);
        let changes: [&dyn Fn(); 4] = [
            &|| fs::write(root.join("z"), "longer").unwrap(),
            &|| fs::rename(root.join("c"), root.join("d")).unwrap(),
            &|| fs::remove_file(root.join("d")).unwrap(),
            &|| {
                fs::remove_file(root.join("y")).unwrap();
                std::os::unix::fs::symlink("b", root.join("y")).unwrap();
            },
        ];
        let mut seen = before;
        for change in changes {
            change();
            let now = look();
            assert_ne!(now, seen);
            assert_eq!(look(), now);
            seen = now;
        }
    }

    #[test]
    fn the_list_of_heavy_directories_is_sorted() {
        assert!(HEAVY_DIRECTORIES.is_sorted());
    }
}
