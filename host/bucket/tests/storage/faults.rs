//! Requests that fail, at each place and in each way: at most the save under way is lost, and never one that was
//! acknowledged.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use ralph_gate_bucket::BucketRoot;
use ralph_gate_memory::{Change, Event, MemoryError};

use super::storage::{Fault, Faulty};
use super::{GATE, begin, change, key, root, start, told};

fn faulty(memory: &InMemory, at: u64, fault: Fault) -> Faulty {
    Faulty::new(memory, Some((at, fault)))
}

fn over(storage: Faulty) -> (BucketRoot, Arc<Faulty>) {
    let storage = Arc::new(storage);
    let shared: Arc<dyn ObjectStore> = Arc::clone(&storage) as _;
    (root(&shared), storage)
}

fn sound(memory: &InMemory) -> BucketRoot {
    let storage: Arc<dyn ObjectStore> = Arc::new(memory.clone());
    root(&storage)
}

/// Large enough that some saves write segments.
fn save_of(name: &str) -> Change {
    let mut change = change(name);
    change.events = vec![Event::new(name, &"x".repeat(90_000)).unwrap()];
    change
}

/// What a process that lives through the fault was told.
struct Lived {
    acknowledged: Vec<String>,
    /// Of the save that failed, if one did.
    unknown: Option<String>,
    requests: u64,
}

/// A process that begins a session and saves until something fails, or until it is done.
fn live(storage: Faulty) -> Lived {
    let (root, storage) = over(storage);
    let mut lived = Lived {
        acknowledged: Vec::new(),
        unknown: None,
        requests: 0,
    };
    let opened = root.open_or_create(&GATE, &key(), &start());
    let Ok(mut store) = opened else {
        lived.unknown = Some(String::new());
        lived.requests = storage.requests();
        return lived;
    };
    for number in 0..8 {
        let name = format!("s{number}");
        match store.save(&save_of(&name)) {
            Ok(saved) => {
                assert_eq!(saved.revision, number + 2);
                lived.acknowledged.push(name);
            }
            Err(error) => {
                assert!(matches!(error, MemoryError::Disk(_)), "alone: {error}");
                assert_eq!(store.state().revision, number + 1);
                lived.unknown = Some(name);
                break;
            }
        }
    }
    lived.requests = storage.requests();
    lived
}

/// What the next process finds.
fn look_after(memory: &InMemory, lived: &Lived, case: &str) {
    let root = sound(memory);
    // If not even the beginning is there, it is begun now.
    root.open_or_create(&GATE, &key(), &start()).unwrap();
    let mut told = told(&root);
    if told.len() > lived.acknowledged.len() {
        assert_eq!(told.pop(), lived.unknown, "{case}");
    }
    assert_eq!(told, lived.acknowledged, "{case}");
    // And it goes on from there.
    let mut store = root.open(&GATE, &key()).unwrap();
    store.save(&change("after")).unwrap();
}

fn requests() -> u64 {
    let lived = live(Faulty::new(&InMemory::new(), None));
    assert_eq!(lived.acknowledged.len(), 8);
    lived.requests
}

#[test]
fn a_process_that_dies_at_any_request_loses_at_most_the_save_under_way() {
    let requests = requests();
    assert!(requests > 15, "with segments: {requests}");
    for at in 1..=requests {
        for fault in [Fault::Before, Fault::After] {
            let memory = InMemory::new();
            let lived = live(faulty(&memory, at, fault).dying());
            let case = format!("{fault:?} {at}");
            assert!(lived.unknown.is_some(), "{case}");
            look_after(&memory, &lived, &case);
        }
    }
}

#[test]
fn one_request_that_fails_loses_nothing_that_was_acknowledged() {
    for at in 1..=requests() {
        for fault in [Fault::Before, Fault::After, Fault::Repeated, Fault::Refused] {
            let memory = InMemory::new();
            let lived = live(faulty(&memory, at, fault));
            look_after(&memory, &lived, &format!("{fault:?} {at}"));
        }
    }
}

/// The request that writes the bundle of the first save after the beginning: read, three that prove conditions, begin.
const FIRST_SAVE: u64 = 6;

#[test]
fn a_write_that_took_effect_is_a_success_although_its_answer_was_lost() {
    for fault in [Fault::After, Fault::Repeated] {
        let memory = InMemory::new();
        let (root, _) = over(faulty(&memory, FIRST_SAVE, fault));
        let mut store = begin(&root);
        assert_eq!(store.save(&change("one")).unwrap().revision, 2, "{fault:?}");
        assert_eq!(store.save(&change("two")).unwrap().revision, 3, "{fault:?}");
        assert_eq!(told(&sound(&memory)), ["one", "two"]);
    }
}

