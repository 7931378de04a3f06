//! Arguments of `cargo xtask`: which command, which flags, and help for every mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Result;

use crate::workspace::Workspace;

/// One command of `cargo xtask`.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// One line for the list of commands.
    pub(crate) summary: &'static str,
    /// What it does in full, for `--help`.
    pub(crate) details: &'static str,
    pub(crate) flags: &'static [Flag],
    /// The words it accepts besides flags, at most one of them at a time.
    pub(crate) words: &'static [&'static str],
    /// Whole command lines.
    pub(crate) examples: &'static [&'static str],
    pub(crate) run: fn(&Workspace, &Args) -> Result<()>,
}

/// A switch such as `--release`, or one with a number such as `--seconds N`.
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

impl Flag {
    /// What is typed, without the number that follows it.
    fn word(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or(self.name)
    }

    fn takes_number(&self) -> bool {
        self.word() != self.name
    }
}

/// The arguments that were given, all of them known to the command.
#[derive(Debug, Default)]
pub(crate) struct Args {
    flags: BTreeSet<&'static str>,
    numbers: BTreeMap<&'static str, u64>,
    word: Option<&'static str>,
}

impl Args {
    /// Whether the switch was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    /// The number behind a switch such as `--seconds`.
    pub(crate) fn number(&self, flag: &str) -> Option<u64> {
        self.numbers.get(flag).copied()
    }

    /// The word that was given, such as `gate` in `bench gate`.
    pub(crate) fn word(&self) -> Option<&'static str> {
        self.word
    }
}

/// What the command line asks for.
pub(crate) enum Request {
    Help(String),
    Run(&'static Command, Args),
}

/// Reads the command line. An error is one sentence for the person who typed it.
pub(crate) fn parse(commands: &'static [Command], given: &[String]) -> Result<Request, String> {
    let Some((name, rest)) = given.split_first() else {
        return Ok(Request::Help(overview(commands)));
    };
    if matches!(name.as_str(), "--help" | "-h" | "help") {
        return Ok(Request::Help(
            match rest
                .first()
                .and_then(|wanted| commands.iter().find(|c| c.name == wanted))
            {
                Some(command) => usage(command),
                None => overview(commands),
            },
        ));
    }
    let Some(command) = commands.iter().find(|command| command.name == name) else {
        let names: Vec<&str> = commands.iter().map(|command| command.name).collect();
        return Err(format!(
            "there is no command `{name}`.{} The commands are {}",
            hint(name, &names),
            names.join(", ")
        ));
    };
    if rest.iter().any(|arg| arg == "--help" || arg == "-h") {
        return Ok(Request::Help(usage(command)));
    }
    let mut args = Args::default();
    let mut rest = rest.iter();
    while let Some(arg) = rest.next() {
        take(command, arg, &mut rest, &mut args)?;
    }
    Ok(Request::Run(command, args))
}

fn take<'a>(
    command: &'static Command,
    arg: &str,
    rest: &mut impl Iterator<Item = &'a String>,
    args: &mut Args,
) -> Result<(), String> {
    if arg.starts_with('-') {
        let names: Vec<&str> = command.flags.iter().map(|flag| flag.name).collect();
        return match command.flags.iter().find(|flag| flag.word() == arg) {
            Some(flag) if flag.takes_number() => {
                args.numbers.insert(flag.word(), number(arg, rest.next())?);
                Ok(())
            }
            Some(flag) => {
                args.flags.insert(flag.name);
                Ok(())
            }
            None => Err(unknown(command, "flag", arg, &names)),
        };
    }
    match command.words.iter().find(|word| **word == arg) {
        Some(word) if args.word.is_none() => {
            args.word = Some(word);
            Ok(())
        }
        Some(word) => Err(format!(
            "`{}` takes one of its words at a time, and got `{word}` as a second one",
            command.name
        )),
        None => Err(unknown(command, "argument", arg, command.words)),
    }
}

/// The number behind a switch; zero is never meant.
fn number(flag: &str, given: Option<&String>) -> Result<u64, String> {
    let given = given.map_or("", String::as_str);
    match given.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!(
            "`{flag}` needs a number behind it, for example `{flag} 60`"
        )),
    }
}

fn unknown(command: &Command, what: &str, arg: &str, known: &[&str]) -> String {
    let choice = if known.is_empty() {
        format!(" It takes no {what}")
    } else {
        format!(" It takes {}", known.join(", "))
    };
    format!(
        "`{}` has no {what} `{arg}`.{}{choice}",
        command.name,
        hint(arg, known)
    )
}

