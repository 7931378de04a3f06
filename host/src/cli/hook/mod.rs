//! `ralph-gate hook`: answers a client that asks whether its agent may stop.
//!
//! A client takes a hook that crashes, hangs or prints anything but an answer for one that has nothing against stopping.
//! So this always answers, in time, and says nothing else on standard output.

mod attend;

use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ralph_gate::config::Promises;
use ralph_gate::evidence::now_ms;
use ralph_gate::harness::log::{self, Entry};
use ralph_gate::harness::state::StateDirectory;
use ralph_gate::harness::{
    self, Answer, Event, Gathering, Harness, Hook, Moment, Patient, Question, Reply, Trail,
};
use ralph_gate::runner::{Control, LoopEvent, Options, Watch, is_inside_a_loop};
use ralph_gate_component::Word as _;

use attend::Attended;

use super::args::HookArgs;
use super::error::CliError;
use super::policy::Policies;
use super::{Exit, gate, telemetry};

/// The most that is read of an event, and one byte to see that there is more.
const MOST: u64 = harness::LONGEST as u64 + 1;

/// What is known of a question.
#[derive(Debug, Clone, Default)]
struct Known {
    harness: Option<Harness>,
    event: Option<Event>,
    /// Where what was decided is found, if anybody wants to hear of it.
    trail: Option<Trail>,
}

/// How a question was answered.
#[derive(Debug)]
struct Judged {
    reply: Reply,
    /// For the log.
    answer: &'static str,
    note: Option<String>,
}

impl Judged {
    /// Adds something that the user should see.
    fn warn(&mut self, warning: &str) {
        self.reply.stderr.push_str(warning);
        self.reply.stderr.push('\n');
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note} {warning}"),
            None => warning.to_owned(),
        });
    }
}

/// What the two threads share: who answers, and what is known.
#[derive(Debug)]
struct Asked {
    begun: Instant,
    known: Mutex<Known>,
    /// Whoever takes this answers, and nobody else.
    leave: Mutex<Option<Leave>>,
}

/// Leave to answer. There is one.
#[derive(Debug)]
struct Leave;

impl Asked {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers, unless it was answered already. Gives back only when there is an answer.
    fn answer(&self, judged: &Judged) {
        // Held until everything is said: the other thread must not end this process meanwhile.
        let mut leave = self.leave.lock().unwrap_or_else(PoisonError::into_inner);
        if leave.take().is_some() {
            write_log(&self.known(), judged, self.begun);
            say(&judged.reply);
        }
    }
}

pub(crate) fn run(args: &HookArgs) -> Result<Exit, CliError> {
    if args.attend {
        return attend::run(args);
    }
    let begun = Instant::now();
    let limit = Duration::from_secs(args.deadline.into());
    // A panic is told by whoever catches it.
    std::panic::set_hook(Box::new(|_| ()));
    let harness = args.harness;
    let asked = Arc::new(Asked {
        begun,
        known: Mutex::new(Known {
            harness,
            ..Known::default()
        }),
        leave: Mutex::new(Some(Leave)),
    });
    let watched = Arc::clone(&asked);
    let watching = thread::Builder::new()
        .name("deadline".into())
        .spawn(move || {
            // The other thread will need the gate, and reads the question meanwhile. What is wrong with it, that thread says.
            let _ = gate();
            answer_late(&watched, begun + limit);
        });
    if let Err(error) = watching {
        let reason = format!("no thread can be started: {error}");
        asked.answer(&failed(harness, &reason));
        return Ok(Exit::Success);
    }
    // An answer before the other thread gives up.
    let patience = begun + limit.mul_f32(0.9);
    let judged = catch_unwind(AssertUnwindSafe(|| judge(args, patience, &asked)));
    let mut judged = judged.unwrap_or_else(|panic| {
        let reason = panic.downcast_ref::<&str>().copied();
        let reason = reason.map(str::to_owned);
        let reason = reason.or_else(|| panic.downcast_ref::<String>().cloned());
        failed(harness, &defect(reason.as_deref()))
    });
    if let Some(problem) = &args.problem {
        judged.warn(&format!(
            "ralph-gate: the arguments of this hook are wrong and were left out: {problem}"
        ));
    }
    asked.answer(&judged);
    let trail = asked.known().trail.take();
    if let Some(trail) = trail {
        let taken = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        // One more, because both are rounded.
        telemetry::send_behind(&trail, now_ms().saturating_sub(taken.saturating_add(1)));
    }
    // The client waits for the end of this process: nothing is cleared away that the system clears away anyhow.
    std::process::exit(0);
}

/// Answers in place of the other thread, when the client would not wait longer, and ends the process.
fn answer_late(asked: &Asked, deadline: Instant) {
    thread::sleep(deadline.saturating_duration_since(Instant::now()));
    let harness = asked.known().harness;
    asked.answer(&failed(harness, "it took too long to look at the work"));
    std::process::exit(0);
}

fn defect(reason: Option<&str>) -> String {
    let reason = reason.unwrap_or("no message");
    format!("ralph-gate has a defect: {reason}; please report it")
}

