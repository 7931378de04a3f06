//! Answers an event: finds the loop that it is about, lets the runner judge, and says it in the client's terms.

use std::path::PathBuf;

use ralph_gate_component::Word as _;

use super::answer::Answer;
use super::attendant::Address;
use super::case::{Case, Followed, Settled, Surroundings, session};
use super::error::HarnessError;
use super::event::{Event, Message, Moment, Source};
use super::person::{Canceler, NewLoop, cancel, look, start};
use super::slash::{LoopArguments, SlashCommand};
use super::state::{KnownSession, StateDirectory};
use super::transcript::{Form, Last, last_message, message_before};
use super::{Harness, reason};
use crate::config::{Promises, Telemetry};
use crate::engine::{Decision, GateEngine, Verdict};
use crate::evidence::{may_take_time, now_ms};
use crate::memory::{MemoryError, View};
use crate::runner::{
    ClientEndedRecord, ClientRecord, ClientSession, Control, Evidenced, Heard, Loop, Options,
    RunError, Stopping, Watch,
};

/// What is said where there is no loop.
const NO_LOOP: &str = "No active Ralph loop";
/// How often a session is held whose loop can't be read.
const MAX_LOST_REFUSALS: u32 = 5;
/// How often a loop file is looked at again that others change meanwhile.
const ATTEMPTS: usize = 3;

/// What answering needs.
pub struct Hook<'h> {
    /// Decides.
    pub gate: &'h GateEngine,
    /// Ends what takes too long.
    pub control: &'h Control,
    /// Sees what happens.
    pub watch: &'h dyn Watch,
    /// What loops are run with.
    pub options: &'h Options,
    /// The variables of the environment that the client gave.
    pub environment: &'h dyn Fn(&str) -> Option<String>,
    /// Which promises count.
    pub promises: Promises,
    /// Where the evidence comes from.
    pub gathering: Gathering,
    /// Who waits for the answer.
    pub asker: &'h dyn Asker,
    /// Where sessions are remembered.
    pub state: Option<&'h StateDirectory>,
}

impl<'h> Hook<'h> {
    fn surroundings(&self) -> Surroundings<'h> {
        Surroundings {
            promises: self.promises,
            state: self.state,
        }
    }
}

/// Whoever waits for an answer.
pub trait Asker {
    /// The newest question that somebody waits for an answer to, after the evidence was gathered for the first one.
    /// None if nobody waits any more.
    fn newest(&self) -> Option<Event>;
}

/// An asker that has all the time in the world.
#[derive(Debug)]
pub struct Patient<'p>(pub &'p Event);

impl Asker for Patient<'_> {
    fn newest(&self) -> Option<Event> {
        Some(self.0.clone())
    }
}

/// Where the evidence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathering {
    /// It is gathered here.
    Here,
    /// Whoever gathered it has ended without an answer: there is none.
    Lost,
}

/// What a client asks, and the loop that it asks about.
pub struct Question<'q> {
    event: &'q Event,
    /// None if there is no loop, and the agent may do as it likes.
    case: Option<Case>,
    /// Why the loop of a session that is held can't be read.
    lost: Option<String>,
}

/// Where the loops of a client's session leave their logs, and who wants to hear of them.
#[derive(Debug, Clone)]
pub struct Trail {
    root: PathBuf,
    harness: Harness,
    session: String,
    /// Who is told.
    pub telemetry: Telemetry,
}

impl Trail {
    /// The log of the session's newest loop, if there is one.
    pub fn log(&self) -> Option<PathBuf> {
        let session = ClientSession {
            harness: self.harness.as_str(),
            id: &self.session,
        };
        match session.newest(&self.root) {
            0 => None,
            newest => {
                let folder = self.root.join(session.key(newest).folder());
                Some(folder.join("events.jsonl"))
            }
        }
    }
}

impl<'q> Question<'q> {
    /// Finds the loop that an event is about.
    pub fn find(
        gate: &GateEngine,
        event: &'q Event,
        promises: Promises,
        state: Option<&StateDirectory>,
    ) -> Result<Self, HarnessError> {
        let surroundings = Surroundings { promises, state };
        let case = match &event.moment {
            // An agent that only waits will be back.
            Moment::Stop if event.is_paused => Ok(None),
            // One that may only plan could not do what it is told.
            Moment::Stop if event.is_planning => Ok(None),
            Moment::Stop | Moment::SessionStart(_) => Case::find(gate, event, surroundings),
            Moment::Aborted
            | Moment::SubagentStop
            | Moment::Prompt(_)
            | Moment::PreCompact
            | Moment::Other(_) => Ok(None),
        };
        let (case, lost) = match case {
            Err(HarnessError::StateLost { reason }) => (None, Some(reason)),
            case => (case?, None),
        };
        Ok(Self { event, case, lost })
    }

