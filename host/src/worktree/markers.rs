//! Conflict markers that a merge left in text files.

use super::error::WorktreeError;
use super::look::Look;
use super::name::{self, shown};
use super::plain::{self, Root};
use super::repository::Repository;

/// The longest file that is searched, in bytes.
const SEARCH_LIMIT: u64 = 16 << 20;
/// A file is binary if there is a zero byte within so many bytes from its start, as for git.
const BINARY_WITHIN: usize = 8000;

/// What was found, and what was not looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConflictMarkers {
    /// The first conflict of each file that has one, sorted by path.
    pub found: Vec<ConflictMarker>,
    /// Text files that are too long to be searched, sorted.
    pub unsearched: Vec<String>,
}

/// A conflict that was left in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictMarker {
    /// Relative to the workspace, as [`shown`](super::shown).
    pub path: String,
    /// The line with `<<<<<<<`, from 1.
    pub line: usize,
}

impl Repository {
    /// Searches the text files that differ from a commit for conflict markers. Without a commit, all that git does
    /// not ignore.
    pub fn conflict_markers(&self, since: Option<&str>) -> Result<ConflictMarkers, WorktreeError> {
        let since = since.map(str::to_owned);
        self.ask(move |open| {
            let root = Root::open(&open.place.workspace)?;
            let mut markers = ConflictMarkers::default();
            let look = Look::take(open)?;
            for (path, different) in open.different(&look, since.as_deref())? {
                if different.entry.is_some_and(|entry| entry.is_file()) {
                    search(&root, &path, &mut markers)?;
                }
            }
            Ok(markers)
        })
    }
}

fn search(root: &Root, path: &[u8], markers: &mut ConflictMarkers) -> Result<(), WorktreeError> {
    let failed = |error| WorktreeError::io(&root.path.join(name::path(path)), error);
    let Some((file, stat)) = root.file(path)? else {
        return Ok(());
    };
    let is_long = plain::size(&stat) > SEARCH_LIMIT;
    let limit = if is_long {
        BINARY_WITHIN as u64
    } else {
        SEARCH_LIMIT
    };
    let bytes = plain::read(&file, limit).map_err(failed)?;
    if is_binary(&bytes) {
        return Ok(());
    }
    if is_long {
        markers.unsearched.push(shown(path));
    } else if let Some(line) = conflict(&bytes) {
        let path = shown(path);
        markers.found.push(ConflictMarker { path, line });
    }
    Ok(())
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(BINARY_WITHIN).any(|byte| *byte == 0)
}

/// The line in which the first complete conflict begins, from 1.
fn conflict(bytes: &[u8]) -> Option<usize> {
    let (mut start, mut middle) = (None, false);
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.starts_with(b"<<<<<<< ") {
            (start, middle) = (Some(number + 1), false);
        } else if line.trim_ascii_end() == b"=======" {
            middle = true;
        } else if line.starts_with(b">>>>>>> ") {
            if middle && start.is_some() {
                return start;
            }
            start = None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_is_all_three_markers_in_their_order() {
        assert_eq!(
            conflict(b"a\n<<<<<<< x\n1\n=======\n2\n>>>>>>> y\n"),
            Some(2)
        );
        assert_eq!(conflict(b"<<<<<<< x\r\n=======\r\n>>>>>>> y"), Some(1));
        assert_eq!(
            conflict(b"<<<<<<< \n<<<<<<< \n=======\n>>>>>>> \n"),
            Some(2)
        );
        for text in [
            "=======\n<<<<<<< x\n>>>>>>> y\n",
            "<<<<<<< x\n=======\n",
            "<<<<<<< x\n>>>>>>> y\n=======\n>>>>>>> y",
            " <<<<<<< x\n =======\n >>>>>>> y\n",
            "<<<<<<<x\n=======\n>>>>>>>y\n",
            "Title\n=======\n\ntext\n",
            "",
        ] {
            assert_eq!(conflict(text.as_bytes()), None, "{text}");
        }
    }
}
