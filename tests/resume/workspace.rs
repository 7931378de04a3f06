//! A git repository with a configuration and a scripted agent, and the command that is run in it.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::place::Place;
use ralph_gate_tests::said::Said;
use serde_json::Value;
use tempfile::TempDir;

/// The session's key.
pub(crate) const KEY: &str = "night run";
const CONFIG: &str = "ralph-gate.toml";

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

/// Where one loop is run. The agent, and what it leaves for the test, are beside the repository.
pub(crate) struct Workspace(Place);

impl Deref for Workspace {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
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
        let mut content = vec![(CONFIG, config)];
        content.extend(files.iter().map(|file| (*file, "")));
        let workspace = Self(Place::new(&content));
        fs::write(workspace.beside("agent.sh"), agent).unwrap();
        workspace
    }

    pub(crate) fn configure(&self, config: &str) {
        self.write(CONFIG, &with_key(config));
    }

    /// `ralph-gate run`, with the agent.
    pub(crate) fn run_command(&self, options: &[&str]) -> Command {
        let mut command = self.command(&COMMAND.1);
        command.args(["run", "--json"]).args(options);
        command.args(["--", "sh"]);
        command.arg(self.beside("agent.sh"));
        command
    }

    /// Runs the loop, to its end.
    pub(crate) fn run(&self, options: &[&str]) -> Said {
        Said::by(&mut self.run_command(options))
    }

    /// Runs any command.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Said {
        Said::by(self.command(&COMMAND.1).args(arguments))
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

/// How many lines a file has; none if it is not there.
fn lines(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}
