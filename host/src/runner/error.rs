//! Why a loop could not be run, or not to its end. None of these says that the work is done.

use std::path::PathBuf;

use thiserror::Error;

use super::events::word;
use crate::config::ConfigError;
use crate::engine::{CallError, EngineError};
use crate::memory::{Holder, MemoryError, SessionKey};
use crate::process::{GuardError, StartError};
use crate::worktree::WorktreeError;

/// A loop that could not be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// What a person wrote can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The memory refused.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The gate refused.
    #[error(transparent)]
    Gate(CallError),
    /// The agent can't be started.
    #[error(transparent)]
    Agent(#[from] StartError),
    /// The agent can't be started.
    #[error("{program} can't be started: {error}")]
    AgentNotStarted {
        /// The agent.
        program: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// The loop's two processes can't watch over each other.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The work can't be looked at.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// There is no agent.
    #[error("there is no agent to run")]
    NoAgent,
    /// There is nothing to do.
    #[error(
        "nothing is left to prove: every required check passes before the agent has begun ({})",
        checks.join(", ")
    )]
    GreenStart {
        /// The required checks.
        checks: Vec<String>,
    },
    /// There is no task.
    #[error("there is no prompt: the agent would not know what to do")]
    NoPrompt,
    /// A check needs what is not there.
    #[error("the check {check} is a policy, and there is nothing here that runs policies")]
    NoPolicies {
        /// The check.
        check: String,
    },
    /// A file that was named can't be read.
    #[error("{} can't be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A loop of that name is there already.
    #[error("the session {:?} holds a loop already, at iteration {iteration}", key.text())]
    Exists {
        /// Whose it is.
        key: SessionKey,
        /// How far it came.
        iteration: u32,
    },
    /// There is nothing to resume.
    #[error("there is no loop to resume in {}", root.display())]
    NothingToResume {
        /// Where it was looked for.
        root: PathBuf,
    },
    /// The loop has completed.
    #[error("the loop has completed, at iteration {iteration}")]
    Completed {
        /// The last one.
        iteration: u32,
    },
    /// The checks are not the ones that the loop began with.
    #[error("how the checks are run has changed since the loop began")]
    RulesChanged,
    /// Files that say what is to be proven are not as they were.
    #[error("changed since the loop began: {}", files.join(", "))]
    FilesChanged {
        /// Which.
        files: Vec<String>,
    },
    /// The configuration is not the one that whoever asked for the loop has read.
    #[error("{} is not what it was when the loop was asked for", file.display())]
    ConfigChanged {
        /// The file.
        file: PathBuf,
    },
    /// Nobody knows any more what things looked like when the loop began.
    #[error("the event log lost its beginning, so what the loop began with is not known any more")]
    BeginningLost,
    /// Somebody ended an audit before its checks had ended.
    #[error("the audit was interrupted, and nothing was added to the log")]
    Interrupted,
    /// A loop that has not ended can't be audited.
    #[error("the loop has not ended: what it comes to is not known yet")]
    NotEnded,
    /// Nobody knows with which checks to audit a loop.
    #[error("the checks that the loop ran with are not those of the configuration here")]
    OtherChecks,
    /// An operator's order came from the loop itself.
    #[error("this was asked by a process that the loop itself started")]
    FromInside,
    /// The contract does not let operators complete the loop.
    #[error("the contract does not allow an override")]
    NoOverride,
    /// The operator's name or reason is longer than the loop takes.
    #[error("the operator's name or reason is too long for the loop")]
    NoteTooLong,
    /// A loop runs, and does not answer.
    #[error("the loop is running, but can't be reached: {holder}")]
    Unreachable {
        /// Who runs it.
        holder: Holder,
    },
    /// The system refused something that the loop can't do without.
    #[error("{what}: {error}")]
    System {
        /// What was being done.
        what: &'static str,
        /// What the system said.
        error: std::io::Error,
    },
}

impl From<CallError> for RunError {
    fn from(error: CallError) -> Self {
        Self::Gate(error)
    }
}

impl From<EngineError> for RunError {
    fn from(error: EngineError) -> Self {
        Self::Gate(CallError::Engine(error))
    }
}

