//! Requests to the storage: each ends by a deadline, and says what came of it.

use std::future::Future;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, ObjectStore, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use ralph_gate_memory::disk::{Action, DiskError, DiskResult};
use tokio::runtime::{Handle, Runtime};

/// What a late answer is waited for beyond the deadline, so that the request itself is the one to give up.
const GRACE: Duration = Duration::from_secs(1);
/// Bytes of a storage's answer that a message shows.
const SHOWN: usize = 400;
/// The object that shows whether the storage keeps to conditions.
const CONDITIONS: &str = "conditions";
/// A version that no object ever has: a name for storages that tell versions by name, a number for the others.
const NO_NAME: &str = "\"00000000000000000000000000000000\"";
const NO_NUMBER: &str = "1";

/// A storage, as far as sessions need it.
#[derive(Debug)]
pub(crate) struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    url: String,
    deadline: Duration,
    threads: Threads,
    /// Set once the storage has shown that it keeps to conditions.
    proven: OnceLock<()>,
}

/// What requests run on.
#[derive(Debug)]
pub(crate) enum Threads {
    /// Somebody else's.
    Theirs(Handle),
    /// One of our own.
    Ours(Option<Runtime>),
}

impl Threads {
    pub(crate) fn new(theirs: Option<Handle>) -> io::Result<Self> {
        if let Some(handle) = theirs {
            return Ok(Self::Theirs(handle));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("ralph-gate-bucket")
            .enable_all()
            .build()?;
        Ok(Self::Ours(Some(runtime)))
    }

    fn handle(&self) -> Option<&Handle> {
        match self {
            Self::Theirs(handle) => Some(handle),
            Self::Ours(runtime) => runtime.as_ref().map(Runtime::handle),
        }
    }
}

impl Drop for Threads {
    /// Without waiting: a runtime must not be waited for where the last owner may be a task of another one.
    fn drop(&mut self) {
        if let Self::Ours(runtime) = self
            && let Some(runtime) = runtime.take()
        {
            runtime.shutdown_background();
        }
    }
}

/// A request that did not succeed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The condition did not hold, as far as the storage says.
    Condition,
    /// Anything else. A write may have taken effect all the same.
    Failed(io::Error),
}

impl Refused {
    /// As the error of an object.
    pub(crate) fn of(self, action: Action, object: &str) -> DiskError {
        let error = match self {
            Self::Condition => io::Error::other("the storage says that it was changed just now"),
            Self::Failed(error) => error,
        };
        DiskError::io(action, object, error)
    }
}

/// An object and the version that it was read under.
pub(crate) type Versioned = (Vec<u8>, UpdateVersion);

