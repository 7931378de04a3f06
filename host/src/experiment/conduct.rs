//! Carries an experiment out: every run that is not done yet, in order, some at a time.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;

use super::error::ExperimentError;
use super::estimate::{Past, remaining_ms};
use super::layout::Layout;
use super::order::RunId;
use super::plan::Plan;
use super::prepare::Prepared;
use super::record::RunRecord;
use super::run::{Found, Stage};
use crate::engine::GateEngine;
use crate::evidence::PolicyRunner;
use crate::memory::FolderLock;
use crate::process::Stop;

/// An experiment that this process may go on with.
#[derive(Debug)]
pub struct Experiment {
    prepared: Prepared,
    layout: Layout,
    _held: FolderLock,
}

/// What an experiment is carried out with.
#[derive(Clone, Copy)]
pub struct Means<'m> {
    /// This executable, which is started again for each run.
    pub program: &'m Path,
    /// How many runs at a time.
    pub jobs: usize,
    /// Ends everything.
    pub stop: &'m Stop,
    /// The gate.
    pub gate: &'m GateEngine,
    /// Runs policies, if anything does.
    pub policies: Option<&'m dyn PolicyRunner>,
}

/// Somebody who watches. Called from several threads.
pub trait Observer: Sync {
    /// Takes note of something.
    fn see(&self, step: &Step<'_>);
}

/// Something that happened.
#[derive(Debug)]
pub enum Step<'s> {
    /// It begins, or goes on.
    Opened(Standing),
    /// A run was interrupted before, and is moved out of the way.
    SetAside {
        /// Which.
        run: &'s RunId,
        /// Where it is now.
        to: &'s Path,
    },
    /// A run begins.
    Begun {
        /// Which.
        run: &'s RunId,
        /// How often it was begun, with this time.
        attempt: u32,
    },
    /// A run has come so far.
    Iteration {
        /// Which.
        run: &'s RunId,
        /// The iteration.
        iteration: u32,
    },
    /// A run is done, and audited if it was to be.
    Ended {
        /// Which.
        run: &'s RunId,
        /// How.
        record: &'s RunRecord,
        /// What that means for the whole.
        standing: Standing,
    },
}

/// How far an experiment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// All runs.
    pub total: usize,
    /// Those that are done.
    pub done: usize,
    /// How long the rest may take. None as long as nothing is known.
    pub remaining_ms: Option<u64>,
}

/// How far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conducted {
    /// Every run is done.
    Finished,
    /// Somebody interrupted it; it can go on later.
    Interrupted,
}

/// What the threads share.
struct Shared {
    ahead: VecDeque<RunId>,
    /// Runs that are under way.
    under_way: Vec<RunId>,
    total: usize,
    done: usize,
    past: Past,
    jobs: usize,
    failed: Option<ExperimentError>,
}

impl Shared {
    fn standing(&self) -> Standing {
        let left = self.ahead.iter().chain(&self.under_way);
        let arms = left.map(|run| run.arm.as_str());
        Standing {
            total: self.total,
            done: self.done,
            remaining_ms: remaining_ms(&self.past, arms, self.jobs),
        }
    }

    fn count(&mut self, run: &RunId, record: &RunRecord) {
        self.done += 1;
        self.past.add(&run.arm, record.duration_ms);
        self.under_way.retain(|other| other != run);
    }
}

impl Experiment {
    pub(super) fn new(prepared: Prepared, layout: Layout, held: FolderLock) -> Self {
        Self {
            prepared,
            layout,
            _held: held,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.prepared.plan
    }

    /// Where the logs of all runs are, as patterns of paths. An agent may leave a file of that name elsewhere.
    pub fn logs(&self) -> BTreeSet<PathBuf> {
        let memories = self.prepared.tasks.values().map(|task| &task.memory);
        let runs = self.layout.runs().join("*/*/*/workspace");
        memories
            .map(|memory| runs.join(memory).join("*/events.jsonl"))
            .collect()
    }

    /// Runs what is not done yet until it is finished, somebody stops it, or something is wrong that another run would meet
    /// too.
    pub fn conduct(
        &self,
        with: &Means<'_>,
        observer: &dyn Observer,
    ) -> Result<Conducted, ExperimentError> {
        let stage = Stage {
            prepared: &self.prepared,
            layout: &self.layout,
            program: with.program,
            stop: with.stop,
            gate: with.gate,
            policies: with.policies,
            quiet: &RwLock::new(()),
        };
        let jobs = with.jobs.max(1);
        let shared = Mutex::new(self.look(&stage, jobs));
        observer.see(&Step::Opened(lock(&shared).standing()));
        thread::scope(|scope| {
            for _ in 1..jobs {
                scope.spawn(|| work(&stage, &shared, observer));
            }
            work(&stage, &shared, observer);
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        match shared.failed {
            Some(error) => Err(error),
            None if shared.done == shared.total => Ok(Conducted::Finished),
            None => Ok(Conducted::Interrupted),
        }
    }

    /// What the files tell.
    fn look(&self, stage: &Stage<'_>, jobs: usize) -> Shared {
        let order = self.prepared.order();
        let mut shared = Shared {
            ahead: VecDeque::new(),
            under_way: Vec::new(),
            total: order.len(),
            done: 0,
            past: Past::default(),
            jobs,
            failed: None,
        };
        for run in order {
            match stage.look(run) {
                Found::Ended(record) if record.audit.is_some() || !stage.wants_audit(run) => {
                    shared.count(run, &record);
                }
                _ => shared.ahead.push_back(run.clone()),
            }
        }
        shared
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes one run after the other.
fn work(stage: &Stage<'_>, shared: &Mutex<Shared>, observer: &dyn Observer) {
    loop {
        let run = {
            let mut shared = lock(shared);
            if stage.stop.is_canceled() || shared.failed.is_some() {
                return;
            }
            let Some(run) = shared.ahead.pop_front() else {
                return;
            };
            shared.under_way.push(run.clone());
            run
        };
        match carry_out(stage, &run, observer) {
            Ok(Some(record)) => {
                let mut shared = lock(shared);
                shared.count(&run, &record);
                let standing = shared.standing();
                drop(shared);
                observer.see(&Step::Ended {
                    run: &run,
                    record: &record,
                    standing,
                });
            }
            Ok(None) => return,
            Err(error) => {
                lock(shared).failed.get_or_insert(error);
                return;
            }
        }
    }
}

/// One run from where it stands to its end. None if it was interrupted.
fn carry_out(
    stage: &Stage<'_>,
    run: &RunId,
    observer: &dyn Observer,
) -> Result<Option<RunRecord>, ExperimentError> {
    let record = match stage.look(run) {
        Found::Ended(record) => *record,
        found => {
            if let Found::HalfDone = found {
                let number = stage.set_aside(run)?;
                let to = stage.layout.set_aside(run, number);
                observer.see(&Step::SetAside { run, to: &to });
            }
            let attempt = stage.set_aside_before(run).saturating_add(1);
            observer.see(&Step::Begun { run, attempt });
            let mut on_iteration = |iteration| observer.see(&Step::Iteration { run, iteration });
            let Some(record) = stage.run(run, &mut on_iteration)? else {
                return Ok(None);
            };
            record
        }
    };
    if record.audit.is_some() || !stage.wants_audit(run) {
        return Ok(Some(record));
    }
    let Some(audit) = stage.audit(run, &record)? else {
        return Ok(None);
    };
    let record = RunRecord {
        audit: Some(audit),
        ..record
    };
    record.save(&stage.layout.run(run))?;
    Ok(Some(record))
}
