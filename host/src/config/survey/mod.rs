//! Looks at a workspace for ways of testing. Reads files and starts nothing: what the proposals need to run is for
//! [`probe`](super::probe) to find out.

mod folder;
mod javascript;
mod native;
mod python;
mod recipes;
mod started;
mod tasks;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::catalogue::Ecosystem;
use crate::evidence::reports::TestFormat;
use folder::Folder;
pub(super) use started::files as started_files;

/// How deep a monorepo is searched.
const DEPTH: usize = 3;
/// How many directories are looked into.
const DIRECTORY_LIMIT: usize = 2_000;
/// How many checks are proposed.
const PROPOSAL_LIMIT: usize = 16;

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Ways of testing, in a fixed order, each with an id of its own.
    pub tests: Vec<Proposal>,
    /// Linters and type checkers.
    pub lints: Vec<Proposal>,
    /// The ecosystems that are there, also where no way of testing was found.
    pub ecosystems: Vec<&'static Ecosystem>,
    /// What tools write in the directories of these ecosystems, as patterns.
    pub generated: BTreeSet<String>,
    /// The parts of that in which nothing steers a runner, as patterns.
    pub inert: BTreeSet<String>,
    /// Files that may not appear because of what else is there, as patterns.
    pub protected: Vec<String>,
}

/// A check that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// Its id.
    pub id: String,
    /// What told of it, relative to the workspace.
    pub found_in: String,
    /// Where it runs, relative to the workspace; absent for the workspace itself.
    pub directory: Option<String>,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How its results are read; absent where only its exit code counts.
    pub results: Option<Results>,
    /// Its ecosystem.
    #[serde(skip)]
    pub ecosystem: &'static Ecosystem,
    /// A quick command that shows that it can run; empty if only the program itself is looked for.
    #[serde(skip)]
    pub probe: Vec<String>,
    /// What to run if that command fails.
    #[serde(skip)]
    pub fallback: Option<Fallback>,
    /// What is missing, as far as files tell.
    #[serde(skip)]
    pub missing: Option<String>,
    /// How results could be counted where only the exit code counts.
    #[serde(skip)]
    pub hint: Option<&'static str>,
    /// The files of the workspace that it starts.
    #[serde(skip)]
    pub started: Vec<String>,
}

/// Another command for the same tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// A quick command that shows that it can run.
    pub probe: Vec<String>,
}

/// How results are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Results {
    /// The format.
    pub format: TestFormat,
    /// The file, relative to the workspace; standard output when absent.
    pub report: Option<String>,
}

impl Proposal {
    fn new(id: &str, folder: &Folder<'_>, found_in: &str, ecosystem: &'static Ecosystem) -> Self {
        Self {
            id: folder.id(id),
            found_in: folder.path(found_in),
            directory: folder.directory(),
            ..Self::of(ecosystem, Vec::new())
        }
    }

    /// A command of which nothing else is known.
    pub(super) fn of(ecosystem: &'static Ecosystem, argv: Vec<String>) -> Self {
        Self {
            id: String::new(),
            found_in: String::new(),
            directory: None,
            argv,
            results: None,
            ecosystem,
            probe: Vec::new(),
            fallback: None,
            missing: None,
            hint: None,
            started: Vec::new(),
        }
    }

