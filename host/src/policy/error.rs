//! Why a policy gave no judgement. Each of these counts as not passed.

use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

use crate::engine::FailureCode;

/// A policy that was not run, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file is larger than may be compiled.
    #[error("the component has {observed} bytes and the limit is {limit}")]
    TooLarge {
        /// Bytes of the file.
        observed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// A policy that this program was built without.
    #[error(
        "this program was built without the policy {policy}: build it with the feature `policies`"
    )]
    NotIncluded {
        /// Its name.
        policy: &'static str,
    },
    /// Compiling took too long.
    #[error("compiling took {} ms and the limit is {} ms", observed.as_millis(), limit.as_millis())]
    CompileTime {
        /// When it was ended.
        observed: Duration,
        /// How long it may take.
        limit: Duration,
    },
    /// Compiling took too much memory.
    #[error("compiling took {observed} bytes of memory and the limit is {limit}")]
    CompileMemory {
        /// Bytes when it was ended.
        observed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The machine code is larger than may be loaded.
    #[error("the component compiles to {observed} bytes and the limit is {limit}")]
    CodeTooLarge {
        /// Bytes of machine code.
        observed: u64,
        /// Bytes allowed.
        limit: usize,
    },
    /// The bytes are no component, or one with features that policies can't use.
    #[error("the component can't be compiled: {reason}")]
    Invalid {
        /// What the compiler said.
        reason: String,
    },
    /// The process that compiles ended without an answer.
    #[error("the process that compiles policies ended early: {reason}")]
    Compiler {
        /// How it ended.
        reason: String,
    },
    /// It wants something of the host that it does not get.
    #[error(
        "the component imports {import}, which it does not get{}",
        wasi_hint(import)
    )]
    Import {
        /// What it wants.
        import: String,
    },
    /// It does not export what a policy exports.
    #[error("the component is no policy: {reason}")]
    WrongWorld {
        /// What is missing or different.
        reason: String,
    },
    /// It used up its fuel.
    #[error("the policy used more than {limit} units of fuel")]
    Fuel {
        /// Units that it used: the limit, because it is stopped there.
        observed: u64,
        /// Units allowed.
        limit: u64,
    },
    /// It used up its time.
    #[error("the policy ran for {} ms and the limit is {} ms", observed.as_millis(), limit.as_millis())]
    Time {
        /// When it was stopped.
        observed: Duration,
        /// How long it may run.
        limit: Duration,
    },
    /// It asked for more memory than it may have.
    #[error("the policy needs {observed} bytes of memory and the limit is {limit}")]
    Memory {
        /// Bytes of all memories and tables together, with those that it asked for.
        observed: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// It is made of too many parts.
    #[error("the policy needs {observed} {what} and the limit is {limit}")]
    Instances {
        /// What there are too many of.
        what: &'static str,
        /// How many there would be.
        observed: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Its calls went too deep.
    #[error("the policy used up its stack of {limit} bytes")]
    Stack {
        /// Bytes allowed, all of which it used.
        limit: usize,
    },
    /// Its result would take too much of the host's memory.
    #[error("the policy's result has more than {limit} bytes")]
    Lifted {
        /// Bytes allowed.
        limit: usize,
    },
    /// Its judgement says too much.
    #[error("{what} has {observed} {unit} and the limit is {limit}")]
    Result {
        /// Which part of it.
        what: String,
        /// What is counted.
        unit: &'static str,
        /// How many there are.
        observed: usize,
        /// How many there may be.
        limit: usize,
    },
    /// It lacks an artifact without which it says it can't judge.
    #[error(
        "the policy wants the artifact {name}, which the check does not name or which is not there"
    )]
    Artifact {
        /// Its name.
        name: String,
    },
    /// It stopped in the middle.
    #[error("the policy stopped without a judgement: {reason}")]
    Trap {
        /// What happened.
        reason: String,
    },
    /// The host could not run it: says nothing about the policy.
    #[error("the policy can't be run here: {reason}")]
    Host {
        /// What is in the way.
        reason: String,
    },
}

