//! Which loop an event is about, and what becomes of its loop file.

use std::path::{Path, PathBuf};

use ralph_gate_component::Word as _;

use super::error::HarnessError;
use super::event::Event;
use super::hook::Hook;
use super::loop_file::Found;
use super::project::{find_config, folders};
use super::reason;
use crate::config::{Config, FILE_NAMES, Promises, Request, Task};
use crate::engine::{Action, Decision, GateEngine, LoopFile, LoopFileChange, Mode, Verdict};
use crate::memory::{DEFAULT_ROOT, SessionKey};
use crate::runner::{
    Beginning, ClientRecord, ClientSession, Loop, LoopFileRecord, RunError, Standing,
    StandingPhase as Phase, cancel_stopped,
};

/// A loop of a client, found but not open.
pub(super) struct Case {
    pub(super) config: Config,
    pub(super) task: Task,
    generation: u32,
    request: Option<Request>,
    /// None if the loop is yet to begin.
    pub(super) standing: Option<Standing>,
    /// The loop file that goes with it, if it is there.
    pub(super) loop_file: Option<Found>,
    /// What was done to the loop file.
    pub(super) tampered: Vec<(String, String)>,
    /// Loops of the session that a person has given up for this one.
    given_up: Option<SessionKey>,
}

/// What became of the loop file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Followed {
    /// It says what the loop says.
    Kept,
    /// Somebody took it away meanwhile: the loop is canceled.
    Canceled,
}

/// Whose loop file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// This session's, or there is none.
    Ours,
    /// Another session's, since a moment ago.
    Lost,
}

/// Where the loops of a configuration are remembered.
fn root(config: &Config) -> PathBuf {
    config.workspace.join(&config.memory.root)
}

/// The session that an event is of.
pub(super) fn session(event: &Event) -> ClientSession<'_> {
    ClientSession {
        harness: event.harness.as_str(),
        id: &event.session,
    }
}

impl Case {
    /// The loop that an event is about. None if there is none, and the agent may do as it likes.
    pub(super) fn find(
        gate: &GateEngine,
        event: &Event,
        promises: Promises,
    ) -> Result<Option<Self>, HarnessError> {
        let found = Found::find(gate, &event.folder, |it| it.is_of(&event.session));
        let config = config(event, found.as_ref().ok().and_then(Option::as_ref));
        // What an agent can write is not what its loop is found by: that is in the memory.
        let (found, config) = match (found, config) {
            (Ok(found), Ok(Some(config))) => (found, config),
            (Ok(_), Ok(None)) => return Ok(None),
            (found, config) => {
                let problems = [found.as_ref().err(), config.as_ref().err()];
                if let Some(open) = Self::despite(gate, event, problems)? {
                    return Ok(Some(open));
                }
                found?;
                config?;
                return Ok(None);
            }
        };
        let root = root(&config);
        let generation = session(event).newest(&root);
        let mut given_up = None;
        if generation > 0 {
            let key = session(event).key(generation);
            let standing = Standing::read(gate, &root, &key)?;
            match standing.phase() {
                Phase::Open => match Same::of(&standing, found.as_ref(), event) {
                    Same::Yes => {
                        return Self::going_on(gate, generation, standing, found, None).map(Some);
                    }
                    Same::Tampered(reason) => {
                        return Self::going_on(gate, generation, standing, None, Some(reason))
                            .map(Some);
                    }
                    Same::GivenUp => given_up = Some(key),
                },
                // A person wanted no more of it.
                Phase::Canceled if found.is_none() => return Ok(None),
                Phase::Canceled | Phase::Over => {}
            }
        }
        // Whoever takes the loop file away wants no other loop instead.
        if given_up.is_some() && found.is_none() {
            cancel(gate, &root, given_up.as_ref())?;
            return Ok(None);
        }
        let request = found.as_ref().map(|it| it.request(&config, promises));
        let task = config.route(gate, request.as_ref())?;
        let case = (task.routing.mode == Mode::Ralph).then_some(Self {
            config,
            task,
            generation: generation + 1,
            request,
            standing: None,
            loop_file: found,
            tampered: Vec::new(),
            given_up,
        });
        Ok(case)
    }

