//! Reports of more than one file: those that a pattern names, or that are in a directory.
//!
//! Old ones are not removed, because a pattern may name files that are no reports. Instead only files count that were
//! written since the program was started. Links are not followed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use globset::{GlobBuilder, GlobMatcher};

use super::file::was_written_since;
use crate::plain_file;

/// How many reports one run may write.
const REPORTS_LIMIT: usize = 10_000;
/// How many bytes all of them may have.
const BYTES_LIMIT: usize = 64 << 20;
/// How many files and directories are looked at.
const ENTRIES_LIMIT: usize = 200_000;
/// How deep directories may be nested.
const DEPTH_LIMIT: usize = 64;
/// Directories that are never looked into.
const PASSED_OVER: [&str; 2] = [".git", "node_modules"];

/// Whether a report is given by a pattern: `*`, `?`, `[a-z]` and `{a,b}` within a name, `**` across directories.
pub(super) fn is_pattern(report: &str) -> bool {
    report.contains(['*', '?', '[', '{'])
}

/// Whether reports are looked for: by a pattern, or in a directory.
pub(super) fn are_several(workspace: &Path, report: &str) -> bool {
    is_pattern(report) || fs::symlink_metadata(workspace.join(report)).is_ok_and(|it| it.is_dir())
}

/// Reads the reports that were written since a moment, in the order of their paths.
pub(super) fn read(
    workspace: &Path,
    report: &str,
    ending: &str,
    since: SystemTime,
) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut search = Search::new(workspace, &pattern(report, ending))?;
    search.look()?;
    let mut reports = Vec::new();
    let (mut bytes, mut old) = (0, 0_usize);
    for name in &search.found {
        let path = workspace.join(name);
        if !was_written_since(&path, since) {
            old += 1;
            continue;
        }
        let left = BYTES_LIMIT.saturating_sub(bytes);
        let content = plain_file::read(&path, u64::try_from(left).unwrap_or(u64::MAX));
        let content = content.map_err(|reason| format!("{name}: {reason}"))?;
        bytes += content.len();
        reports.push((name.clone(), content));
    }
    match (reports.is_empty(), old) {
        (false, _) => Ok(reports),
        (true, 0) => Err("no file matches".to_owned()),
        (true, old) => Err(format!(
            "{old} files match, and none of them was written by this run"
        )),
    }
}

/// Whether reports could be looked for, before there are any.
pub(super) fn check(workspace: &Path, report: &str) -> Result<(), String> {
    Search::new(workspace, &pattern(report, "xml"))?.check_base()
}

/// The pattern that a report stands for. In a directory, all files with that ending.
fn pattern(report: &str, ending: &str) -> String {
    if is_pattern(report) {
        report.trim_start_matches("./").to_owned()
    } else {
        format!("{}/*.{ending}", report.trim_end_matches('/'))
    }
}

struct Search<'s> {
    workspace: &'s Path,
    matcher: GlobMatcher,
    /// The directory that all matches are in, relative to the workspace.
    base: PathBuf,
    /// How many directories are between it and a match at most.
    depth: usize,
    entries: usize,
    found: BTreeSet<String>,
}

impl<'s> Search<'s> {
    fn new(workspace: &'s Path, pattern: &str) -> Result<Self, String> {
        let escapes = |part: Component<'_>| !matches!(part, Component::Normal(_));
        if Path::new(pattern).components().any(escapes) {
            return Err("it is not a path inside the workspace".to_owned());
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| error.kind().to_string())?;
        let parts: Vec<&str> = pattern.split('/').collect();
        let fixed = parts.iter().take_while(|part| !is_pattern(part)).count();
        let fixed = fixed.min(parts.len().saturating_sub(1));
        let depth = if pattern.contains("**") {
            DEPTH_LIMIT
        } else {
            parts.len().saturating_sub(fixed)
        };
        Ok(Self {
            workspace,
            matcher: glob.compile_matcher(),
            base: parts.iter().take(fixed).collect(),
            depth,
            entries: 0,
            found: BTreeSet::new(),
        })
    }

    fn look(&mut self) -> Result<(), String> {
        self.check_base()?;
        self.look_into(&self.base.clone(), self.depth)
    }

