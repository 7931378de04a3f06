//! Answers an event: finds the loop that it is about, lets the runner judge, and says it in the client's terms.

use std::path::PathBuf;

use ralph_gate_component::Word as _;

use super::answer::Answer;
use super::attendant::Address;
use super::case::{Case, Followed, Settled, session};
use super::error::HarnessError;
use super::event::{Event, Message, Moment, Source};
use super::transcript::{Form, Last, last_message};
use super::{Harness, reason};
use crate::config::{Promises, Telemetry};
use crate::engine::{Decision, GateEngine, Verdict};
use crate::evidence::may_take_time;
use crate::memory::{MemoryError, View};
use crate::runner::{
    ClientEndedRecord, ClientRecord, ClientSession, Control, Evidenced, Heard, Loop, Options,
    RunError, Stopping, Watch,
};

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
    ) -> Result<Self, HarnessError> {
        let case = match &event.moment {
            // An agent that only waits will be back.
            Moment::Stop if event.is_paused => None,
            Moment::Stop | Moment::SessionStart(_) => Case::find(gate, event, promises)?,
            Moment::Aborted | Moment::SubagentStop | Moment::PreCompact | Moment::Other(_) => None,
        };
        Ok(Self { event, case })
    }

    /// What the client told.
    pub fn event(&self) -> &'q Event {
        self.event
    }

    /// Where what is decided will be found.
    pub fn trail(&self) -> Option<Trail> {
        let case = self.case.as_ref()?;
        Some(Trail {
            root: case.root(),
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
            .filter(|_| self.event.moment == Moment::Stop)
        else {
            return Ok(None);
        };
        let terms = case.task.terms()?;
        let address = Address::new(&case.root(), session(self.event).key(1).text());
        Ok(may_take_time(&case.config, &terms).then_some(address))
    }

    /// Answers it. None if nobody waits for the answer any more.
    pub fn answer(self, hook: &Hook<'_>) -> Result<Option<Answer>, HarnessError> {
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

/// The agent wants to stop.
fn stop(hook: &Hook<'_>, event: &Event, mut case: Case) -> Result<Option<Answer>, HarnessError> {
    for _ in 0..ATTEMPTS {
        match case.settle(hook.gate, event)? {
            Settled::Ours => return judge(hook, event, &case),
            // Another session was faster: what else is there for this one?
            Settled::Lost => match Case::find(hook.gate, event, hook.promises)? {
                Some(other) => case = other,
                None => return Ok(Some(Answer::SILENT)),
            },
        }
    }
    Err(case.contested())
}

fn judge(hook: &Hook<'_>, event: &Event, case: &Case) -> Result<Option<Answer>, HarnessError> {
    let cap = event.harness.cap(hook.environment);
    let mut open = case.open(hook, event)?;
    if let Some(file) = &case.loop_file
        && let Some((iteration, verdict)) = open.pass_over(file.file.iteration)?
    {
        file.put_aside()?;
        return Ok(Some(say(case, &open, iteration, &verdict, &[])));
    }
    if let Some(ended) = ended_by_client(event, case.last(), cap) {
        open.client_ended(&ended)?;
    }
    let Some((event, evidence)) = gather(hook, event, &mut open)? else {
        return Ok(None);
    };
    let (output, heard) = output(&event, case.last())?;
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
    warnings.extend(
        cap.filter(|cap| blocks.saturating_add(1) == *cap)
            .map(reason::last_time),
    );
    Ok(Some(say(case, &open, iteration, &verdict, &warnings)))
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

/// What is to be judged of what the agent said, and how much of it that is.
fn output(
    event: &Event,
    last: Option<&ClientRecord>,
) -> Result<(String, Option<Heard>), HarnessError> {
    Ok(match &event.message {
        Message::Said(text) => (text.clone(), None),
        Message::Unsaid => (from_transcript(event)?, None),
        Message::Grown(text) => {
            let heard = last.and_then(|last| last.heard.as_ref());
            let new = heard.and_then(|heard| heard.rest_of(text)).unwrap_or(text);
            (new.to_owned(), Some(Heard::of(text)))
        }
    })
}

/// What the agent said last, from its client's own record. Nothing if the client keeps none that we can read.
fn from_transcript(event: &Event) -> Result<String, HarnessError> {
    let form = match event.harness {
        Harness::ClaudeCode => Form::ClaudeCode,
        Harness::Copilot => Form::Copilot,
        Harness::Codex | Harness::Gemini | Harness::Cursor | Harness::Opencode => {
            return Ok(String::new());
        }
    };
    let Some(path) = &event.transcript else {
        return Ok(String::new());
    };
    Ok(match last_message(path, form)?.last {
        Last::Message(text) => text,
        Last::None => String::new(),
    })
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
    open: &Loop<'_>,
    iteration: u32,
    verdict: &Verdict,
    warnings: &[String],
) -> Answer {
    match verdict.decision {
        Decision::Continue => Answer::Block {
            reason: reason::block(verdict, warnings, case.prompt()),
            note: Some(reason::goes_on(iteration, open.at_most())),
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
        // A loop file begins its loop when its session is known: with the first stop.
        if source == Source::New && case.loop_file.is_none() {
            case.open(hook, event)?;
        }
        return Ok(Answer::SILENT);
    };
    if standing.iteration == 0 {
        return Ok(Answer::SILENT);
    }
    let view = View::open(&case.root(), &standing.key).map_err(RunError::from)?;
    let reading = view.read(hook.gate).map_err(RunError::from)?;
    Ok(Answer::Remind {
        text: reason::remind(standing.iteration, &standing.prompt, &reading.progress),
    })
}
