//! Tripwires: what an agent may not do to get its checks to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::events::{Baseline, TestBaseline, Tripped};
use super::watch::LoopEvent;
use super::{Loop, RunError};
use crate::digest::Digest;
use crate::engine::Outcome;
use crate::evidence::Evidence;
use crate::evidence::reports::TestCounts;
use crate::memory::{Finding, FindingCode};
use crate::plain_file;
use crate::worktree::{Baseline as ProtectedBaseline, DifferenceKind, Stamps, Taken};

/// What was seen in an iteration, for the tripwires.
pub(super) struct Seen<'s> {
    pub(super) evidence: &'s [Evidence],
    /// Stories that were marked as passed without proof.
    pub(super) unproven: &'s [String],
    /// What was done to the memory.
    pub(super) found: &'s [Finding],
    /// Processes that the agent left running.
    pub(super) leftovers: &'s [String],
    /// Why the work could not be looked at.
    pub(super) unseen: Option<&'s str>,
}

/// How many files are named.
const NAMED: usize = 5;
/// More than any file that says what is to be proven.
const GATE_FILE_LIMIT: u64 = 64 << 20;

impl Loop<'_> {
    /// What things look like before the agent touches them.
    pub(super) fn take_baseline(&mut self) -> Result<Baseline, RunError> {
        let workspace = &self.config.workspace;
        let first_commit = match self.repository()? {
            Some(repository) => repository.state()?.head,
            None => None,
        };
        let patterns = &self.config.tripwires.protected_paths;
        let Taken {
            baseline: protected,
            unmatched,
            stamps,
        } = ProtectedBaseline::take(workspace, patterns, &self.excluded)?;
        self.stamps = stamps;
        for pattern in unmatched {
            let warning = format!("the protected path {pattern} matches no file");
            self.watch.see(&LoopEvent::Warning(&warning));
        }
        Ok(Baseline {
            first_commit,
            protected,
            gate_files: self.digest_gate_files(),
            tests: BTreeMap::new(),
        })
    }

    /// The files that say what is to be proven.
    fn digest_gate_files(&self) -> BTreeMap<String, String> {
        let digest = |path: &PathBuf| {
            let content = match plain_file::read(path, GATE_FILE_LIMIT) {
                Ok(bytes) => Digest::of_content(&bytes).to_string(),
                Err(_) => "unreadable".to_owned(),
            };
            let name = path.strip_prefix(&self.config.workspace).unwrap_or(path);
            (name.display().to_string(), content)
        };
        self.gate_files.iter().map(digest).collect()
    }

    /// Takes note of how many tests there are, where that was not known.
    pub(super) fn learn_test_counts(&mut self, evidence: &[Evidence]) -> bool {
        let mut learned = false;
        for (check, counts) in test_counts(evidence) {
            let entry = self.baseline.tests.entry(check.to_owned());
            entry.or_insert_with(|| {
                learned = true;
                baseline_of(counts)
            });
        }
        learned
    }

    /// Every tripwire that was touched.
    pub(super) fn tripwires(&mut self, iteration: u32, seen: &Seen<'_>) -> Vec<Tripped> {
        let mut reasons: Vec<(&str, String)> = Vec::new();
        // Where all is well otherwise, every protected file is read again.
        if seen
            .evidence
            .iter()
            .all(|evidence| evidence.outcome == Outcome::Pass)
        {
            self.stamps = Stamps::default();
        }
        reasons.extend(
            self.protected_paths()
                .map(|reason| ("protected_paths", reason)),
        );
        reasons.extend(
            self.fewer_tests(seen.evidence)
                .map(|reason| ("test_count", reason)),
        );
        reasons.extend(
            self.more_skipped(seen.evidence)
                .map(|reason| ("skipped_tests", reason)),
        );
        if self.config.tripwires.prd_passes && !seen.unproven.is_empty() {
            let reason = format!(
                "marked as passed without proof: {}",
                seen.unproven.join(", ")
            );
            reasons.push(("prd_passes", reason));
        }
        reasons.extend(
            self.changed_gate_files()
                .map(|reason| ("gate_files", reason)),
        );
        reasons
            .extend(edited_memory(seen.found, &self.behind).map(|reason| ("gate_files", reason)));
        if self.refuses_leftovers() && !seen.leftovers.is_empty() {
            let reason = format!("left running and killed: {}", seen.leftovers.join(", "));
            reasons.push(("leftover_processes", reason));
        }
        if let Some(reason) = seen.unseen {
            reasons.push(("worktree", format!("the work can't be looked at: {reason}")));
        }
        let tripped = |(tripwire, reason): (&str, String)| Tripped {
            iteration,
            tripwire: tripwire.to_owned(),
            reason,
        };
        reasons.into_iter().map(tripped).collect()
    }

    fn protected_paths(&mut self) -> Option<String> {
        let workspace = &self.config.workspace;
        let compared = self.baseline.protected.compare(workspace, &mut self.stamps);
        let differences = match compared {
            Ok(differences) => differences,
            Err(error) => return Some(format!("protected files can't be looked at: {error}")),
        };
        if differences.is_empty() {
            return None;
        }
        let named: Vec<String> = differences
            .iter()
            .take(NAMED)
            .map(|difference| format!("{} ({})", difference.path, what(difference.kind)))
            .collect();
        let more = match differences.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "protected files were changed: {}{more}; restore them",
            named.join(", ")
        ))
    }

    fn fewer_tests(&self, evidence: &[Evidence]) -> Option<String> {
        if !self.config.tripwires.test_count {
            return None;
        }
        test_counts(evidence).find_map(|(check, counts)| {
            let before = self.baseline.tests.get(check)?;
            let now = baseline_of(counts);
            (now.total < before.total).then(|| {
                format!(
                    "{check} has {} tests, and had {} when the loop began",
                    now.total, before.total
                )
            })
        })
    }

    fn more_skipped(&self, evidence: &[Evidence]) -> Option<String> {
        if !self.config.tripwires.skipped_tests {
            return None;
        }
        test_counts(evidence).find_map(|(check, counts)| {
            let before = self.baseline.tests.get(check)?;
            let now = baseline_of(counts);
            (now.skipped > before.skipped).then(|| {
                format!(
                    "{check} skips {} tests, and skipped {} when the loop began",
                    now.skipped, before.skipped
                )
            })
        })
    }

    fn changed_gate_files(&self) -> Option<String> {
        let now = self.digest_gate_files();
        let changed: Vec<&str> = now
            .iter()
            .filter(|(path, digest)| {
                let before = self.baseline.gate_files.get(*path);
                before.is_some_and(|before| before != *digest)
            })
            .map(|(path, _)| path.as_str())
            .collect();
        (!changed.is_empty()).then(|| format!("{} was changed; restore it", changed.join(", ")))
    }
}

