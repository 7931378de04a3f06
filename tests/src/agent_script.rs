//! What a scripted agent is told to do: turns, each a list of steps. Tests write it, `scripted-agent` plays it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What an agent does in each iteration. The last turn is played again and again.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Script {
    /// The turns, in the order of iterations.
    pub turns: Vec<Vec<Step>>,
}

/// One thing that an agent does.
///
/// In texts and paths, `{iteration}` stands for the iteration and `{memory}` for the session's folder. Relative paths
/// begin in the workspace.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Prints a text.
    Print(String),
    /// Prints a text to standard error.
    Complain(String),
    /// Leaves a process behind that prints a text to this one's standard output as soon as this one has ended.
    PrintAfterTheEnd(String),
    /// Prints its prompt, whole.
    EchoPrompt,
    /// Prints a turn as Claude Code does with `--output-format stream-json`.
    Claude {
        /// The final answer.
        answer: String,
        /// What the turn cost, in US dollars.
        cost_usd: String,
        /// How many tools were called.
        tool_calls: u32,
    },
    /// Writes a file, and the folders above it.
    Write {
        /// Which.
        path: PathBuf,
        /// Its content.
        text: String,
    },
    /// Adds to the end of a file.
    Append {
        /// Which.
        path: PathBuf,
        /// What is added.
        text: String,
    },
    /// Replaces a text in a file, which must be there.
    Replace {
        /// Which.
        path: PathBuf,
        /// What is replaced.
        from: String,
        /// What comes in its place.
        to: String,
    },
    /// Changes one byte in the middle of every file in a folder.
    Corrupt(PathBuf),
    /// Deletes a file, or a folder with all that is in it.
    Delete(PathBuf),
    /// Commits everything in the workspace.
    Commit,
    /// Waits until a file is there.
    WaitFor(PathBuf),
    /// Does nothing until it is killed.
    Hang,
    /// Makes a process that is in no way connected to this one: another session, its parent gone, no output.
    Detach {
        /// What it does.
        steps: Vec<Step>,
        /// What it keeps of the environment.
        environment: Keeps,
    },
    /// Runs a program and writes its exit code and what it printed to a file.
    Run {
        /// The program and its arguments.
        argv: Vec<String>,
        /// The file.
        into: PathBuf,
    },
    /// Ends with an exit code.
    Exit(i32),
}

/// What a process keeps of its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeps {
    /// All of it.
    Everything,
    /// Only what tests find it by.
    OnlyTheMark,
}

/// The variable by which tests find every process that a loop started. Its name begins as one does that is inherited.
pub const MARK: &str = "XDG_LOOP_TEST_MARK";