    /// What the client told.
    pub fn event(&self) -> &'q Event {
        self.event
    }

    /// Where what is decided will be found.
    pub fn trail(&self) -> Option<Trail> {
        let case = self.case.as_ref()?;
        Some(Trail {
            root: case.root().to_owned(),
            harness: self.event.harness,
            session: self.event.session.clone(),
            telemetry: case.config.telemetry.clone(),
        })
    }

    /// Where the attendant is reached that answers it, if that may take its time.
    pub fn takes_time(&self) -> Result<Option<Address>, HarnessError> {
        let Some(case) = self
            .case
            .as_ref()
            .filter(|case| self.event.moment == Moment::Stop && case.again().is_none())
        else {
            return Ok(None);
        };
        let terms = case.task.terms()?;
        let address = Address::new(case.root(), session(self.event).key(1).text());
        Ok(may_take_time(&case.config, &terms).then_some(address))
    }

    /// Answers it. None if nobody waits for the answer any more.
    pub fn answer(self, hook: &Hook<'_>) -> Result<Option<Answer>, HarnessError> {
        if let Some(reason) = self.lost.filter(|_| self.event.moment == Moment::Stop) {
            return refuse_lost(self.event, hook.state, &reason).map(Some);
        }
        if let Moment::Prompt(prompt) = &self.event.moment {
            return prompted(hook, self.event, prompt).map(Some);
        }
        let Some(case) = self.case else {
            return Ok(Some(Answer::SILENT));
        };
        let answer = match &self.event.moment {
            Moment::SessionStart(source) => {
                session_start(hook, self.event, *source, &case).map(Some)
            }
            _ => stop(hook, self.event, case),
        };
        match answer {
            // Not a state that can't be read: it will be free again.
            Err(HarnessError::Run(RunError::Memory(error @ MemoryError::Busy { .. }))) => {
                let reason = reason::busy(&error.to_string());
                Ok(Some(Answer::Block { reason, note: None }))
            }
            answer => answer,
        }
    }
}

/// The user sends a prompt. A command of ours is run here, with its arguments as they were typed.
fn prompted(hook: &Hook<'_>, event: &Event, prompt: &str) -> Result<Answer, HarnessError> {
    let done = |text: String| Ok(Answer::Done { text });
    match SlashCommand::read(prompt) {
        None => Ok(Answer::SILENT),
        Some(SlashCommand::Status) => {
            let found = look(hook.gate, &event.folder)?;
            done(found.map_or_else(|| NO_LOOP.to_owned(), |found| reason::standing(&found)))
        }
        Some(SlashCommand::Cancel) => {
            let canceled = cancel(hook.gate, &event.folder, Canceler::Person, hook.state)?;
            done(canceled.map_or_else(
                || NO_LOOP.to_owned(),
                |it| format!("Canceled Ralph loop (was at iteration {})", it.iteration),
            ))
        }
        Some(SlashCommand::Start(arguments)) => match LoopArguments::read(&arguments) {
            Err(reason) => done(format!("No loop was started: {reason}.")),
            Ok(arguments) if arguments.is_fresh => done(reason::FRESH.to_owned()),
            Ok(arguments) if arguments.prompt.is_empty() => {
                done("No loop was started: name its task behind the command.".to_owned())
            }
            Ok(arguments) => begin_typed(hook, event, &arguments),
        },
    }
}

/// Begins the loop that a user asked for by a command, in place of one that only the configuration asks for.
fn begin_typed(
    hook: &Hook<'_>,
    event: &Event,
    arguments: &LoopArguments,
) -> Result<Answer, HarnessError> {
    let new = NewLoop {
        prompt: &arguments.prompt,
        promise: arguments.promise.as_deref(),
        max_iterations: arguments.max_iterations,
        session: Some(&event.session),
        now: now_ms() / 1000,
    };
    let path = match start(hook.gate, &event.folder, &new) {
        Ok(path) => path,
        Err(error) => {
            let text = format!("No loop was started: {error}; {}.", error.help());
            return Ok(Answer::Done { text });
        }
    };
    Case::end_open(hook.gate, event, hook.state)?;
    let begins = Event {
        moment: Moment::SessionStart(Source::New),
        ..event.clone()
    };
    if let Some(case) = Case::find(hook.gate, &begins, hook.surroundings())? {
        case.open(hook, &begins)?;
    }
    Ok(Answer::Inform {
        text: reason::BEGUN.to_owned(),
        note: format!("Ralph loop: started, {}.", path.display()),
    })
}

