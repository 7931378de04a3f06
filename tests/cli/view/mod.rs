//! The live view of `run`, as a terminal shows it.

mod terminal;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::pty::Watched;
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::git;
use ralph_gate_tests::logs::Scratch;
use ralph_gate_tests::processes::runner_of;

/// The screens that the README shows.
const SCREENS: &str = "cli/view/screens.md";

const CONFIG: &str = r#"
[contract]
mode = "ralph"
completion_checks = ["tests", "docs", { id = "lint", required = false }]
loop_max_iters = 20
cost_budget_usd = "5.00"

[checks.tests]
kind = "tests_green"
format = "tap"
argv = ["sh", "tests.sh"]

[checks.docs]
kind = "file"
path = "README.md"

[checks.lint]
argv = ["true"]

[tripwires]
frozen = ["tests.sh"]

[agent]
argv = ["./claude", "-p"]
prompt = "make the tests pass"
"#;

/// Three tests, of which one needs the parser.
const TESTS: &str = "echo 1..3; echo ok 1 - reads; echo ok 2 - writes
if grep -q mended parser.txt; then echo ok 3 - parses; else echo not ok 3 - parses; exit 1; fi
";

/// An agent that prints as Claude Code does, and that goes on when it is told to.
const AGENT: &str = r#"#!/bin/sh
used='{"m":{"inputTokens":900,"cacheReadInputTokens":0,"cacheCreationInputTokens":0,"outputTokens":100,"costUSD":0.14}}'
call='{"type":"tool_use","id":"t'$RALPH_GATE_ITERATION'","name":"Edit","input":{"file_path":"parser.txt"}}'
echo '{"type":"assistant","message":{"id":"m","content":['$call']}}'
while ! test -e "../go$RALPH_GATE_ITERATION"; do sleep 0.01; done
read -r word < "../go$RALPH_GATE_ITERATION"
echo "$word" >> parser.txt
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","model_usage_since_last_result":'$used'}'
"#;

/// A workspace in which a loop takes two iterations, and beside it what the agent waits for.
struct Workspace(Scratch);

impl Workspace {
    fn new() -> Self {
        let workspace = Self(Scratch::new());
        let folder = workspace.path();
        fs::create_dir(&folder).unwrap();
        for (name, text) in [
            ("ralph-gate.toml", CONFIG),
            ("tests.sh", TESTS),
            ("claude", AGENT),
            ("README.md", "A parser.\n"),
            ("parser.txt", "broken\n"),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let agent = folder.join("claude");
        fs::set_permissions(agent, fs::Permissions::from_mode(0o755)).unwrap();
        workspace
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("work")
    }

    /// `ralph-gate run` in it.
    fn run(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        // Other variables would be named as withheld.
        command.env_clear();
        for name in ["HOME", "PATH"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        git::apart(&mut command)
            .args(["run", "--session", "night"])
            .args(arguments)
            .current_dir(self.path())
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .env_remove("RALPH_GATE_INNER");
        command
    }

    /// Lets the agent end that turn, with that word in the parser.
    fn go(&self, turn: u32, word: &str) {
        let beside = self.0.path();
        fs::write(beside.join("new"), format!("{word}\n")).unwrap();
        fs::rename(beside.join("new"), beside.join(format!("go{turn}"))).unwrap();
    }
}

/// Seconds as they would be on a machine that takes no time. What stands behind them stays in its column.
fn without_times(text: &str) -> String {
    let mut masked = String::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(" s") {
            let start = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            let number = &before[start.len()..];
            let zero = if number.contains('.') { "0.0" } else { "0" };
            let is_time = !number.is_empty() && !after.starts_with(char::is_alphanumeric);
            masked.push_str(start);
            if is_time {
                let is_column = start.ends_with("   ");
                let moved = number.len().saturating_sub(zero.len());
                masked.push_str(&" ".repeat(if is_column { moved } else { 0 }));
            }
            masked.push_str(if is_time { zero } else { number });
            masked.push_str(" s");
            rest = after;
        }
        masked.push_str(rest);
        masked.push('\n');
    }
    masked
}

fn section(title: &str, screen: &Watched) -> String {
    format!("{title}\n\n```text\n{}```\n", without_times(&screen.text()))
}

#[test]
fn a_loop_can_be_watched_from_its_first_turn_to_its_end() {
    let workspace = Workspace::new();
    let mut watched = Watched::start(workspace.run(&[]), 24, 90);
    watched.wait_for(&["iteration 1 of 20", "tool: Edit parser.txt"]);
    assert!(watched.screen().hide_cursor());
    let at_work = section("The agent is at work in the first iteration:", &watched);

    workspace.go(1, "tried");
    watched.wait_for(&["iteration 2 of 20", "tool: Edit parser.txt"]);
    let refused = section("It said that it was done, and was refused:", &watched);

    workspace.go(2, "mended");
    assert_eq!(watched.finish(), 0, "{}", watched.text());
    assert!(!watched.screen().hide_cursor());
    let completed = section("The evidence is there:", &watched);

    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCREENS);
    let title = "# `ralph-gate run` on a terminal";
    let seen = [title, &at_work, &refused, &completed].join("\n\n");
    let seen = seen.replace("\n\n\n", "\n\n");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &seen).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap();
    assert_eq!(seen, expected, "BLESS=1 writes {SCREENS} anew");
}