/// " Did you mean …?" when a known word is close.
fn hint(word: &str, known: &[&str]) -> String {
    known
        .iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= 1 + candidate.len() / 4)
        .min()
        .map_or_else(String::new, |(_, best)| format!(" Did you mean `{best}`?"))
}

/// Levenshtein distance in characters.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        let mut next = vec![before];
        for (above, b) in row.iter().skip(1).zip(&right) {
            let cell = (diagonal + usize::from(a != *b))
                .min(above + 1)
                .min(before + 1);
            diagonal = *above;
            before = cell;
            next.push(cell);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

fn overview(commands: &[Command]) -> String {
    let mut text = String::from("Usage: cargo xtask <command> [flags]\n\nCommands:\n");
    for command in commands {
        let _ = writeln!(text, "  {:<8}{}", command.name, command.summary);
    }
    text.push_str("\nExamples:\n");
    for example in commands
        .iter()
        .filter_map(|command| command.examples.last())
    {
        let _ = writeln!(text, "  {example}");
    }
    text.push_str("\n`cargo xtask <command> --help` says more about one of them.\n");
    text
}

fn usage(command: &Command) -> String {
    let mut line = format!("Usage: cargo xtask {}", command.name);
    if !command.words.is_empty() {
        let _ = write!(line, " [{}]", command.words.join("|"));
    }
    for flag in command.flags {
        let _ = write!(line, " [{}]", flag.name);
    }
    let mut text = format!("{line}\n\n{}\n", command.details);
    if !command.flags.is_empty() {
        text.push_str("\nFlags:\n");
        for flag in command.flags {
            let _ = writeln!(text, "  {:<12}{}", flag.name, flag.meaning);
        }
    }
    text.push_str("\nExamples:\n");
    for example in command.examples {
        let _ = writeln!(text, "  {example}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::COMMANDS;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn mistake(line: &str) -> String {
        match parse(COMMANDS, &words(line)) {
            Err(mistake) => mistake,
            Ok(_) => panic!("`{line}` should be refused"),
        }
    }

    #[test]
    fn an_unknown_command_lists_the_commands_and_the_nearest_one() {
        assert_eq!(
            mistake("biuld"),
            "there is no command `biuld`. Did you mean `build`? The commands are \
             demo, example, build, package, test, tidy, bench, fuzz, model, coverage, crash, hostile, mutants, dist, setup"
        );
        assert!(!mistake("frobnicate").contains("Did you mean"));
    }

    #[test]
    fn an_unknown_flag_names_the_flags_of_that_command() {
        assert_eq!(
            mistake("build --relaese"),
            "`build` has no flag `--relaese`. Did you mean `--release`? It takes --release, --verify"
        );
        assert_eq!(
            mistake("demo x"),
            "`demo` has no argument `x`. It takes no argument"
        );
    }

    #[test]
    fn a_second_word_is_refused() {
        assert!(mistake("bench gate startup").contains("one of its words at a time"));
    }

    #[test]
    fn flags_and_words_reach_the_command() {
        let Ok(Request::Run(command, args)) = parse(COMMANDS, &words("bench startup --quick"))
        else {
            panic!("a valid command line");
        };
        assert_eq!(command.name, "bench");
        assert_eq!(args.word(), Some("startup"));
        assert!(args.has("--quick"));
        assert!(!args.has("--release"));
    }

    #[test]
    fn a_number_belongs_to_its_flag() {
        let Ok(Request::Run(_, args)) = parse(COMMANDS, &words("fuzz prd --seconds 600")) else {
            panic!("a valid command line");
        };
        assert_eq!(args.word(), Some("prd"));
        assert_eq!(args.number("--seconds"), Some(600));
        for line in ["fuzz --seconds", "fuzz --seconds x", "fuzz --seconds 0"] {
            assert_eq!(
                mistake(line),
                "`--seconds` needs a number behind it, for example `--seconds 60`"
            );
        }
    }

    #[test]
    fn every_command_explains_itself_with_an_example() {
        for command in COMMANDS {
            let line = words(&format!("{} --help", command.name));
            let Ok(Request::Help(text)) = parse(COMMANDS, &line) else {
                panic!("--help is always answered");
            };
            assert!(text.contains(&format!("Usage: cargo xtask {}", command.name)));
            assert!(!command.examples.is_empty());
        }
    }

    #[test]
    fn distance_counts_single_edits() {
        assert_eq!(distance("build", "build"), 0);
        assert_eq!(distance("biuld", "build"), 2);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("tests", "test"), 1);
    }
}
