//! Begins a loop: a new session, the contract pinned, and what things look like before the agent touches them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::agents::Client;
use super::events::{AttendedRecord, Baseline, LoopRecord, names};
use super::test_baseline::TestBaseline;
use super::watch::{LoopEvent, Phase, Watch};
use super::{Agent, Control, Loop, RunError};
use crate::config::{AdapterName, Config, Task, Terms};
use crate::engine::{GateEngine, ProgressEntry};
use crate::evidence::{PolicyRunner, Wanted, needs_a_policy, now_ms};
use crate::memory::{Change, Event, FileStore, Patience, Record, SessionKey, holder, list};
use crate::moment;
use crate::process::{self, Keep, Program};
use crate::worktree::Stamps;

/// How long to wait for another process that writes to the same session: it may be about to end.
pub(super) const PATIENCE: Patience = Patience::Until(Duration::from_secs(5));

/// What the command line says beside the configuration.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The agent; that of the configuration when empty.
    pub argv: Vec<String>,
    /// The task; that of the configuration when absent.
    pub prompt: Option<String>,
    /// A file with the task.
    pub prompt_file: Option<PathBuf>,
    /// Runs policies; without it, a contract that needs one is refused.
    pub policies: Option<Arc<dyn PolicyRunner>>,
}

/// Who was told to do what, when the loop began or was resumed last.
#[derive(Debug)]
pub(super) struct Told {
    argv: Vec<String>,
    prompt: String,
}

impl Told {
    pub(super) fn new(argv: Vec<String>, prompt: String) -> Self {
        Self { argv, prompt }
    }
}

/// What a loop needs beside its memory.
pub(super) struct Setting<'l> {
    pub(super) gate: &'l GateEngine,
    pub(super) config: &'l Config,
    pub(super) control: &'l Control,
    pub(super) watch: &'l dyn Watch,
    pub(super) files: Vec<PathBuf>,
    pub(super) policies: Option<Arc<dyn PolicyRunner>>,
}

impl<'l> Setting<'l> {
    pub(super) fn new(
        gate: &'l GateEngine,
        config: &'l Config,
        task: &Task,
        options: &Options,
        control: &'l Control,
        watch: &'l dyn Watch,
    ) -> Self {
        Self {
            gate,
            config,
            control,
            watch,
            files: task.files.clone(),
            policies: options.policies.clone(),
        }
    }
}

impl<'l> Loop<'l> {
    /// Begins a loop that was routed to the gate.
    pub fn begin(
        gate: &'l GateEngine,
        config: &'l Config,
        task: &Task,
        options: &Options,
        control: &'l Control,
        watch: &'l dyn Watch,
    ) -> Result<Self, RunError> {
        let terms = task.terms()?;
        see_that_policies_can_run(config, &terms, options)?;
        let agent = agent(config, options, None)?;
        agent.see_that_it_is_there(config)?;
        let setting = Setting::new(gate, config, task, options, control, watch);
        let key = task.key.clone().unwrap_or_else(new_key);
        let mut begun = Self::create(setting, task, terms, key, agent, None)?;
        begun.announce();
        begun.look_around()?;
        Ok(begun)
    }

    /// Makes a new session for a loop that was routed to the gate.
    pub(super) fn create(
        setting: Setting<'l>,
        task: &Task,
        terms: Terms,
        key: SessionKey,
        agent: Agent,
        attended: Option<AttendedRecord>,
    ) -> Result<Self, RunError> {
        let (gate, config) = (setting.gate, setting.config);
        let root = config.workspace.join(&config.memory.root);
        let contract = task.routing.contract.clone().unwrap_or_default();
        let record = LoopRecord {
            task_class: task.task_class.clone(),
            labels: task.labels.clone(),
            rules_digest: config.rules_digest(),
            argv: agent.argv.clone(),
            prompt: agent.prompt.clone(),
            attended,
            given: config.given().cloned(),
            ..LoopRecord::new(&key, now_ms(), &task.routing)
        };
        let mut start = record
            .start(first_prd(config)?)?
            .recorded(config.memory.recording());
        start.progress = first_progress(config)?;
        let store = FileStore::open_or_create(gate, &root, &key, &start, PATIENCE)?;
        let state = store.state();
        // One that was killed before it took its baseline has not begun. If it was to be another one, it stays that.
        let is_this = |found: &LoopRecord| found.rules_digest == record.rules_digest;
        let begun = store.recall()?.first().and_then(Record::read);
        if state.revision > 1 || state.contract != contract || !begun.is_some_and(|it| is_this(&it))
        {
            return Err(RunError::Exists {
                key,
                iteration: state.iteration,
            });
        }
        let session = gate.open(&contract, None)?;
        let baseline = Baseline::default();
        Ok(Self::with(
            setting, store, session, terms, key, agent, baseline,
        ))
    }