/// A session that is held and whose loop can't be read is not let go at once: whoever took the state away may be the agent.
/// Nor is it held for ever, for nothing but its user can end that.
fn refuse_lost(
    event: &Event,
    state: Option<&StateDirectory>,
    reason: &str,
) -> Result<Answer, HarnessError> {
    let Some(state) = state else {
        return Err(HarnessError::state_lost(reason));
    };
    let before = state.known(session(event)).ok().flatten();
    let mut known = before.unwrap_or_else(|| KnownSession {
        harness: event.harness.as_str().to_owned(),
        session: event.session.clone(),
        workspace: event.folder.clone(),
        root: state.sessions_of(&event.folder),
        refusals: 0,
    });
    known.refusals = known.refusals.saturating_add(1);
    if known.refusals > MAX_LOST_REFUSALS {
        return Err(HarnessError::state_lost(reason));
    }
    state
        .remember(&known)
        .map_err(|error| HarnessError::State { error })?;
    Ok(Answer::Block {
        reason: reason::lost(reason, known.refusals, MAX_LOST_REFUSALS),
        note: Some(reason::lost_note(reason)),
    })
}

/// The agent wants to stop.
fn stop(hook: &Hook<'_>, event: &Event, mut case: Case) -> Result<Option<Answer>, HarnessError> {
    for _ in 0..ATTEMPTS {
        if let Some((iteration, verdict)) = case.again() {
            let at_most = case.task.terms()?.at_most();
            return Ok(Some(say(&case, at_most, *iteration, verdict, &[])));
        }
        match case.settle(hook.gate, event)? {
            Settled::Ours => match judge(hook, event, &case) {
                // Another hook of the same client has begun it meanwhile.
                Err(HarnessError::Run(RunError::Exists { .. })) => {}
                judged => return judged,
            },
            Settled::Lost => {}
        }
        // Another session or hook was faster: what is there for this one?
        match Case::find(hook.gate, event, hook.surroundings())? {
            Some(other) => case = other,
            None => return Ok(Some(Answer::SILENT)),
        }
    }
    Err(case.contested())
}

fn judge(hook: &Hook<'_>, event: &Event, case: &Case) -> Result<Option<Answer>, HarnessError> {
    let cap = event.harness.cap(hook.environment);
    let mut open = case.open(hook, event)?;
    if let Some(file) = &case.loop_file
        && let Some((iteration, verdict)) =
            open.pass_over(file.file.iteration.saturating_sub(case.uncounted))?
    {
        file.put_aside()?;
        return Ok(Some(say(case, open.at_most(), iteration, &verdict, &[])));
    }
    if let Some(ended) = ended_by_client(event, case.last(), cap) {
        open.client_ended(&ended)?;
    }
    let Some((event, evidence)) = gather(hook, event, &mut open)? else {
        return Ok(None);
    };
    let Spoken {
        output,
        heard,
        warning,
    } = spoken(&event, case.last());
    let blocks = match case.last() {
        Some(last) if event.is_continued_after(Some(last)) => last.blocks.saturating_add(1),
        _ => 1,
    };
    let stopping = Stopping {
        action: case.action(),
        output: &output,
        bare_promise: case.bare_promise(hook.promises),
        since_ms: case.standing.as_ref().map(|standing| standing.since_ms),
        record: ClientRecord {
            blocks,
            heard,
            asked_ms: event.at_ms,
            ..ClientRecord::default()
        },
        tampered: case.tampered.clone(),
    };
    let (iteration, verdict) = open.judge(&stopping, evidence)?;
    let at_most = open.at_most();
    if case.follow(hook.gate, &event, iteration, &verdict)? == Followed::Canceled {
        drop(open);
        case.cancel(hook.gate, &event)?;
        return Ok(Some(Answer::Allow {
            note: Some(reason::canceled(iteration)),
        }));
    }
    let mut warnings = case.warnings(at_most);
    warnings.extend(warning);
    warnings.extend(
        cap.filter(|cap| blocks == *cap)
            .map(|cap| reason::last_time(event.harness, cap)),
    );
    Ok(Some(say(case, at_most, iteration, &verdict, &warnings)))
}