    /// Takes the fallback where the command itself can't run. An error says why neither of them can.
    pub fn settle(
        &mut self,
        mut probe: impl FnMut(&Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let problem = probe(self).err();
        match (problem, self.fallback.take()) {
            (Some(_), Some(fallback)) => {
                self.argv = fallback.argv;
                self.probe = fallback.probe;
                probe(self)
            }
            (Some(problem), None) => Err(problem),
            (None, _) => Ok(()),
        }
    }

    fn argv<T: ToString>(mut self, argv: impl IntoIterator<Item = T>) -> Self {
        self.argv = argv.into_iter().map(|word| word.to_string()).collect();
        self
    }

    fn probe<T: ToString>(mut self, argv: impl IntoIterator<Item = T>) -> Self {
        self.probe = argv.into_iter().map(|word| word.to_string()).collect();
        self
    }

    fn prints(mut self, format: TestFormat) -> Self {
        let report = None;
        self.results = Some(Results { format, report });
        self
    }

    fn writes(mut self, format: TestFormat, report: String) -> Self {
        let report = Some(report);
        self.results = Some(Results { format, report });
        self
    }

    fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    fn missing(mut self, missing: Option<String>) -> Self {
        self.missing = missing;
        self
    }
}

/// What one directory has.
#[derive(Debug, Default)]
struct Found {
    tests: Vec<Proposal>,
    lints: Vec<Proposal>,
    ecosystems: Vec<&'static Ecosystem>,
    protected: Vec<String>,
}

/// The ways of testing in a workspace and in its directories. What can't be read is not there.
pub fn survey(workspace: &Path) -> Survey {
    let mut survey = Survey::default();
    let mut rest: Vec<(String, Covered)> = vec![(String::new(), Covered::default())];
    let mut count = 0;
    for depth in 0..=DEPTH {
        let mut below = Vec::new();
        for (path, covered) in std::mem::take(&mut rest) {
            count += 1;
            if count > DIRECTORY_LIMIT {
                break;
            }
            let Some(folder) = Folder::open(workspace, path) else {
                continue;
            };
            let mut found = look(&folder, &covered);
            for proposal in &mut found.tests {
                let directory = folder.directory().unwrap_or_default();
                proposal.started = started_files(workspace, &directory, &proposal.argv);
            }
            survey.note_generated(&folder, &found.ecosystems);
            let inner = survey.take(found, covered);
            if depth < DEPTH {
                below.extend(folder.folders().map(|path| (path, inner.clone())));
            }
        }
        rest = below;
    }
    survey.tests.truncate(PROPOSAL_LIMIT);
    survey.lints.truncate(PROPOSAL_LIMIT);
    survey.name_apart();
    survey
}

/// The ecosystems whose tests a directory above runs already.
#[derive(Debug, Clone, Default)]
struct Covered(Vec<&'static str>);

impl Covered {
    fn has(&self, ecosystem: &Ecosystem) -> bool {
        self.0.contains(&ecosystem.name)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn look(folder: &Folder<'_>, covered: &Covered) -> Found {
    let mut found = Found::default();
    python::look(folder, &mut found);
    javascript::look(folder, &mut found);
    native::look(folder, &mut found);
    // Its module is one of its own: nothing above runs its tests.
    found
        .tests
        .retain(|it| it.ecosystem.name == super::catalogue::GO.name || !covered.has(it.ecosystem));
    found.lints.retain(|it| !covered.has(it.ecosystem));
    // A task runner usually runs what was found already.
    if found.tests.is_empty() && covered.is_empty() {
        tasks::look(folder, &mut found);
    }
    found
}

impl Survey {
    /// Adds what a directory has. Gives what is covered below it.
    fn take(&mut self, found: Found, mut covered: Covered) -> Covered {
        for ecosystem in &found.ecosystems {
            let is_known = |known: &&Ecosystem| known.name == ecosystem.name;
            if !self.ecosystems.iter().any(is_known) {
                self.ecosystems.push(ecosystem);
            }
        }
        covered
            .0
            .extend(found.tests.iter().map(|proposal| proposal.ecosystem.name));
        self.tests.extend(found.tests);
        self.lints.extend(found.lints);
        self.protected.extend(found.protected);
        covered
    }

    /// Takes note of what tools write here, and in the workspace itself.
    fn note_generated(&mut self, folder: &Folder<'_>, ecosystems: &[&Ecosystem]) {
        let all = ecosystems.iter().flat_map(|ecosystem| ecosystem.generated);
        let all: BTreeSet<&str> = all.copied().collect();
        self.generated
            .extend(all.iter().map(|pattern| format!("/{pattern}")));
        let inert = ecosystems.iter().flat_map(|ecosystem| ecosystem.inert);
        let inert: BTreeSet<&str> = inert.copied().collect();
        self.inert
            .extend(inert.iter().map(|pattern| format!("/{pattern}")));
        let Some(directory) = folder.directory() else {
            return;
        };
        let directory = globset::escape(&directory);
        if !all.is_empty() {
            let all: Vec<&str> = all.into_iter().collect();
            self.generated
                .insert(format!("/{directory}/{{{}}}", all.join(",")));
        }
        let inert = inert.into_iter();
        self.inert
            .extend(inert.map(|pattern| format!("/{directory}/{pattern}")));
    }

    /// Two checks never have one id.
    fn name_apart(&mut self) {
        let mut used = BTreeSet::new();
        for proposal in self.tests.iter_mut().chain(&mut self.lints) {
            let id = proposal.id.clone();
            let mut number = 1;
            while !used.insert(proposal.id.clone()) {
                number += 1;
                proposal.id = format!("{id}_{number}");
            }
        }
    }
}
