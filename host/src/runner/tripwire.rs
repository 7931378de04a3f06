//! Tripwires: what an agent may not do to get its checks to pass.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::events::{Baseline, Tripped};
use super::iteration::Gathered;
use super::protection::{ProtectionReport, unprotected_check};
use super::test_baseline::TestBaseline;
use super::watch::LoopEvent;
use super::{Loop, RunError};
use crate::config::{Config, catalogue};
use crate::engine::{Outcome, PrdItem};
use crate::evidence::reports::TestCounts;
use crate::evidence::{Evidence, Known, Stories, Story, beginning_of};
use crate::memory::{Finding, FindingCode};
use crate::plain_file;
use crate::worktree::{
    Baseline as ProtectedBaseline, Difference, DifferenceKind, Protection, Rule, Stamps,
};
use ralph_gate_memory::digest::Digest;

/// What was seen in an iteration, for the tripwires.
pub(super) struct Seen<'s> {
    pub(super) evidence: &'s [Evidence],
    /// The stories, where there are any.
    pub(super) stories: Option<&'s Stories>,
    /// What was done to files that are looked after before the checks ran: these may have put them back.
    pub(super) touched: Touched,
    /// What was done to the memory.
    pub(super) found: &'s [Finding],
    /// Processes that the agent left running.
    pub(super) leftovers: &'s [String],
    /// Why the work could not be looked at.
    pub(super) unseen: Option<&'s str>,
}

/// The tripwire of files that may neither change nor appear.
const PROTECTED: &str = "protected_paths";
/// The tripwire of files that may not change.
const FROZEN: &str = "frozen";

