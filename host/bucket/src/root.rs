//! A root: the place in a bucket below which sessions are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::path::Path;
use ralph_gate_memory::disk::Disk;
use ralph_gate_memory::{Gate, Listed, MemoryError, SessionKey, Start, Store, View};
use tokio::runtime::Handle;

use crate::address::Address;
use crate::disk::Bucket;
use crate::error::BucketError;
use crate::publish::{Basis, load};
use crate::remote::{Remote, Threads};
use crate::store::BucketStore;

/// How often a session is opened again that others write to in the meantime.
const ATTEMPTS: u32 = 4;
/// The most sessions that are listed at once.
pub const LIST_LIMIT: usize = 1000;

/// How a root is used.
#[derive(Debug, Clone)]
pub struct Options {
    /// What a request may take, with whatever the client repeats.
    pub deadline: Duration,
    /// What requests run on. None starts a thread for them. A program that has a runtime gives its own, and calls this
    /// crate from where it may wait (`spawn_blocking`).
    pub runtime: Option<Handle>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            runtime: None,
        }
    }
}

/// Where sessions are, in a bucket. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BucketRoot {
    remote: Arc<Remote>,
}

impl BucketRoot {
    /// A root by its address: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, or `memory:///` for
    /// tests. Credentials, region and endpoint come from the environment, by the names that each storage's own programs
    /// use (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`, …).
    pub fn from_url(url: &str, options: &Options) -> Result<Self, BucketError> {
        let address = Address::parse(url)?;
        let storage = address.storage(url, options.deadline)?;
        Self::new(storage, address.prefix, url, options)
    }

    /// A root in any storage that has conditional writes. Whoever builds the client of one alone has to choose a provider
    /// for its TLS before (`rustls::crypto::ring::default_provider().install_default()`).
    pub fn of_storage(
        storage: Arc<dyn ObjectStore>,
        prefix: Path,
        options: &Options,
    ) -> Result<Self, BucketError> {
        let url = storage.to_string();
        Self::new(storage, prefix, &url, options)
    }

    fn new(
        storage: Arc<dyn ObjectStore>,
        prefix: Path,
        url: &str,
        options: &Options,
    ) -> Result<Self, BucketError> {
        let threads =
            Threads::new(options.runtime.clone()).map_err(|error| BucketError::Runtime {
                url: url.to_owned(),
                error,
            })?;
        let remote = Remote::new(storage, prefix, url.to_owned(), options.deadline, threads);
        Ok(Self {
            remote: Arc::new(remote),
        })
    }

    /// Opens a session that is there.
    pub fn open<'g>(
        &self,
        gate: &'g dyn Gate,
        key: &SessionKey,
    ) -> Result<BucketStore<'g>, MemoryError> {
        self.open_or(gate, key, None)
    }

    /// Opens a session, or begins it.
    pub fn open_or_create<'g>(
        &self,
        gate: &'g dyn Gate,
        key: &SessionKey,
        start: &Start,
    ) -> Result<BucketStore<'g>, MemoryError> {
        self.open_or(gate, key, Some(start))
    }

    /// Begins a session that is not there.
    pub fn create<'g>(
        &self,
        gate: &'g dyn Gate,
        key: &SessionKey,
        start: &Start,
    ) -> Result<BucketStore<'g>, MemoryError> {
        let folder = key.checked_folder()?;
        let exists = || MemoryError::SessionExists {
            session: self.name(&folder),
        };
        if load(&self.remote, &folder)?.is_some() {
            return Err(exists());
        }
        match self.begin(gate, key, folder.clone(), start) {
            // Somebody else began it at the same time.
            Err(MemoryError::Conflict { .. }) => Err(exists()),
            begun => begun,
        }
    }

    fn begin<'g>(
        &self,
        gate: &'g dyn Gate,
        key: &SessionKey,
        folder: String,
        start: &Start,
    ) -> Result<BucketStore<'g>, MemoryError> {
        let bucket = Bucket::new(Arc::clone(&self.remote), folder, BTreeMap::new());
        let store = Store::begin(bucket, gate, key, start)?;
        let mut store = BucketStore::opened(store, Basis::Absent);
        store.publish()?;
        Ok(store)
    }

    /// Begins again where somebody else began the session, or mended it, at the same time.
    fn open_or<'g>(
        &self,
        gate: &'g dyn Gate,
        key: &SessionKey,
        start: Option<&Start>,
    ) -> Result<BucketStore<'g>, MemoryError> {
        let mut attempt = 1;
        loop {
            match self.try_open(gate, key, start) {
                Err(MemoryError::Conflict { .. }) if attempt < ATTEMPTS => attempt += 1,
                opened => return opened,
            }
        }
    }

    fn try_open<'g>(
        &self,
        gate: &'g dyn Gate,
        key: &SessionKey,
        start: Option<&Start>,
    ) -> Result<BucketStore<'g>, MemoryError> {
        let folder = key.checked_folder()?;
        let Some((bundle, version)) = load(&self.remote, &folder)? else {
            let start = start.ok_or_else(|| self.no_session(&folder))?;
            return self.begin(gate, key, folder, start);
        };
        if bundle.key != *key {
            return Err(MemoryError::OtherKey {
                session: self.name(&folder),
            });
        }
        let basis = Basis::Known {
            version,
            writes: bundle.writes,
        };
        let bucket = Bucket::new(Arc::clone(&self.remote), folder, bundle.files);
        let store = Store::recover(bucket, gate, key)?.map_err(|bucket| empty(&bucket))?;
        let mut store = BucketStore::opened(store, basis);
        // What mending saved is a revision like any other.
        if store.state().revision != bundle.revision {
            store.publish()?;
        }
        Ok(store)
    }

    /// A session for reading, as it is now.
    pub fn view(&self, key: &SessionKey) -> Result<View<Bucket>, MemoryError> {
        let folder = key.checked_folder()?;
        match self.read(&folder)? {
            Some(bucket) => Ok(View::new(bucket, Some(key.clone()))),
            None => Err(self.no_session(&folder)),
        }
    }

    /// The sessions after one of them, by folder, up to [`LIST_LIMIT`]. One that can't be read is listed with the reason.
    pub fn list(&self, after: Option<&str>, most: usize) -> Result<Vec<Listed>, MemoryError> {
        let folders = self.remote.list(after, most.min(LIST_LIMIT))?;
        let mut sessions = Vec::new();
        for folder in folders {
            match self.read(&folder) {
                Ok(None) => {}
                Ok(Some(bucket)) => sessions.extend(View::new(bucket, None).listed(folder)),
                Err(error @ (MemoryError::Unreadable { .. } | MemoryError::Newer { .. })) => {
                    sessions.push(Listed::unreadable(folder, &error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(sessions)
    }

    fn read(&self, folder: &str) -> Result<Option<Bucket>, MemoryError> {
        let found = load(&self.remote, folder)?;
        Ok(found.map(|(bundle, _)| {
            Bucket::new(Arc::clone(&self.remote), folder.to_owned(), bundle.files)
        }))
    }

    fn name(&self, folder: &str) -> String {
        self.remote.name(&self.remote.session(folder))
    }

    fn no_session(&self, folder: &str) -> MemoryError {
        MemoryError::NoSession {
            session: self.name(folder),
        }
    }
}

/// A bundle without a checkpoint: nobody writes one.
fn empty(bucket: &Bucket) -> MemoryError {
    MemoryError::Unreadable {
        session: bucket.name(),
        damage: vec!["it holds no checkpoint".to_owned()],
    }
}