    pub(super) fn with(
        setting: Setting<'l>,
        store: FileStore<'l>,
        session: crate::engine::Session,
        terms: Terms,
        key: SessionKey,
        agent: Agent,
        baseline: Baseline,
    ) -> Self {
        Self {
            gate: setting.gate,
            config: setting.config,
            control: setting.control,
            watch: setting.watch,
            policies: setting.policies,
            store,
            session,
            terms,
            key,
            agent,
            baseline,
            stamps: Stamps::default(),
            repository: OnceCell::new(),
            gate_files: setting.files,
            environment: std::env::vars_os().collect(),
            excluded: excluded(setting.config),
            behind: BTreeSet::new(),
            feedback: None,
            exit: None,
        }
    }

    pub(super) fn announce(&self) {
        if !self.watch.is_anybody() {
            return;
        }
        let withheld = self.agent_environment(1).withheld;
        let named = self.terms.completion_checks.iter();
        let checks: Vec<String> = named.map(|check| check.id.clone()).collect();
        self.watch.see(&LoopEvent::Opened {
            key: &self.key,
            memory: self.store.path(),
            iteration: self.store.state().iteration,
            at_most: self.terms.loop_max_iters,
            overridable: self.terms.allow_override,
            argv: &self.agent.argv,
            checks: &checks,
            withheld: &withheld,
        });
        self.warn();
        if !self.store.findings().is_empty() {
            self.watch.see(&LoopEvent::Found(self.store.findings()));
        }
    }

    /// What a person may not have thought of.
    fn warn(&self) {
        if self.terms.cost_budget_usd.is_some() && self.agent.client != Client::Claude {
            self.watch.see(&LoopEvent::Warning(
                "the agent does not say what it costs, so the cost budget can't end this loop",
            ));
        }
        let root = self.config.workspace.join(&self.config.memory.root);
        for session in list(&root).unwrap_or_default() {
            let Some(key) = session.key.filter(|key| *key != self.key) else {
                continue;
            };
            if let Ok(Some(holder)) = holder(&root, &key) {
                let warning = format!("another loop is running here: {} ({holder})", key.text());
                self.watch.see(&LoopEvent::Warning(&warning));
            }
        }
    }

    /// Takes the baseline, which needs the tests to be run once.
    pub(super) fn look_around(&mut self) -> Result<(), RunError> {
        self.watch.see(&LoopEvent::Entered {
            iteration: 0,
            phase: Phase::Baseline,
        });
        self.baseline = self.take_baseline()?;
        let tripwires = &self.config.tripwires;
        if tripwires.test_count || tripwires.skipped_tests {
            let evidence = self.run_checks(0, None, Wanted::Tests);
            self.learn_test_counts(&evidence);
            for (check, counts) in evidence
                .iter()
                .filter_map(|it| Some((&it.check, it.tests.as_ref()?)))
            {
                if let Some(reason) = TestBaseline::why_unnamed(counts) {
                    let warning = format!(
                        "the tests of {check} are compared by their number alone, because {reason}"
                    );
                    self.watch.see(&LoopEvent::Warning(&warning));
                }
            }
            for uncounted in evidence.iter().filter(|it| it.tests.is_none()) {
                let warning = format!(
                    "the tests of {} can't be counted before the agent begins, so tests that it deletes first are not \
                     missed; protected_paths can guard their files",
                    uncounted.check
                );
                self.watch.see(&LoopEvent::Warning(&warning));
            }
        }
        self.save_baseline()
    }

    pub(super) fn save_baseline(&mut self) -> Result<(), RunError> {
        let event = Event::new(names::BASELINE, &self.baseline);
        self.store.save(&Change {
            events: event.into_iter().collect(),
            ..Change::default()
        })?;
        Ok(())
    }
}