fn wasi_hint(import: &str) -> &'static str {
    if import.starts_with("wasi:") {
        "; `wasi = \"deny-all\"` gives it one that denies everything"
    } else {
        ""
    }
}

impl PolicyError {
    /// The name of [`PolicyError::NotIncluded`].
    pub(crate) const NOT_INCLUDED: &'static str = "not_included";
    /// The name of [`PolicyError::Artifact`].
    pub(crate) const ARTIFACT_MISSING: &'static str = "artifact_missing";

    /// The outcome's name for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "component_too_large",
            Self::CompileTime { .. } => "compile_timed_out",
            Self::CompileMemory { .. } => "compile_out_of_memory",
            Self::CodeTooLarge { .. } => "code_too_large",
            Self::Invalid { .. } => "invalid_component",
            Self::NotIncluded { .. } => Self::NOT_INCLUDED,
            Self::Compiler { .. } => "compiler_failed",
            Self::Import { .. } => "import_denied",
            Self::WrongWorld { .. } => "wrong_world",
            Self::Fuel { .. } => "out_of_fuel",
            Self::Time { .. } => "timed_out",
            Self::Memory { .. } => "out_of_memory",
            Self::Instances { .. } => "too_many_instances",
            Self::Stack { .. } => "stack_overflow",
            Self::Lifted { .. } => "result_too_large",
            Self::Result { .. } => "judgement_too_large",
            Self::Artifact { .. } => Self::ARTIFACT_MISSING,
            Self::Trap { .. } => "trapped",
            Self::Host { .. } => "host",
        }
    }

    /// What the gate is told. None where nothing is said about the policy.
    pub fn failure(&self) -> Option<FailureCode> {
        match self {
            Self::Fuel { .. } | Self::Time { .. } => Some(FailureCode::PolicyOutOfFuel),
            Self::Memory { .. } => Some(FailureCode::PolicyOutOfMemory),
            Self::Trap { .. } | Self::Stack { .. } => Some(FailureCode::PolicyTrapped),
            Self::Host { .. } | Self::Compiler { .. } | Self::NotIncluded { .. } => None,
            _ => Some(FailureCode::PolicyRejected),
        }
    }

    /// What was observed and what is allowed, where a limit was reached.
    pub fn limit(&self) -> Option<Reached> {
        let reached = |observed: u64, limit: u64| Some(Reached { observed, limit });
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        match *self {
            Self::TooLarge { observed, limit }
            | Self::Memory { observed, limit }
            | Self::Instances {
                observed, limit, ..
            }
            | Self::Result {
                observed, limit, ..
            } => reached(wide(observed), wide(limit)),
            Self::CompileTime { observed, limit } | Self::Time { observed, limit } => {
                reached(ms(observed), ms(limit))
            }
            Self::CompileMemory { observed, limit } | Self::Fuel { observed, limit } => {
                reached(observed, limit)
            }
            Self::CodeTooLarge { observed, limit } => reached(observed, wide(limit)),
            Self::Stack { limit } | Self::Lifted { limit } => reached(wide(limit), wide(limit)),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } | Self::CodeTooLarge { .. } => {
                Some("build it for size, or leave out what it does not need")
            }
            Self::CompileTime { .. } | Self::CompileMemory { .. } => {
                Some("split its largest functions, or build it for size")
            }
            Self::Invalid { .. } => Some("is it a component? `ralph-gate policy wrap` makes one"),
            Self::WrongWorld { .. } | Self::Import { .. } => {
                Some("build it for the world check-policy of wit/check-policy.wit")
            }
            Self::Fuel { .. } | Self::Time { .. } | Self::Memory { .. } => {
                Some("if you trust it with more, raise the limit")
            }
            Self::Artifact { .. } => Some("name its file under `artifacts`"),
            _ => None,
        }
    }

    pub(super) fn host(reason: impl std::fmt::Display) -> Self {
        Self::Host {
            reason: reason.to_string(),
        }
    }
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// What was observed. Where the policy is stopped at the limit, the limit itself.
    pub observed: u64,
    /// What is allowed.
    pub limit: u64,
}
