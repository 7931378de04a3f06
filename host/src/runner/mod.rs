//! The loop: run the agent, gather evidence, ask the gate, remember, go on or stop.
//!
//! [`Loop::begin`] or [`Loop::resume`] opens a session, [`Loop::run`] goes through iterations until the gate says stop.
//! Each iteration is on the disk before anybody hears of it. Every iteration is a fresh process of the agent, with the
//! task, what is remembered, and what the gate said about the last one.

pub mod agents;
mod attended;
mod begin;
mod commit;
mod control;
pub mod ending;
mod error;
mod events;
mod iteration;
mod operator;
mod outside;
mod preflight;
mod prompt;
mod protection;
mod rerun;
mod resume;
mod standard;
mod test_baseline;
mod tripwire;
mod turn;
mod watch;
mod work;

pub use attended::{Beginning, ClientSession, Evidenced, Sight, Standing, StandingPhase, Stopping};
pub use begin::Options;
pub use control::{Ask, Control, Live, Refusal, Reply, ask, running};
pub use error::RunError;
pub(crate) use events::word;
pub use events::{
    AgentRecord, AttendedRecord, ClientEndedRecord, ClientRecord, Heard, LoopFileRecord,
    LoopRecord, ResumeRecord, VerdictRecord,
};
pub use operator::{cancel_stopped, is_inside_a_client, is_inside_a_loop, override_stopped};
pub use outside::{Look, Outside};
pub use preflight::{Review, review};
pub use rerun::{Rerun, rerun};
pub use resume::{Resumed, newest, recorded_request};
pub use standard::{Once, become_agent, run_once};
pub use watch::{LoopEvent, Phase, Watch};

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{Config, Terms};
use crate::engine::{GateEngine, Mode, Problem, RouteReason, Session, Verdict};
use crate::evidence::PolicyRunner;
use crate::memory::{FileStore, SessionKey};
use crate::process::Redactor;
use crate::worktree::{Repository, Stamps};
use agents::Client;
use events::Baseline;

/// A loop that is open: its memory is locked, its contract is pinned.
pub struct Loop<'l> {
    gate: &'l GateEngine,
    config: &'l Config,
    control: &'l Control,
    watch: &'l dyn Watch,
    policies: Option<Arc<dyn PolicyRunner>>,
    store: FileStore<'l>,
    session: Session,
    terms: Terms,
    key: SessionKey,
    agent: Agent,
    baseline: Baseline,
    stamps: Stamps,
    repository: OnceCell<Repository>,
    /// The host's own variables.
    environment: Vec<(OsString, OsString)>,
    /// Removes secrets from whatever is said or remembered.
    redactor: Redactor,
    /// The files that say what is to be proven.
    gate_files: Vec<PathBuf>,
    /// Further arguments of the command that resumes the loop.
    resume_arguments: Vec<String>,
    /// Whether the loop may begin although every required check passes already.
    allow_green_start: bool,
    /// Where the gate sent the request, and why.
    routed: (Mode, RouteReason),
    /// Folders of the workspace that are not part of the work.
    excluded: Vec<String>,
    /// Files of the memory that could not be brought up to date.
    behind: BTreeSet<String>,
    /// What is odd in the checklist, as it was told last.
    odd_in_prd: Vec<Problem>,
    /// What the gate said last, for the agent.
    feedback: Option<String>,
    /// The exit code of the agent's last turn.
    exit: Option<i32>,
}

/// Who does the work, and what it is.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    argv: Vec<String>,
    client: Client,
    prompt: String,
}

/// How a loop ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The last verdict.
    pub verdict: Verdict,
    /// The last iteration.
    pub iteration: u32,
    /// Where its memory is.
    pub memory: PathBuf,
    /// The exit code of the agent's last turn, as a shell gives it. None if it had none.
    pub exit: Option<i32>,
}
