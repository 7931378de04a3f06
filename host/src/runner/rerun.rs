//! Runs checks again after a loop has ended: what they say about the work as it is now.

use std::path::Path;
use std::time::SystemTime;

use super::attended::baseline_of;
use super::begin::excluded_root;
use super::iteration::judge_stories;
use crate::config::{Config, Terms};
use crate::engine::Prd;
use crate::evidence::{Evidence, PolicyRunner, Scene, Wanted, gather, look_at_stories, secrets};
use crate::memory::Record;
use crate::process::{self, Stop};

/// What is run again, and where.
#[derive(Debug, Clone, Copy)]
pub struct Rerun<'r> {
    /// How checks are run.
    pub config: &'r Config,
    /// Which of them.
    pub terms: &'r Terms,
    /// The folder that holds the sessions: not part of the work.
    pub root: &'r Path,
    /// What happened in the loop: what it began with is among it.
    pub events: &'r [Record],
    /// Its checklist, or why that can't be read.
    pub prd: Result<Option<&'r Prd>, &'r str>,
    /// Runs policies, if anything does.
    pub policies: Option<&'r dyn PolicyRunner>,
    /// Ends everything.
    pub stop: &'r Stop,
}

/// Runs the checks that the terms name. They belong to no iteration, which is told as 0.
pub fn rerun(again: &Rerun<'_>) -> Vec<Evidence> {
    let baseline = baseline_of(again.events).unwrap_or_default();
    let environment: Vec<_> = std::env::vars_os().collect();
    let workspace = &again.config.workspace;
    let excluded = excluded_root(workspace, again.root);
    let scene = Scene {
        workspace,
        excluded: &excluded,
        environment: &environment,
        redactor: &secrets(&environment, again.config),
        iteration: 0,
        tree: None,
        first_commit: baseline.first_commit.as_deref(),
        begun: SystemTime::now(),
        policies: again.policies,
        stop: again.stop,
    };
    let mut evidence = gather(&scene, again.config, again.terms, Wanted::All, &|_| ());
    process::sweep(&[]);
    let found = again.prd.ok().flatten();
    let stories = found.map(|found| {
        judge_stories(
            again.config,
            again.terms,
            &baseline.stories,
            found,
            &evidence,
        )
    });
    let settled = again.prd.map(|_| stories.as_ref());
    evidence.extend(look_at_stories(&scene, again.config, again.terms, settled));
    evidence
}
