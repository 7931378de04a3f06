//! Which loop an event is about, and what becomes of its loop file.

use std::path::{Path, PathBuf};

use ralph_gate_component::Word as _;

use super::error::HarnessError;
use super::event::{Event, Moment};
use super::hook::Hook;
use super::loop_file::{Found, limit_of};
use super::project::{committed_config, find_config, folders};
use super::reason;
use super::state::{KnownSession, StateDirectory, sessions_root};
use crate::config::{Config, FILE_NAMES, Promises, Request, Task};
use crate::engine::{Action, Decision, GateEngine, LoopFile, LoopFileChange, Mode, Verdict};
use crate::memory::{DEFAULT_ROOT, SessionKey, foreign};
use crate::runner::{
    Beginning, ClientRecord, ClientSession, Loop, LoopFileRecord, Sight, Standing,
    StandingPhase as Phase, cancel_stopped,
};

/// A loop of a client, found but not open.
pub(super) struct Case {
    pub(super) config: Config,
    pub(super) task: Task,
    generation: u32,
    request: Option<Request>,
    /// Iterations of the loop file that the loop does not count.
    pub(super) uncounted: u32,
    /// None if the loop is yet to begin.
    pub(super) standing: Option<Standing>,
    /// The loop file that goes with it, if it is there.
    pub(super) loop_file: Option<Found>,
    /// What was done to the loop file.
    pub(super) tampered: Vec<(String, String)>,
    /// Loops of the session that a person has given up for this one.
    given_up: Option<SessionKey>,
    /// Where the loops of the session are remembered.
    root: PathBuf,
    /// The verdict about this very stop, which another hook of the client asked for.
    again: Option<(u32, Verdict)>,
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

/// What is known of sessions before an event is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'s> {
    pub(super) promises: Promises,
    pub(super) state: Option<&'s StateDirectory>,
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
        surroundings: Surroundings<'_>,
    ) -> Result<Option<Self>, HarnessError> {
        if let Some(known) = known(event, surroundings.state)?
            && let Some(open) = Self::of_known(gate, event, &known)?
        {
            return Ok(Some(open));
        }
        let found = Found::find(gate, &event.folder, |it| it.is_of(&event.session));
        let config = config(event, found.as_ref().ok().and_then(Option::as_ref));
        // What an agent can write is not what its loop is found by: that is in the memory.
        let (found, config) = match (found, config) {
            (Ok(found), Ok(Some(config))) => (found, config),
            (Ok(found), Ok(None)) => match committed_config(&event.folder) {
                Some(config) if event.moment == Moment::Stop => (found, config),
                _ => return Ok(None),
            },
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
        let root = sessions_root(&config, surroundings.state);
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
        let config = match event.moment {
            // Nobody saw what was there when the session began.
            Moment::Stop if generation == 0 => {
                let committed = committed_config(&config.workspace);
                let is_same = |it: &Config| it.file == config.file;
                committed.filter(is_same).unwrap_or(config)
            }
            _ => config,
        };
        let (task, request, uncounted) = match &found {
            Some(found) => {
                let asked = found.route(gate, &config, surroundings.promises)?;
                (asked.task, Some(asked.request), asked.uncounted)
            }
            None => (config.route(gate, None)?, None, 0),
        };
        let case = (task.routing.mode == Mode::Ralph).then_some(Self {
            config,
            task,
            generation: generation + 1,
            request,
            uncounted,
            standing: None,
            loop_file: found,
            tampered: Vec::new(),
            given_up,
            root,
            again: None,
        });
        Ok(case)
    }

    /// The open loop of a session that is known, wherever its client works now. None where it has no open loop, or where
    /// its user wants something else.
    fn of_known(
        gate: &GateEngine,
        event: &Event,
        known: &KnownSession,
    ) -> Result<Option<Self>, HarnessError> {
        let generation = session(event).newest(&known.root);
        let key = session(event).key(generation);
        let standing = match generation {
            0 => Err(HarnessError::state_lost("it is gone")),
            _ => Standing::read(gate, &known.root, &key)
                .map_err(|error| HarnessError::state_lost(&error.to_string())),
        }?;
        let asked_ms = standing.last.as_ref().and_then(|last| last.asked_ms);
        if event.at_ms.is_some()
            && asked_ms == event.at_ms
            && let Some(verdict) = standing.decided.clone()
        {
            let again = Some((standing.iteration, verdict));
            let case = Self::going_on(gate, generation, standing, None, None)?;
            return Ok(Some(Self { again, ..case }));
        }
        if standing.phase() != Phase::Open {
            return Ok(None);
        }
        let record = standing.attended.loop_file.as_ref();
        let found = match record {
            Some(record) => Found::at(gate, &record.path),
            None => Found::find(gate, &event.folder, |_| true),
        };
        let found = found.map(|it| it.filter(|it| it.is_of(&event.session)));
        let same = match &found {
            Ok(found) => Same::of(&standing, found.as_ref(), event),
            Err(error) if event.is_continued_after(standing.last.as_ref()) => {
                Same::Tampered(error.to_string())
            }
            // Its user may have broken it, and is told so.
            Err(_) => return Ok(None),
        };
        match same {
            Same::Yes => Self::going_on(gate, generation, standing, found?, None).map(Some),
            Same::Tampered(reason) => {
                Self::going_on(gate, generation, standing, None, Some(reason)).map(Some)
            }
            Same::GivenUp => Ok(None),
        }
    }

    /// Ends the open loop of a session because its user begins another one.
    pub(super) fn end_open(
        gate: &GateEngine,
        event: &Event,
        state: Option<&StateDirectory>,
    ) -> Result<(), HarnessError> {
        let Some(known) = known(event, state)? else {
            return Ok(());
        };
        match session(event).newest(&known.root) {
            0 => Ok(()),
            generation => cancel(gate, &known.root, Some(&session(event).key(generation))),
        }
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
        let root = workspace.join(DEFAULT_ROOT);
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
        let root = standing.root.clone();
        Ok(Self {
            task: standing.task(gate, &config)?,
            config,
            generation,
            request: None,
            uncounted: standing.uncounted(),
            standing: Some(standing),
            loop_file,
            tampered: tampered
                .map(|reason| ("loop_file".to_owned(), reason))
                .into_iter()
                .collect(),
            given_up: None,
            root,
            again: None,
        })
    }

    /// Ends what the person has given up, and binds a loop file that is nobody's yet.
    pub(super) fn settle(
        &mut self,
        gate: &GateEngine,
        event: &Event,
    ) -> Result<Settled, HarnessError> {
        cancel(gate, &self.root, self.given_up.as_ref())?;
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

    /// The verdict about this very stop, if it was judged already.
    pub(super) fn again(&self) -> Option<&(u32, Verdict)> {
        self.again.as_ref()
    }

    /// Where loops are remembered.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes the session into the index before its loop is begun: from then on it is held.
    fn index(&self, state: Option<&StateDirectory>, event: &Event) -> Result<(), HarnessError> {
        let Some(state) = state else {
            return Ok(());
        };
        let known = KnownSession {
            harness: event.harness.as_str().to_owned(),
            session: event.session.clone(),
            workspace: self.config.workspace.clone(),
            root: self.root.clone(),
            refusals: 0,
        };
        state
            .remember(&known)
            .map_err(|error| HarnessError::State { error })
    }

    /// Ends the loop because its person has ended it.
    pub(super) fn cancel(&self, gate: &GateEngine, event: &Event) -> Result<(), HarnessError> {
        let key = session(event).key(self.generation);
        cancel(gate, &self.root, Some(&key))
    }

    /// Opens the loop, or begins it.
    pub(super) fn open<'l>(
        &'l self,
        hook: &'l Hook<'_>,
        event: &Event,
    ) -> Result<Loop<'l>, HarnessError> {
        let (gate, options) = (hook.gate, hook.options);
        let (control, watch) = (hook.control, hook.watch);
        let (config, task) = (&self.config, &self.task);
        if let Some(standing) = &self.standing {
            let open = Loop::attend(gate, config, task, standing, options, control, watch);
            return Ok(open?);
        }
        let beginning = Beginning {
            root: self.root.clone(),
            session: session(event),
            generation: self.generation,
            prompt: self.prompt(),
            request: self.request.as_ref().map(Request::text),
            loop_file: self.record(),
            sight: match event.moment {
                Moment::SessionStart(_) => Sight::Seen,
                _ => Sight::Unseen,
            },
        };
        foreign::make_private(&self.root).map_err(|error| HarnessError::State { error })?;
        let begun = Loop::begin_attended(gate, config, task, &beginning, options, control, watch)?;
        self.index(hook.state, event)?;
        Ok(begun)
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
        let now = || Some(self.loop_file.as_ref()?.record(self.uncounted));
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
        let unlimited = self.record().filter(|it| limit_of(&it.file).is_none());
        let mut warnings: Vec<String> = unlimited
            .map(|it| reason::other_limit(&it, at_most))
            .into_iter()
            .collect();
        let unseen = match &self.standing {
            Some(standing) => standing.attended.unseen && standing.last.is_none(),
            None => true,
        };
        if unseen && !self.config.tripwires.protection().is_empty() {
            warnings.push(reason::UNSEEN.to_owned());
        }
        warnings
    }

    /// Brings the loop file up to date after a verdict.
    pub(super) fn follow(
        &self,
        gate: &GateEngine,
        event: &Event,
        iteration: u32,
        verdict: &Verdict,
    ) -> Result<Followed, HarnessError> {
        let next = iteration.saturating_add(self.uncounted).saturating_add(1);
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
        // In the first turn nobody but the agent was at work since the session began.
        let is_first_turn = standing.last.is_none();
        if is_first_turn || event.is_continued_after(standing.last.as_ref()) {
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

/// What is known of the session of an event.
fn known(
    event: &Event,
    state: Option<&StateDirectory>,
) -> Result<Option<KnownSession>, HarnessError> {
    let known = state.map(|state| state.known(session(event)));
    let known = known.transpose();
    known
        .map(Option::flatten)
        .map_err(|error| HarnessError::state_lost(&error.to_string()))
}

/// The folder in which a loop of this session is remembered, where it is remembered in its work tree.
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
