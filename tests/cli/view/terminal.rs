//! The person's terminal: its keys reach the loop, and what the loop runs does not reach the terminal.

use std::process::Command;

use super::*;

/// Says so if it can reach the person's terminal.
const REACH: &str = "( : < /dev/tty ) 2> /dev/null && touch reached-the-terminal\n";

impl Workspace {
    /// `ralph-gate run` with a terminal that sends it signals, as in a shell.
    fn run_in_control(&self) -> Watched {
        let run = self.run(&[]);
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(self.path())
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .env_remove("RALPH_GATE_INNER");
        Watched::start(command, 24, 90)
    }
}

#[test]
fn neither_an_agent_nor_a_check_can_open_the_persons_terminal() {
    let workspace = Workspace::new();
    let agent = AGENT.replacen('\n', &format!("\n{REACH}"), 1);
    fs::write(workspace.path().join("claude"), agent).unwrap();
    fs::write(workspace.path().join("tests.sh"), REACH.to_owned() + TESTS).unwrap();
    let mut watched = workspace.run_in_control();
    workspace.go(1, "mended");
    assert_eq!(watched.finish(), 0, "{}", watched.text());
    assert!(!workspace.path().join("reached-the-terminal").exists());
}

#[test]
fn ctrl_c_ends_the_loop() {
    let workspace = Workspace::new();
    let mut watched = workspace.run_in_control();
    watched.wait_for(&["tool: Edit parser.txt"]);
    watched.type_line("\x03");
    assert_eq!(watched.finish(), 3, "{}", watched.text());
    assert!(
        watched
            .text()
            .contains("stopped, not done: canceled after 1 iteration")
    );
    assert!(!watched.screen().hide_cursor());
}
