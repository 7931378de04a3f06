//! Goes on with a loop: after a kill, a cancel, or a stop that a person has looked into.

use std::path::Path;
use std::time::Instant;

use super::begin::{Options, PATIENCE, Setting, agent};
use super::events::{Baseline, LoopRecord, ResumeRecord, names};
use super::watch::{LoopEvent, Phase, Watch};
use super::{Control, Ended, Loop, RunError};
use crate::config::{Config, Task};
use crate::engine::{Action, Decision, GateEngine, Resumption, SnapshotView, StopReason};
use crate::evidence::now_ms;
use crate::memory::{Change, Event, FileStore, Record, SessionKey, Snapshot, State, list};

/// A loop that goes on, or that turned out to be complete.
pub enum Resumed<'l> {
    /// It goes on.
    Open(Box<Loop<'l>>),
    /// The checks pass: somebody has mended it.
    Complete(Box<Ended>),
}

impl<'l> Loop<'l> {
    /// Goes on with a loop. The checks are run first.
    pub fn resume(
        gate: &'l GateEngine,
        config: &'l Config,
        task: &Task,
        options: &Options,
        resumption: &Resumption,
        control: &'l Control,
        watch: &'l dyn Watch,
    ) -> Result<Resumed<'l>, RunError> {
        let agent = agent(config, options)?;
        let root = config.workspace.join(&config.memory.root);
        let key = match &task.key {
            Some(key) => key.clone(),
            None => newest(&root)?,
        };
        let mut store = FileStore::open(gate, &root, &key, PATIENCE)?;
        let contract = task.routing.contract.clone().unwrap_or_default();
        let rules = config.rules_digest();
        let past = Past::read(&store.events()?);
        if past
            .rules_digest
            .as_ref()
            .is_some_and(|digest| *digest != rules)
            && !resumption.accept_contract
        {
            return Err(RunError::RulesChanged);
        }
        let snapshot = reopen(gate, &store.state(), &contract, resumption)?;
        let record = ResumeRecord {
            at_ms: now_ms(),
            operator: resumption.operator.clone(),
            reason: resumption.reason.clone(),
            contract_digest: task.routing.digest.clone().unwrap_or_default(),
            rules_digest: rules,
        };
        let state = store.state();
        store.save(&Change {
            snapshot: snapshot.clone().map(|text| Snapshot {
                iteration: state.iteration,
                text,
            }),
            contract: (state.contract != contract).then(|| contract.clone()),
            events: Event::new(names::RESUMED, &record).into_iter().collect(),
            ..Change::default()
        })?;
        let session = gate.open(&contract, snapshot.as_deref())?;
        let terms = task.terms()?;
        let setting = Setting {
            gate,
            config,
            control,
            watch,
            files: task.files.clone(),
        };
        let baseline = past.baseline.clone().unwrap_or_default();
        let mut resumed = Self::with(setting, store, session, terms, key, agent, baseline);
        resumed.announce();
        resumed.catch_up(&past, resumption)?;
        resumed.probe()
    }

    /// A loop that was killed before its baseline was saved takes it now; one whose files an operator has changed
    /// takes their new content as right.
    fn catch_up(&mut self, past: &Past, resumption: &Resumption) -> Result<(), RunError> {
        if past.baseline.is_none() {
            return self.look_around();
        }
        if resumption.accept_contract {
            let now = self.take_baseline()?;
            self.baseline.gate_files = now.gate_files;
            self.save_baseline()?;
        }
        Ok(())
    }

    /// Runs the checks before the agent: perhaps somebody has mended it. If that ends the loop, it is an iteration of its
    /// own; if not, it never happened, but the agent hears of it.
    fn probe(mut self) -> Result<Resumed<'l>, RunError> {
        let begun = Instant::now();
        let index = self.session.brief()?.iteration;
        self.watch.see(&LoopEvent::Entered {
            iteration: index,
            phase: Phase::Probe,
        });
        let gathered = self.gather(index, &[])?;
        let mut input = self.input(index, begun, None, &gathered);
        input.action = Action::Final;
        let (contract, snapshot) = (self.store.state().contract, self.session.snapshot()?);
        let verdict = self
            .gate
            .evaluate_final(&contract, snapshot.as_deref(), &input)?;
        // Complete, canceled, or at a limit that resuming has not lifted.
        if verdict.decision != Decision::Stop {
            self.feedback = Some(verdict.feedback).filter(|feedback| !feedback.is_empty());
            return Ok(Resumed::Open(Box::new(self)));
        }
        self.remember(&input, &verdict, None, gathered)?;
        self.watch.see(&LoopEvent::Decided {
            iteration: index,
            verdict: &verdict,
        });
        Ok(Resumed::Complete(Box::new(self.end(index, verdict))))
    }
}

/// What the events tell about the loop so far.
#[derive(Debug, Default)]
struct Past {
    baseline: Option<Baseline>,
    rules_digest: Option<String>,
}

impl Past {
    fn read(records: &[Record]) -> Self {
        let mut past = Self::default();
        for record in records {
            match record.event.as_str() {
                names::BASELINE => past.baseline = record.read().or(past.baseline),
                names::STARTED => {
                    past.rules_digest = record.read::<LoopRecord>().map(|start| start.rules_digest);
                }
                names::RESUMED => {
                    past.rules_digest = record
                        .read::<ResumeRecord>()
                        .map(|resume| resume.rules_digest);
                }
                _ => {}
            }
        }
        past
    }
}

/// The state to go on from. The gate decides whether that may be.
pub(super) fn reopen(
    gate: &GateEngine,
    state: &State,
    contract: &str,
    resumption: &Resumption,
) -> Result<Option<String>, RunError> {
    let Some(snapshot) = &state.snapshot else {
        return Ok(None);
    };
    let view = gate.read_snapshot(snapshot)?;
    if view.stopped == Some(StopReason::Completed) {
        return Err(RunError::Completed {
            iteration: view.iteration,
        });
    }
    if needs_nothing(&view) && state.contract == contract {
        return Ok(Some(snapshot.clone()));
    }
    Ok(Some(gate.resume(contract, snapshot, resumption)?))
}

/// A loop that was killed was never stopped.
fn needs_nothing(view: &SnapshotView) -> bool {
    view.stopped.is_none()
}

/// The session that was written last.
pub fn newest(root: &Path) -> Result<SessionKey, RunError> {
    let changed = |folder: &str| {
        let path = root.join(folder).join("checkpoints");
        path.metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
    };
    let sessions = list(root)?;
    let newest = sessions
        .into_iter()
        .filter(|session| session.problem.is_none())
        .max_by_key(|session| changed(&session.folder));
    newest
        .and_then(|session| session.key)
        .ok_or_else(|| RunError::NothingToResume {
            root: root.to_owned(),
        })
}
