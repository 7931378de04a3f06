//! Folders of the workspace that never count, such as the gate's own memory.

use super::error::WorktreeError;

/// Folders of the workspace that never count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Excluded(Vec<Vec<u8>>);

impl Excluded {
    /// From paths relative to the workspace.
    pub(super) fn new(folders: &[String]) -> Result<Self, WorktreeError> {
        let mut parsed = folders
            .iter()
            .map(|text| parse(text))
            .collect::<Result<Vec<_>, _>>()?;
        parsed.sort_unstable();
        Ok(Self(parsed))
    }

    /// Whether a path is one of the folders or inside of one.
    pub(super) fn covers(&self, path: &[u8]) -> bool {
        self.0.iter().any(|folder| within(path, folder))
    }
}

/// Whether a path is a folder or inside of it.
pub(super) fn within(path: &[u8], folder: &[u8]) -> bool {
    match path.strip_prefix(folder) {
        Some(rest) => folder.is_empty() || rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

fn parse(text: &str) -> Result<Vec<u8>, WorktreeError> {
    let wrong = || WorktreeError::ExcludedFolder {
        folder: text.to_owned(),
    };
    if text.starts_with('/') {
        return Err(wrong());
    }
    let parts: Vec<&str> = text
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if parts.is_empty() || parts.contains(&"..") {
        return Err(wrong());
    }
    Ok(parts.join("/").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_covers_itself_and_what_is_inside_and_no_namesake() {
        let excluded = Excluded::new(&["./.ralph/".to_owned(), "a//b".to_owned()]).unwrap();
        for path in [".ralph", ".ralph/x/y", "a/b", "a/b/c"] {
            assert!(excluded.covers(path.as_bytes()), "{path}");
        }
        for path in [".ralphs", "x/.ralph", "a", "a/bc", ""] {
            assert!(!excluded.covers(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn the_whole_workspace_or_a_folder_outside_can_not_be_excluded() {
        for folder in ["", ".", "/", "/tmp", "..", "a/../b"] {
            let error = Excluded::new(&[folder.to_owned()]).unwrap_err();
            assert!(
                matches!(error, WorktreeError::ExcludedFolder { .. }),
                "{folder}"
            );
        }
    }
}
