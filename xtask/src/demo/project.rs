//! The demo's project: a scratch git repository, its test command, and the scripted agent.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::process;

/// A repository with one shell function and its tests.
pub(super) struct Project {
    folder: PathBuf,
    // Outside the repository: the agent is not part of the work it is judged by.
    agent: PathBuf,
}

/// What a test run showed.
pub(super) struct Tests {
    pub(super) passed: bool,
    /// The last line of the test output.
    pub(super) summary: String,
}

impl Project {
    /// Makes the repository with a first commit, and writes the agent's script.
    pub(super) fn create(folder: &Path, agent: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        fs::write(folder.join("leap.sh"), include_str!("leap.sh"))?;
        fs::write(folder.join("test.sh"), include_str!("test.sh"))?;
        fs::write(agent, include_str!("agent.sh"))?;
        let project = Self {
            folder: folder.to_path_buf(),
            agent: agent.to_path_buf(),
        };
        project.git(&["init", "--quiet"])?;
        project.git(&["add", "--all"])?;
        project.git(&[
            "commit",
            "--quiet",
            "--message",
            "A project with a function to write",
        ])?;
        Ok(project)
    }

    /// One turn of the agent: the prompt goes in, its output comes back.
    pub(super) fn run_agent(&self, index: usize, prompt: &str) -> Result<String> {
        let mut child = self
            .command("sh")
            .arg(&self.agent)
            .arg(index.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the demo needs a POSIX sh")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(prompt.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("the scripted agent failed with {}", output.status);
        }
        Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
    }

    /// Runs the project's tests.
    pub(super) fn run_tests(&self) -> Result<Tests> {
        let output = self
            .command("sh")
            .arg("test.sh")
            .stdin(Stdio::null())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let summary = text.lines().last().context("the tests printed nothing")?;
        Ok(Tests {
            passed: output.status.success(),
            summary: summary.trim_start_matches("# ").to_owned(),
        })
    }

    /// The id of the tree that the tests ran on.
    pub(super) fn tree(&self) -> Result<String> {
        self.git(&["add", "--all"])?;
        Ok(self.git(&["write-tree"])?.trim_end().to_owned())
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        process::capture(self.command("git").args(args)).context("the demo needs git")
    }

    /// A program in the repository, untouched by the person's own git settings.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(&name);
            }
        }
        command
            .current_dir(&self.folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "agent")
            .env("GIT_AUTHOR_EMAIL", "agent@example.org")
            .env("GIT_COMMITTER_NAME", "agent")
            .env("GIT_COMMITTER_EMAIL", "agent@example.org");
        command
    }
}
