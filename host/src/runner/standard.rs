//! Standard mode: the agent runs once, its own completion counts, nothing is intercepted and nothing is written.

use std::io::{self, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::begin::{Options, Preference, agent};
use super::turn::{JUDGED, end_of, hand_over};
use super::{Agent, RunError};
use crate::config::Config;
use crate::engine::{Action, GateEngine, Iteration, Verdict};

/// How an agent's one run ended.
#[derive(Debug, Clone)]
pub struct Once {
    /// The agent's exit code, as a shell gives it.
    pub exit: i32,
    /// What it printed.
    pub output: String,
    /// The gate's verdict, which is that it has none.
    pub verdict: Verdict,
}

/// Runs the agent as if it had been called by itself. Without a task of ours this process becomes the agent, which
/// keeps the terminal and every signal; with one it stays behind to hand it over. Gives the agent's exit code.
pub fn become_agent(config: &Config, options: &Options) -> Result<i32, RunError> {
    let agent = agent(config, options, Preference::Configured)?;
    let (mut command, input) = command(config, &agent);
    if input.is_empty() {
        return Err(not_started(&agent, command.exec()));
    }
    let child = command.stdin(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| not_started(&agent, error))?;
    feed(&mut child, input);
    let status = child.wait().map_err(|error| not_started(&agent, error))?;
    Ok(exit_code(status))
}

/// Runs the agent, for somebody who wants to hear of it in another way than by its own output.
pub fn run_once(gate: &GateEngine, config: &Config, options: &Options) -> Result<Once, RunError> {
    let agent = agent(config, options, Preference::Configured)?;
    let (mut command, input) = command(config, &agent);
    let child = command
        .stdin(if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| not_started(&agent, error))?;
    feed(&mut child, input);
    let output = child.wait_with_output();
    let output = output.map_err(|error| not_started(&agent, error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let iteration = Iteration {
        index: 1,
        action: Action::Final,
        output: end_of(text.clone(), JUDGED),
        ..Iteration::default()
    };
    Ok(Once {
        exit: exit_code(output.status),
        verdict: gate.evaluate_final(r#"{"mode":"standard"}"#, None, &iteration)?,
        output: text,
    })
}

/// The agent with its task where it looks for it, and what it is to read.
fn command(config: &Config, agent: &Agent) -> (Command, Vec<u8>) {
    let (argv, input) = if agent.prompt.is_empty() {
        (agent.argv.clone(), Vec::new())
    } else {
        hand_over(config.agent.prompt_to, &agent.argv, &agent.prompt)
    };
    let (program, arguments) = argv
        .split_first()
        .map_or(("", &[] as &[String]), |(first, rest)| (first, rest));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(&config.agent.env)
        .current_dir(&config.workspace);
    (command, input)
}

/// Hands the task over, in a thread of its own: an agent need not read it.
fn feed(child: &mut Child, task: Vec<u8>) {
    if let Some(mut input) = child.stdin.take() {
        std::thread::spawn(move || {
            let _ = input.write_all(&task);
        });
    }
}

/// As a shell gives it.
fn exit_code(status: ExitStatus) -> i32 {
    let signal = status.signal().map(|signal| 128 + signal);
    status.code().or(signal).unwrap_or(1)
}

fn not_started(agent: &Agent, error: io::Error) -> RunError {
    RunError::AgentNotStarted {
        program: agent.argv.first().cloned().unwrap_or_default(),
        error,
    }
}