#[test]
fn a_write_that_was_refused_although_nobody_else_wrote_is_sent_again() {
    // The second is the beginning, which some storages refuse while another request is under way.
    for at in [FIRST_SAVE, FIRST_SAVE - 1] {
        let memory = InMemory::new();
        let (root, _) = over(faulty(&memory, at, Fault::Refused));
        let mut store = begin(&root);
        store.save(&change("one")).unwrap();
        assert_eq!(told(&sound(&memory)), ["one"]);
    }
}

#[test]
fn a_write_that_did_not_arrive_is_no_conflict_and_says_that_it_is_not_known() {
    let memory = InMemory::new();
    let (root, _) = over(faulty(&memory, FIRST_SAVE, Fault::Before));
    let mut store = begin(&root);
    let error = store.save(&change("one")).unwrap_err();
    assert_eq!(error.code(), "memory_disk");
    assert!(error.to_string().contains("is not known"), "{error}");
    assert!(matches!(
        store.save(&change("two")),
        Err(MemoryError::Unsound)
    ));
    assert_eq!(told(&sound(&memory)), Vec::<String>::new());
}

mod followed {
    //! A write whose answer is lost while others go on from it.

    use super::*;
    use futures_util::stream::BoxStream;
    use object_store::path::Path;
    use object_store::{
        CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
        PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
    };
    use std::fmt;
    use std::sync::Mutex;

    /// What somebody else does once, when a bundle was written, before the answer is given.
    type Meanwhile = Box<dyn FnOnce() + Send>;

    pub(super) struct Overtaken {
        pub(super) inner: InMemory,
        pub(super) meanwhile: Mutex<Option<Meanwhile>>,
        pub(super) took_effect: bool,
    }

    impl fmt::Debug for Overtaken {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("overtaken")
        }
    }

    impl fmt::Display for Overtaken {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("overtaken")
        }
    }

    #[async_trait::async_trait]
    impl ObjectStore for Overtaken {
        async fn put_opts(
            &self,
            path: &Path,
            payload: PutPayload,
            options: PutOptions,
        ) -> Result<PutResult> {
            let updates =
                path.as_ref().contains("/sessions/") && matches!(options.mode, PutMode::Update(_));
            let meanwhile = updates.then(|| self.meanwhile.lock().unwrap().take());
            let Some(meanwhile) = meanwhile.flatten() else {
                return self.inner.put_opts(path, payload, options).await;
            };
            if self.took_effect {
                self.inner.put_opts(path, payload, options).await?;
            }
            let other = std::thread::spawn(meanwhile);
            other.join().unwrap();
            Err(Error::Precondition {
                path: path.to_string(),
                source: "on purpose".into(),
            })
        }

        async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
            self.inner.get_opts(path, options).await
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
}

/// A store whose next save is answered with a failed condition, after somebody else saved `count` times.
fn overtaken(
    memory: &InMemory,
    took_effect: bool,
    count: usize,
) -> ralph_gate_bucket::BucketStore<'static> {
    let theirs = sound(memory);
    begin(&theirs);
    let meanwhile = move || {
        let mut store = theirs.open(&GATE, &key()).unwrap();
        for number in 0..count {
            store.save(&change(&format!("theirs{number}"))).unwrap();
        }
    };
    let storage: Arc<dyn ObjectStore> = Arc::new(followed::Overtaken {
        inner: memory.clone(),
        meanwhile: std::sync::Mutex::new(Some(Box::new(meanwhile))),
        took_effect,
    });
    root(&storage).open(&GATE, &key()).unwrap()
}

#[test]
fn a_write_that_others_have_gone_on_from_is_a_success_and_the_next_one_a_conflict() {
    let memory = InMemory::new();
    let mut ours = overtaken(&memory, true, 3);
    assert_eq!(ours.save(&change("ours")).unwrap().revision, 2);
    assert!(super::is_conflict(&ours.save(&change("late"))));
    assert_eq!(
        told(&sound(&memory)),
        ["ours", "theirs0", "theirs1", "theirs2"]
    );
}

#[test]
fn a_write_in_whose_place_another_one_stands_is_a_conflict_however_many_followed() {
    for count in [1, 2, 60] {
        let memory = InMemory::new();
        let mut ours = overtaken(&memory, false, count);
        assert!(super::is_conflict(&ours.save(&change("ours"))), "{count}");
        assert_eq!(told(&sound(&memory)).len(), count);
    }
}

#[test]
fn a_write_that_is_too_long_ago_is_not_called_a_conflict() {
    for took_effect in [false, true] {
        let memory = InMemory::new();
        let mut ours = overtaken(&memory, took_effect, 70);
        let error = ours.save(&change("ours")).unwrap_err();
        assert_eq!(error.code(), "memory_disk", "{error}");
    }
}
