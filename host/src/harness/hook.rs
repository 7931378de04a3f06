//! Answers an event: finds the loop that it is about, lets the runner judge, and says it in the client's terms.

use super::answer::Answer;
use super::attendant::Address;
use super::case::{Case, Followed, session};
use super::error::HarnessError;
use super::event::{Event, Message, Moment, Source};
use super::transcript::{Form, Last, last_message};
use super::{Harness, reason};
use crate::config::Promises;
use crate::engine::{Decision, GateEngine, Verdict};
use crate::evidence::runs_programs;
use crate::memory::View;
use crate::runner::{
    ClientEndedRecord, ClientRecord, Control, Evidenced, Heard, Loop, RunError, Stopping, Watch,
};

/// What answering needs.
pub struct Hook<'h> {
    /// Decides.
    pub gate: &'h GateEngine,
    /// Ends what takes too long.
    pub control: &'h Control,
    /// Sees what happens.
    pub watch: &'h dyn Watch,
    /// The variables of the environment that the client gave.
    pub environment: &'h dyn Fn(&str) -> Option<String>,
    /// Which promises count.
    pub promises: Promises,
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

/// Answers an event. None if nobody waits for the answer any more.
pub fn answer(hook: &Hook<'_>, event: &Event) -> Result<Option<Answer>, HarnessError> {
    match &event.moment {
        Moment::Stop => stop(hook, event),
        Moment::SessionStart(source) => session_start(hook, event, *source).map(Some),
        Moment::Aborted | Moment::SubagentStop | Moment::PreCompact | Moment::Other(_) => {
            Ok(Some(Answer::SILENT))
        }
    }
}

/// Where the attendant is reached that judges an event, if judging it runs programs and so may take its time.
pub fn takes_time(gate: &GateEngine, event: &Event) -> Result<Option<Address>, HarnessError> {
    if event.moment != Moment::Stop || event.is_paused {
        return Ok(None);
    }
    let Some(case) = Case::find(gate, event, Promises::default())? else {
        return Ok(None);
    };
    let terms = case.task.terms()?;
    let root = case.config.workspace.join(&case.config.memory.root);
    let address = Address::new(&root, session(event).key(1).text());
    Ok(runs_programs(&case.config, &terms).then_some(address))
}

/// The agent wants to stop.
fn stop(hook: &Hook<'_>, event: &Event) -> Result<Option<Answer>, HarnessError> {
    // It only waits, and will be back.
    if event.is_paused {
        return Ok(Some(Answer::SILENT));
    }
    let Some(mut case) = Case::find(hook.gate, event, hook.promises)? else {
        return Ok(Some(Answer::SILENT));
    };
    case.settle(hook.gate, event)?;
    let cap = event.harness.cap(hook.environment);
    let mut open = case.open(hook, event)?;
    if let Some(file) = &case.loop_file
        && let Some((iteration, verdict)) = open.pass_over(file.file.iteration)?
    {
        file.put_aside()?;
        return Ok(Some(say(&case, &open, iteration, &verdict, &[])));
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
        record: ClientRecord {
            blocks,
            heard,
            ..ClientRecord::default()
        },
        tampered: case.tampered.clone(),
    };
    let (iteration, verdict) = open.judge(&stopping, evidence)?;
    if case.follow(hook.gate, &event, iteration, &verdict)? == Followed::Canceled {
        return Ok(Some(Answer::Allow {
            note: Some(reason::canceled(iteration)),
        }));
    }
    let mut warnings = case.warnings(open.at_most());
    warnings.extend(
        cap.filter(|cap| blocks.saturating_add(1) == *cap)
            .map(reason::last_time),
    );
    Ok(Some(say(&case, &open, iteration, &verdict, &warnings)))
}

/// Gathers evidence for an event, and again if a later one finds other work.
fn gather(
    hook: &Hook<'_>,
    event: &Event,
    open: &mut Loop<'_>,
) -> Result<Option<(Event, Evidenced)>, HarnessError> {
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
fn session_start(hook: &Hook<'_>, event: &Event, source: Source) -> Result<Answer, HarnessError> {
    let Some(case) = Case::find(hook.gate, event, hook.promises)? else {
        return Ok(Answer::SILENT);
    };
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
    let root = case.config.workspace.join(&case.config.memory.root);
    let view = View::open(&root, &standing.key).map_err(RunError::from)?;
    let reading = view.read(hook.gate).map_err(RunError::from)?;
    Ok(Answer::Remind {
        text: reason::remind(standing.iteration, &standing.prompt, &reading.progress),
    })
}
