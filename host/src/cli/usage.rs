//! What is wrong with the arguments, with the remedy: the parser's own words, and a tip where it can't know better.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Exit;
use super::args::{Args, Color};
use super::error::CliError;
use super::terminal::{ErrorForm, Terminal, clean};

/// Prints what clap has to say: help and version, or what is wrong with the arguments. Exit code 2 has
/// another meaning here, so wrong arguments end with 1.
pub(super) fn report(mut error: clap::Error) -> Exit {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let wrong = error.use_stderr();
    let tip = forgotten_dashes(&error, &arguments);
    if wrong && arguments.iter().any(|argument| argument == "--json") {
        let mut message = sentence(&error);
        if let Some(tip) = &tip {
            message = format!("{message}; {tip}");
        }
        let error = CliError::Usage { message };
        return Terminal::new(true, Color::Never).report(&error, ErrorForm::Json);
    }
    if let Some(tip) = tip {
        // Its own suggestion is about a value that begins with a dash.
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
    // A closed pipe is no reason to complain about.
    let _ = error.print();
    let _ = std::io::stdout().flush();
    if wrong { Exit::Error } else { Exit::Success }
}

/// The first paragraph of clap's message, on one line.
fn sentence(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing; see `ralph-gate --help`".to_owned();
    }
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

/// Where the agent was named without the `--` before it: the command as it was meant.
fn forgotten_dashes(error: &clap::Error, arguments: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(agent)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    if arguments.iter().any(|argument| argument == "--") {
        return None;
    }
    let options = RunOptions::new();
    let mut words = options.words(arguments);
    words.next().filter(|(_, command)| *command == "run")?;
    let (at, _) = words.next().filter(|(_, word)| *word == agent)?;
    let (before, behind) = arguments.split_at_checked(at)?;
    let (agent, behind) = behind.split_first()?;
    let (own, of_agent) = options.split(behind);
    let words: Vec<String> = std::iter::once("ralph-gate".to_owned())
        .chain(before.iter().map(|word| shown(word)))
        .chain(own.into_iter().map(shown))
        .chain(std::iter::once("--".to_owned()))
        .chain(std::iter::once(shown(agent)))
        .chain(of_agent.into_iter().map(shown))
        .collect();
    Some(format!("put `--` before the agent: {}", words.join(" ")))
}

/// The options of `run`, as they are typed.
struct RunOptions {
    /// Those that take a value.
    valued: Vec<String>,
    flags: Vec<String>,
}

impl RunOptions {
    fn new() -> Self {
        let mut command = Args::command();
        // Before that, a flag looks like an option with a value.
        command.build();
        let run = command.find_subcommand("run").cloned().unwrap_or_default();
        let (mut valued, mut flags) = (Vec::new(), Vec::new());
        let all = command.get_arguments().chain(run.get_arguments());
        for option in all.filter(|option| !option.is_positional()) {
            let long = option.get_long().map(|name| format!("--{name}"));
            let short = option.get_short().map(|name| format!("-{name}"));
            let list = if option.get_action().takes_values() {
                &mut valued
            } else {
                &mut flags
            };
            list.extend([long, short].into_iter().flatten());
        }
        Self { valued, flags }
    }

    /// The words that are neither options nor their values, each with its place: the command and what follows it.
    fn words<'a>(&self, arguments: &'a [String]) -> impl Iterator<Item = (usize, &'a str)> {
        let mut is_value = false;
        arguments.iter().enumerate().filter_map(move |(at, word)| {
            let is_word = !is_value && !word.starts_with('-');
            is_value = !is_value && self.valued.contains(word);
            is_word.then_some((at, word.as_str()))
        })
    }

    /// The options of `run` with their values among the words behind the agent, and the agent's own words. A short option
    /// is the agent's: many agents have the same letters.
    fn split<'a>(&self, words: &'a [String]) -> (Vec<&'a str>, Vec<&'a str>) {
        let (mut own, mut of_agent) = (Vec::new(), Vec::new());
        let mut is_value = false;
        for word in words {
            let (name, has_value) = match word.split_once('=') {
                Some((name, _)) => (name, true),
                None => (word.as_str(), false),
            };
            let among =
                |list: &[String]| name.starts_with("--") && list.iter().any(|known| known == name);
            let is_valued = among(&self.valued);
            if is_value || is_valued || (!has_value && among(&self.flags)) {
                own.push(word.as_str());
            } else {
                of_agent.push(word.as_str());
            }
            is_value = !is_value && is_valued && !has_value;
        }
        (own, of_agent)
    }
}

/// A word as it is to be typed.
fn shown(word: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./:=,@%+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", clean(word).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_run_behind_the_agent_are_told_from_those_of_the_agent() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = words("-p --max-iters 3 --model --json opus --budget=2 -q --prompt --model");
        let (own, of_agent) = RunOptions::new().split(&given);
        assert_eq!(
            own.join(" "),
            "--max-iters 3 --json --budget=2 --prompt --model"
        );
        assert_eq!(of_agent.join(" "), "-p --model opus -q");
    }

    #[test]
    fn a_word_is_shown_as_it_is_to_be_typed() {
        assert_eq!(shown("--max-iters"), "--max-iters");
        assert_eq!(shown("pytest -q"), "'pytest -q'");
        assert_eq!(shown("it's"), r"'it'\''s'");
        assert_eq!(shown(""), "''");
        assert_eq!(shown("a\x1b[m"), "'a\\u{1b}[m'");
    }
}