fn what(kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::Added => "added",
        DifferenceKind::Removed => "removed",
        DifferenceKind::Changed => "changed",
        DifferenceKind::Retyped => "replaced by something else",
        DifferenceKind::Unreadable => "unreadable",
    }
}

fn test_counts(evidence: &[Evidence]) -> impl Iterator<Item = (&str, &TestCounts)> {
    evidence
        .iter()
        .filter_map(|evidence| Some((evidence.check.as_str(), evidence.tests.as_ref()?)))
}

fn baseline_of(counts: &TestCounts) -> TestBaseline {
    TestBaseline {
        total: counts.passed + counts.failed + counts.skipped,
        skipped: counts.skipped,
    }
}

/// What was done to the memory that only the host may do. `behind` are files that the host itself could not finish.
fn edited_memory(found: &[Finding], behind: &BTreeSet<String>) -> Option<String> {
    let edits: Vec<String> = found
        .iter()
        .filter(|finding| match finding.code {
            FindingCode::ProgressAdded
            | FindingCode::ProgressEdited
            | FindingCode::PrdEdited
            | FindingCode::PrdLineMissing
            | FindingCode::FileBehind
            | FindingCode::NotCleared => false,
            FindingCode::FileRedone | FindingCode::LogTorn => !behind.contains(&finding.file),
            _ => true,
        })
        .map(|finding| format!("{}: {}", finding.file, finding.message))
        .collect();
    (!edits.is_empty()).then(|| format!("the memory was changed: {}", edits.join("; ")))
}
