//! Begins a loop: a new session, the contract pinned, and what things look like before the agent touches them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::agents::Client;
use super::events::{AttendedRecord, Baseline, LoopRecord, VerdictRecord, names};
use super::iteration::Gathered;
use super::preflight::{
    PreflightScope, cost_warning, ensure_checks_can_start, ensure_it_can_work,
    ensure_policies_can_run,
};
use super::test_baseline::TestBaseline;
use super::turn::PLACEHOLDER;
use super::watch::{LoopEvent, Phase, Watch};
use super::{Agent, Control, Loop, RunError};
use ralph_gate_component::Word as _;

use crate::config::{AdapterName, Config, ConfigError, KindName, Task, Terms};
use crate::engine::{Decision, GateEngine, Iteration, Mode, ProgressEntry, RouteReason, Verdict};
use crate::evidence::{Evidence, PolicyRunner, Wanted, now_ms, secrets};
use crate::memory::foreign;
use crate::memory::{
    Change, Event, FileStore, Patience, Record, SessionKey, Snapshot, holder, list,
};
use crate::moment;
use crate::process::{self, Keep, Program, StartError};
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
    /// The client that the agent's output is read as; recognized when absent.
    pub adapter: Option<AdapterName>,
    /// The file with the request, to be found again when the loop is resumed.
    pub request: Option<PathBuf>,
    /// Further arguments of the command that resumes the loop.
    pub resume_arguments: Vec<String>,
    /// Whether the loop may begin although every required check passes already.
    pub allow_green_start: bool,
    /// Runs policies; without it, a contract that needs one is refused.
    pub policies: Option<Arc<dyn PolicyRunner>>,
}

/// Who was told to do what, when the loop began or was resumed last.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) argv: Vec<String>,
    pub(super) prompt: String,
    pub(super) client: Option<String>,
}

