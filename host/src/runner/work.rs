//! What the work looks like after an iteration: artifacts for the gate's fingerprint, and a digest of the tree.

use std::path::Path;

use super::{Loop, RunError};
use crate::config::Check;
use crate::engine::{Artifact, ArtifactKind, Iteration};
use crate::evidence::Evidence;
use crate::worktree::{self, ChangedFile, ContentLimits, MatchingFile, Repository, Settings};

/// More artifacts than this are folded into one.
const ARTIFACTS: usize = 16;

/// More files than this are not handed to the gate one by one.
const FILES: usize = 2_000;
/// The longest name of an artifact, in bytes; the gate takes a little more.
const NAME: usize = 500;

/// What a hook itself writes at each stop: the loop file of the official Ralph plugin, and where it is moved to.
const LOOP_FILES: [&str; 3] = [
    ".claude/ralph-loop.local.md",
    ".claude/ralph-loop.ended.local.md",
    ".claude/ralph-loop.changed.local.md",
];

/// The work, as the gate gets to see it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Digests of what the gate made of each file: small, whatever the work.
    pub(super) artifacts: Vec<Artifact>,
    /// Of the whole working tree, where there is a repository.
    pub(super) tree: Option<String>,
}

/// The artifact that stands for what checks see beside the files.
const BESIDE: &str = "beside the files";

impl Work {
    /// What the gate compares. Where a check looks at commits, at the checklist or at a file that git ignores, what it saw is
    /// part of it: otherwise a turn that only commits would leave the work as it was, on which the check had failed.
    pub(super) fn with(&self, evidence: &[Evidence]) -> Vec<Artifact> {
        let seen: Vec<_> = evidence
            .iter()
            .filter_map(Evidence::beside_the_files)
            .collect();
        let mut artifacts = self.artifacts.clone();
        // Without anything else it would say that the work is the same as long as these checks say the same.
        if !artifacts.is_empty() && !seen.is_empty() {
            let seen = serde_json::to_vec(&seen).unwrap_or_default();
            let seen = blake3::hash(&seen).to_hex().to_string();
            artifacts.push(digest(BESIDE.to_owned(), seen));
        }
        artifacts
    }
}

impl Loop<'_> {
    /// Looks at the work. Layout, comments of data files, times and the like don't count: the gate sees to that.
    pub(super) fn look_at_work(&self) -> Result<Work, RunError> {
        let repository = self.repository()?;
        let limits = ContentLimits::default();
        let patterns = self.config.progress.artifacts.as_slice();
        let (tree, artifacts) = match &repository {
            Some(repository) if patterns.is_empty() => {
                let since = self.baseline.first_commit.as_deref();
                let (tree, files) = repository.digest_and_changed_files(since, &limits)?;
                (Some(tree), files.into_iter().map(changed).collect())
            }
            Some(repository) => (Some(repository.digest()?), self.matching(&limits)?),
            None if patterns.is_empty() => (None, self.bounded(&limits)?),
            None => (None, self.matching(&limits)?),
        };
        Ok(Work {
            artifacts: self.fold(artifacts, repository.is_some())?,
            tree: tree.map(|tree| tree.to_string()),
        })
    }

    /// The files of a workspace that is in no repository.
    fn bounded(&self, limits: &ContentLimits) -> Result<Vec<Artifact>, RunError> {
        let checks = self.config.checks.values();
        let reports: Vec<&Path> = checks.filter_map(Check::report).map(Path::new).collect();
        let workspace = &self.config.workspace;
        let excluded = self.excluded.iter().map(String::as_str);
        let excluded: Vec<String> = excluded.chain(LOOP_FILES).map(str::to_owned).collect();
        let files = worktree::bounded_files(workspace, &excluded, &reports, limits)?;
        Ok(files.into_iter().map(matching).collect())
    }

    /// The files that the configuration names.
    fn matching(&self, limits: &ContentLimits) -> Result<Vec<Artifact>, RunError> {
        let patterns = self.config.progress.artifacts.as_slice();
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        let workspace = &self.config.workspace;
        let files = worktree::matching_files(workspace, patterns, &self.excluded, limits)?;
        Ok(files.into_iter().map(matching).collect())
    }

    /// The repository that the workspace is in. Once it was found, it stays that one: where an agent takes it away, the
    /// work can't be looked at.
    pub(super) fn repository(&self) -> Result<Option<Repository>, RunError> {
        if let Some(known) = self.repository.get() {
            return Ok(Some(known.clone()));
        }
        let settings = Settings {
            excluded: self.excluded.clone(),
            ..Settings::default()
        };
        let found = Repository::discover(&self.config.workspace, &settings)?;
        Ok(found.map(|found| self.repository.get_or_init(|| found).clone()))
    }

    /// What is remembered of an iteration is small: the gate's digest stands for each content.
    fn fold(
        &self,
        artifacts: Vec<Artifact>,
        is_repository: bool,
    ) -> Result<Vec<Artifact>, RunError> {
        if artifacts.is_empty() {
            // Nothing has changed since the loop began, and that is something to compare.
            let nothing = digest("work".to_owned(), "unchanged".to_owned());
            return Ok(if is_repository {
                vec![nothing]
            } else {
                Vec::new()
            });
        }
        if artifacts.len() > FILES {
            let all = serde_json::to_vec(&artifacts).unwrap_or_default();
            let all = blake3::hash(&all).to_hex().to_string();
            return Ok(vec![digest("work".to_owned(), all)]);
        }
        let fingerprint = self.gate.take_fingerprint(&Iteration {
            index: 1,
            artifacts,
            ..Iteration::default()
        })?;
        let state = fingerprint.state.unwrap_or_default();
        if fingerprint.parts.len() > ARTIFACTS {
            return Ok(vec![digest("work".to_owned(), state)]);
        }
        let parts = fingerprint.parts.into_iter();
        Ok(parts.map(|part| digest(part.name, part.digest)).collect())
    }
}

fn digest(name: String, content: String) -> Artifact {
    Artifact {
        name: shorten(name),
        kind: ArtifactKind::Digest,
        content,
    }
}

fn changed(file: ChangedFile) -> Artifact {
    artifact(file.path, file.content, file.digest.to_string())
}

fn matching(file: MatchingFile) -> Artifact {
    artifact(file.path, file.content, file.digest.to_string())
}

/// A text by its kind; what is none by its digest.
fn artifact(path: String, content: Option<Vec<u8>>, otherwise: String) -> Artifact {
    let Some(content) = content.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return digest(path, otherwise);
    };
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    let kind = match extension {
        Some("yaml" | "yml") => ArtifactKind::Yaml,
        Some("json") => ArtifactKind::Json,
        _ => ArtifactKind::Text,
    };
    Artifact {
        name: shorten(path),
        kind,
        content,
    }
}

/// A name of any length, as one that the gate takes.
fn shorten(name: String) -> String {
    if name.len() <= NAME {
        return name;
    }
    format!(
        "a name of {} bytes, {}",
        name.len(),
        blake3::hash(name.as_bytes()).to_hex()
    )
}
