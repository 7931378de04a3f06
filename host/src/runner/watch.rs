//! What happens in a loop, as it happens, for whoever watches.

use std::path::Path;

use super::events::{AgentRecord, Tripped};
use crate::engine::{Mode, RouteReason, Verdict};
use crate::evidence::CheckEvent;
use crate::memory::{Finding, SessionKey};

/// Somebody who watches a loop. Called from several threads.
pub trait Watch: Sync {
    /// Takes note of something.
    fn see(&self, event: &LoopEvent<'_>);

    /// Whether anybody looks: what would only be told need not be found out.
    fn is_anybody(&self) -> bool {
        true
    }
}

/// What a loop is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the first iteration: how many tests there are, what protected files look like.
    Baseline,
    /// After a resumption: perhaps somebody has mended it.
    Probe,
    /// The agent is at work.
    Agent,
    /// The checks are running.
    Checks,
}

/// Something that happened.
#[derive(Debug)]
pub enum LoopEvent<'e> {
    /// The loop is open.
    Opened {
        /// Whose it is.
        key: &'e SessionKey,
        /// Where its memory is.
        memory: &'e Path,
        /// The mode that applies, and why.
        mode: (Mode, RouteReason),
        /// The iterations that were evaluated before.
        iteration: u32,
        /// The most there may be.
        at_most: u32,
        /// Whether an operator may complete the loop.
        overridable: bool,
        /// The agent.
        argv: &'e [String],
        /// The checks that the contract names, in its order.
        checks: &'e [String],
        /// Variables that the agent does not get because they look like secrets.
        withheld: &'e [String],
        /// How many more variables it does not get.
        others: usize,
    },
    /// What was found in the memory.
    Found(&'e [Finding]),
    /// Something a person should know.
    Warning(&'e str),
    /// Another thing is being done.
    Entered {
        /// For which iteration.
        iteration: u32,
        /// What.
        phase: Phase,
    },
    /// What the agent is doing.
    Activity(&'e str),
    /// The agent has ended.
    AgentEnded(&'e AgentRecord),
    /// Of a check.
    Check(CheckEvent<'e>),
    /// Something was done that may not be done.
    Tripped(&'e Tripped),
    /// The gate has decided, and it is remembered.
    Decided {
        /// The iteration.
        iteration: u32,
        /// The verdict.
        verdict: &'e Verdict,
    },
    /// The loop is over.
    Ended {
        /// The last iteration.
        iteration: u32,
        /// The last verdict.
        verdict: &'e Verdict,
        /// Where its memory is.
        memory: &'e Path,
    },
}