impl Agent {
    /// A misspelt name should not leave a session behind.
    pub(super) fn see_that_it_is_there(&self, config: &Config) -> Result<(), RunError> {
        let environment = std::env::vars_os().collect();
        process::can_start(&Program {
            argv: self.argv.clone(),
            directory: config.workspace.clone(),
            environment,
            input: Vec::new(),
            timeout: Duration::ZERO,
            keep: Keep { head: 0, tail: 0 },
        })?;
        Ok(())
    }
}

/// A loop that can't ever complete should not begin.
pub(super) fn see_that_policies_can_run(
    config: &Config,
    terms: &Terms,
    options: &Options,
) -> Result<(), RunError> {
    match (needs_a_policy(config, terms), &options.policies) {
        (Some(check), None) => Err(RunError::NoPolicies {
            check: check.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The memory is not part of the work, where it is in the workspace at all.
fn excluded(config: &Config) -> Vec<String> {
    excluded_root(
        &config.workspace,
        &config.workspace.join(&config.memory.root),
    )
}

/// The same of a root that is known.
pub(super) fn excluded_root(workspace: &Path, root: &Path) -> Vec<String> {
    let (root, workspace) = (root.canonicalize(), workspace.canonicalize());
    let inside = match (&root, &workspace) {
        (Ok(root), Ok(workspace)) => root.strip_prefix(workspace).ok(),
        _ => None,
    };
    let inside = inside
        .and_then(Path::to_str)
        .filter(|path| !path.is_empty());
    inside.map(str::to_owned).into_iter().collect()
}

/// Who does the work, and what it is.
pub(super) fn agent(
    config: &Config,
    options: &Options,
    before: Option<&Told>,
) -> Result<Agent, RunError> {
    let before_argv = before.map(|told| &told.argv);
    let argv = [Some(&options.argv), Some(&config.agent.argv), before_argv];
    let argv = argv.into_iter().flatten().find(|argv| !argv.is_empty());
    let argv = argv.ok_or(RunError::NoAgent)?.clone();
    let client = match config.agent.adapter {
        None => Client::recognise(&argv),
        Some(AdapterName::Claude) => Client::Claude,
        Some(AdapterName::Codex) => Client::Codex,
        Some(AdapterName::Gemini) => Client::Gemini,
        Some(AdapterName::Command) => Client::Command,
    };
    Ok(Agent {
        argv,
        client,
        prompt: prompt(config, options, before)?,
    })
}

/// The task: the command line's, or else the configuration's, or else that of the loop which is resumed. There may be
/// none: the agent may know.
fn prompt(config: &Config, options: &Options, before: Option<&Told>) -> Result<String, RunError> {
    let file = match (&options.prompt, &options.prompt_file) {
        (Some(prompt), _) => return Ok(prompt.clone()),
        (None, Some(file)) => Some(file.clone()),
        (None, None) => match (&config.agent.prompt, &config.agent.prompt_file) {
            (Some(prompt), _) => return Ok(prompt.clone()),
            (None, file) => file.as_ref().map(|file| config.workspace.join(file)),
        },
    };
    let before = || before.map_or_else(String::new, |told| told.prompt.clone());
    file.map_or_else(|| Ok(before()), read)
}

fn read(file: PathBuf) -> Result<String, RunError> {
    fs::read_to_string(&file).map_err(|error| RunError::Unreadable {
        reason: error.to_string(),
        file,
    })
}

fn first_prd(config: &Config) -> Result<Option<String>, RunError> {
    let prd = config.memory.prd.as_ref();
    prd.map(|prd| read(config.workspace.join(prd))).transpose()
}

/// What earlier loops learned, as the first entry of the log.
fn first_progress(config: &Config) -> Result<Option<ProgressEntry>, RunError> {
    let Some(progress) = &config.memory.progress else {
        return Ok(None);
    };
    let body = read(config.workspace.join(progress))?;
    if body.trim().is_empty() {
        return Ok(None);
    }
    Ok(Some(ProgressEntry {
        iteration: 0,
        title: "before this loop".to_owned(),
        body: body.trim_end().to_owned(),
    }))
}

/// A key that no other loop has: when it began, and by which process.
fn new_key() -> SessionKey {
    let seconds = now_ms() / 1000;
    SessionKey::Session(format!("{}-{}", moment::name(seconds), std::process::id()))
}
