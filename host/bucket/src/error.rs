//! What can be wrong with the place of a root. What goes wrong with a session is a [`ralph_gate_memory::MemoryError`].

use std::io;

use thiserror::Error;

/// A root that can't be used.
#[derive(Debug, Error)]
pub enum BucketError {
    /// The address is none that is known.
    #[error(
        "`{url}` is no address of a bucket: {reason}; write s3://bucket/prefix, gs://bucket/prefix or az://container/prefix"
    )]
    Address {
        /// As it was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder can't be written to on a condition, so that two writers would lose saves.
    #[error(
        "`{url}` is a folder, which has no conditional writes; keep sessions on a disk in the file store, by giving its path"
    )]
    Folder {
        /// As it was given.
        url: String,
    },
    /// The environment says too little, or something wrong.
    #[error("{url} can't be used with these settings: {reason}")]
    Settings {
        /// The address.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// The system gave no thread for the requests.
    #[error("requests to {url} can't be made: {error}")]
    Runtime {
        /// The address.
        url: String,
        /// What the system said. Part of the message, and so no source.
        error: io::Error,
    },
}

impl BucketError {
    /// The error's name for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address { .. } => "bucket_address",
            Self::Folder { .. } => "bucket_folder",
            Self::Settings { .. } => "bucket_settings",
            Self::Runtime { .. } => "bucket_runtime",
        }
    }
}
