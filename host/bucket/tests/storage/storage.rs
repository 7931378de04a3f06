//! A storage in memory whose requests can be made to fail, before or after they took effect.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// What a storage makes of requests.
#[async_trait::async_trait]
pub(crate) trait Temper: fmt::Debug + Send + Sync + 'static {
    async fn put(
        &self,
        inner: &InMemory,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult>;

    async fn get(&self, inner: &InMemory, path: &Path, options: GetOptions) -> Result<GetResult> {
        inner.get_opts(path, options).await
    }
}

/// A storage in memory with a temper.
#[derive(Debug)]
pub(crate) struct Moody<T> {
    inner: InMemory,
    pub(crate) temper: T,
}

impl<T> Moody<T> {
    /// One that shares its objects with others.
    pub(crate) fn new(inner: &InMemory, temper: T) -> Self {
        Self {
            inner: inner.clone(),
            temper,
        }
    }
}

impl<T> fmt::Display for Moody<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("moody")
    }
}

#[async_trait::async_trait]
impl<T: Temper> ObjectStore for Moody<T> {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.temper.put(&self.inner, path, payload, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.temper.get(&self.inner, path, options).await
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

/// What happens to a request that fails.
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

impl Fault {
    pub(crate) const ALL: [Self; 4] = [Self::Before, Self::After, Self::Repeated, Self::Refused];
}

/// Which requests fail.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    /// None.
    Sound,
    /// One, counted from 1.
    Once(u64, Fault),
    /// That one, and from then on nothing arrives.
    Dies(u64, Fault),
    /// One of so many, in any way, by chance.
    Often(u64),
}

/// Requests fail as planned.
#[derive(Debug)]
pub(crate) struct Faulty {
    plan: Plan,
    chance: Mutex<Chance>,
    requests: AtomicU64,
}

impl Faulty {
    pub(crate) fn new(plan: Plan, seed: u64) -> Self {
        Self {
            plan,
            chance: Mutex::new(Chance(seed)),
            requests: AtomicU64::new(0),
        }
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    fn next(&self) -> Option<Fault> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        match self.plan {
            Plan::Once(at, fault) | Plan::Dies(at, fault) if number == at => Some(fault),
            Plan::Dies(at, _) if number > at => Some(Fault::Before),
            Plan::Often(of) => {
                let mut chance = self.chance.lock().unwrap();
                let fault = Fault::ALL[chance.below(Fault::ALL.len() as u64)];
                (chance.below(of) == 0).then_some(fault)
            }
            _ => None,
        }
    }
}

/// The same numbers for the same seed.
#[derive(Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: u64) -> usize {
        // Knuth's constants; the high bits are the good ones.
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit).unwrap()
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

#[async_trait::async_trait]
impl Temper for Faulty {
    async fn put(
        &self,
        inner: &InMemory,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        match self.next() {
            None => inner.put_opts(path, payload, options).await,
            Some(Fault::Before) => Err(lost()),
            Some(Fault::Refused) => Err(condition(path, &options.mode)),
            Some(Fault::After) => {
                inner.put_opts(path, payload, options).await?;
                Err(lost())
            }
            Some(Fault::Repeated) => {
                let (again, options_again) = (payload.clone(), options.clone());
                inner.put_opts(path, payload, options).await?;
                inner.put_opts(path, again, options_again).await
            }
        }
    }

    async fn get(&self, inner: &InMemory, path: &Path, options: GetOptions) -> Result<GetResult> {
        match self.next() {
            None | Some(Fault::Repeated) => inner.get_opts(path, options).await,
            Some(_) => Err(lost()),
        }
    }
}

/// Takes conditions, and ignores them.
#[derive(Debug)]
pub(crate) struct Careless;

#[async_trait::async_trait]
impl Temper for Careless {
    async fn put(
        &self,
        inner: &InMemory,
        path: &Path,
        payload: PutPayload,
        mut options: PutOptions,
    ) -> Result<PutResult> {
        options.mode = PutMode::Overwrite;
        inner.put_opts(path, payload, options).await
    }
}

/// Never answers.
#[derive(Debug)]
pub(crate) struct Silent;

#[async_trait::async_trait]
impl Temper for Silent {
    async fn put(&self, _: &InMemory, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        std::future::pending().await
    }

    async fn get(&self, _: &InMemory, _: &Path, _: GetOptions) -> Result<GetResult> {
        std::future::pending().await
    }
}

/// Lets somebody else do something while the first bundle is written over another, and says that its condition failed.
pub(crate) struct Overtaken {
    pub(crate) meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Whether the write took effect before.
    pub(crate) took_effect: bool,
}

impl fmt::Debug for Overtaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("overtaken")
    }
}

#[async_trait::async_trait]
impl Temper for Overtaken {
    async fn put(
        &self,
        inner: &InMemory,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let is_session = path.as_ref().contains("/sessions/");
        let updates = is_session && matches!(options.mode, PutMode::Update(_));
        let meanwhile = updates.then(|| self.meanwhile.lock().unwrap().take());
        let Some(meanwhile) = meanwhile.flatten() else {
            return inner.put_opts(path, payload, options).await;
        };
        let refused = condition(path, &options.mode);
        if self.took_effect {
            inner.put_opts(path, payload, options).await?;
        }
        std::thread::spawn(meanwhile).join().unwrap();
        Err(refused)
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
