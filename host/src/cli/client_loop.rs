//! `ralph-gate loop`: begin, look at and end the loop of an agent client, as its slash commands do.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ralph_gate::harness::loop_file::Found;
use ralph_gate::harness::person::{self, Canceler, NewLoop};
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
    let asked = Asked::of(args)?;
    let session = args.session.clone().or_else(|| std::env::var(SESSION).ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let new = NewLoop {
        prompt: &asked.prompt,
        promise: asked.promise.as_deref(),
        max_iterations: asked.most,
        session: session.as_deref().filter(|session| !session.is_empty()),
        now: now.map_or(0, |now| now.as_secs()),
    };
    let path = person::start(gate()?, folder, &new)?;
    let answer = json!({
        "file": path, "max_iterations": asked.most, "completion_promise": asked.promise, "session_id": new.session,
    });
    terminal.print_answer(&answer.to_string(), |painter| {
        let mut text = format!("{} Ralph loop\n", painter.good("started"));
        text.push_str(&match asked.most {
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

/// What a person asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    prompt: String,
    promise: Option<String>,
    most: Option<u32>,
}

impl Asked {
    fn of(args: &LoopStartArgs) -> Result<Self, CliError> {
        let mut asked = match &args.arguments_file {
            Some(file) => Self::read(&text(Some(file))?)?,
            None => Self {
                prompt: prompt(args)?,
                ..Self::default()
            },
        };
        asked.promise = args.completion_promise.clone().or(asked.promise);
        asked.most = args.max_iterations.or(asked.most);
        if asked.prompt.trim().is_empty() {
            return Err(CliError::Usage {
                message: "there is no task: name it, or pass it with --prompt-file".to_owned(),
            });
        }
        Ok(asked)
    }

    /// The arguments of a slash command, as somebody typed them: options among the words of the task.
    fn read(text: &str) -> Result<Self, CliError> {
        let mut asked = Self::default();
        let mut rest = text;
        let mut task = String::new();
        while let Some((before, option, behind)) = next_option(rest) {
            let (value, after) = value(behind);
            match option {
                Choice::Most => {
                    let number = value.parse().map_err(|_| CliError::Usage {
                        message: format!("--max-iterations needs a whole number, not {value:?}"),
                    })?;
                    asked.most = Some(number);
                }
                Choice::Promise => asked.promise = Some(value),
            }
            task.push_str(before);
            rest = after;
        }
        task.push_str(rest);
        unquoted(task.trim()).clone_into(&mut asked.prompt);
        Ok(asked)
    }
}

/// An option among the words of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Most,
    Promise,
}

/// What is before the first option, the option, and what is behind it.
fn next_option(text: &str) -> Option<(&str, Choice, &str)> {
    let names = [
        ("--max-iterations", Choice::Most),
        ("--completion-promise", Choice::Promise),
    ];
    let found = names.iter().filter_map(|(name, option)| {
        let whole = text.match_indices(name).find(|(at, _)| {
            let before = text.get(..*at).unwrap_or_default();
            let behind = text.get(at + name.len()..).unwrap_or_default();
            let is_apart = before.is_empty() || before.ends_with(char::is_whitespace);
            is_apart && behind.starts_with(char::is_whitespace)
        });
        whole.map(|(at, _)| (at, name.len(), *option))
    });
    let (at, length, option) = found.min_by_key(|(at, ..)| *at)?;
    Some((text.get(..at)?, option, text.get(at + length..)?))
}

/// A value, perhaps between quotes, and what is behind it.
fn value(text: &str) -> (String, &str) {
    let text = text.trim_start();
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote)
            && let Some((value, after)) = inside.split_once(quote)
        {
            return (value.to_owned(), after);
        }
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (value, after) = text.split_at(end);
    (value.to_owned(), after)
}

/// A task that stands between quotes as a whole.
fn unquoted(text: &str) -> &str {
    let inside = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inside.filter(|it| !it.contains('"')).unwrap_or(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> (String, Option<String>, Option<u32>) {
        let asked = Asked::read(text).unwrap();
        (asked.prompt, asked.promise, asked.most)
    }

    #[test]
    fn options_are_found_among_the_words_of_a_task() {
        let text = "Fix `x` for $5 --max-iterations 7 now --completion-promise \"ALL DONE\"\n# and 'this'\n";
        let expected = (
            "Fix `x` for $5  now \n# and 'this'".to_owned(),
            Some("ALL DONE".to_owned()),
            Some(7),
        );
        assert_eq!(asked(text), expected);
    }

    #[test]
    fn what_only_looks_like_an_option_is_the_tasks() {
        for text in [
            "explain --max-iterations-like things",
            "x--max-iterations 5",
            "say \"hi\" to \"them\"",
        ] {
            assert_eq!(asked(text), (text.to_owned(), None, None));
        }
        assert_eq!(asked("\"Do it\"").0, "Do it");
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        assert!(Asked::read("x --max-iterations many").is_err());
    }
}
