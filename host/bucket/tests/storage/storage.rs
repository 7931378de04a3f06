//! A storage in memory whose requests can be made to fail, before or after they took effect.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What happens to the request that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It never arrives.
    Before,
    /// It takes effect, and its answer never arrives.
    After,
    /// It takes effect, is sent again by the client, and the answer to that arrives: the condition does not hold.
    Repeated,
    /// Nothing takes effect, and the storage says that the condition does not hold.
    Refused,
}

/// The storage in memory.
#[derive(Debug)]
pub(crate) struct Faulty {
    inner: InMemory,
    /// Which request, counted from 1, and what happens to it.
    fault: Option<(u64, Fault)>,
    /// Whether every request after that one fails, too.
    dead: bool,
    requests: AtomicU64,
}

impl Faulty {
    /// One that shares its objects with others.
    pub(crate) fn new(inner: &InMemory, fault: Option<(u64, Fault)>) -> Self {
        Self {
            inner: inner.clone(),
            fault,
            dead: false,
            requests: AtomicU64::new(0),
        }
    }

    /// From the failing request on, nothing arrives any more.
    pub(crate) fn dying(self) -> Self {
        Self { dead: true, ..self }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    fn next(&self) -> Option<Fault> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        match self.fault {
            Some((at, fault)) if number == at => Some(fault),
            Some((at, _)) if self.dead && number > at => Some(Fault::Before),
            _ => None,
        }
    }
}

fn lost() -> Error {
    Error::Generic {
        store: "faulty",
        source: "the connection was lost".into(),
    }
}

fn condition(path: &Path, mode: &PutMode) -> Error {
    let (path, source) = (path.to_string(), "on purpose".into());
    match mode {
        PutMode::Create => Error::AlreadyExists { path, source },
        _ => Error::Precondition { path, source },
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        match self.next() {
            None => self.inner.put_opts(path, payload, options).await,
            Some(Fault::Before) => Err(lost()),
            Some(Fault::Refused) => Err(condition(path, &options.mode)),
            Some(Fault::After) => {
                self.inner.put_opts(path, payload, options).await?;
                Err(lost())
            }
            Some(Fault::Repeated) => {
                let (again, options_again) = (payload.clone(), options.clone());
                self.inner.put_opts(path, payload, options).await?;
                self.inner.put_opts(path, again, options_again).await
            }
        }
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        match self.next() {
            None | Some(Fault::Repeated) => self.inner.get_opts(path, options).await,
            Some(_) => Err(lost()),
        }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// A storage that takes conditions and ignores them.
#[derive(Debug, Default)]
pub(crate) struct Careless(InMemory);

impl fmt::Display for Careless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("careless")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Careless {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        mut options: PutOptions,
    ) -> Result<PutResult> {
        options.mode = PutMode::Overwrite;
        self.0.put_opts(path, payload, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.get_opts(path, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await
    }
}

/// What lies in a storage, by path.
pub(crate) fn objects(storage: &Arc<dyn ObjectStore>) -> Vec<(String, Vec<u8>)> {
    use futures_util::TryStreamExt;
    block_on(async {
        let mut objects = Vec::new();
        let found: Vec<ObjectMeta> = storage.list(None).try_collect().await.unwrap();
        for meta in found {
            let got = storage
                .get_opts(&meta.location, GetOptions::default())
                .await
                .unwrap();
            let bytes = got.bytes().await.unwrap().to_vec();
            objects.push((meta.location.to_string(), bytes));
        }
        objects
    })
}

/// Puts an object there, whatever was there before.
pub(crate) fn plant(storage: &Arc<dyn ObjectStore>, path: &str, bytes: Vec<u8>) {
    let path = Path::parse(path).unwrap();
    let options = PutOptions::default();
    block_on(storage.put_opts(&path, PutPayload::from(bytes), options)).unwrap();
}

/// Takes an object away.
pub(crate) fn take(storage: &Arc<dyn ObjectStore>, path: &str) {
    use object_store::ObjectStoreExt;
    let path = Path::parse(path).unwrap();
    block_on(storage.delete(&path)).unwrap();
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(work)
}