    /// The loop that is under way, although its loop file or configuration can't be read: as long as no person has
    /// spoken, nobody but the agent can have done that.
    fn despite(
        gate: &GateEngine,
        event: &Event,
        problems: [Option<&HarnessError>; 2],
    ) -> Result<Option<Self>, HarnessError> {
        let Some(workspace) = remembered(event) else {
            return Ok(None);
        };
        let root = root(&empty_config(&workspace)?);
        let generation = session(event).newest(&root);
        let standing = Standing::read(gate, &root, &session(event).key(generation))?;
        let is_continued = event.is_continued_after(standing.last.as_ref());
        if standing.phase() != Phase::Open || !is_continued {
            return Ok(None);
        }
        let reason = problems.iter().flatten().map(ToString::to_string);
        let reason = reason.collect::<Vec<String>>().join("; ");
        Self::going_on(gate, generation, standing, None, Some(reason)).map(Some)
    }

    fn going_on(
        gate: &GateEngine,
        generation: u32,
        standing: Standing,
        loop_file: Option<Found>,
        tampered: Option<String>,
    ) -> Result<Self, HarnessError> {
        let config = standing.config()?;
        Ok(Self {
            task: standing.task(gate, &config)?,
            config,
            generation,
            request: None,
            standing: Some(standing),
            loop_file,
            tampered: tampered
                .map(|reason| ("loop_file".to_owned(), reason))
                .into_iter()
                .collect(),
            given_up: None,
        })
    }

    /// Ends what the person has given up, and binds a loop file that is nobody's yet.
    pub(super) fn settle(
        &mut self,
        gate: &GateEngine,
        event: &Event,
    ) -> Result<Settled, HarnessError> {
        cancel(gate, &self.root(), self.given_up.as_ref())?;
        let unbound = self
            .loop_file
            .as_ref()
            .filter(|it| it.file.session_id.is_none());
        if let Some(file) = unbound {
            let change = LoopFileChange {
                session_id: Some(event.session.clone()),
                ..LoopFileChange::default()
            };
            match file.change(gate, &change)? {
                Some(bound) => self.loop_file = Some(bound),
                None => return Ok(Settled::Lost),
            }
        }
        Ok(Settled::Ours)
    }

    /// A loop file that others change again and again.
    pub(super) fn contested(&self) -> HarnessError {
        let path = self.loop_file.as_ref().map(|it| it.path.clone());
        HarnessError::LoopFile {
            path: path.unwrap_or_default(),
            reason: "it is being changed by others".to_owned(),
        }
    }

    /// Where loops are remembered.
    pub(super) fn root(&self) -> PathBuf {
        root(&self.config)
    }

    /// Ends the loop because its person has ended it.
    pub(super) fn cancel(&self, gate: &GateEngine, event: &Event) -> Result<(), HarnessError> {
        let key = session(event).key(self.generation);
        cancel(gate, &self.root(), Some(&key))
    }

    /// Opens the loop, or begins it.
    pub(super) fn open<'l>(
        &'l self,
        hook: &'l Hook<'_>,
        event: &Event,
    ) -> Result<Loop<'l>, RunError> {
        let (gate, options) = (hook.gate, hook.options);
        let (control, watch) = (hook.control, hook.watch);
        let (config, task) = (&self.config, &self.task);
        if let Some(standing) = &self.standing {
            return Loop::attend(gate, config, task, standing, options, control, watch);
        }
        let beginning = Beginning {
            session: session(event),
            generation: self.generation,
            prompt: self.prompt(),
            request: self.request.as_ref().map(Request::text),
            loop_file: self.loop_file.as_ref().map(Found::record),
        };
        Loop::begin_attended(gate, config, task, &beginning, options, control, watch)
    }

    /// When the client asked last.
    pub(super) fn last(&self) -> Option<&ClientRecord> {
        self.standing.as_ref()?.last.as_ref()
    }

    /// The task, as far as anybody wrote it down.
    pub(super) fn prompt(&self) -> &str {
        match (&self.standing, &self.loop_file) {
            (Some(standing), _) => &standing.prompt,
            (None, Some(found)) => &found.file.prompt,
            (None, None) => "",
        }
    }

    fn record(&self) -> Option<LoopFileRecord> {
        let now = || self.loop_file.as_ref().map(Found::record);
        match &self.standing {
            Some(standing) => standing.attended.loop_file.clone(),
            None => now(),
        }
    }

    /// A loop file without a promise, and nothing else to prove: its loop goes on to its last iteration.
    pub(super) fn action(&self) -> Action {
        let promises = self
            .record()
            .is_none_or(|it| it.file.completion_promise.is_some());
        if promises || !self.config.text().is_empty() {
            Action::Final
        } else {
            Action::Continue
        }
    }

    /// The text that counts as promised by itself, where the official rules hold.
    pub(super) fn bare_promise(&self, promises: Promises) -> Option<String> {
        let promise = self.record().and_then(|it| it.file.completion_promise);
        promise.filter(|_| promises == Promises::Official)
    }

    /// What the agent should know beside the verdict.
    pub(super) fn warnings(&self, at_most: u32) -> Vec<String> {
        let endless = self.record().is_some_and(|it| it.file.max_iterations == 0);
        endless
            .then(|| reason::not_endless(at_most))
            .into_iter()
            .collect()
    }

    /// Brings the loop file up to date after a verdict.
    pub(super) fn follow(
        &self,
        gate: &GateEngine,
        event: &Event,
        iteration: u32,
        verdict: &Verdict,
    ) -> Result<Followed, HarnessError> {
        let next = iteration.saturating_add(1);
        match (&self.loop_file, verdict.decision) {
            (Some(found), Decision::Continue) => {
                let change = LoopFileChange {
                    iteration: Some(next),
                    ..LoopFileChange::default()
                };
                let is_there = |path: &Path| path.symlink_metadata().is_ok();
                if found.change(gate, &change)?.is_none() && !is_there(&found.path) {
                    return Ok(Followed::Canceled);
                }
            }
            (Some(found), _) => found.put_aside()?,
            (None, Decision::Continue) => {
                if let Some(record) = self.record() {
                    let file = LoopFile {
                        iteration: next,
                        session_id: Some(event.session.clone()),
                        ..record.file
                    };
                    Found::restore(gate, &record.path, &file)?;
                }
            }
            (None, _) => {}
        }
        Ok(Followed::Kept)
    }
}