    /// No directory that all matches are in may be a link.
    fn check_base(&self) -> Result<(), String> {
        let mut above = PathBuf::new();
        for part in self.base.components() {
            above.push(part);
            if self.workspace.join(&above).is_symlink() {
                let above = above.display();
                return Err(format!(
                    "{above} is a link; name the place that it leads to"
                ));
            }
        }
        Ok(())
    }

    fn look_into(&mut self, directory: &Path, depth: usize) -> Result<(), String> {
        // One that is not there, or can't be read, has no reports.
        let Ok(entries) = fs::read_dir(self.workspace.join(directory)) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            self.entries += 1;
            if self.entries > ENTRIES_LIMIT {
                return Err(format!(
                    "more than {ENTRIES_LIMIT} files would have to be looked at; begin the pattern with their directory"
                ));
            }
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                continue;
            };
            let path = directory.join(&name);
            if kind.is_file() && self.matcher.is_match(&path) {
                self.found.insert(path.to_string_lossy().into_owned());
                if self.found.len() > REPORTS_LIMIT {
                    return Err(format!("more than {REPORTS_LIMIT} files match"));
                }
            } else if kind.is_dir() && depth > 1 && !PASSED_OVER.contains(&name.as_str()) {
                self.look_into(&path, depth - 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn workspace(files: &[&str]) -> tempfile::TempDir {
        let workspace = tempfile::TempDir::new().unwrap();
        for file in files {
            let path = workspace.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        workspace
    }

    fn names(files: &[&str], report: &str) -> Result<Vec<String>, String> {
        let workspace = workspace(files);
        let found = read(workspace.path(), report, "xml", SystemTime::UNIX_EPOCH)?;
        Ok(found.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn reports_are_those_that_a_pattern_names_in_the_order_of_their_paths() {
        let files = [
            "b/target/surefire-reports/TEST-b.xml",
            "a/target/surefire-reports/TEST-a.xml",
            "a/target/surefire-reports/a.txt",
            "node_modules/c/target/surefire-reports/TEST-c.xml",
            "pom.xml",
        ];
        let expected = [files[1].to_owned(), files[0].to_owned()];
        for pattern in [
            "**/target/surefire-reports/TEST-*.xml",
            "*/target/surefire-reports/*.xml",
            "./{a,b}/target/surefire-reports/TEST-?.xml",
        ] {
            assert_eq!(names(&files, pattern).unwrap(), expected, "{pattern}");
        }
        assert_eq!(names(&files, "*.xml").unwrap(), ["pom.xml"]);
    }

    #[test]
    fn a_directory_stands_for_the_reports_in_it() {
        let files = ["r/b.xml", "r/a.xml", "r/c.txt", "r/deeper/d.xml"];
        assert_eq!(names(&files, "r").unwrap(), ["r/a.xml", "r/b.xml"]);
        assert_eq!(names(&files, "r/").unwrap(), ["r/a.xml", "r/b.xml"]);
    }

    #[test]
    fn reports_of_an_earlier_run_do_not_count_and_are_not_removed() {
        let workspace = workspace(&["r/a.xml"]);
        let later = SystemTime::now() + Duration::from_mins(1);
        let reason = read(workspace.path(), "r/*.xml", "xml", later).unwrap_err();
        assert_eq!(
            reason,
            "1 files match, and none of them was written by this run"
        );
        assert!(workspace.path().join("r/a.xml").exists());
    }

    #[test]
    fn links_are_not_followed_and_paths_stay_in_the_workspace() {
        let workspace = workspace(&["r/a.xml"]);
        std::os::unix::fs::symlink("r", workspace.path().join("link")).unwrap();
        std::os::unix::fs::symlink("a.xml", workspace.path().join("r/b.xml")).unwrap();
        let read = |report| read(workspace.path(), report, "xml", SystemTime::UNIX_EPOCH);
        assert!(read("link/*.xml").unwrap_err().contains("is a link"));
        assert_eq!(read("**/*.xml").unwrap().len(), 1);
        assert!(
            read("../*.xml")
                .unwrap_err()
                .contains("inside the workspace")
        );
        assert!(
            read("/tmp/*.xml")
                .unwrap_err()
                .contains("inside the workspace")
        );
    }
}
