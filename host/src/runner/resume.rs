//! Goes on with a loop: after a kill, a cancel, or a stop that a person has looked into.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::begin::{Options, PATIENCE, Preference, Setting, Told, agent};
use super::events::{Baseline, LoopRecord, ResumeRecord, names};
use super::preflight::{
    PreflightScope, ensure_checks_can_start, ensure_it_can_work, ensure_policies_can_run,
};
use super::tripwire::{changed_files, digest_gate_files, gate_file_name};
use super::watch::{LoopEvent, Phase, Watch};
use super::{Control, Ended, Loop, RunError};
use crate::config::{Config, Task};
use crate::engine::{Action, Decision, GateEngine, Resumption, StopReason, Verdict};
use crate::evidence::now_ms;
use crate::memory::course::{self, Reopened};
use crate::memory::{FileStore, MemoryError, Record, SessionKey, State, Under, View, list};

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
        let root = config.workspace.join(config.memory.root());
        let key = match &task.key {
            Some(key) => key.clone(),
            None => newest(&root)?,
        };
        let mut store = FileStore::open(gate, &root, &key, PATIENCE)?;
        let contract = task.routing.contract.clone().unwrap_or_default();
        let rules = config.rules_digest();
        let past = Past::of(&store, resumption)?;
        if past.rules_digest.as_ref() != Some(&rules) && !resumption.accept_contract {
            return Err(RunError::RulesChanged);
        }
        let terms = task.terms()?;
        ensure_policies_can_run(config, &terms, options)?;
        let preference = match &past.told {
            None => Preference::Configured,
            Some(told) if resumption.accept_contract => Preference::ConfiguredAgain(told),
            Some(told) => Preference::AsBefore(told),
        };
        let agent = agent(config, options, preference)?;
        agent.ensure_task(config)?;
        let snapshot = reopen(gate, &store.state(), &contract, resumption)?;
        past.see_that_files_are_as_they_were(config, task, resumption)?;
        let scope = PreflightScope::ResumedLoop;
        ensure_it_can_work(config, &terms, options, &agent, control, scope)?;
        let record = ResumeRecord {
            at_ms: now_ms(),
            operator: resumption.operator.clone(),
            reason: resumption.reason.clone(),
            contract: contract.clone(),
            contract_digest: task.routing.digest.clone().unwrap_or_default(),
            rules_digest: rules,
            argv: agent.argv.clone(),
            prompt: agent.prompt.clone(),
            client: Some(agent.client.name().to_owned()),
            request: options.request.clone(),
        };
        let state = store.state();
        let run = Under {
            mode: task.routing.mode,
            profile: task.routing.profile.clone(),
            enforcement: task.routing.enforcement,
            record: config.memory.recording(),
        };
        store.save(&record.change(&state, snapshot.clone(), Some(run))?)?;
        let session = gate.open(&contract, snapshot.as_deref())?;
        let setting = Setting::new(gate, config, task, options, control, watch);
        let baseline = past.baseline.clone().unwrap_or_default();
        let mut resumed = Self::with(setting, store, session, terms, key, agent, baseline);
        resumed.announce();
        resumed.catch_up(&past, resumption)?;
        resumed.probe()
    }

    /// A loop that was killed before its baseline was saved takes it now; one whose files an operator has changed
    /// takes their new content as right.
    fn catch_up(&mut self, past: &Past, resumption: &Resumption) -> Result<(), RunError> {
        match &past.baseline {
            None if self.store.state().iteration == 0 && !past.is_judged => {
                return self.look_around();
            }
            // The checks are run next, and tell how many tests there are.
            None => {
                self.baseline = self.take_baseline()?;
                return self.save_baseline();
            }
            Some(_) => {}
        }
        if resumption.accept_contract {
            let mut now = self.take_baseline()?;
            let before = std::mem::take(&mut self.baseline);
            now.protected.keep(&before.protected)?;
            now.first_commit = before.first_commit;
            now.tests = before.tests;
            for (id, story) in &mut now.stories {
                story.proven = before.stories.get(id).is_some_and(|story| story.proven);
            }
            self.baseline = now;
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
        ensure_checks_can_start(self.config, &gathered.evidence)?;
        let mut input = self.input(index, begun.elapsed(), None, &gathered);
        input.action = Action::Final;
        let (contract, snapshot) = (self.store.state().contract, self.session.snapshot()?);
        let verdict = self
            .gate
            .evaluate_final(&contract, snapshot.as_deref(), &input)?;
        if !self.ends_before_the_agent(index, &verdict) {
            self.feedback = Some(verdict.feedback).filter(|feedback| !feedback.is_empty());
            // Before the agent has its turn.
            if self.learn_test_counts(&gathered.evidence) {
                self.save_baseline()?;
            }
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

impl Loop<'_> {
    /// Complete, canceled, or beyond a limit that resuming has not lifted. What else would stop the loop is the agent's
    /// to change, as long as it has an iteration left: looking before it does not use that up.
    fn ends_before_the_agent(&self, index: u32, verdict: &Verdict) -> bool {
        if verdict.decision != Decision::Stop {
            return false;
        }
        match verdict.stop_reason {
            Some(StopReason::MaxIters) => index > self.terms.loop_max_iters,
            Some(StopReason::NoProgress | StopReason::Blocked | StopReason::Error) => false,
            Some(
                StopReason::Completed | StopReason::ContextCanceled | StopReason::BudgetExceeded,
            )
            | None => true,
        }
    }
}

/// What the events tell about the loop so far.
#[derive(Debug, Default)]
struct Past {
    baseline: Option<Baseline>,
    rules_digest: Option<String>,
    told: Option<Told>,
    /// Whether the gate was asked for a verdict.
    is_judged: bool,
}

impl Past {
    /// Without its beginning a loop can't be gone on with, unless an operator takes what is there now as the beginning:
    /// otherwise an agent could have its changes taken for it by damaging the log.
    fn of(store: &FileStore<'_>, resumption: &Resumption) -> Result<Self, RunError> {
        let events = match store.recall() {
            Err(MemoryError::LogChanged { .. }) if resumption.accept_contract => Vec::new(),
            events => events?,
        };
        let is_whole = events.first().is_some_and(|first| first.seq == 1);
        if !is_whole && !resumption.accept_contract {
            return Err(RunError::BeginningLost);
        }
        Ok(Self::read(&events))
    }

    /// What an operator has not accepted would be refused after each turn of the agent.
    fn see_that_files_are_as_they_were(
        &self,
        config: &Config,
        task: &Task,
        resumption: &Resumption,
    ) -> Result<(), RunError> {
        let Some(baseline) = &self.baseline else {
            return Ok(());
        };
        let now = digest_gate_files(config, &task.files);
        let changed = changed_files(&baseline.gate_files, &now);
        if changed.is_empty() || resumption.accept_contract {
            return Ok(());
        }
        // Another contract or other checks were refused before.
        let own = gate_file_name(config, &config.file);
        let files = changed.into_iter().map(|file| match file {
            file if file == own => {
                format!("{file} ([agent], or another section beside the contract and the checks)")
            }
            file => file,
        });
        Err(RunError::FilesChanged {
            files: files.collect(),
        })
    }

    fn read(records: &[Record]) -> Self {
        let mut past = Self::default();
        for record in records {
            match record.event.as_str() {
                names::BASELINE => past.baseline = record.read().or(past.baseline),
                names::VERDICT => past.is_judged = true,
                names::STARTED => {
                    if let Some(start) = record.read::<LoopRecord>() {
                        past.rules_digest = Some(start.rules_digest);
                        past.told = Some(Told {
                            argv: start.argv,
                            prompt: start.prompt,
                            client: start.client,
                        });
                    }
                }
                names::RESUMED => {
                    if let Some(resume) = record.read::<ResumeRecord>() {
                        past.rules_digest = Some(resume.rules_digest);
                        past.told = Some(Told {
                            argv: resume.argv,
                            prompt: resume.prompt,
                            client: resume.client,
                        });
                    }
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
    match course::reopen(gate, state, contract, resumption)? {
        Reopened::New => Ok(None),
        Reopened::At(snapshot) => Ok(Some(snapshot)),
        Reopened::Completed { iteration } => Err(RunError::Completed { iteration }),
    }
}

/// The file with the request that a loop was started or resumed with last, if it can be told.
pub fn recorded_request(root: &Path, key: &SessionKey) -> Option<PathBuf> {
    let (_, events) = View::open(root, key).ok()?.recall().ok()?;
    let request = |record: &Record| match record.event.as_str() {
        names::STARTED => Some(record.read::<LoopRecord>()?.request),
        names::RESUMED => Some(record.read::<ResumeRecord>()?.request),
        _ => None,
    };
    events.iter().rev().find_map(request)?
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