impl RunError {
    /// The error's name for machines, in `snake_case`.
    pub fn code(&self) -> String {
        if let Self::Gate(CallError::Gate(error)) = self {
            return word(&error.code);
        }
        let name = match self {
            Self::Config(error) => error.code(),
            Self::Memory(error) => error.code(),
            Self::Gate(CallError::Gate(_)) => "gate",
            Self::Gate(CallError::Engine(error)) => error.code(),
            Self::Agent(_) | Self::AgentNotStarted { .. } => "agent_not_started",
            Self::Guard(_) => "guard",
            Self::Worktree(_) => "worktree",
            Self::NoAgent => "no_agent",
            Self::GreenStart { .. } => "green_start",
            Self::NoPrompt => "no_prompt",
            Self::NoPolicies { .. } => "no_policies",
            Self::Unreadable { .. } => "unreadable_input",
            Self::Exists { .. } => "session_exists",
            Self::NothingToResume { .. } => "nothing_to_resume",
            Self::Completed { .. } => "loop_completed",
            Self::RulesChanged => "checks_changed",
            Self::FilesChanged { .. } => "files_changed",
            Self::ConfigChanged { .. } => "config_changed",
            Self::BeginningLost => "beginning_lost",
            Self::Interrupted => "audit_interrupted",
            Self::NotEnded => "loop_not_ended",
            Self::OtherChecks => "other_checks",
            Self::FromInside => "from_inside",
            Self::NoOverride => "override_not_allowed",
            Self::NoteTooLong => "note_too_long",
            Self::Unreachable { .. } => "loop_unreachable",
            Self::System { .. } => "system",
        };
        name.to_owned()
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        let help = match self {
            Self::Config(error) => error.help()?,
            Self::Memory(error) => error.help(),
            Self::NoAgent => {
                "name it behind `--`, for example `ralph-gate run -- claude -p`, or as `argv` in [agent]"
            }
            Self::GreenStart { .. } => {
                "add a check that fails until the work is done, ask for a promise with `completion_token` in [contract], or \
                 begin all the same with `--allow-green-start`"
            }
            Self::NoPrompt => {
                "give one with `--prompt TEXT` or `--prompt-file FILE`, or as `prompt` or `prompt_file` in [agent]"
            }
            Self::NoPolicies { .. } => {
                "take it out of `completion_checks` and of the `proofs` of stories"
            }
            Self::Unreadable { .. } => "see that it is there and can be read",
            Self::Exists { .. } => {
                "go on with `--resume`, or name another session with `--session`"
            }
            Self::NothingToResume { .. } => {
                "begin one with `ralph-gate run`; `ralph-gate memory list` shows sessions"
            }
            Self::Completed { .. } => "begin another one with `ralph-gate run`",
            Self::RulesChanged | Self::FilesChanged { .. } => {
                "undo the change in the configuration, or accept it with `--resume --accept-contract`"
            }
            Self::Gate(CallError::Gate(error))
                if error.code == crate::engine::ErrorCode::ContractChanged =>
            {
                "undo the change in the configuration, or accept it with `--resume --accept-contract`"
            }
            Self::ConfigChanged { .. } => "undo the change, or start the server again to accept it",
            Self::BeginningLost => {
                "begin another loop, or take what is there now as the beginning with `--resume --accept-contract`"
            }
            Self::Interrupted => "ask again when there is time for the checks",
            Self::NotEnded => {
                "go on with it, or end it with `ralph-gate cancel`; a label can say what became of it"
            }
            Self::OtherChecks => {
                "ask from the folder that the loop ran in, undo the change, or name the checks with `--config FILE`"
            }
            Self::FromInside => "ask from a terminal of your own",
            Self::NoOverride => "set `allow_override = true` in the contract of the next loop",
            Self::NoteTooLong => "say it in at most 1000 bytes",
            Self::Unreachable { .. } => {
                "end it with Ctrl-C where it runs, or with `kill` and its process id"
            }
            Self::AgentNotStarted { .. } => "see that it is installed and in the PATH",
            Self::Gate(_)
            | Self::Agent(_)
            | Self::Guard(_)
            | Self::Worktree(_)
            | Self::System { .. } => return None,
        };
        Some(help)
    }
}
