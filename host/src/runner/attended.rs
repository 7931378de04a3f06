//! A loop whose agent runs elsewhere: its client asks, at the end of each turn, whether it may stop.
//!
//! Each time it is another process that answers. What the loop began with is in its memory, also the configuration's
//! text: an agent that edits the file changes nothing but a digest, which is a tripwire.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::begin::{PATIENCE, Setting};
use super::events::{
    AttendedRecord, Baseline, ClientEndedRecord, ClientRecord, LoopFileRecord, LoopRecord, Tripped,
    names,
};
use super::iteration::Gathered;
use super::preflight::ensure_policies_can_run;
use super::turn::{JUDGED, Said, end_of};
use super::{Agent, Client, Control, Loop, Options, RunError, Watch};
use crate::config::{Config, Request, Task};
use crate::engine::{Action, Decision, GateEngine, Iteration, StopReason, Usage, Verdict};
use crate::evidence::now_ms;
use crate::memory::private_directory::{Content, PrivateDirectory};
use crate::memory::{Change, Event, FileStore, Record, SessionKey, View};
use crate::worktree::{Baseline as ProtectedBaseline, Stamps};

/// The most loops of one client's session that are looked for.
const GENERATIONS: u32 = 10_000;

/// A client's session, in which one loop may follow another.
#[derive(Debug, Clone, Copy)]
pub struct ClientSession<'c> {
    /// The client.
    pub harness: &'c str,
    /// The session, as the client names it.
    pub id: &'c str,
}

impl ClientSession<'_> {
    /// The key of one of its loops, from 1.
    pub fn key(&self, generation: u32) -> SessionKey {
        SessionKey::Session(match generation {
            1 => format!("{}/{}", self.harness, self.id),
            // No name of a client has this sign.
            more => format!("{}#{more}/{}", self.harness, self.id),
        })
    }

    /// Which of its loops is the last; 0 if there is none.
    pub fn newest(&self, root: &Path) -> u32 {
        let is_there = |generation: &u32| {
            let folder = root.join(self.key(*generation).folder());
            folder.symlink_metadata().is_ok()
        };
        (1..=GENERATIONS)
            .take_while(is_there)
            .last()
            .unwrap_or_default()
    }
}

/// How a client's loop stands, without a lock.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Where it is.
    pub root: PathBuf,
    /// Whose it is.
    pub key: SessionKey,
    /// The last iteration that was judged.
    pub iteration: u32,
    /// The save that this was read from.
    revision: u64,
    /// What things looked like when it began, if that was noted.
    baseline: Option<Baseline>,
    /// Why it stopped, if it did.
    pub stopped: Option<StopReason>,
    /// What it began with.
    pub attended: AttendedRecord,
    /// The task.
    pub prompt: String,
    /// When its client asked last.
    pub last: Option<ClientRecord>,
    /// What it was answered then, if the log has its texts.
    pub decided: Option<Verdict>,
    /// When the last verdict was given, or else the loop began, in milliseconds since 1970.
    pub since_ms: u64,
}

impl Standing {
    /// Reads a loop that a client asks about.
    pub fn read(gate: &GateEngine, root: &Path, key: &SessionKey) -> Result<Self, RunError> {
        let (state, events) = View::open(root, key)?.recall()?;
        let stopped = match &state.snapshot {
            Some(snapshot) => gate.read_snapshot(snapshot)?.stopped,
            None => None,
        };
        let first = events.first().filter(|first| first.seq == 1);
        let begun: Option<LoopRecord> = first.and_then(Record::read);
        let (Some(attended), Some(begun)) =
            (begun.as_ref().and_then(|it| it.attended.clone()), &begun)
        else {
            return Err(RunError::BeginningLost);
        };
        let last = last_of(&events);
        Ok(Self {
            root: root.to_owned(),
            key: key.clone(),
            iteration: state.iteration,
            revision: state.revision,
            baseline: baseline_of(&events),
            stopped,
            attended,
            prompt: begun.prompt.clone(),
            since_ms: last.as_ref().map_or(begun.at_ms, |last| last.at_ms),
            decided: last.as_ref().and_then(|_| decided(&events)),
            last,
        })
    }

