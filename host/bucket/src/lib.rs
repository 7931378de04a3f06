//! A loop's memory in object storage, for hosts on more than one machine.
//!
//! The files are those of [`ralph_gate_memory`], and so is everything that is done with them. A session is one object, the
//! bundle, which holds all of its files; what its logs hold beyond the newest part is in objects of their own that never
//! change. A save is one write of the bundle on the condition that it is still the one that was read. So a save is there
//! as a whole or not at all, and of two at the same time one gets [`MemoryError::Conflict`].
//!
//! | object | content |
//! | --- | --- |
//! | `sessions/<folder>` | the bundle of a session |
//! | `segments/<folder>/<digest>` | an older part of one of its logs |
//! | `conditions` | shows that the storage keeps to conditions |
//!
//! Nothing is ever deleted. What can't be read is an error that names the object.
//!
//! ```
//! use ralph_gate_bucket::{BucketRoot, Options};
//! use ralph_gate_memory::{Change, MemoryError, SessionKey, Start};
//! # mod gate { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/storage/gate.rs")); }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let gate = gate::Native;
//! let root = BucketRoot::from_url("memory:///loops", &Options::default())?;
//! let key = SessionKey::Session("night run".into());
//! let start = Start { contract: r#"{"mode": "ralph", "completion_checks": ["tests"]}"#.into(), ..Start::default() };
//!
//! // Two machines have the same session open.
//! let mut one = root.open_or_create(&gate, &key, &start)?;
//! let mut other = root.open(&gate, &key)?;
//! assert_eq!(one.state().revision, other.state().revision);
//!
//! // The first to save wins. The other learns of it, opens the session again and goes on from there.
//! one.save(&Change::default())?;
//! assert!(matches!(other.save(&Change::default()), Err(MemoryError::Conflict { .. })));
//! let mut other = root.open(&gate, &key)?;
//! assert_eq!(other.save(&Change::default())?.revision, 3);
//! # Ok(())
//! # }
//! ```
//!
//! [`MemoryError::Conflict`]: ralph_gate_memory::MemoryError::Conflict

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "a test may fail"
    )
)]

mod address;
mod bundle;
mod disk;
mod error;
mod publish;
mod remote;
mod root;
mod store;

pub use disk::Bucket;
pub use error::BucketError;
pub use root::{BucketRoot, LIST_LIMIT, Options};
pub use store::BucketStore;

// For its feature alone.
use reqwest as _;