impl Remote {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        prefix: Path,
        url: String,
        deadline: Duration,
        threads: Threads,
    ) -> Self {
        Self {
            store,
            prefix,
            url,
            deadline,
            threads,
            proven: OnceLock::new(),
        }
    }

    /// Where a session is.
    pub(crate) fn session(&self, folder: &str) -> Path {
        self.sessions().join(folder)
    }

    fn sessions(&self) -> Path {
        self.prefix.clone().join("sessions")
    }

    /// Where a segment of a session is.
    pub(crate) fn segment(&self, folder: &str, digest: &str) -> Path {
        let segments = self.prefix.clone().join("segments");
        segments.join(folder).join(digest)
    }

    /// An object's name in messages.
    pub(crate) fn name(&self, object: &Path) -> String {
        format!("{}: {object}", self.url)
    }

    /// Does the work elsewhere and waits for it. Can be called from any thread: where it must not be waited, it is slow,
    /// but neither panics nor waits for ever.
    fn call<T: Send + 'static>(
        &self,
        work: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> Result<T, Refused> {
        let gone = || Refused::Failed(io::Error::other("the program is ending"));
        let handle = self.threads.handle().ok_or_else(gone)?;
        let (sender, receiver) = sync_channel(1);
        let deadline = self.deadline;
        let task = handle.spawn(async move {
            let done = tokio::time::timeout(deadline, work).await;
            let _ = sender.send(done);
        });
        match receiver.recv_timeout(deadline + GRACE) {
            Ok(Ok(done)) => done.map_err(refused),
            Ok(Err(_)) => Err(self.too_late()),
            Err(RecvTimeoutError::Timeout) => {
                task.abort();
                Err(self.too_late())
            }
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    fn too_late(&self) -> Refused {
        let message = format!("there was no answer within {:?}", self.deadline);
        Refused::Failed(io::Error::new(io::ErrorKind::TimedOut, message))
    }

    /// An object of up to `most` bytes. None if it is not there.
    pub(crate) fn get(&self, object: &Path, most: u64) -> DiskResult<Option<Versioned>> {
        let (store, path) = (Arc::clone(&self.store), object.clone());
        let done = self.call(async move {
            let found = match store.get_opts(&path, GetOptions::default()).await {
                Err(Error::NotFound { .. }) => return Ok(None),
                found => found?,
            };
            let (len, version) = (found.meta.size, version(&found.meta));
            // What is too large is not even fetched.
            let bytes = if len > most {
                None
            } else {
                Some(found.bytes().await?)
            };
            Ok(Some((bytes, len, version)))
        });
        let name = || self.name(object);
        match done.map_err(|refused| refused.of(Action::Read, &name()))? {
            None => Ok(None),
            Some((Some(bytes), _, version)) => Ok(Some((bytes.into(), version))),
            Some((None, len, _)) => Err(too_large(Action::Read, &name(), len, most)),
        }
    }

    /// Writes an object on a condition. Gives the version that it has then.
    pub(crate) fn put(
        &self,
        object: &Path,
        payload: &PutPayload,
        mode: PutMode,
    ) -> Result<UpdateVersion, Refused> {
        let (store, path) = (Arc::clone(&self.store), object.clone());
        let payload = payload.clone();
        let options = PutOptions::from(mode);
        self.call(async move { store.put_opts(&path, payload, options).await })
            .map(UpdateVersion::from)
    }

    /// The names of sessions after one, in order.
    pub(crate) fn list(&self, after: Option<&str>, most: usize) -> DiskResult<Vec<String>> {
        let (store, sessions) = (Arc::clone(&self.store), self.sessions());
        let after = after.map(|folder| self.session(folder));
        let done = self.call(async move {
            let mut found = match &after {
                Some(after) => store.list_with_offset(Some(&sessions), after),
                None => store.list(Some(&sessions)),
            };
            let mut names = Vec::new();
            while names.len() < most
                && let Some(meta) = found.try_next().await?
            {
                // What lies deeper is nobody's.
                let mut parts = meta.location.prefix_match(&sessions).into_iter().flatten();
                if let (Some(name), None) = (parts.next(), parts.next()) {
                    names.push(name.as_ref().to_owned());
                }
            }
            Ok(names)
        });
        let name = self.name(&self.sessions());
        done.map_err(|refused| refused.of(Action::Read, &name))
    }

    /// Sees once that the storage keeps to conditions: there are some that take a condition and ignore it.
    pub(crate) fn prove_conditions(&self) -> DiskResult<()> {
        if self.proven.get().is_some() {
            return Ok(());
        }
        let object = self.prefix.clone().join(CONDITIONS);
        let text = "Shows ralph-gate that writes on a condition are kept to. Never changes.\n";
        let payload = PutPayload::from_static(text.as_bytes());
        let never = UpdateVersion {
            e_tag: Some(NO_NAME.to_owned()),
            version: Some(NO_NUMBER.to_owned()),
        };
        // The first is only there to make the object.
        self.is_kept_to(&object, &payload, PutMode::Create)?;
        for mode in [PutMode::Create, PutMode::Update(never)] {
            if !self.is_kept_to(&object, &payload, mode)? {
                let error = io::Error::new(
                    io::ErrorKind::Unsupported,
                    "the storage ignores conditions of writes, so that two machines would lose saves; use one that has conditional writes",
                );
                return Err(DiskError::io(Action::Write, self.name(&object), error));
            }
        }
        let _ = self.proven.set(());
        Ok(())
    }

    fn is_kept_to(&self, object: &Path, payload: &PutPayload, mode: PutMode) -> DiskResult<bool> {
        match self.put(object, payload, mode) {
            Ok(_) => Ok(false),
            Err(Refused::Condition) => Ok(true),
            Err(refused) => Err(refused.of(Action::Write, &self.name(object))),
        }
    }
}

fn version(meta: &object_store::ObjectMeta) -> UpdateVersion {
    UpdateVersion {
        e_tag: meta.e_tag.clone(),
        version: meta.version.clone(),
    }
}

/// More than is read or written, with what it is and what may be.
pub(crate) fn too_large(action: Action, object: &str, len: u64, most: u64) -> DiskError {
    let message = format!("it has {len} bytes, and {most} are the most");
    let error = io::Error::new(io::ErrorKind::FileTooLarge, message);
    DiskError::io(action, object, error)
}

fn refused(error: Error) -> Refused {
    match error {
        Error::Precondition { .. } | Error::AlreadyExists { .. } | Error::NotModified { .. } => {
            Refused::Condition
        }
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            Refused::Failed(io::Error::other(format!(
                "the storage does not allow it with the credentials of the environment: {}",
                shown(&error)
            )))
        }
        error => Refused::Failed(io::Error::other(shown(&error))),
    }
}

/// The beginning of what the storage said, on one line.
fn shown(error: &Error) -> String {
    let text = error.to_string();
    let mut shown: String = text
        .chars()
        .take(SHOWN)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