    /// Whether it goes on.
    pub fn phase(&self) -> StandingPhase {
        match self.stopped {
            None => StandingPhase::Open,
            Some(StopReason::ContextCanceled) => StandingPhase::Canceled,
            Some(_) => StandingPhase::Over,
        }
    }

    /// Whether a loop file may say that it is in this iteration: the next one, or one more where another hook counts, too.
    pub fn could_be_at(&self, iteration: u32) -> bool {
        let iteration = iteration.saturating_sub(self.uncounted());
        self.last.is_none() || iteration <= self.iteration.saturating_add(2)
    }

    /// Iterations of the loop file that the loop does not count.
    pub fn uncounted(&self) -> u32 {
        let record = self.attended.loop_file.as_ref();
        record.map_or(0, |record| record.uncounted)
    }

    /// The configuration that the loop began with.
    pub fn config(&self) -> Result<Config, RunError> {
        let file = &self.attended.config_file;
        Ok(Config::read(file, &self.attended.config)?)
    }

    /// What was asked for under it.
    pub fn task(&self, gate: &GateEngine, config: &Config) -> Result<Task, RunError> {
        let request = self.attended.request.as_deref();
        let request = request.map(|text| Request::from_json(&self.attended.config_file, text));
        Ok(config.route(gate, request.as_ref())?)
    }
}

/// Whether a client's loop goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandingPhase {
    /// It does.
    Open,
    /// A person ended it.
    Canceled,
    /// The gate ended it.
    Over,
}

fn last_of(events: &[Record]) -> Option<ClientRecord> {
    let mut asked = events
        .iter()
        .rev()
        .filter(|record| record.event == names::CLIENT_STOPPED);
    asked.next().and_then(Record::read)
}

/// The last verdict.
fn decided(events: &[Record]) -> Option<Verdict> {
    #[derive(serde::Deserialize)]
    struct Decided {
        verdict: Verdict,
    }
    let mut verdicts = events.iter().rev().filter(|it| it.event == names::VERDICT);
    let decided: Decided = verdicts.next()?.read()?;
    Some(decided.verdict)
}

/// What a client's loop begins with.
#[derive(Debug, Clone)]
pub struct Beginning<'b> {
    /// Where its session will be.
    pub root: PathBuf,
    /// Whose it is.
    pub session: ClientSession<'b>,
    /// Which of the session's loops it is.
    pub generation: u32,
    /// The task.
    pub prompt: &'b str,
    /// The request that goes with the configuration, as JSON.
    pub request: Option<&'b str>,
    /// The loop file that says so.
    pub loop_file: Option<LoopFileRecord>,
    /// Whether the agent may have been at work before.
    pub sight: Sight,
}

/// Whether what is there when a loop begins is what its session began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// The session begins now.
    Seen,
    /// The agent was at work before anybody looked: the newest commit is the only witness.
    Unseen,
}

/// What a client says when its agent wants to stop.
#[derive(Debug)]
pub struct Stopping<'s> {
    /// Whether it says that it is done, or is only to be told to go on.
    pub action: Action,
    /// What the agent said last.
    pub output: &'s str,
    /// A text that counts as promised if nothing else is said.
    pub bare_promise: Option<String>,
    /// When the turn began, in milliseconds since 1970, if that is known.
    pub since_ms: Option<u64>,
    /// What is remembered of it, beside the iteration and the time.
    pub record: ClientRecord,
    /// What was done that may not be done, and where: a name and a reason each.
    pub tampered: Vec<(String, String)>,
}

impl Stopping<'_> {
    /// What the agent said, with tags where they don't matter.
    fn promised(&self) -> String {
        let words = self.output.split_whitespace();
        match &self.bare_promise {
            Some(promise) if words.eq(promise.split_whitespace()) => {
                format!("<promise>{promise}</promise>")
            }
            _ => self.output.to_owned(),
        }
    }
}

/// What was seen of the work, for a verdict that is yet to come.
#[derive(Debug)]
pub struct Evidenced(Gathered);

