//! A new repository around files that nobody has worked on yet.

use std::path::Path;

use git2::{IndexAddOption, RepositoryInitOptions, Signature, Time};

use super::error::WorktreeError;

/// Makes a repository of a folder that has none, and commits what is in it, at a moment that is always the same: equal
/// folders get equal commits. No hook and no template of the user takes part.
pub fn begin_repository(folder: &Path) -> Result<(), WorktreeError> {
    let failed = |error: git2::Error| WorktreeError::git("begin a repository", folder, &error);
    let mut options = RepositoryInitOptions::new();
    options
        .external_template(false)
        .no_reinit(true)
        .initial_head("main");
    let git = git2::Repository::init_opts(folder, &options).map_err(failed)?;
    let mut index = git.index().map_err(failed)?;
    index
        .add_all(["*"], IndexAddOption::DEFAULT, None)
        .and_then(|()| index.write())
        .map_err(failed)?;
    let tree = index
        .write_tree()
        .and_then(|id| git.find_tree(id))
        .map_err(failed)?;
    let begun = Time::new(0, 0);
    let signature = Signature::new("ralph-gate", "ralph-gate@localhost", &begun).map_err(failed)?;
    git.commit(
        Some("HEAD"),
        &signature,
        &signature,
        "Begin the task\n",
        &tree,
        &[],
    )
    .map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_folders_begin_with_equal_commits() {
        let begin = || {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("src")).unwrap();
            std::fs::write(folder.path().join("src/a.txt"), "a").unwrap();
            begin_repository(folder.path()).unwrap();
            let git = git2::Repository::open(folder.path()).unwrap();
            assert!(git.statuses(None).unwrap().is_empty(), "all is committed");
            let head = git.head().unwrap();
            assert_eq!(head.name().unwrap(), "refs/heads/main");
            (head.target().unwrap(), folder)
        };
        assert_eq!(begin().0, begin().0);
    }
}
