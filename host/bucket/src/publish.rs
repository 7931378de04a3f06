//! Writes a session's bundle on the condition that it is still the one that was read, and finds out what came of it.
//!
//! An answer that a condition failed does not say who made it fail: the client sends a request again that the storage
//! answered with an error, although the first may have taken effect. No answer at all says nothing either. So whatever is
//! not a plain success is followed by a look at what is there: each bundle names its last writes, and ours is among them,
//! or another one is in its place, or it is not known.

use std::io;

use object_store::path::Path;
use object_store::{PutMode, PutPayload, UpdateVersion};
use ralph_gate_memory::disk::{Action, Disk, DiskError};
use ralph_gate_memory::{MemoryError, SessionKey};

use crate::bundle::{BUNDLE_LIMIT, Bundle, FILES_LIMIT, Fate, Unreadable, VERSION, Writes};
use crate::disk::Bucket;
use crate::remote::{Refused, Remote, too_large};

/// How often a write is sent that the storage refused although nobody else wrote: some refuse one of several at the same
/// time, and say that it may be sent again.
const ATTEMPTS: u32 = 3;

/// What is known of the object that a store goes on from.
#[derive(Debug)]
pub(crate) enum Basis {
    /// It is not there.
    Absent,
    /// It is this one.
    Known {
        version: UpdateVersion,
        writes: Writes,
    },
    /// Others have written since: whatever is written from here on comes too late.
    Behind,
}

/// Reads a session's bundle. None if it is not there; what is there and can't be read is an error that names it.
pub(crate) fn load(
    remote: &Remote,
    folder: &str,
) -> Result<Option<(Bundle, UpdateVersion)>, MemoryError> {
    let object = remote.session(folder);
    let Some((bytes, version)) = remote.get(&object, BUNDLE_LIMIT)? else {
        return Ok(None);
    };
    match Bundle::read(&bytes) {
        Ok(bundle) => Ok(Some((bundle, version))),
        Err(Unreadable::Damaged(reason)) => Err(MemoryError::Unreadable {
            session: remote.name(&object),
            damage: vec![reason],
        }),
        Err(Unreadable::Newer(found)) => Err(MemoryError::Newer {
            file: remote.name(&object),
            found,
            known: VERSION,
        }),
    }
}

/// Writes the session as it is now. On an error that is no conflict it is not known whether it was written.
pub(crate) fn publish(
    bucket: &Bucket,
    key: &SessionKey,
    revision: u64,
    basis: &Basis,
) -> Result<Basis, MemoryError> {
    let (mode, before) = match basis {
        Basis::Absent => (PutMode::Create, Writes::default()),
        Basis::Known { version, writes } => (PutMode::Update(version.clone()), writes.clone()),
        Basis::Behind => return Err(conflict(bucket)),
    };
    bucket.remote().prove_conditions()?;
    bucket.make_segments()?;
    let bundle = Bundle {
        key: key.clone(),
        revision,
        writes: before.followed_by(fresh_name()?),
        files: bucket.stored(),
    };
    let payload = PutPayload::from(bytes_of(&bundle, bucket)?);
    let basis = Write {
        bucket,
        object: bucket.remote().session(bucket.folder()),
        payload,
        mode,
        writes: bundle.writes,
    }
    .send()?;
    bucket.settle();
    Ok(basis)
}

fn bytes_of(bundle: &Bundle, bucket: &Bucket) -> Result<Vec<u8>, MemoryError> {
    if bundle.files.len() > FILES_LIMIT {
        let count = bundle.files.len();
        let message = format!("it has {count} files, and {FILES_LIMIT} are the most");
        let error = io::Error::new(io::ErrorKind::FileTooLarge, message);
        return Err(DiskError::io(Action::Write, bucket.name(), error).into());
    }
    let bytes = bundle.write()?;
    let len = bytes.len() as u64;
    if len > BUNDLE_LIMIT {
        return Err(too_large(Action::Write, &bucket.name(), len, BUNDLE_LIMIT).into());
    }
    Ok(bytes)
}

/// One bundle on its way.
struct Write<'b> {
    bucket: &'b Bucket,
    object: Path,
    payload: PutPayload,
    mode: PutMode,
    /// Its own name is the newest of them.
    writes: Writes,
}

impl Write<'_> {
    fn send(self) -> Result<Basis, MemoryError> {
        let mut attempt = 1;
        loop {
            let sent = self
                .bucket
                .remote()
                .put(&self.object, &self.payload, self.mode.clone());
            let refused = match sent {
                Ok(version) if version.e_tag.is_some() || version.version.is_some() => {
                    return Ok(self.known(version));
                }
                // Written, but it does not say as what.
                Ok(_) => Refused::Condition,
                Err(refused) => refused,
            };
            let may_be_sent_again = matches!(refused, Refused::Condition) && attempt < ATTEMPTS;
            match self.look()? {
                Found::Ours(version) => return Ok(self.known(version)),
                Found::OursFollowed => return Ok(Basis::Behind),
                Found::Theirs => return Err(conflict(self.bucket)),
                Found::Pending if may_be_sent_again => attempt += 1,
                Found::Pending | Found::Unknown => return Err(self.unknown(refused)),
            }
        }
    }

    fn known(self, version: UpdateVersion) -> Basis {
        Basis::Known {
            version,
            writes: self.writes,
        }
    }

    /// What became of it, by what is there now.
    fn look(&self) -> Result<Found, MemoryError> {
        let there = match load(self.bucket.remote(), self.bucket.folder()) {
            // There is no way to tell.
            Err(MemoryError::Disk(_)) => return Ok(Found::Unknown),
            there => there?,
        };
        let Some((bundle, version)) = there else {
            return Ok(match self.mode {
                PutMode::Create => Found::Pending,
                // Somebody took it away: the condition can't hold any more.
                _ => Found::Theirs,
            });
        };
        Ok(match bundle.writes.fate_of(&self.writes) {
            Fate::Newest => Found::Ours(version),
            Fate::Followed => Found::OursFollowed,
            Fate::Beaten => Found::Theirs,
            Fate::Pending => Found::Pending,
            Fate::Forgotten => Found::Unknown,
        })
    }

    fn unknown(&self, refused: Refused) -> MemoryError {
        let name = self.bucket.remote().name(&self.object);
        match refused.of(Action::Write, &name) {
            DiskError::Io {
                action,
                place,
                error,
            } => {
                let message = format!("{error}; whether it was written all the same is not known");
                DiskError::io(action, place, io::Error::new(error.kind(), message)).into()
            }
            error @ DiskError::Refused { .. } => error.into(),
        }
    }
}

/// What is there after a write that was not plainly a success.
enum Found {
    /// It.
    Ours(UpdateVersion),
    /// Somebody else's, made of it.
    OursFollowed,
    /// Somebody else's, made of the one before. It can't be written any more.
    Theirs,
    /// The one before. It may yet be written.
    Pending,
    /// Nobody knows.
    Unknown,
}

fn conflict(bucket: &Bucket) -> MemoryError {
    MemoryError::Conflict {
        session: bucket.name(),
    }
}

/// A name that no other write has.
fn fresh_name() -> Result<String, MemoryError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        let error = io::Error::other(format!("there is no randomness: {error}"));
        DiskError::io(Action::Write, "the session", error)
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