#[test]
fn a_small_terminal_shows_what_fits_and_keeps_what_is_over() {
    let workspace = Workspace::new();
    let mut watched = Watched::start(workspace.run(&[]), 9, 36);
    watched.wait_for(&["iteration 1 of 20", "tool"]);
    workspace.go(1, "tried");
    watched.wait_for(&["iteration 2 of 20"]);
    watched.wait_for(&["tool"]);
    let text = watched.text();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows.len() < 9, "{text}");
    assert_eq!(
        rows.iter()
            .filter(|row| row.starts_with("loop night  iteration"))
            .count(),
        1,
        "{text}"
    );
    assert!(!text.contains("loop_max_iters"), "{text}");
    workspace.go(2, "mended");
    assert_eq!(watched.finish(), 0, "{text}");
}

#[test]
fn an_interrupt_ends_the_view_with_a_summary_and_a_cursor() {
    let workspace = Workspace::new();
    let mut watched = Watched::start(workspace.run(&[]), 24, 90);
    watched.wait_for(&["tool: Edit parser.txt"]);
    let guard = Pid::from_child(&watched.child);
    kill_process(guard, Signal::INT).unwrap();
    assert_eq!(watched.finish(), 3, "{}", watched.text());
    assert!(!watched.screen().hide_cursor());
    let text = watched.text();
    assert!(
        text.contains("stopped, not done: canceled after 1 iteration  "),
        "{text}"
    );
    assert!(text.contains("handoff.md"), "{text}");
    assert!(!text.contains("agent 0 s"), "the region is gone: {text}");
}

#[test]
fn the_cursor_comes_back_however_soon_a_second_interrupt_comes() {
    let workspace = Workspace::new();
    let mut watched = Watched::start(workspace.run(&[]), 24, 90);
    watched.wait_for(&["tool: Edit parser.txt"]);
    let guard = Pid::from_child(&watched.child);
    for _ in 0..2 {
        kill_process(guard, Signal::INT).unwrap();
    }
    // The system may make one signal of two.
    let code = watched.finish();
    assert!([3, 130].contains(&code), "{code}: {}", watched.text());
    assert!(!watched.screen().hide_cursor());
}

#[test]
fn the_cursor_comes_back_when_the_loop_is_killed() {
    let workspace = Workspace::new();
    let mut watched = Watched::start(workspace.run(&[]), 24, 90);
    watched.wait_for(&["tool: Edit parser.txt"]);
    assert!(watched.screen().hide_cursor());
    let runner = runner_of(&mut watched.child).unwrap();
    kill_process(runner, Signal::KILL).unwrap();
    assert_eq!(watched.finish(), 137, "{}", watched.text());
    assert!(!watched.screen().hide_cursor());
}

#[test]
fn an_error_stands_alone_below_what_is_over() {
    let workspace = Workspace::new();
    let mut watched = Watched::start(workspace.run(&["--", "./nobody"]), 24, 90);
    assert_eq!(watched.finish(), 1, "{}", watched.text());
    assert!(!watched.screen().hide_cursor());
    let text = watched.text();
    assert!(text.contains("error: "), "{text}");
    assert!(!text.contains("iteration 1 of 20"), "{text}");
}

#[test]
fn whoever_wants_lines_gets_no_view() {
    for (arguments, term) in [
        (&["--plain"][..], "xterm"),
        (&[], "dumb"),
        (&["--json"], "xterm"),
    ] {
        let workspace = Workspace::new();
        let mut command = workspace.run(arguments);
        command.env("TERM", term);
        let mut watched = Watched::start(command, 24, 90);
        workspace.go(1, "tried");
        workspace.go(2, "mended");
        assert_eq!(watched.finish(), 0, "{}", watched.text());
        let bytes = String::from_utf8(watched.bytes.clone()).unwrap();
        for command in ["\x1b[?25", "\x1b[J", "\x1b[?7"] {
            assert!(!bytes.contains(command), "{arguments:?} {term}: {bytes:?}");
        }
        assert!(bytes.contains("completed"), "{bytes:?}");
    }
}
