//! The files of a workspace that match some patterns, with their content.

use std::io::{self, Read as _};
use std::path::Path;

use super::error::WorktreeError;
use super::limits::ContentLimits;
use super::name::{self, shown};
use super::plain::{self, Root, absent};
use super::protected::{Finder, look};
use super::rules::{Matched, Rules};
use super::walk::{Item, Kind};
use ralph_gate_memory::digest::Digest;

/// A file that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchingFile {
    /// Relative to the workspace, as [`shown`](super::shown).
    pub path: String,
    /// The bytes in the file. None beyond the limits.
    pub content: Option<Vec<u8>>,
    /// Of the content.
    pub digest: Digest,
}

/// The plain files that match the patterns, in the order of their paths. Patterns are those of
/// [`Protection`](super::Protection).
pub fn matching_files(
    workspace: &Path,
    patterns: &[String],
    excluded: &[String],
    limits: &ContentLimits,
) -> Result<Vec<MatchingFile>, WorktreeError> {
    let mut matching = Reading::new(*limits);
    look(workspace, &Rules::of(patterns)?, excluded, &mut matching)?;
    Ok(matching.into_files())
}

/// Files, while they are read.
pub(super) struct Reading {
    files: Vec<MatchingFile>,
    /// What is left of them.
    limits: ContentLimits,
}

impl Reading {
    pub(super) fn new(limits: ContentLimits) -> Self {
        Self {
            files: Vec::new(),
            limits,
        }
    }

    /// How many there are so far.
    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// What was read, in the order of paths.
    pub(super) fn into_files(mut self) -> Vec<MatchingFile> {
        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        self.files
    }

    /// Adds what stands for something that is not read.
    pub(super) fn note(&mut self, path: String, what: &[u8]) {
        self.files.push(MatchingFile {
            path,
            content: None,
            digest: Digest::of_content(what),
        });
    }

    /// Reads a file and adds it.
    pub(super) fn read(&mut self, item: &Item<'_>) -> io::Result<()> {
        let file = self.look(item)?;
        self.files.extend(file);
        Ok(())
    }

    /// Reads a file, or only digests one that is beyond the limits. None if it is no plain file by now.
    fn look(&mut self, item: &Item<'_>) -> io::Result<Option<MatchingFile>> {
        let Some((file, stat)) = absent(plain::open_plain(item.folder, item.name))?.flatten()
        else {
            return Ok(None);
        };
        let path = shown(item.path);
        let size = plain::size(&stat);
        let fits = self.limits.files > 0
            && size <= self.limits.file_bytes
            && size <= self.limits.total_bytes;
        if !fits {
            let digest = Digest::so_far(&plain::hash(&file, size)?);
            return Ok(Some(MatchingFile {
                path,
                content: None,
                digest,
            }));
        }
        let mut content = Vec::new();
        file.take(size).read_to_end(&mut content)?;
        self.limits.files -= 1;
        self.limits.total_bytes -= size;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&content);
        Ok(Some(MatchingFile {
            path,
            digest: Digest::so_far(&hasher),
            content: Some(content),
        }))
    }
}

impl Finder for Reading {
    fn found(&mut self, item: &Item<'_>, _: &Matched, root: &Root) -> Result<(), WorktreeError> {
        if item.kind != Kind::File {
            return Ok(());
        }
        let failed =
            |error: io::Error| WorktreeError::io(&root.path.join(name::path(item.path)), error);
        self.read(item).map_err(failed)
    }

    fn closed(&mut self, _: &Item<'_>, _: &Root) -> Result<(), WorktreeError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_plain_files_that_match_are_read_and_large_ones_only_digested() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("src/.ralph")).unwrap();
        fs::write(root.join("src/b.yaml"), "b: 1").unwrap();
        fs::write(root.join("src/a.yaml"), "a: 1").unwrap();
        fs::write(root.join("src/c.txt"), "c").unwrap();
        fs::write(root.join("large.yaml"), "x".repeat(100)).unwrap();
        std::os::unix::fs::symlink("a.yaml", root.join("src/link.yaml")).unwrap();
        let limits = ContentLimits {
            file_bytes: 50,
            ..ContentLimits::default()
        };
        let files = matching_files(root, &["*.yaml".into()], &[], &limits).unwrap();
        let found: Vec<(&str, Option<&[u8]>)> = files
            .iter()
            .map(|file| (file.path.as_str(), file.content.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                ("large.yaml", None),
                ("src/a.yaml", Some(b"a: 1".as_slice())),
                ("src/b.yaml", Some(b"b: 1".as_slice())),
            ]
        );
    }
}
