//! The process in which checks go on that take longer than a client waits.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use ralph_gate::config::Promises;
use ralph_gate::harness::attendant::{self, Address, Waiting};
use ralph_gate::harness::{Answer, Event, Gathering, Harness, Hook, Question};
use ralph_gate::process::{self, Role};
use ralph_gate::runner::{Control, LoopEvent, Watch};
use ralph_gate_component::Word as _;

use super::{MOST, let_go, options, state, variable};
use crate::cli::args::HookArgs;
use crate::cli::error::CliError;
use crate::cli::{Exit, gate};

/// What came of asking the attendant.
pub(super) enum Attended {
    /// An answer.
    Answered(Answer),
    /// It has ended without one.
    Gone,
}

/// Asks the attendant of a loop, which is started if there is none.
pub(super) fn ask(
    address: &Address,
    event: &Event,
    text: &[u8],
    promises: Promises,
    deadline: Instant,
) -> Result<Attended, String> {
    match attendant::ask(address, text, deadline) {
        Ok(Some(answer)) => Ok(Attended::Answered(answer)),
        Ok(None) => start(event.harness, text, promises, deadline),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            Ok(Attended::Answered(still_running()))
        }
        Err(error) => Err(format!("the process that runs the checks: {error}")),
    }
}

fn still_running() -> Answer {
    Answer::Block {
        reason: "The checks that decide whether you are done are still running, and nothing is known yet. Don't change \
                 the work now, or they have to begin again. Wait a while, and then end your turn as you just did."
            .to_owned(),
        note: Some("Ralph loop: the checks are still running.".to_owned()),
    }
}

/// Starts an attendant. If it has no answer in time, it goes on.
fn start(
    harness: Harness,
    text: &[u8],
    promises: Promises,
    deadline: Instant,
) -> Result<Attended, String> {
    let failed = |error: io::Error| format!("the checks can't be started: {error}");
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .args(["hook", harness.as_str(), "--attend"])
        .args((promises == Promises::Official).then_some("--compat"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A client may kill its hook and all of the hook's group when it has waited long enough.
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text).map_err(failed)?;
    }
    let output = child.stdout.take();
    let (sender, receiver) = channel();
    let read = move || {
        let mut text = Vec::new();
        let read = output.map(|mut output| output.read_to_end(&mut text));
        let _ = sender.send(read.and_then(|_| attendant::read(&text)));
    };
    thread::Builder::new()
        .name("attendant".into())
        .spawn(read)
        .map_err(failed)?;
    let left = deadline.saturating_duration_since(Instant::now());
    match receiver.recv_timeout(left) {
        Ok(Some(answer)) => Ok(Attended::Answered(answer)),
        Ok(None) | Err(RecvTimeoutError::Disconnected) => Ok(Attended::Gone),
        Err(RecvTimeoutError::Timeout) => Ok(Attended::Answered(still_running())),
    }
}

/// The attendant itself.
pub(super) fn run(args: &HookArgs) -> Result<Exit, CliError> {
    if process::role() == Role::Outer {
        let system = |error| ralph_gate::runner::RunError::System {
            what: "this program can't be started again",
            error,
        };
        let mut inner = Command::new(std::env::current_exe().map_err(system)?);
        inner.args(std::env::args_os().skip(1));
        return Ok(Exit::Code(
            process::guard(inner, None).map_err(ralph_gate::runner::RunError::from)?,
        ));
    }
    let (signals, _) = process::enter().map_err(ralph_gate::runner::RunError::from)?;
    let control = Control::new().map_err(|error| ralph_gate::runner::RunError::System {
        what: "the loop can't be controlled",
        error,
    })?;
    crate::cli::run::listen(signals, control.clone());
    let mut text = Vec::new();
    let read = io::stdin().lock().take(MOST).read_to_end(&mut text);
    let answer = read
        .map_err(|error| error.to_string())
        .and_then(|_| Event::read(&text, args.harness).map_err(|error| error.to_string()))
        .and_then(|event| attend(args, &event, &control));
    if let Err(reason) = answer {
        let text = serde_json::to_string(&let_go(&reason)).unwrap_or_default();
        let _ = io::stdout().write_all(text.as_bytes());
    }
    Ok(Exit::Success)
}

/// Lets whoever cancels the loop reach it as soon as its memory is known.
struct Reachable<'r>(&'r Control);

impl Watch for Reachable<'_> {
    fn see(&self, event: &LoopEvent<'_>) {
        if let LoopEvent::Opened { memory, .. } = event {
            // Without it the loop ends when the checks do.
            let _ = self.0.listen(memory);
        }
    }
}

fn attend(args: &HookArgs, event: &Event, control: &Control) -> Result<(), String> {
    let gate = gate().map_err(|error| error.to_string())?;
    let state = state();
    let question = Question::find(gate, event, args.promises(), state.as_ref());
    let question = question.map_err(|error| error.to_string())?;
    let address = question.takes_time().map_err(|error| error.to_string())?;
    let Some(address) = address else {
        return Err("there is nothing to wait for".to_owned());
    };
    let waiting = Waiting::new(&address, event.clone(), args.harness, control);
    let hook = Hook {
        gate,
        control,
        watch: &Reachable(control),
        options: &options(),
        environment: &variable,
        promises: args.promises(),
        gathering: Gathering::Here,
        asker: &waiting,
        state: state.as_ref(),
    };
    let answer = match question.answer(&hook) {
        Ok(Some(answer)) => answer,
        // Nobody asks any more.
        Ok(None) => return Ok(()),
        Err(error) => let_go(&error.to_string()),
    };
    // Whoever asked may have gone at the last moment; the next question finds what was remembered.
    let _ = waiting.answer(&answer);
    Ok(())
}
