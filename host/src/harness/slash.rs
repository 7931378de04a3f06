//! Commands that a user types into a client, as its hook hears them: before anything of them was expanded, quoted or shown to
//! the agent. So the hook runs them itself, and no agent can type them.

/// What the commands of our plugin are called in front of their names.
const PREFIX: &str = "/ralph-gate:";

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlashCommand {
    /// Begin a loop, with these arguments as they were typed.
    Start(String),
    /// End the loop.
    Cancel,
    /// Show the loop.
    Status,
}

impl SlashCommand {
    /// The command that a prompt is. None if it is another prompt.
    pub fn read(prompt: &str) -> Option<Self> {
        let typed = prompt.trim_start().strip_prefix(PREFIX)?;
        let end = typed.find(char::is_whitespace).unwrap_or(typed.len());
        let (name, arguments) = typed.split_at_checked(end)?;
        match name {
            "ralph-loop" | "ralph" => Some(Self::Start(arguments.to_owned())),
            "cancel-ralph" => Some(Self::Cancel),
            "ralph-status" => Some(Self::Status),
            _ => None,
        }
    }
}

/// The task and the options of a loop that is to begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoopArguments {
    /// The task.
    pub prompt: String,
    /// The promise that ends it.
    pub promise: Option<String>,
    /// The most iterations.
    pub max_iterations: Option<u32>,
    /// Whether each iteration shall have a fresh context, which no client gives.
    pub is_fresh: bool,
}

impl LoopArguments {
    /// Reads what was typed behind a command: options among the words of the task, as `--name value` or `--name=value`. The
    /// rest is the task, byte for byte.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut read = Self::default();
        let mut rest = text;
        let mut task = String::new();
        while let Some((before, option, behind)) = next_option(rest) {
            let (value, after) = value(behind);
            match option {
                Choice::MaxIterations => {
                    let number = value.parse();
                    let number = number.map_err(|_| {
                        format!("--max-iterations needs a whole number, not {value:?}")
                    });
                    read.max_iterations = Some(number?);
                }
                Choice::Promise => read.promise = Some(value),
                Choice::Mode if value == "fresh" => read.is_fresh = true,
                Choice::Mode if value == "hook" => {}
                Choice::Mode => return Err(format!("--mode is hook or fresh, not {value:?}")),
            }
            task.push_str(before);
            rest = after;
        }
        task.push_str(rest);
        unquoted(task.trim()).clone_into(&mut read.prompt);
        Ok(read)
    }
}

/// An option among the words of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    MaxIterations,
    Promise,
    Mode,
}

/// What is before the first option, the option, and what is behind it.
fn next_option(text: &str) -> Option<(&str, Choice, &str)> {
    let names = [
        ("--max-iterations", Choice::MaxIterations),
        ("--completion-promise", Choice::Promise),
        ("--mode", Choice::Mode),
    ];
    let found = names.iter().filter_map(|(name, option)| {
        let whole = text.match_indices(name).find(|(at, _)| {
            let before = text.get(..*at).unwrap_or_default();
            let behind = text.get(at + name.len()..).unwrap_or_default();
            let is_apart = before.is_empty() || before.ends_with(char::is_whitespace);
            is_apart && behind.starts_with(|next: char| next.is_whitespace() || next == '=')
        });
        whole.map(|(at, _)| (at, name.len(), *option))
    });
    let (at, length, option) = found.min_by_key(|(at, ..)| *at)?;
    Some((text.get(..at)?, option, text.get(at + length..)?))
}

/// A value, perhaps between quotes, and what is behind it.
fn value(text: &str) -> (String, &str) {
    let text = text.strip_prefix('=').unwrap_or_else(|| text.trim_start());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Option<String>, Option<u32>) {
        let read = LoopArguments::read(text).unwrap();
        (read.prompt, read.promise, read.max_iterations)
    }

    #[test]
    fn only_the_commands_of_the_plugin_are_commands() {
        let start = |text: &str| Some(SlashCommand::Start(text.to_owned()));
        assert_eq!(
            SlashCommand::read("/ralph-gate:ralph-loop a !b\n c"),
            start(" a !b\n c")
        );
        assert_eq!(SlashCommand::read(" /ralph-gate:ralph"), start(""));
        assert_eq!(
            SlashCommand::read("/ralph-gate:cancel-ralph"),
            Some(SlashCommand::Cancel)
        );
        assert_eq!(
            SlashCommand::read("/ralph-gate:ralph-status \n"),
            Some(SlashCommand::Status)
        );
        for other in [
            "/ralph-loop a",
            "/ralph-gate:ralph-loops a",
            "please /ralph-gate:cancel-ralph",
            "/ralph-gate:",
            "",
        ] {
            assert_eq!(SlashCommand::read(other), None, "{other}");
        }
    }

    #[test]
    fn options_are_found_among_the_words_of_a_task() {
        let text = "Fix `x` for $5 --max-iterations 7 now --completion-promise \"ALL DONE\"\n# and 'this'\n";
        let expected = (
            "Fix `x` for $5  now \n# and 'this'".to_owned(),
            Some("ALL DONE".to_owned()),
            Some(7),
        );
        assert_eq!(read(text), expected);
        let text = "--max-iterations=3 --completion-promise='ALL DONE' Fix !x";
        let expected = ("Fix !x".to_owned(), Some("ALL DONE".to_owned()), Some(3));
        assert_eq!(read(text), expected);
    }

    #[test]
    fn the_mode_is_no_part_of_the_task() {
        let read = |text: &str| LoopArguments::read(text).unwrap();
        assert_eq!(read("Fix it --mode hook").prompt, "Fix it");
        assert!(read("Fix it --mode fresh").is_fresh);
        assert!(LoopArguments::read("Fix it --mode other").is_err());
    }

    #[test]
    fn what_only_looks_like_an_option_is_the_tasks() {
        for text in [
            "explain --max-iterations-like things",
            "x--max-iterations 5",
            "say \"hi\" to \"them\"",
        ] {
            assert_eq!(read(text), (text.to_owned(), None, None));
        }
        assert_eq!(read("\"Do it\"").0, "Do it");
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        assert!(LoopArguments::read("x --max-iterations many").is_err());
    }
}