impl<'l> Loop<'l> {
    /// Begins a loop for a client. The tests are not run now: nobody would wait for them.
    pub fn begin_attended(
        gate: &'l GateEngine,
        config: &'l Config,
        task: &Task,
        beginning: &Beginning<'_>,
        options: &Options,
        control: &'l Control,
        watch: &'l dyn Watch,
    ) -> Result<Self, RunError> {
        let terms = task.terms()?;
        ensure_policies_can_run(config, &terms, options)?;
        let record = AttendedRecord {
            harness: beginning.session.harness.to_owned(),
            session: beginning.session.id.to_owned(),
            config_file: config.file.clone(),
            config: config.text().to_owned(),
            request: beginning.request.map(str::to_owned),
            loop_file: beginning.loop_file.clone(),
            unseen: beginning.sight == Sight::Unseen,
        };
        let key = beginning.session.key(beginning.generation);
        let before = before(gate, &beginning.root, beginning);
        let setting = Setting::new(gate, config, task, options, control, watch);
        let setting = setting.at(&beginning.root);
        let agent = agent(beginning.prompt);
        let mut begun = Self::create(setting, task, terms, key, agent, None, Some(record))?;
        begun.announce();
        begun.baseline = begun.take_baseline()?;
        if beginning.sight == Sight::Unseen {
            begun.trust_the_newest_commit()?;
        }
        if let Some(before) = before {
            // The agent was at work before this loop, too.
            begun.baseline.protected = before.protected;
            begun.baseline.tests = before.tests;
        }
        begun.save_baseline()?;
        Ok(begun)
    }

    /// Corrects the baseline of a loop whose beginning nobody saw.
    fn trust_the_newest_commit(&mut self) -> Result<(), RunError> {
        let Some(repository) = self.repository()? else {
            return Ok(());
        };
        let Some(uncommitted) = repository.uncommitted()? else {
            return Ok(());
        };
        let committed = write_all(&uncommitted.committed).map_err(|error| RunError::System {
            what: "the files of the newest commit can't be written",
            error,
        })?;
        let protection = self.config.tripwires.protection();
        let committed = ProtectedBaseline::take(committed.path(), &protection, &self.excluded)?;
        self.baseline
            .protected
            .correct(&committed.baseline, &uncommitted);
        self.stamps = Stamps::default();
        Ok(())
    }

    /// Opens a loop that a client asks about again.
    pub fn attend(
        gate: &'l GateEngine,
        config: &'l Config,
        task: &Task,
        standing: &Standing,
        options: &Options,
        control: &'l Control,
        watch: &'l dyn Watch,
    ) -> Result<Self, RunError> {
        let store = FileStore::open(gate, &standing.root, &standing.key, PATIENCE)?;
        let state = store.state();
        let baseline = if state.revision == standing.revision {
            standing.baseline.clone()
        } else {
            baseline_of(&store.events()?)
        };
        let session = gate.open(&state.contract, state.snapshot.as_deref())?;
        let setting = Setting::new(gate, config, task, options, control, watch);
        let (terms, agent, key) = (task.terms()?, agent(&standing.prompt), standing.key.clone());
        let known = baseline.clone().unwrap_or_default();
        let mut open = Self::with(setting, store, session, terms, key, agent, known);
        open.announce();
        if baseline.is_none() {
            open.baseline = open.take_baseline()?;
            open.save_baseline()?;
        }
        Ok(open)
    }

    /// Looks at the work and runs the checks.
    pub fn gather_evidence(&mut self) -> Result<Evidenced, RunError> {
        let index = self.session.brief()?.iteration;
        Ok(Evidenced(self.gather(index, &[])?))
    }

    /// No evidence at all: whoever gathered it is gone. What the contract asks for counts as missing.
    pub fn no_evidence(&self) -> Evidenced {
        Evidenced(Gathered::default())
    }

    /// Whether the work is what it was when evidence was gathered, as far as that can be told.
    pub fn is_still(&self, evidence: &Evidenced) -> Result<bool, RunError> {
        let before = &evidence.0.work;
        let can_tell = before.tree.is_some() || !before.artifacts.is_empty();
        Ok(can_tell && self.look_at_work()? == *before)
    }

