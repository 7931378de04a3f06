//! `git`: what state the repository is in.

use super::Finding;
use super::gather::Scene;
use crate::config::GitCheck;
use crate::worktree::{GitState, Repository, Settings, Trust, WorktreeError};

/// How many paths are named.
const NAMED: usize = 5;

pub(super) fn look(scene: &Scene<'_>, check: &GitCheck) -> Finding {
    // What is wrong already need not be looked at closely. What seems right is read file by file: the index is the
    // agent's, and may say of a changed file that it is not.
    for trust in [Trust::Stamps, Trust::Nothing] {
        let settings = Settings {
            excluded: scene.excluded.to_vec(),
            trust,
            ..Settings::default()
        };
        let repository = match Repository::discover(scene.workspace, &settings) {
            Ok(Some(repository)) => repository,
            Ok(None) => return Finding::fail("the workspace is in no git repository"),
            Err(error) => return Finding::error(error.to_string()),
        };
        match wrong(scene, &repository, check) {
            Ok(wrong) if wrong.is_empty() => {}
            Ok(wrong) => return Finding::fail(wrong.join("; ")),
            Err(error) => return Finding::error(error.to_string()),
        }
    }
    Finding::pass("the repository is as it must be")
}

fn wrong(
    scene: &Scene<'_>,
    repository: &Repository,
    check: &GitCheck,
) -> Result<Vec<String>, WorktreeError> {
    let state = repository.state()?;
    let mut wrong = Vec::new();
    if check.clean && !state.changes.is_empty() {
        let paths = state.changes.iter().map(|change| change.path.as_str());
        wrong.push(format!("changes are not committed: {}", some(paths)));
    }
    if check.clean && !state.left_out.is_empty() {
        let paths = state.left_out.iter().map(String::as_str);
        wrong.push(format!(
            "files are missing that the index says not to look for: {}; `git update-index --no-skip-worktree` undoes that",
            some(paths)
        ));
    }
    if check.committed && !repository.is_ahead_of(scene.first_commit)? {
        wrong.push("nothing was committed since the loop began".to_owned());
    }
    if check.clean
        && let Some(operation) = state.operation
    {
        wrong.push(format!("a {operation} is under way"));
    }
    if let Some(branch) = &check.branch
        && state.branch.as_ref() != Some(branch)
    {
        let found = state.branch.as_deref().unwrap_or("no branch");
        wrong.push(format!("{found} is checked out, not {branch}"));
    }
    if check.no_conflicts {
        wrong.extend(conflicts(scene, repository, &state)?);
    }
    Ok(wrong)
}

fn conflicts(
    scene: &Scene<'_>,
    repository: &Repository,
    state: &GitState,
) -> Result<Option<String>, WorktreeError> {
    if !state.unmerged.is_empty() {
        let paths = state.unmerged.iter().map(String::as_str);
        return Ok(Some(format!("conflicts are not merged: {}", some(paths))));
    }
    let markers = repository.conflict_markers(scene.first_commit)?;
    if !markers.found.is_empty() {
        let places: Vec<String> = markers
            .found
            .iter()
            .map(|marker| format!("{}:{}", marker.path, marker.line))
            .collect();
        let places = places.iter().map(String::as_str);
        return Ok(Some(format!(
            "conflict markers are left in {}",
            some(places)
        )));
    }
    let unsearched = markers.unsearched.iter().map(String::as_str);
    Ok((unsearched.len() > 0).then(|| {
        format!(
            "files are too long to be searched for conflict markers: {}",
            some(unsearched)
        )
    }))
}

/// The first few, and how many more there are.
fn some<'p>(paths: impl ExactSizeIterator<Item = &'p str>) -> String {
    let count = paths.len();
    let named: Vec<&str> = paths.take(NAMED).collect();
    let rest = match count - named.len() {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("{}{rest}", named.join(", "))
}
