//! Why a file gives no run.

/// Why a file gives no run.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// No line of it is one that a known client writes.
    #[error("it is not a transcript of Claude Code, Codex or Gemini")]
    Foreign,
    /// It is one of another client than was asked for.
    #[error("it is a transcript of {0}, which was not asked for")]
    OtherClient(&'static str),
    /// Nobody worked in it.
    #[error("no turn of an agent is in it")]
    NoTurn,
    /// The state of a loop that can't be read.
    #[error("it is not the state of a loop: {0}")]
    LoopFile(String),
    /// It can't be read to its end.
    #[error("it can't be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The gate did not answer.
    #[error("the gate did not answer: {0}")]
    Gate(String),
}
