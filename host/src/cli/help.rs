//! The help of the whole command: its commands in groups, the way a person meets them.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::args::Args;

/// The commands, by what they are for. A command that does not exist on this system is left out.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start here", &["init", "run", "status", "logs", "doctor"]),
    (
        "Loops",
        &[
            "sessions", "cancel", "override", "audit", "replay", "what-if", "memory", "config",
        ],
    ),
    ("Clients", &["loop", "uninstall", "hook", "import"]),
    ("Policies", &["policy"]),
    ("Lab", &["experiment", "report", "export-otlp"]),
    (
        "Plumbing",
        &[
            "serve",
            "evaluate",
            "contract",
            "route",
            "promise",
            "fingerprint",
            "signal",
            "schema",
            "component",
            "completions",
            "man",
            "version",
        ],
    ),
];

/// The whole command, with its commands in groups where its help is asked for.
pub(super) fn command() -> Command {
    let command = Args::command();
    let groups = groups(&command);
    // The names between braces are clap's.
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    let visible = |name: &&&str| {
        command
            .find_subcommand(name)
            .is_some_and(|it| !it.is_hide_set())
    };
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for name in names.iter().filter(visible) {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let about = about.lines().next().unwrap_or_default().to_owned();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn every_command_is_in_one_group() {
        let command = Args::command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        grouped.sort_unstable();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|it| !it.is_hide_set() && it.get_name() != "help")
            .map(Command::get_name)
            .collect();
        visible.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn the_help_has_groups_options_and_examples() {
        let help = command().render_help().to_string();
        let titles = [
            "Start here:",
            "Loops:",
            "Clients:",
            "Policies:",
            "Lab:",
            "Plumbing:",
            "Options:",
            "Examples:",
        ];
        let places: Vec<_> = titles.iter().map(|title| help.find(title)).collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{help}"
        );
        assert!(!help.contains('{'), "{help}");
    }
}