/// What comes before what where the agent and its task are said in several places. The command line always wins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Preference<'t> {
    /// A new loop: the configuration.
    Configured,
    /// A loop that is resumed as it was.
    AsBefore(&'t Told),
    /// A loop that is resumed, and an operator accepts the files as they are now.
    ConfiguredAgain(&'t Told),
}

/// What a loop needs beside its memory.
pub(super) struct Setting<'l> {
    pub(super) gate: &'l GateEngine,
    pub(super) config: &'l Config,
    pub(super) control: &'l Control,
    pub(super) watch: &'l dyn Watch,
    pub(super) files: Vec<PathBuf>,
    pub(super) policies: Option<Arc<dyn PolicyRunner>>,
    pub(super) resume_arguments: Vec<String>,
    pub(super) allow_green_start: bool,
    pub(super) routed: (Mode, RouteReason),
    /// Where the session is.
    pub(super) root: PathBuf,
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
            resume_arguments: options.resume_arguments.clone(),
            allow_green_start: options.allow_green_start || config.tripwires.allow_green_start,
            routed: (task.routing.mode, task.routing.reason),
            root: config.workspace.join(config.memory.root()),
        }
    }

    /// The same for a session elsewhere.
    pub(super) fn at(self, root: &Path) -> Self {
        let root = root.to_owned();
        Self { root, ..self }
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
        ensure_policies_can_run(config, &terms, options)?;
        let agent = agent(config, options, Preference::Configured)?;
        agent.ensure_task(config)?;
        let scope = PreflightScope::NewLoop;
        ensure_it_can_work(config, &terms, options, &agent, control, scope)?;
        let setting = Setting::new(gate, config, task, options, control, watch);
        let key = task.key.clone().unwrap_or_else(new_key);
        let mut begun = Self::create(
            setting,
            task,
            terms,
            key,
            agent,
            options.request.clone(),
            None,
        )?;
        begun.announce();
        match begun.look_around() {
            Ok(()) => Ok(begun),
            Err(
                error @ (RunError::GreenStart { .. }
                | RunError::Config(ConfigError::CannotWork { .. })),
            ) => {
                // Nothing has happened, and the session's name is free for the next attempt.
                begun.store.remove()?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Makes a new session for a loop that was routed to the gate.
    pub(super) fn create(
        setting: Setting<'l>,
        task: &Task,
        terms: Terms,
        key: SessionKey,
        agent: Agent,
        request: Option<PathBuf>,
        attended: Option<AttendedRecord>,
    ) -> Result<Self, RunError> {
        let (gate, config) = (setting.gate, setting.config);
        let root = setting.root.clone();
        let contract = task.routing.contract.clone().unwrap_or_default();
        let record = LoopRecord {
            task_class: task.task_class.clone(),
            labels: task.labels.clone(),
            rules_digest: config.rules_digest(),
            argv: agent.argv.clone(),
            prompt: agent.prompt.clone(),
            client: attended.is_none().then(|| agent.client.name().to_owned()),
            request,
            attended,
            given: config.given().cloned(),
            ..LoopRecord::new(&key, now_ms(), &task.routing)
        };
        let mut start = record
            .start(first_prd(config)?)?
            .recorded(config.memory.recording());
        start.progress = first_progress(config)?;
        let store = FileStore::open_or_create(gate, &root, &key, &start, PATIENCE)?;
        if root.starts_with(&config.workspace) {
            ignore_itself(&root);
        }
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
        let environment: Vec<_> = std::env::vars_os().collect();
        let redactor = secrets(&environment, setting.config);
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
            resume_arguments: setting.resume_arguments,
            allow_green_start: setting.allow_green_start,
            routed: setting.routed,
            environment,
            redactor,
            excluded: excluded(setting.config),
            behind: BTreeSet::new(),
            odd_in_prd: Vec::new(),
            feedback: None,
            exit: None,
        }
    }

    pub(super) fn announce(&self) {
        if !self.watch.is_anybody() {
            return;
        }
        let environment = self.agent_environment(1);
        let named = self.terms.completion_checks.iter();
        let checks: Vec<String> = named.map(|check| check.id.clone()).collect();
        self.watch.see(&LoopEvent::Opened {
            key: &self.key,
            memory: self.store.path(),
            mode: self.routed,
            iteration: self.store.state().iteration,
            at_most: self.terms.loop_max_iters,
            overridable: self.terms.allow_override,
            argv: &self.agent.argv,
            checks: &checks,
            withheld: &environment.withheld,
            others: environment.others,
        });
        self.warn();
        self.warn_of_no_prompt();
        if !self.store.findings().is_empty() {
            self.watch.see(&LoopEvent::Found(self.store.findings()));
        }
    }

    /// What a person may not have thought of.
    fn warn(&self) {
        if let Some(warning) = cost_warning(&self.terms, self.agent.client) {
            self.watch.see(&LoopEvent::Warning(warning));
        }
        if self.terms.max_tokens > 0 && self.agent.client == Client::Command {
            self.watch.see(&LoopEvent::Warning(
                "the agent does not say how many tokens it uses, so max_tokens can't end this loop",
            ));
        }
        let root = self.store.path().parent().unwrap_or(Path::new("/"));
        for session in list(root).unwrap_or_default() {
            let Some(key) = session.key.filter(|key| *key != self.key) else {
                continue;
            };
            if let Ok(Some(holder)) = holder(root, &key) {
                let warning = format!("another loop is running here: {} ({holder})", key.text());
                self.watch.see(&LoopEvent::Warning(&warning));
            }
        }
    }

    /// An unknown agent may or may not need one.
    fn warn_of_no_prompt(&self) {
        let is_ours = !self.agent.argv.is_empty();
        if is_ours && self.agent.client == Client::Command && !self.agent.has_task(self.config) {
            self.watch.see(&LoopEvent::Warning(
                "no prompt: the agent is told only the terms of the loop, where its memory is and what the gate said last",
            ));
        }
    }

    /// Takes the baseline. The checks are run once: what passes before the agent begins proves nothing.
    pub(super) fn look_around(&mut self) -> Result<(), RunError> {
        self.watch.see(&LoopEvent::Entered {
            iteration: 0,
            phase: Phase::Baseline,
        });
        self.baseline = self.take_baseline()?;
        let gathered = self.gather_untouched();
        ensure_checks_can_start(self.config, &gathered.evidence)?;
        self.learn_test_counts(&gathered.evidence);
        if self.config.tripwires.test_count || self.config.tripwires.skipped_tests {
            self.warn_of_uncounted(&gathered.evidence);
        }
        if gathered.evidence.is_empty() {
            return self.save_baseline();
        }
        let input = self.input(0, Duration::ZERO, None, &gathered);
        let verdict = self.session.evaluate_final(&input)?;
        self.ensure_something_is_left(&verdict)?;
        self.save_beginning(&input, &verdict, &gathered)
    }

    /// The baseline, with the evidence that the gate judged as iteration 0.
    fn save_beginning(
        &mut self,
        input: &Iteration,
        verdict: &Verdict,
        gathered: &Gathered,
    ) -> Result<(), RunError> {
        let mut events: Vec<Event> = Vec::new();
        events.extend(Event::new(names::BASELINE, &self.baseline));
        let evidence = gathered.evidence.iter();
        events.extend(evidence.flat_map(|evidence| Event::new(names::EVIDENCE, evidence)));
        let record = VerdictRecord {
            at_ms: now_ms(),
            iteration: input,
            verdict,
        };
        events.extend(Event::new(names::VERDICT, &record));
        self.store.save(&Change {
            snapshot: verdict.snapshot.clone().map(|text| Snapshot {
                iteration: input.index,
                text,
            }),
            events,
            ..Change::default()
        })?;
        Ok(())
    }

    /// What the checks say about the work that nobody has touched.
    fn gather_untouched(&self) -> Gathered {
        if self.control.is_stopped() {
            return Gathered::default();
        }
        // A tree that can't be looked at is for the first iteration to report.
        let work = self.look_at_work().unwrap_or_default();
        let mut evidence = self.run_checks(0, work.tree.as_deref(), Wanted::All);
        let stories = self.settle_stories(0, work.tree.as_deref(), &mut evidence);
        Gathered {
            evidence,
            stories,
            work,
            ..Gathered::default()
        }
    }

    fn warn_of_uncounted(&self, evidence: &[Evidence]) {
        let counted = evidence.iter();
        for (check, tests) in counted.filter_map(|it| Some((&it.check, it.tests.as_ref()?))) {
            if let Some(reason) = TestBaseline::why_unnamed(tests) {
                let warning = format!(
                    "the tests of {check} are compared by their number alone, because {reason}"
                );
                self.watch.see(&LoopEvent::Warning(&warning));
            }
        }
        let counts = |evidence: &&Evidence| evidence.kind == KindName::TestsGreen.as_str();
        let uncounted = evidence.iter().filter(counts);
        for uncounted in uncounted.filter(|it| it.tests.is_none()) {
            let warning = format!(
                "the tests of {} can't be counted before the agent begins, so tests that it deletes first are not \
                 missed; protected_paths can guard their files",
                uncounted.check
            );
            self.watch.see(&LoopEvent::Warning(&warning));
        }
    }

    /// An agent that does nothing may not complete the loop.
    fn ensure_something_is_left(&mut self, verdict: &Verdict) -> Result<(), RunError> {
        if !verdict.failures.is_empty() {
            return Ok(());
        }
        let asks_for_promise = self.session.brief()?.token.is_some();
        // What is only watched is not refused either.
        let is_enforced = verdict.decision != Decision::PassThrough;
        if is_enforced && !asks_for_promise && !self.allow_green_start {
            let named = self.terms.completion_checks.iter();
            let required = named.filter(|check| check.required);
            return Err(RunError::GreenStart {
                checks: required.map(|check| check.id.clone()).collect(),
            });
        }
        self.watch.see(&LoopEvent::Warning(
            "every required check passes already, before the agent begins: that proves nothing about its work",
        ));
        Ok(())
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
    /// An agent that is told nothing does something, which costs money and completes nothing.
    pub(super) fn ensure_task(&self, config: &Config) -> Result<(), RunError> {
        let wants_one = self.argv.iter().any(|word| word.contains(PLACEHOLDER));
        if self.has_task(config) || (!wants_one && self.client.may_hold_a_task(&self.argv)) {
            return Ok(());
        }
        Err(RunError::NoPrompt)
    }

    fn has_task(&self, config: &Config) -> bool {
        !self.prompt.trim().is_empty() || config.memory.prd.is_some()
    }

    /// A misspelt name should not leave a session behind.
    pub(super) fn find(&self, config: &Config) -> Result<(), StartError> {
        find(config, &self.argv)
    }
}

/// Whether an agent can be started in the workspace.
pub(super) fn find(config: &Config, argv: &[String]) -> Result<(), StartError> {
    let environment = std::env::vars_os().collect();
    process::can_start(&Program {
        argv: argv.to_vec(),
        directory: config.workspace.clone(),
        environment,
        input: Vec::new(),
        timeout: Duration::ZERO,
        keep: Keep { head: 0, tail: 0 },
    })
}

/// Sessions in a work tree are none of its files, for git neither. A file that is there already is left alone.
fn ignore_itself(root: &Path) {
    let file = root.join(".gitignore");
    if file.symlink_metadata().is_err() {
        // Where it can't be written, only a client's list of changes is longer.
        let _ = foreign::create(&file, b"*\n");
    }
}

/// The memory is not part of the work, where it is in the workspace at all.
pub(super) fn excluded(config: &Config) -> Vec<String> {
    excluded_root(
        &config.workspace,
        &config.workspace.join(config.memory.root()),
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
    preference: Preference<'_>,
) -> Result<Agent, RunError> {
    let prompt = prompt(config, options, preference)?;
    if !options.argv.is_empty() {
        let client = client(options.adapter.or(config.agent.adapter), &options.argv);
        let argv = options.argv.clone();
        return Ok(Agent {
            argv,
            client,
            prompt,
        });
    }
    let configured = || {
        let argv = config.agent.argv.clone();
        let client = client(options.adapter.or(config.agent.adapter), &argv);
        (argv, client)
    };
    let before = |told: &Told| {
        let known = told.client.as_deref().and_then(Client::by_name);
        let chosen = options.adapter.map(adapted).or(known);
        let client = chosen.unwrap_or_else(|| client(config.agent.adapter, &told.argv));
        (told.argv.clone(), client)
    };
    let choices = match preference {
        Preference::Configured => [Some(configured()), None],
        Preference::AsBefore(told) => [Some(before(told)), Some(configured())],
        Preference::ConfiguredAgain(told) => [Some(configured()), Some(before(told))],
    };
    let mut choices = choices.into_iter().flatten();
    let chosen = choices.find(|(argv, _)| !argv.is_empty());
    let (argv, client) = chosen.ok_or(RunError::NoAgent)?;
    Ok(Agent {
        argv,
        client,
        prompt,
    })
}

pub(super) fn client(adapter: Option<AdapterName>, argv: &[String]) -> Client {
    adapter.map_or_else(|| Client::recognise(argv), adapted)
}

fn adapted(adapter: AdapterName) -> Client {
    match adapter {
        AdapterName::Claude => Client::Claude,
        AdapterName::Codex => Client::Codex,
        AdapterName::Gemini => Client::Gemini,
        AdapterName::Command => Client::Command,
    }
}

/// The task. It may be empty: an agent of one's own may know.
fn prompt(
    config: &Config,
    options: &Options,
    preference: Preference<'_>,
) -> Result<String, RunError> {
    let given = match (&options.prompt, &options.prompt_file) {
        (Some(prompt), _) => Some(prompt.clone()),
        (None, Some(file)) => Some(read(file.clone())?),
        (None, None) => None,
    };
    match given {
        // Whoever gives one means to.
        Some(given) if given.trim().is_empty() => return Err(RunError::NoPrompt),
        Some(given) => return Ok(given),
        None => {}
    }
    let configured = || match (&config.agent.prompt, &config.agent.prompt_file) {
        (Some(prompt), _) => Ok(prompt.clone()),
        (None, Some(file)) => read(config.workspace.join(file)),
        (None, None) => Ok(String::new()),
    };
    match preference {
        Preference::Configured => configured(),
        Preference::AsBefore(told) if told.prompt.is_empty() => configured(),
        Preference::AsBefore(told) => Ok(told.prompt.clone()),
        Preference::ConfiguredAgain(told) => match configured()? {
            prompt if prompt.is_empty() => Ok(told.prompt.clone()),
            prompt => Ok(prompt),
        },
    }
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
