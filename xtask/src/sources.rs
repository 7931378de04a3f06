//! The source files of a checkout: what git tracks, and what it would track if it were added.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;

/// Paths relative to the root, sorted. A tracked file that was deleted is left out.
pub(crate) fn list(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let text = process::capture(&mut git)
        .context("the source files are found through git, which needs a git checkout")?;
    let mut files: Vec<PathBuf> = text
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .filter(|path| root.join(path).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Copies the source files, with the same relative paths.
pub(crate) fn copy(root: &Path, to: &Path) -> Result<usize> {
    let files = list(root)?;
    for file in &files {
        let target = to.join(file);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(root.join(file), &target)
            .with_context(|| format!("{} can't be copied", file.display()))?;
    }
    Ok(files.len())
}

/// All files below a folder whose name ends so, relative to the root and sorted. A folder that
/// does not exist has none. Works on any tree, not only in a checkout.
pub(crate) fn below(root: &Path, folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.join(folder)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                if !is_generated(&name) {
                    open.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending))
                && let Ok(relative) = path.strip_prefix(root)
            {
                found.push(relative.to_path_buf());
            }
        }
    }
    found.sort();
    found
}

/// Folders that hold no source.
fn is_generated(name: &str) -> bool {
    matches!(
        name,
        "target" | "node_modules" | ".git" | "dist" | "__pycache__" | ".venv"
    )
}