/// Reads the event and answers it.
fn judge(args: &HookArgs, deadline: Instant, asked: &Asked) -> Judged {
    let (harness, promises) = (args.harness, args.promises());
    let text = match &args.event {
        Some(event) => Ok(event.clone()),
        None => read_event(),
    };
    let text = match text {
        Ok(text) => text,
        Err(error) => return failed(harness, &format!("the event can't be read: {error}")),
    };
    let event = match Event::read(&text, harness) {
        Ok(event) => event,
        Err(error) => return failed(harness, &error.to_string()),
    };
    *asked.known() = Known {
        harness: Some(event.harness),
        event: Some(event.clone()),
        trail: None,
    };
    // Whoever runs the loop decides.
    if is_inside_a_loop() {
        return judged(event.harness, &Answer::SILENT);
    }
    // One verdict per stop: where the settings ask too, the plugin leaves it to them.
    if variable("CLAUDE_PLUGIN_ROOT").is_some()
        && harness::install::asks_in_settings(&event.folder, variable)
    {
        return judged(event.harness, &Answer::SILENT);
    }
    let answer = answer(&event, &text, promises, deadline, asked);
    answer.unwrap_or_else(|reason| failed(Some(event.harness), &reason))
}

fn read_event() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    io::stdin().lock().take(MOST).read_to_end(&mut text)?;
    Ok(text)
}

/// Answers here, or lets the attendant answer where that may take its time.
fn answer(
    event: &Event,
    text: &[u8],
    promises: Promises,
    deadline: Instant,
    asked: &Asked,
) -> Result<Judged, String> {
    let gate = gate().map_err(|error| error.to_string())?;
    let state = state();
    let find =
        || Question::find(gate, event, promises, state.as_ref()).map_err(|error| error.to_string());
    let question = find()?;
    asked.known().trail = question.trail().filter(telemetry::is_wanted);
    let address = question.takes_time().map_err(|error| error.to_string())?;
    let answer = match address {
        None => here(question, promises, Gathering::Here)?,
        Some(address) => match attend::ask(&address, event, text, promises, deadline)? {
            Attended::Answered(answer) => answer,
            // Whatever ended it, the agent perhaps, what it should have shown is missing.
            Attended::Gone => here(find()?, promises, Gathering::Lost)?,
        },
    };
    Ok(judged(event.harness, &answer))
}

fn options() -> Options {
    Options {
        policies: Some(Policies::silent()),
        ..Options::default()
    }
}

/// Answers in this very process.
fn here(
    question: Question<'_>,
    promises: Promises,
    gathering: Gathering,
) -> Result<Answer, String> {
    let control = Control::new().map_err(|error| error.to_string())?;
    let state = state();
    let hook = Hook {
        gate: gate().map_err(|error| error.to_string())?,
        control: &control,
        watch: &Nobody,
        options: &options(),
        environment: &variable,
        promises,
        gathering,
        asker: &Patient(question.event()),
        state: state.as_ref(),
    };
    let answer = question.answer(&hook).map_err(|error| error.to_string())?;
    Ok(answer.unwrap_or(Answer::SILENT))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn state() -> Option<StateDirectory> {
    StateDirectory::find(variable)
}

/// Nobody watches a hook.
struct Nobody;

impl Watch for Nobody {
    fn see(&self, _: &LoopEvent<'_>) {}

    fn is_anybody(&self) -> bool {
        false
    }
}

fn judged(harness: Harness, answer: &Answer) -> Judged {
    Judged {
        reply: answer.reply(harness),
        answer: match answer {
            Answer::Allow { .. } => "allow",
            Answer::Block { .. } => "block",
            Answer::Remind { .. } => "remind",
            Answer::Done { .. } => "done",
            Answer::Inform { .. } => "inform",
        },
        note: answer.note().map(str::to_owned),
    }
}

/// The loop stops, and the person is told why. Nothing is deleted.
fn failed(harness: Option<Harness>, reason: &str) -> Judged {
    let answer = let_go(reason);
    let note = answer.note().unwrap_or_default().to_owned();
    Judged {
        reply: match harness {
            Some(harness) => answer.reply(harness),
            None => Reply {
                stderr: format!("{note}\n"),
                ..Reply::default()
            },
        },
        answer: "error",
        note: Some(note),
    }
}

fn let_go(reason: &str) -> Answer {
    Answer::Allow {
        note: Some(format!(
            "ralph-gate: error: {reason}. The agent was let go without a verdict; nothing of the loop was lost."
        )),
    }
}

fn write_log(known: &Known, judged: &Judged, begun: Instant) {
    let Some(state) = state() else {
        return;
    };
    let event = known.event.as_ref();
    let entry = Entry {
        at_ms: now_ms(),
        duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        harness: known.harness.map(Harness::as_str),
        session: event.map(|event| event.session.as_str()),
        moment: event.map(|event| moment(&event.moment)),
        answer: judged.answer,
        note: judged.note.as_deref(),
    };
    // What can't be logged must not keep the answer from the client.
    let _ = log::add(&state.log(), &entry);
}

fn moment(moment: &Moment) -> String {
    match moment {
        Moment::Stop => "stop".to_owned(),
        Moment::Aborted => "aborted".to_owned(),
        Moment::SubagentStop => "subagent_stop".to_owned(),
        Moment::SessionStart(_) => "session_start".to_owned(),
        Moment::Prompt(_) => "prompt".to_owned(),
        Moment::PreCompact => "pre_compact".to_owned(),
        Moment::Other(name) => name.clone(),
    }
}

/// A client that went away is answered by nobody.
fn say(reply: &Reply) {
    let _ = io::stderr().write_all(reply.stderr.as_bytes());
    let mut stdout = io::stdout();
    let _ = stdout.write_all(reply.stdout.as_bytes());
    let _ = stdout.flush();
}
