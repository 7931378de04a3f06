//! `ralph-gate loop`: begin, look at and end the loop of an agent client, as its slash commands do.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_gate::harness::loop_file::Found;
use ralph_gate::harness::person::{self, Canceler, NewLoop};
use ralph_gate::harness::slash::LoopArguments;
use ralph_gate::harness::state::StateDirectory;
use ralph_gate::runner::is_inside_a_client;
use serde_json::{Value, json};

use super::args::{ClientLoopCommand, LoopStartArgs};
use super::error::CliError;
use super::input::Input;
use super::terminal::{Terminal, clean};
use super::{Exit, gate};

fn state() -> Option<StateDirectory> {
    StateDirectory::find(|name| std::env::var(name).ok())
}

/// What is said where there is no loop.
const NO_LOOP: &str = "No active Ralph loop";
/// The variable in which Claude Code names its session.
const SESSION: &str = "CLAUDE_CODE_SESSION_ID";
/// The longest task, in bytes.
const LONGEST: usize = 512 * 1024;

pub(crate) fn run(command: &ClientLoopCommand, terminal: &Terminal) -> Result<Exit, CliError> {
    let folder = std::env::current_dir().map_err(|error| CliError::Usage {
        message: format!("the current folder can't be used: {error}"),
    })?;
    match command {
        ClientLoopCommand::Start(args) => start(args, &folder, terminal),
        ClientLoopCommand::Status => status(&folder, terminal),
        ClientLoopCommand::Cancel => cancel(&folder, terminal),
    }
}

fn start(args: &LoopStartArgs, folder: &Path, terminal: &Terminal) -> Result<Exit, CliError> {
    let asked = arguments(args)?;
    let session = args.session.clone().or_else(|| std::env::var(SESSION).ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let new = NewLoop {
        prompt: &asked.prompt,
        promise: asked.promise.as_deref(),
        max_iterations: asked.max_iterations,
        session: session.as_deref().filter(|session| !session.is_empty()),
        now: now.map_or(0, |now| now.as_secs()),
    };
    let path = person::start(gate()?, folder, &new)?;
    let answer = json!({
        "file": path, "max_iterations": asked.max_iterations, "completion_promise": asked.promise, "session_id": new.session,
    });
    terminal.print_answer(&answer.to_string(), |painter| {
        let mut text = format!("{} Ralph loop\n", painter.good("started"));
        text.push_str(&match asked.max_iterations {
            Some(most) => format!("at most {most} iterations\n"),
            None => "as many iterations as the profile allows\n".to_owned(),
        });
        if let Some(promise) = &asked.promise {
            let promise = clean(promise);
            text.push_str(&format!(
                "to end it, the agent ends its output with a promise tag around {promise}, when that is true\n"
            ));
        }
        text.push_str(&format!(
            "{} `ralph-gate loop status` shows it, `ralph-gate loop cancel` ends it\n",
            painter.help()
        ));
        text
    })?;
    Ok(Exit::Success)
}

/// The task and the options of a loop that is to begin.
fn arguments(args: &LoopStartArgs) -> Result<LoopArguments, CliError> {
    let usage = |message| CliError::Usage { message };
    let mut asked = match &args.arguments_file {
        Some(file) => LoopArguments::read(&text(Some(file))?).map_err(usage)?,
        None => LoopArguments {
            prompt: prompt(args)?,
            ..LoopArguments::default()
        },
    };
    asked.promise = args.completion_promise.clone().or(asked.promise);
    asked.max_iterations = args.max_iterations.or(asked.max_iterations);
    if asked.prompt.trim().is_empty() {
        return Err(CliError::Usage {
            message: "there is no task: name it, or pass it with --prompt-file".to_owned(),
        });
    }
    Ok(asked)
}

fn prompt(args: &LoopStartArgs) -> Result<String, CliError> {
    match (&args.prompt_file, args.prompt.as_slice()) {
        (Some(file), _) => text(Some(file)),
        (None, []) => text(None),
        (None, words) => Ok(words.join(" ")),
    }
}

fn text(file: Option<&Path>) -> Result<String, CliError> {
    Ok(Input::read_up_to(file, LONGEST)?.text)
}

fn status(folder: &Path, terminal: &Terminal) -> Result<Exit, CliError> {
    let found = person::look(gate()?, folder)?;
    let answer = found.as_ref().map_or_else(none, shown);
    terminal.print_answer(&answer.to_string(), |_| match &found {
        None => format!("{NO_LOOP}\n"),
        Some(found) => describe(found),
    })?;
    Ok(Exit::Success)
}

fn none() -> Value {
    json!({ "active": false })
}

fn shown(found: &Found) -> Value {
    let file = &found.file;
    json!({
        "active": true, "file": found.path, "iteration": file.iteration, "max_iterations": file.max_iterations,
        "completion_promise": file.completion_promise, "session_id": file.session_id, "started_at": file.started_at,
    })
}

fn describe(found: &Found) -> String {
    let file = &found.file;
    let most = match file.max_iterations {
        0 => "as many as the profile allows".to_owned(),
        most => most.to_string(),
    };
    let or_none =
        |text: &Option<String>, none: &str| text.as_deref().map_or_else(|| none.to_owned(), clean);
    format!(
        "Ralph loop: iteration {} of {most}\npromise    {}\nsession    {}\nstarted    {}\nfile       {}\n",
        file.iteration,
        or_none(&file.completion_promise, "none"),
        or_none(&file.session_id, "the first one that stops"),
        or_none(&file.started_at, "unknown"),
        clean(&found.path.display().to_string()),
    )
}

fn cancel(folder: &Path, terminal: &Terminal) -> Result<Exit, CliError> {
    let who = if is_inside_a_client() {
        Canceler::Agent
    } else {
        Canceler::Person
    };
    let canceled = person::cancel(gate()?, folder, who, state().as_ref())?;
    let answer = match &canceled {
        None => json!({ "canceled": false }),
        Some(it) => json!({ "canceled": true, "iteration": it.iteration, "file": it.path }),
    };
    terminal.print_answer(&answer.to_string(), |_| match &canceled {
        None => format!("{NO_LOOP}\n"),
        Some(it) => format!("Canceled Ralph loop (was at iteration {})\n", it.iteration),
    })?;
    Ok(Exit::Success)
}