    /// Judges a turn of the agent. Gives the iteration that it was, and the verdict.
    pub fn judge(
        &mut self,
        stopping: &Stopping<'_>,
        evidence: Evidenced,
    ) -> Result<(u32, Verdict), RunError> {
        let index = self.session.brief()?.iteration;
        let Evidenced(mut gathered) = evidence;
        let tampered = stopping.tampered.iter().map(|(tripwire, reason)| Tripped {
            iteration: index,
            tripwire: tripwire.clone(),
            reason: self.redactor.redact(reason).into_owned(),
        });
        gathered.tripped.extend(tampered);
        let said = Said {
            action: stopping.action,
            // A client may give only the end of what its agent said.
            output: end_of(self.redactor.redact_end(&stopping.promised()), JUDGED),
            usage: Usage::default(),
        };
        let now = now_ms();
        let elapsed = now.saturating_sub(stopping.since_ms.unwrap_or(now));
        let elapsed = Duration::from_millis(elapsed);
        let input = self.input(index, elapsed, Some(&said), &gathered);
        let verdict = self.session.evaluate_final(&input)?;
        let held = verdict.decision == Decision::Continue;
        let record = ClientRecord {
            iteration: index,
            at_ms: now,
            blocks: if held { stopping.record.blocks } else { 0 },
            heard: stopping.record.heard.clone(),
            asked_ms: stopping.record.asked_ms,
        };
        let event = Event::new(names::CLIENT_STOPPED, &record).ok();
        self.remember(&input, &verdict, event, gathered)?;
        Ok((index, verdict))
    }

    /// Counts iterations that went by under another hook, about which nothing is known. Gives the verdict if that ends
    /// the loop.
    pub fn pass_over(&mut self, until: u32) -> Result<Option<(u32, Verdict)>, RunError> {
        loop {
            let index = self.session.brief()?.iteration;
            if index >= until {
                return Ok(None);
            }
            let input = Iteration {
                index,
                action: Action::Continue,
                output: format!("iteration {index} went by under another hook"),
                ..Iteration::default()
            };
            let verdict = self.session.evaluate_final(&input)?;
            self.remember(&input, &verdict, None, Gathered::default())?;
            if verdict.decision != Decision::Continue {
                return Ok(Some((index, verdict)));
            }
        }
    }

    /// Remembers that the client let its agent stop although it was told to go on.
    pub fn client_ended(&mut self, record: &ClientEndedRecord) -> Result<(), RunError> {
        let event = Event::new(names::CLIENT_ENDED, record);
        self.store.save(&Change {
            events: event.into_iter().collect(),
            ..Change::default()
        })?;
        Ok(())
    }

    /// The most iterations.
    pub fn at_most(&self) -> u32 {
        self.terms.loop_max_iters
    }
}

/// Writes files into a directory of their own.
fn write_all(files: &[(PathBuf, Content)]) -> std::io::Result<PrivateDirectory> {
    let directory = PrivateDirectory::new()?;
    for (path, content) in files {
        directory.write(path, content)?;
    }
    Ok(directory)
}

/// The client runs it.
fn agent(prompt: &str) -> Agent {
    Agent {
        argv: Vec::new(),
        client: Client::Command,
        prompt: prompt.to_owned(),
    }
}

/// What the session's loop before this one began with, if there was one.
fn before(gate: &GateEngine, root: &Path, beginning: &Beginning<'_>) -> Option<Baseline> {
    let generation = beginning.generation.checked_sub(1).filter(|it| *it > 0)?;
    let view = View::open(root, &beginning.session.key(generation)).ok()?;
    view.read(gate).ok()?;
    baseline_of(&view.events().ok()?)
}

pub(super) fn baseline_of(events: &[Record]) -> Option<Baseline> {
    let mut baselines = events
        .iter()
        .rev()
        .filter(|record| record.event == names::BASELINE);
    baselines.next().and_then(Record::read)
}