/// Gathers evidence for an event, and again if a later one finds other work.
fn gather(
    hook: &Hook<'_>,
    event: &Event,
    open: &mut Loop<'_>,
) -> Result<Option<(Event, Evidenced)>, HarnessError> {
    if hook.gathering == Gathering::Lost {
        return Ok(Some((event.clone(), open.no_evidence())));
    }
    let mut known = event.clone();
    loop {
        let evidence = open.gather_evidence()?;
        let Some(newest) = hook.asker.newest() else {
            return Ok(None);
        };
        if newest == known || open.is_still(&evidence)? {
            return Ok(Some((newest, evidence)));
        }
        known = newest;
    }
}

/// What is to be judged of what the agent said.
#[derive(Debug, Default)]
struct Spoken {
    output: String,
    /// How much of a text that grows this is.
    heard: Option<Heard>,
    /// Why it is not known.
    warning: Option<String>,
}

fn spoken(event: &Event, last: Option<&ClientRecord>) -> Spoken {
    match &event.message {
        Message::Said(text) => Spoken {
            output: text.clone(),
            ..Spoken::default()
        },
        Message::Unsaid => from_transcript(event),
        Message::Grown(text) => {
            let heard = last.and_then(|last| last.heard.as_ref());
            let new = heard.and_then(|heard| heard.rest_of(text)).unwrap_or(text);
            Spoken {
                output: new.to_owned(),
                heard: Some(Heard::of(text)),
                warning: None,
            }
        }
    }
}

/// What the agent said last, from its client's own record. Nothing if the client keeps none that can be read: an agent is
/// not let go because nobody knows what it said.
fn from_transcript(event: &Event) -> Spoken {
    let form = match event.harness {
        Harness::ClaudeCode => Form::ClaudeCode,
        Harness::Copilot => Form::Copilot,
        Harness::Codex | Harness::Gemini | Harness::Cursor | Harness::Opencode => {
            return Spoken::default();
        }
    };
    let Some(path) = &event.transcript else {
        return Spoken::default();
    };
    let tail = match event.at_ms {
        Some(at_ms) if form == Form::Copilot => message_before(path, form, at_ms),
        _ => last_message(path, form).map(Some),
    };
    match tail.map(|tail| tail.map(|tail| tail.last)) {
        Ok(Some(Last::Message(output))) => Spoken {
            output,
            ..Spoken::default()
        },
        Ok(Some(Last::None)) => Spoken::default(),
        Ok(None) => Spoken {
            warning: Some(reason::unheard("its client did not write it in time")),
            ..Spoken::default()
        },
        Err(error) => Spoken {
            warning: Some(reason::unheard(&error.to_string())),
            ..Spoken::default()
        },
    }
}

/// Whether the client let its agent stop although it was told to go on: a person speaks again, and the loop is open.
fn ended_by_client(
    event: &Event,
    last: Option<&ClientRecord>,
    cap: Option<u32>,
) -> Option<ClientEndedRecord> {
    let last = last?;
    let is_over = cap.is_some_and(|cap| last.blocks >= cap);
    (!event.is_continued_after(Some(last)) && is_over).then_some(ClientEndedRecord {
        iteration: last.iteration,
        blocks: last.blocks,
        cap,
    })
}

fn say(
    case: &Case,
    at_most: u32,
    iteration: u32,
    verdict: &Verdict,
    warnings: &[String],
) -> Answer {
    match verdict.decision {
        Decision::Continue => Answer::Block {
            reason: reason::block(verdict, warnings, case.prompt()),
            note: Some(reason::goes_on(iteration, at_most)),
        },
        Decision::Stop => Answer::Allow {
            note: Some(reason::ended(iteration, verdict)),
        },
        Decision::PassThrough => Answer::SILENT,
    }
}

/// A session begins: a loop that is under way is remembered, and what things look like is noted before the agent
/// touches them.
fn session_start(
    hook: &Hook<'_>,
    event: &Event,
    source: Source,
    case: &Case,
) -> Result<Answer, HarnessError> {
    let Some(standing) = &case.standing else {
        // What the agent changes in its first turn is measured by what is there now.
        if source == Source::New {
            case.open(hook, event)?;
        }
        return Ok(Answer::SILENT);
    };
    if standing.iteration == 0 {
        return Ok(Answer::SILENT);
    }
    let view = View::open(case.root(), &standing.key).map_err(RunError::from)?;
    let reading = view.read(hook.gate).map_err(RunError::from)?;
    Ok(Answer::Remind {
        text: reason::remind(standing.iteration, &standing.prompt, &reading.progress),
    })
}
