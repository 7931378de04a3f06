//! What a policy may use.

use std::time::Duration;

use super::config::STACK;

/// The limits of a policy. Each has an outcome of its own, with what was observed and the limit, and none of these
/// outcomes counts as passed.
///
/// ```
/// use ralph_gate::policy::PolicyLimits;
///
/// let limits = PolicyLimits { fuel: 1_000_000, ..PolicyLimits::default() };
/// assert!(limits.memory > 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyLimits {
    /// Bytes of the component's file.
    pub component: usize,
    /// How long it may take to compile.
    pub compile_time: Duration,
    /// Bytes of memory that compiling it may take.
    pub compile_memory: u64,
    /// Bytes of the machine code that it becomes.
    pub code: usize,
    /// Instructions of one call, its start-up among them. The same call always uses the same number.
    pub fuel: u64,
    /// How long one call may take. For what fuel can't see; where it decides, the machine was too slow.
    pub time: Duration,
    /// Bytes of all memories and tables together.
    pub memory: usize,
    /// Core instances and tables, of each so many.
    pub instances: usize,
    /// Memories. Each keeps a file of the host open as long as the policy is ready, and most policies have one.
    pub memories: usize,
    /// Bytes of texts and lists in one result.
    pub lifted: usize,
    /// How many reasons a judgement may have.
    pub reasons: usize,
    /// Bytes of one reason, or of one text of a description.
    pub reason: usize,
    /// Bytes of artifacts that one call may read.
    pub read: u64,
    /// Bytes that are kept of what it prints, where it may print at all.
    pub log: usize,
}

impl PolicyLimits {
    /// Bytes of stack: the same for every policy.
    pub const STACK: usize = STACK;
}

impl Default for PolicyLimits {
    fn default() -> Self {
        Self {
            component: 32 << 20,
            compile_time: Duration::from_mins(1),
            compile_memory: 2 << 30,
            code: 128 << 20,
            fuel: 1_000_000_000,
            time: Duration::from_secs(10),
            memory: 256 << 20,
            instances: 100,
            memories: 10,
            lifted: 1 << 20,
            reasons: 100,
            reason: 4000,
            read: 64 << 20,
            log: 16 << 10,
        }
    }
}
