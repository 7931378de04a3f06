//! `ralph-gate completions`: what the generator makes of the arguments, and the keys of sessions, which only the program
//! itself knows.

use clap::Command;
use clap_complete::Shell;

use super::terminal::print;
use super::{CliError, Exit, help};

const NAME: &str = "ralph-gate";
/// Commands that take the key of a session.
const KEYED: [&str; 7] = [
    "status", "cancel", "override", "logs", "audit", "replay", "what-if",
];
/// Those of them that take logs, too.
const LOGS: [&str; 2] = ["replay", "what-if"];
/// Those of `memory`.
const MEMORY: [&str; 4] = ["show", "verify", "repair", "export"];
/// Completes what bash is asked for, with keys.
const BASH: &str = include_str!("keys.bash");
/// The same for zsh, as functions that the generated script calls.
const ZSH: &str = include_str!("keys.zsh");
/// How fish learns the keys.
const FISH: &str = "-k -a \"(ralph-gate sessions --keys 2>/dev/null)\"";
/// Where the script of zsh begins to run.
const ZSH_END: &str = "if [ \"$funcstack[1]\" = \"_ralph-gate\" ]; then";

pub(crate) fn run(shell: Shell) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), NAME, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    print(&match shell {
        Shell::Bash => bash(&script),
        Shell::Zsh => zsh(&script),
        Shell::Fish => fish(script),
        _ => script,
    })?;
    Ok(Exit::Success)
}

/// The generator calls a command by one name where it recognizes it and by another where it completes it, if the program
/// has a hyphen in its name.
fn bash(script: &str) -> String {
    let script = script.replace("ralph__subcmd__gate__subcmd__", "ralph__gate__subcmd__");
    let keys = BASH
        .replace("@COMMANDS@", &KEYED.join("|"))
        .replace("@MEMORY@", &MEMORY.join("|"))
        .replace("@OPTIONS@", &options_with_values().join("|"));
    format!("{script}\n{keys}")
}

/// The options of all these commands that are followed by a value.
fn options_with_values() -> Vec<String> {
    let mut root = help::command();
    // Before that, a flag looks like an option with a value.
    root.build();
    let memory = root.find_subcommand("memory").into_iter();
    let mut commands: Vec<&Command> = memory.flat_map(Command::get_subcommands).collect();
    commands.extend(KEYED.iter().filter_map(|name| root.find_subcommand(name)));
    commands.extend(root.find_subcommand("run"));
    commands.push(&root);
    let options = commands.iter().flat_map(|it| it.get_opts());
    let mut names: Vec<String> = options
        .flat_map(|option| {
            let long = option.get_long().map(|name| format!("--{name}"));
            let short = option.get_short().map(|name| format!("-{name}"));
            long.into_iter().chain(short)
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn zsh(script: &str) -> String {
    let mut text = String::new();
    for line in script.lines() {
        let line = match line.trim_start() {
            key if key.starts_with("':key --") || key.starts_with("'::key --") => {
                line.replace(":_default'", ":_ralph-gate_keys'")
            }
            logs if logs.starts_with("'*::logs -- Keys") => {
                line.replace(":_files'", ":_ralph-gate_keys_or_files'")
            }
            option if option.starts_with("'--session=") => {
                line.replace(":KEY:_default'", ":KEY:_ralph-gate_keys'")
            }
            _ if line == ZSH_END => format!("{ZSH}\n{line}"),
            _ => line.to_owned(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn fish(mut script: String) -> String {
    let memory = format!(
        "memory; and __fish_seen_subcommand_from {}",
        MEMORY.join(" ")
    );
    let commands = KEYED.iter().copied().chain([memory.as_str()]);
    for command in commands {
        // These take files as well.
        let files = if LOGS.contains(&command) { "" } else { " -f" };
        script.push_str(&format!(
            "complete -c {NAME} -n \"__fish_ralph_gate_using_subcommand {command}\"{files} {FISH}\n"
        ));
    }
    script.push_str(&format!(
        "complete -c {NAME} -n \"__fish_ralph_gate_using_subcommand run\" -l session -x {FISH}\n"
    ));
    script
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_takes_a_key_completes_it() {
        let root = help::command();
        let takes_key = |command: &&Command| {
            let is_key = |it: &clap::Arg| {
                it.get_id() == "key"
                    || it
                        .get_help()
                        .is_some_and(|it| it.to_string().contains("Keys of sessions"))
            };
            command.get_positionals().any(is_key)
        };
        let named = |command: &Command| -> Vec<String> {
            let keyed = command.get_subcommands().filter(takes_key);
            keyed.map(|it| it.get_name().to_owned()).collect()
        };
        assert_eq!(named(&root), KEYED);
        assert_eq!(named(root.find_subcommand("memory").unwrap()), MEMORY);
    }

    #[test]
    fn the_generated_scripts_still_have_the_places_that_are_changed() {
        let script = |shell| {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut help::command(), NAME, &mut script);
            String::from_utf8(script).unwrap()
        };
        let zsh = zsh(&script(Shell::Zsh));
        assert_eq!(zsh.matches("_ralph-gate_keys() {").count(), 1);
        assert_eq!(
            zsh.matches(":_ralph-gate_keys'").count(),
            KEYED.len() - LOGS.len() + MEMORY.len() + 1
        );
        assert_eq!(
            zsh.matches(":_ralph-gate_keys_or_files'").count(),
            LOGS.len()
        );
        assert!(script(Shell::Fish).contains("function __fish_ralph_gate_using_subcommand"));
    }
}