/// Whether a loop is what its loop file asks for.
enum Same {
    Yes,
    /// The person has spoken since, and wants something else.
    GivenUp,
    /// Nobody but the agent can have changed it.
    Tampered(String),
}

impl Same {
    fn of(standing: &Standing, found: Option<&Found>, event: &Event) -> Self {
        let what = match (&standing.attended.loop_file, found) {
            (None, None) => return Self::Yes,
            (Some(record), Some(found))
                if found.is_as(record) && standing.could_be_at(found.file.iteration) =>
            {
                return Self::Yes;
            }
            (Some(record), None) => format!("{} was taken away", record.path.display()),
            (_, Some(found)) => format!("{} was changed", found.path.display()),
        };
        let record = standing.attended.loop_file.as_ref();
        if event.is_continued_after(standing.last.as_ref()) {
            Self::Tampered(what)
        } else if record
            .zip(found)
            .is_some_and(|(record, found)| found.is_as(record))
        {
            // Another hook went on with it.
            Self::Yes
        } else {
            Self::GivenUp
        }
    }
}

/// The configuration that holds: one of a person, or an empty one where there is a loop without.
fn config(event: &Event, found: Option<&Found>) -> Result<Option<Config>, HarnessError> {
    if let Some(config) = find_config(&event.folder)? {
        return Ok(Some(config));
    }
    let workspace = match found {
        Some(found) => Some(found.workspace().to_owned()),
        None => remembered(event),
    };
    let Some(workspace) = workspace else {
        return Ok(None);
    };
    Ok(Some(empty_config(&workspace)?))
}

/// The configuration that holds in a folder, or an empty one for that workspace.
pub(super) fn config_or_empty(folder: &Path, workspace: &Path) -> Result<Config, HarnessError> {
    match find_config(folder)? {
        Some(config) => Ok(config),
        None => empty_config(workspace),
    }
}

fn empty_config(workspace: &Path) -> Result<Config, HarnessError> {
    let [name, ..] = FILE_NAMES;
    Ok(Config::read(&workspace.join(name), "")?)
}

/// The folder in which a loop of this session is remembered.
fn remembered(event: &Event) -> Option<PathBuf> {
    let folder = session(event).key(1).folder();
    let has_it = |workspace: &PathBuf| {
        let memory = workspace.join(DEFAULT_ROOT).join(&folder);
        memory.symlink_metadata().is_ok()
    };
    folders(&event.folder).into_iter().find(has_it)
}

fn cancel(gate: &GateEngine, root: &Path, key: Option<&SessionKey>) -> Result<(), HarnessError> {
    if let Some(key) = key {
        cancel_stopped(gate, root, key)?;
    }
    Ok(())
}
