//! A git repository with a configuration and a scripted agent, and the command that is run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use ralph_gate_tests::binary::binary;
use serde_json::Value;
use tempfile::TempDir;

use crate::processes::Mark;

/// The session's key.
pub(crate) const KEY: &str = "night run";

/// The command under another name: whoever builds meanwhile does not exchange it.
static COMMAND: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
    let folder = tempfile::Builder::new()
        .prefix("resume")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .unwrap();
    let command = folder.path().join("ralph-gate");
    fs::hard_link(binary(), &command).unwrap();
    (folder, command)
});

/// What one run of the command left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The last line of standard output.
    pub(crate) fn last(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the error that ended it.
    pub(crate) fn error_code(&self) -> String {
        assert_eq!(self.code, Some(1), "{self:?}");
        let last = self.last();
        let code = last["error"]["code"].as_str();
        code.unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    pub(crate) fn assert_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

/// Where one loop is run. The folder also holds the agent and what it leaves for the test, beside the repository.
pub(crate) struct Workspace {
    folder: TempDir,
    pub(crate) mark: Mark,
}

impl Workspace {
    /// A repository with one commit of some empty files, and an agent that is a script for `sh`.
    pub(crate) fn new(config: &str, agent: &str, files: &[&str]) -> Self {
        Self::make(&with_key(config), agent, files)
    }

    /// The same without a name for the session.
    pub(crate) fn without_key(config: &str, agent: &str) -> Self {
        Self::make(config, agent, &[])
    }

    fn make(config: &str, agent: &str, files: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Self {
            folder,
            mark: Mark::new(),
        };
        fs::create_dir(workspace.repository()).unwrap();
        fs::write(workspace.folder.path().join("agent.sh"), agent).unwrap();
        workspace.write_config(config);
        for file in files {
            fs::write(workspace.repository().join(file), "").unwrap();
        }
        workspace.git(&["init", "--quiet", "--initial-branch=main"]);
        workspace.git(&["add", "--all"]);
        workspace.git(&["commit", "--quiet", "--message", "begin"]);
        workspace
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// A file beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn configure(&self, config: &str) {
        self.write_config(&with_key(config));
    }

    fn write_config(&self, config: &str) {
        fs::write(self.repository().join("ralph-gate.toml"), config).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost"])
            .args(["-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(self.repository())
            .status()
            .unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    /// The command, in the repository. Everything that it starts carries the mark.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&COMMAND.1);
        command
            .args(arguments)
            .current_dir(self.repository())
            .envs([self.mark.variable()])
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// `ralph-gate run`, with the agent.
    pub(crate) fn run_command(&self, options: &[&str]) -> Command {
        let mut command = self.command(&["run", "--json"]);
        command.args(options).args(["--", "sh"]);
        command.arg(self.beside("agent.sh"));
        command
    }

    /// Runs the loop, to its end.
    pub(crate) fn run(&self, options: &[&str]) -> Run {
        finish(&mut self.run_command(options))
    }

    /// Runs any command.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Run {
        finish(&mut self.command(arguments))
    }

    /// What `status` says.
    pub(crate) fn status(&self) -> Value {
        self.ask(&["status", KEY, "--json"]).assert_code(0).last()
    }

    /// The iteration that the gate's own state counts.
    pub(crate) fn snapshot_iteration(&self) -> u64 {
        let shown = self.ask(&["memory", "show", KEY, "--json"]).assert_code(0);
        let shown = shown.last();
        let snapshot = shown["snapshot"].as_str().unwrap_or("{}");
        let snapshot: Value = serde_json::from_str(snapshot).unwrap();
        snapshot["iteration"].as_u64().unwrap_or_default()
    }

    /// How often the agent was started, as it says itself.
    pub(crate) fn turns(&self) -> usize {
        lines(&self.beside("turns"))
    }
}

fn with_key(config: &str) -> String {
    format!("{config}\n[memory]\nsession_key = \"{KEY}\"\n")
}

fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let run = Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    assert!(!run.stderr.contains("panicked"), "{run:?}");
    run
}

/// How many lines a file has; none if it is not there.
fn lines(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}
