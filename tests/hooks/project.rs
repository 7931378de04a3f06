//! A project of a client, in which commands are run as its person and its hooks would run them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::event_schema;
use ralph_gate_tests::logs::Scratch;
use ralph_gate_tests::processes::Mark;
use ralph_gate_tests::said::Said;
use serde_json::{Value, json};

/// Where the official plugin keeps its loop.
pub(crate) const LOOP_FILE: &str = ".claude/ralph-loop.local.md";

/// A folder with a home and a project.
pub(crate) struct Project {
    folder: Scratch,
    /// What everything carries that is started here.
    pub(crate) mark: Mark,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self {
            folder: Scratch::new(),
            mark: Mark::new(),
        };
        fs::create_dir(project.work()).unwrap();
        project
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    /// Where the loops of clients are remembered; a path that is not there as long as there are none.
    pub(crate) fn sessions(&self) -> PathBuf {
        let workspaces = self.home().join(".local/state/ralph-gate/hooks");
        let mut found = fs::read_dir(&workspaces).into_iter().flatten().flatten();
        found
            .next()
            .map_or(workspaces, |workspace| workspace.path())
    }

    /// Writes a file of the project, and the folders above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.work(), path, text);
    }

    /// A file of the project, if it is there.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.work().join(path)).ok()
    }

    /// Runs `ralph-gate` in the project.
    pub(crate) fn gate(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command();
        command.args(arguments);
        run(command, input)
    }

    /// `ralph-gate`, apart from whatever surrounds the tests.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .envs([self.mark.variable()]);
        command
    }

    /// Asks the hook of Claude Code. Gives its answer; null if it is silent.
    pub(crate) fn stop(&self, message: &str, is_continued: bool) -> Value {
        let event = stop_event(&self.work(), message, is_continued);
        let said = self.gate(&["hook", "claude-code"], &event.to_string());
        assert_eq!(said.code, 0, "{said:?}");
        if said.stdout.is_empty() {
            return Value::Null;
        }
        serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Every log that a test leaves is as the schema says. One that fails has something else to say.
        if !std::thread::panicking() {
            event_schema::check_below(&self.work().join(".ralph"));
            event_schema::check_below(&self.sessions());
        }
    }
}

/// Runs a command and gives it something to read.
pub(crate) fn run(mut command: Command, input: &str) -> Said {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command need not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Said::of(child.wait_with_output().unwrap())
}

/// What Claude Code tells when its agent wants to stop.
pub(crate) fn stop_event(work: &Path, message: &str, is_continued: bool) -> Value {
    json!({
        "session_id": "s1",
        "transcript_path": work.join("none.jsonl"),
        "cwd": work,
        "permission_mode": "default",
        "hook_event_name": "Stop",
        "stop_hook_active": is_continued,
        "last_assistant_message": message,
        "background_tasks": [],
        "session_crons": [],
    })
}

/// Writes a file below a folder, and the folders above it.
pub(crate) fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