/// What was done to files that are looked after, for each tripwire.
pub(super) type Touched = Vec<(&'static str, String)>;

/// The longest reason, in bytes: what it names may be the agent's to choose.
const LONGEST_REASON: usize = 2000;
/// How many files are named.
const NAMED: usize = 5;
/// More than any file that says what is to be proven.
const GATE_FILE_LIMIT: u64 = 64 << 20;

impl Loop<'_> {
    /// What things look like before the agent touches them.
    pub(super) fn take_baseline(&mut self) -> Result<Baseline, RunError> {
        let first_commit = match self.repository()? {
            Some(repository) => repository.state()?.head,
            None => None,
        };
        let ProtectionReport {
            taken,
            unprotected,
            warnings,
        } = ProtectionReport::look(self.config, &self.terms, &self.excluded)?;
        self.stamps = taken.stamps;
        for warning in warnings {
            let text = match &warning.help {
                Some(help) => format!("{}; {help}", warning.message),
                None => warning.message,
            };
            self.watch.see(&LoopEvent::Warning(&text));
        }
        let test_files = match unprotected {
            Some(_) => Some(self.take_test_files()?),
            None => None,
        };
        let protected = taken.baseline;
        Ok(Baseline {
            first_commit,
            protected,
            test_files,
            gate_files: self.digest_gate_files(),
            tests: BTreeMap::new(),
            stories: self.first_stories(),
        })
    }

    /// The files that are tests by their name; where there are none, all source files.
    fn take_test_files(&self) -> Result<ProtectedBaseline, RunError> {
        let take = |patterns: Vec<String>| {
            let protection = Protection {
                protected: patterns,
                ..Protection::default()
            };
            ProtectedBaseline::take(&self.config.workspace, &protection, &self.excluded)
        };
        let tests = take(catalogue::test_files())?.baseline;
        if tests.is_empty() {
            return Ok(take(catalogue::source_files())?.baseline);
        }
        Ok(tests)
    }

    /// What has to be said when the loop completes although its tests are not protected: which of them changed.
    pub(super) fn unprotected_tests(&self) -> Option<String> {
        let check = unprotected_check(self.config, &self.terms, &self.baseline.protected)?;
        let compared = self.baseline.test_files.as_ref().map(|before| {
            let workspace = &self.config.workspace;
            before.compare(workspace, &mut Stamps::default())
        });
        let changed = match &compared {
            Some(Ok(differences)) if differences.is_empty() => {
                "no file that is a test by its name changed since the loop began".to_owned()
            }
            Some(Ok(differences)) => {
                let differences: Vec<&Difference> = differences.iter().collect();
                format!(
                    "changed since the loop began: {}; look at them",
                    named(&differences)
                )
            }
            Some(Err(_)) | None => "which of them changed is not known".to_owned(),
        };
        let message = format!("the tests of {check} were not protected; {changed}");
        Some(beginning_of(message, LONGEST_REASON))
    }

    /// The stories of the checklist. Those that passed before are believed; later marks need a proof.
    fn first_stories(&self) -> Known {
        let prd = self.store.prd().ok().flatten();
        let items = prd.map_or_else(Vec::new, |prd| prd.items).into_iter();
        let story = |item: PrdItem| {
            let known = Story {
                first: true,
                proven: item.passes,
            };
            (item.id, known)
        };
        items.map(story).collect()
    }

    /// The files that say what is to be proven.
    fn digest_gate_files(&self) -> BTreeMap<String, String> {
        digest_gate_files(self.config, &self.gate_files)
    }

    /// Takes note of what an iteration showed: how many tests there are, and which stories are proven.
    pub(super) fn learn(&mut self, gathered: &Gathered) -> bool {
        let mut learned = self.learn_test_counts(&gathered.evidence);
        if let Some(stories) = &gathered.stories
            && stories.known != self.baseline.stories
        {
            self.baseline.stories = stories.known.clone();
            learned = true;
        }
        learned
    }

    /// Takes note of how many tests there are, where that was not known.
    pub(super) fn learn_test_counts(&mut self, evidence: &[Evidence]) -> bool {
        let mut learned = false;
        for (check, counts) in test_counts(evidence) {
            let entry = self.baseline.tests.entry(check.to_owned());
            entry.or_insert_with(|| {
                learned = true;
                TestBaseline::of(counts)
            });
        }
        learned
    }

    /// Every tripwire that was touched.
    pub(super) fn tripwires(&mut self, iteration: u32, seen: &Seen<'_>) -> Vec<Tripped> {
        let mut reasons: Vec<(&str, String)> = Vec::new();
        // Unless a check that must pass did not, every protected file is read again.
        let required = self.terms.completion_checks.iter();
        let mut required = required.filter(|named| named.required);
        let passes = |id: &str| {
            let found = seen.evidence.iter().find(|evidence| evidence.check == id);
            found.is_some_and(|evidence| evidence.outcome == Outcome::Pass)
        };
        if required.all(|named| passes(&named.id)) {
            self.stamps = Stamps::default();
        }
        reasons.extend(match seen.touched.as_slice() {
            [] => self.touched(),
            touched => touched.to_vec(),
        });
        reasons.extend(
            self.fewer_tests(seen.evidence)
                .map(|reason| ("test_count", reason)),
        );
        reasons.extend(
            self.more_skipped(seen.evidence)
                .map(|reason| ("skipped_tests", reason)),
        );
        if self.config.tripwires.prd_passes
            && let Some(stories) = seen.stories
        {
            reasons.extend(removed_stories(stories).map(|reason| ("prd_passes", reason)));
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
            reason: beginning_of(reason, LONGEST_REASON),
        };
        reasons.into_iter().map(tripped).collect()
    }

    /// What was done to files that are looked after.
    pub(super) fn touched(&mut self) -> Touched {
        let workspace = &self.config.workspace;
        let compared = self.baseline.protected.compare(workspace, &mut self.stamps);
        let differences = match compared {
            Ok(differences) => differences,
            Err(error) => {
                let reason = format!("protected files can't be looked at: {error}");
                return vec![(PROTECTED, reason)];
            }
        };
        let of = |rule: Rule| -> Vec<&Difference> {
            let broken = differences
                .iter()
                .filter(|difference| difference.rule == rule);
            broken.collect()
        };
        let (protected, frozen) = (of(Rule::Protected), of(Rule::Frozen));
        let mut touched = Touched::new();
        if !protected.is_empty() {
            let reason = format!(
                "protected files were changed: {}; restore them",
                named(&protected)
            );
            touched.push((PROTECTED, reason));
        }
        if !frozen.is_empty() {
            let reason = format!(
                "frozen files were changed: {}; restore them, and put what is new into new files",
                named(&frozen)
            );
            touched.push((FROZEN, reason));
        }
        touched
    }

    fn fewer_tests(&self, evidence: &[Evidence]) -> Option<String> {
        if !self.config.tripwires.test_count {
            return None;
        }
        test_counts(evidence)
            .find_map(|(check, counts)| self.baseline.tests.get(check)?.missing(check, counts))
    }

    fn more_skipped(&self, evidence: &[Evidence]) -> Option<String> {
        if !self.config.tripwires.skipped_tests {
            return None;
        }
        test_counts(evidence).find_map(|(check, counts)| {
            let before = self.baseline.tests.get(check)?;
            before.newly_skipped(check, counts)
        })
    }

    fn changed_gate_files(&self) -> Option<String> {
        let changed = changed_files(&self.baseline.gate_files, &self.digest_gate_files());
        (!changed.is_empty()).then(|| format!("{} was changed; restore it", changed.join(", ")))
    }
}

