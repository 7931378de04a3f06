//! Why a server could not be started.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;

use crate::config::ConfigError;
use crate::engine::EngineError;

/// Why a server could not be started, or had to end.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Anybody could use it.
    #[error(
        "{listen} can be reached from other machines, and there is no token; give one with --token-file, or listen on 127.0.0.1"
    )]
    Open {
        /// Where it should have listened.
        listen: SocketAddr,
    },
    /// The token can be guessed.
    #[error(
        "the token has {observed} bytes; at least {limit} are needed, for example from `openssl rand -hex 32`"
    )]
    ShortToken {
        /// Its length.
        observed: usize,
        /// The least.
        limit: usize,
    },
    /// The address can't be used.
    #[error(
        "can't listen on {listen}: {error}; another port may be free, and --listen 127.0.0.1:0 takes any"
    )]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system said. Part of the message, and so no source.
        error: io::Error,
    },
    /// Where sessions should be kept.
    #[error("--store: {message}")]
    Store {
        /// The code for machines.
        code: &'static str,
        /// What is wrong.
        message: String,
    },
    /// Threads or signals are not to be had.
    #[error("the server can't be run: {0}")]
    System(io::Error),
    /// The configuration of the loops.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The gate.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl ServeError {
    /// The code for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Open { .. } => "serve_open",
            Self::ShortToken { .. } => "serve_token",
            Self::Listen { .. } => "serve_listen",
            Self::Store { code, .. } => code,
            Self::System(_) => "serve_system",
            Self::Config(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }
}
