//! Logs by their places: files, folders that hold sessions, patterns.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::ReportError;

/// A session's log.
const LOG: &str = "events.jsonl";
/// Folders below this depth are not looked into.
const DEEPEST: usize = 32;

/// A log, and what a person knows it by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogFile {
    /// Where it is.
    pub path: PathBuf,
    /// The session's folder, or the file's own name.
    pub name: String,
}

/// The logs at a place, in the order of their paths. Links are not followed.
pub fn find(place: &Path) -> Result<Vec<LogFile>, ReportError> {
    let found = match fs::metadata(place) {
        Ok(data) if data.is_dir() => {
            let mut found = BTreeSet::new();
            walk(place, DEEPEST, &mut |path| {
                if path.file_name().is_some_and(|name| name == LOG) {
                    found.insert(path.to_owned());
                }
            })?;
            found
        }
        Ok(_) => BTreeSet::from([place.to_owned()]),
        Err(_) => matching(place)?,
    };
    if found.is_empty() {
        return Err(ReportError::NotFound {
            place: place.to_owned(),
        });
    }
    Ok(found.into_iter().map(named).collect())
}

fn named(path: PathBuf) -> LogFile {
    let own = path.file_name().unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name);
    let name = match folder {
        Some(folder) if own == LOG => folder,
        _ => own,
    };
    LogFile {
        name: name.to_string_lossy().into_owned(),
        path,
    }
}

/// The files that fit a pattern.
fn matching(pattern: &Path) -> Result<BTreeSet<PathBuf>, ReportError> {
    let (start, matcher) = compile(pattern)?;
    let mut found = BTreeSet::new();
    if start.is_dir() {
        walk(&start, DEEPEST, &mut |path| {
            let relative = path.strip_prefix("./").unwrap_or(path);
            if matcher.is_match(relative) {
                found.insert(relative.to_owned());
            }
        })?;
    }
    Ok(found)
}

/// A pattern, and the folder below which everything lies that fits it.
fn compile(pattern: &Path) -> Result<(PathBuf, GlobMatcher), ReportError> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let text = pattern.to_string_lossy();
    let glob = GlobBuilder::new(&text).literal_separator(true).build();
    let glob = glob.map_err(|error| ReportError::Pattern {
        pattern: text.clone().into_owned(),
        reason: error.kind().to_string(),
    })?;
    let is_plain = |part: &Component<'_>| {
        !part
            .as_os_str()
            .to_string_lossy()
            .contains(['*', '?', '[', '{'])
    };
    let mut start: PathBuf = pattern.components().take_while(is_plain).collect();
    if start.as_os_str().is_empty() {
        start.push(".");
    }
    Ok((start, glob.compile_matcher()))
}

/// Goes through the plain files below a folder.
fn walk(folder: &Path, depth: usize, see: &mut dyn FnMut(&Path)) -> Result<(), ReportError> {
    let unreadable = |error| ReportError::unreadable(folder, &error);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_file() {
            see(&entry.path());
        } else if kind.is_dir() && depth > 0 {
            walk(&entry.path(), depth - 1, see)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[LogFile]) -> Vec<&str> {
        found.iter().map(|log| log.name.as_str()).collect()
    }

    #[test]
    fn a_folder_a_file_and_a_pattern_name_logs() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/one", "a/two", "b/three"] {
            let session = folder.path().join(name);
            fs::create_dir_all(session.join("checkpoints")).unwrap();
            fs::write(session.join(LOG), "").unwrap();
            fs::write(session.join("progress.txt"), "").unwrap();
        }
        let all = find(folder.path()).unwrap();
        assert_eq!(names(&all), ["one", "two", "three"]);
        let one = find(&folder.path().join("a/one/events.jsonl")).unwrap();
        assert_eq!(names(&one), ["one"]);
        let some = find(&folder.path().join("*/t*/events.jsonl")).unwrap();
        assert_eq!(names(&some), ["two", "three"]);
        let deep = find(&folder.path().join("**/events.jsonl")).unwrap();
        assert_eq!(deep.len(), 3);
    }

    #[test]
    fn nothing_found_is_an_error_that_names_the_place() {
        let folder = tempfile::tempdir().unwrap();
        for place in ["nothing", "*/events.jsonl"] {
            let place = folder.path().join(place);
            let error = find(&place).unwrap_err().to_string();
            assert!(error.contains(&*place.to_string_lossy()), "{error}");
        }
        assert!(matches!(
            find(Path::new("a[")),
            Err(ReportError::Pattern { .. })
        ));
    }
}
