//! Why a call of the gate gave no answer.

use thiserror::Error;

use crate::records::GateError;

/// The gate could not be run, or not to its end. None of these says anything about the loop.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The machine code that the library carries can't be loaded here.
    #[error("the gate can't be loaded: {reason}")]
    Load {
        /// What wasmtime said.
        reason: String,
    },
    /// The input was not even handed over.
    #[error("the input has {observed} bytes and the limit is {limit}")]
    InputTooLarge {
        /// Bytes of the input.
        observed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The gate asked for more memory than it may have.
    #[error("the gate needs {observed} bytes of memory and the limit is {limit}")]
    OutOfMemory {
        /// Bytes that the gate asked for.
        observed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// The gate's calls went deeper than its stack.
    #[error("the gate used up its stack of {limit} bytes")]
    StackOverflow {
        /// Bytes allowed.
        limit: usize,
    },
    /// The gate stopped in the middle: a defect of the gate.
    #[error("the gate stopped without an answer: {reason}")]
    Trap {
        /// What wasmtime said.
        reason: String,
    },
    /// An earlier call on this session stopped in the middle.
    #[error("this session ended with an earlier error")]
    SessionBroken,
}

impl EngineError {
    /// The error's name for machines, in `snake_case`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Load { .. } => "engine_load",
            Self::InputTooLarge { .. } => "input_too_large",
            Self::OutOfMemory { .. } => "engine_out_of_memory",
            Self::StackOverflow { .. } => "engine_stack_overflow",
            Self::Trap { .. } => "engine_trap",
            Self::SessionBroken => "session_broken",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Load { .. } => "build ralph-gate again, for this machine",
            Self::InputTooLarge { .. } | Self::OutOfMemory { .. } => {
                "pass less, for example only the end of long outputs"
            }
            Self::StackOverflow { .. } => "pass input that is less deeply nested",
            Self::Trap { .. } => "this is a defect of the gate, please report it with the input",
            Self::SessionBroken => "open a new session from the last snapshot",
        }
    }
}

/// Why a typed call gave no result: the gate said no, or could not be asked.
#[derive(Debug, Error)]
pub enum CallError {
    /// The gate's own answer: an error is data.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The gate could not be run.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl std::fmt::Display for GateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GateError {}
