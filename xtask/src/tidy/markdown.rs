//! Markdown that can go stale: links, commands, the changelog.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{Violation, read};
use crate::workspace::Workspace;
use crate::{COMMANDS, process, sources};

const README: &str = "README.md";

/// The changelog has a place for what comes next.
pub(super) fn changelog(root: &Path) -> Vec<Violation> {
    let path = "CHANGELOG.md";
    // Whether the file exists at all is another check.
    let Ok(text) = read(root, path) else {
        return Vec::new();
    };
    if text
        .lines()
        .any(|line| line.trim_end() == "## [Unreleased]" || line.trim_end() == "## Unreleased")
    {
        return Vec::new();
    }
    vec![Violation::new(path, 0, "has no `## [Unreleased]` section")]
}

/// Relative links in the top-level files lead to a file, and to a heading where they name one.
pub(super) fn links(root: &Path) -> Vec<Violation> {
    let mut violations = Vec::new();
    for path in top_level(root) {
        let Ok(text) = read(root, &path) else {
            continue;
        };
        for (line, target) in link_targets(&text) {
            if let Some(message) = dead_end(root, &text, &target) {
                violations.push(Violation::new(&path, line, message));
            }
        }
    }
    violations
}

fn top_level(root: &Path) -> Vec<std::path::PathBuf> {
    sources::below(root, "", &[".md"])
        .into_iter()
        .filter(|path| path.components().count() == 1)
        .collect()
}

/// Why a link leads nowhere. Links to other sites are not followed.
fn dead_end(root: &Path, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target
        .split_once('#')
        .map_or((target, None), |(file, heading)| (file, Some(heading)));
    if !file.is_empty() && !root.join(file).exists() {
        return Some(format!("the link leads to `{file}`, which does not exist"));
    }
    let heading = heading?;
    let there = if file.is_empty() {
        text.to_owned()
    } else {
        read(root, file).ok()?
    };
    let known = headings(&there);
    (!known.contains(heading))
        .then(|| format!("the link leads to `#{heading}`, which is no heading there"))
}

/// The targets of `[text](target)` outside code, with their lines.
fn link_targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // What stands between backticks is code.
        let outside: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in outside.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            found.push((number, target.to_owned()));
        }
    }
    found
}

/// Lines outside fenced code, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// The anchors of all headings, as code hosts make them.
fn headings(text: &str) -> BTreeSet<String> {
    let titles = prose(text)
        .into_iter()
        .filter(|(_, line)| line.starts_with('#'));
    titles
        .map(|(_, line)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// Every `cargo xtask X` in the README exists, in shell blocks and between backticks.
pub(super) fn xtask_commands(root: &Path) -> Vec<Violation> {
    let exists = |name: &str| COMMANDS.iter().any(|command| command.name == name);
    missing_commands(root, "cargo xtask", exists)
}

/// Every `ralph-gate X` in the README exists: the command that was built last is asked.
pub(super) fn gate_commands(workspace: &Workspace) -> Vec<Violation> {
    let binary = workspace.target().join("debug/ralph-gate");
    commands_of(workspace.root(), &binary)
}

fn commands_of(root: &Path, binary: &Path) -> Vec<Violation> {
    if !binary.exists() {
        let message = "is not built; `cargo xtask build` builds it";
        return vec![Violation::new("target/debug/ralph-gate", 0, message)];
    }
    missing_commands(root, "ralph-gate", |name| {
        process::succeeds(Command::new(binary).args([name, "--help"]))
    })
}

/// The commands of a program that the README shows and that do not exist.
fn missing_commands(root: &Path, program: &str, exists: impl Fn(&str) -> bool) -> Vec<Violation> {
    // Whether the file exists at all is another check.
    let text = read(root, README).unwrap_or_default();
    let mut violations = Vec::new();
    for (line, command) in shell_lines(&text).into_iter().chain(inline_code(&text)) {
        for name in words_after(command, program).filter(|name| !exists(name)) {
            let message = format!("there is no command `{program} {name}`");
            violations.push(Violation::new(README, line, message));
        }
    }
    violations
}

/// Lines of blocks fenced as `sh`, with their numbers.
fn shell_lines(text: &str) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut language = None;
    for (index, line) in text.lines().enumerate() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            language = if language.is_some() {
                None
            } else {
                Some(info.trim())
            };
        } else if language == Some("sh") {
            lines.push((index + 1, line.split(" #").next().unwrap_or(line)));
        }
    }
    lines
}

/// What stands between backticks in prose, with its line.
fn inline_code(text: &str) -> Vec<(usize, &str)> {
    let lines = prose(text).into_iter();
    lines
        .flat_map(|(line, text)| {
            text.split('`')
                .skip(1)
                .step_by(2)
                .map(move |code| (line, code))
        })
        .collect()
}

/// The word after each occurrence of the program, when it is a command and no flag.
fn words_after<'a>(line: &'a str, program: &'a str) -> impl Iterator<Item = &'a str> {
    line.split(program).skip(1).filter_map(|rest| {
        let word = rest.strip_prefix(' ')?.split_whitespace().next()?;
        word.starts_with(|c: char| c.is_ascii_lowercase())
            .then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_no_links() {
        let text = "[a](x.md) `[b](y.md)` [c](z.md#h \"t\")\n```\n[d](w.md)\n```\n";
        let targets: Vec<String> = link_targets(text)
            .into_iter()
            .map(|(_, target)| target)
            .collect();
        assert_eq!(targets, ["x.md", "z.md#h"]);
    }

    #[test]
    fn anchors_are_made_as_code_hosts_make_them() {
        let anchors = headings("# One, two\n## `code` & more\n```\n# no\n```");
        let anchors: Vec<&str> = anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["code--more", "one-two"]);
    }

    #[test]
    fn commands_are_read_from_shell_blocks_only() {
        let text = "cargo xtask no\n```sh\ncargo xtask demo # cargo xtask no\n```\n```rust\ncargo xtask no\n```";
        let lines = shell_lines(text);
        let words: Vec<&str> = lines
            .iter()
            .flat_map(|(_, line)| words_after(line, "cargo xtask"))
            .collect();
        assert_eq!(words, ["demo"]);
    }

    #[test]
    fn a_command_is_missing_only_when_its_program_does_not_know_it() {
        let folder = tempfile::tempdir().unwrap();
        let text = "```sh\nagent | ralph-gate promise\nralph-gate --help\nralph-gate judge x\n```\n\
                    `ralph-gate promise` and `ralph-gate guess [FILE]`";
        std::fs::write(folder.path().join(README), text).unwrap();
        let missing = missing_commands(folder.path(), "ralph-gate", |name| name == "promise");
        let messages: Vec<String> = missing.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "tidy: README.md:4: there is no command `ralph-gate judge`",
                "tidy: README.md:6: there is no command `ralph-gate guess`"
            ]
        );
    }

    #[test]
    fn commands_of_a_program_that_is_not_built_are_not_taken_for_granted() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("ralph-gate");
        assert_eq!(commands_of(folder.path(), &binary).len(), 1);
    }
}