/// Open stories that are gone from the checklist. To mark one is no tampering: the prompt asks for it, and a mark without
/// proof is taken back.
fn removed_stories(stories: &Stories) -> Option<String> {
    let removed = stories.removed.join(", ");
    (!removed.is_empty()).then(|| format!("removed from the checklist: {removed}; put them back"))
}

/// The files that say what is to be proven, by path: their digests.
pub(super) fn digest_gate_files(config: &Config, files: &[PathBuf]) -> BTreeMap<String, String> {
    let digest = |path: &PathBuf| {
        let content = match plain_file::read(path, GATE_FILE_LIMIT) {
            Ok(bytes) => Digest::of_content(&bytes).to_string(),
            Err(_) => "unreadable".to_owned(),
        };
        (gate_file_name(config, path), content)
    };
    files.iter().map(digest).collect()
}

/// How such a file is named.
pub(super) fn gate_file_name(config: &Config, path: &Path) -> String {
    let name = path.strip_prefix(&config.workspace).unwrap_or(path);
    name.display().to_string()
}

/// The files that are not as they were, or were not there.
pub(super) fn changed_files(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<String> {
    let paths: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let changed = paths
        .into_iter()
        .filter(|path| before.get(*path) != now.get(*path));
    changed.cloned().collect()
}

/// Some of the differences, and how many more there are.
fn named(differences: &[&Difference]) -> String {
    let named: Vec<String> = differences
        .iter()
        .take(NAMED)
        .map(|difference| {
            let part = difference.part.as_deref().unwrap_or_default();
            let path = &difference.path;
            let reason = difference.reason.as_ref();
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{path}{part} ({}{reason})", what(difference.kind))
        })
        .collect();
    let more = match differences.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

fn what(kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::Added => "added",
        DifferenceKind::Removed => "removed",
        DifferenceKind::Changed => "changed",
        DifferenceKind::Retyped => "replaced by something else",
        DifferenceKind::Unreadable => "can't be read",
        DifferenceKind::Unfollowed => "a new link to a directory that is not looked into",
        DifferenceKind::Shadowing => "Python would import it in place of a protected file",
    }
}

fn test_counts(evidence: &[Evidence]) -> impl Iterator<Item = (&str, &TestCounts)> {
    evidence
        .iter()
        .filter_map(|evidence| Some((evidence.check.as_str(), evidence.tests.as_ref()?)))
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
