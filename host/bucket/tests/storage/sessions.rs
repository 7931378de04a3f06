//! What is saved is there when the session is opened again, however long its logs are.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use ralph_gate_bucket::{BucketRoot, Options};
use ralph_gate_memory::{Change, Handoff, LoopMemoryStore, MemoryError, SessionKey, Start};
use ralph_gate_types::{PrdUpdate, ProgressEntry};

use super::storage::{Careless, Faulty, Moody, Plan, objects};
use super::{GATE, begin, change, event, is_conflict, key, open, root, start, told};

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

#[test]
fn what_was_saved_is_there_when_it_is_opened_again() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    let mut one = change("one");
    one.prd = vec![PrdUpdate {
        id: "a".into(),
        passes: true,
        evidence: Some("tests".into()),
    }];
    one.handoff = Handoff::Write("go on".into());
    assert_eq!(store.save(&one).unwrap().findings, []);
    for name in ["two", "three", "four"] {
        assert_eq!(store.save(&change(name)).unwrap().findings, []);
    }
    let again = open(&root);
    assert_eq!(again.state(), store.state());
    assert_eq!(again.state().revision, 5);
    assert_eq!(again.state().handoff.as_deref(), Some("go on"));
    assert!(again.state().prd.unwrap().contains("true"));
    assert_eq!(again.prd().unwrap(), store.prd().unwrap());
    assert_eq!(told(&root), ["one", "two", "three", "four"]);
}

#[test]
fn a_session_is_one_object_beside_the_proof_of_conditions() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    for number in 0..30 {
        store.save(&change(&format!("n{number}"))).unwrap();
    }
    let paths: Vec<String> = objects(&storage)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    let session = format!("loops/sessions/{}", key().folder());
    assert_eq!(paths, ["loops/conditions".to_owned(), session]);
}

#[test]
fn old_checkpoints_do_not_gather() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    for number in 0..10 {
        store.save(&change(&format!("n{number}"))).unwrap();
    }
    let bundle = String::from_utf8(objects(&storage).pop().unwrap().1).unwrap();
    assert_eq!(bundle.matches("\"file\":\"checkpoints/").count(), 1);
    assert_eq!(bundle.matches("quarantine").count(), 0);
}

#[test]
fn a_session_that_is_not_there_is_said_to_be_missing() {
    let root = root(&memory());
    let missing = root.open(&GATE, &key());
    assert!(matches!(missing, Err(MemoryError::NoSession { .. })));
    let missing = root.view(&key()).map(drop);
    assert!(matches!(missing, Err(MemoryError::NoSession { .. })));
    let nameless = root.open(&GATE, &SessionKey::Session(String::new()));
    assert!(matches!(nameless, Err(MemoryError::EmptyKey)));
}

#[test]
fn a_refused_change_leaves_the_store_as_it_was() {
    let root = root(&memory());
    let mut store = begin(&root);
    let wrong = Start {
        prd: Some("no checklist".into()),
        ..start()
    };
    let other = SessionKey::Draft("night run".into());
    assert!(root.open_or_create(&GATE, &other, &wrong).is_err());
    assert!(matches!(
        root.open(&GATE, &other),
        Err(MemoryError::NoSession { .. })
    ));
    store.save(&change("one")).unwrap();
    assert_eq!(told(&root), ["one"]);
}

/// A save of about `size` bytes in each log.
fn large(name: &str, size: usize) -> Change {
    let text = format!("{name} ").repeat(size / (name.len() + 1));
    let mut change = change(name);
    change.events = vec![ralph_gate_memory::Event::new(name, &text).unwrap()];
    change.progress = Some(ProgressEntry {
        iteration: 1,
        title: name.to_owned(),
        body: text,
    });
    change
}

#[test]
fn long_logs_become_segments_and_a_save_stays_small() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    let mut names = Vec::new();
    for number in 0..120 {
        let name = format!("n{number}");
        store.save(&large(&name, 20_000)).unwrap();
        names.push(name);
        if number % 17 == 0 {
            // A new process knows no more than the bucket does.
            store = open(&root);
        }
    }
    assert_eq!(told(&root), names);
    let found = objects(&storage);
    let segments = found.iter().filter(|(path, _)| path.contains("/segments/"));
    let segments: Vec<&(String, Vec<u8>)> = segments.collect();
    // 2.4 MB in each of the two logs, in pieces of about 200 kB.
    assert!((20..=26).contains(&segments.len()), "{}", segments.len());
    for (path, bytes) in &segments {
        let digest = ralph_gate_memory::Digest::of_content(bytes).to_string();
        assert!(path.ends_with(&digest), "{path}");
        assert!(bytes.ends_with(b"\n"), "{path}");
    }
    let bundle = found.iter().find(|(path, _)| path.contains("/sessions/"));
    let size = bundle.map_or(0, |(_, bytes)| bytes.len());
    assert!(size < 800_000, "{size}");
}

#[test]
fn opening_a_session_does_not_read_old_events() {
    let memory = InMemory::new();
    let storage: Arc<dyn ObjectStore> = Arc::new(memory.clone());
    let root = root(&storage);
    let mut store = begin(&root);
    for number in 0..60 {
        let mut change = large(&format!("n{number}"), 20_000);
        change.progress = None;
        store.save(&change).unwrap();
    }
    let counted = Arc::new(Moody::new(&memory, Faulty::new(Plan::Sound, 0)));
    let storage: Arc<dyn ObjectStore> = Arc::clone(&counted) as _;
    let again = super::root(&storage);
    let mut store = open(&again);
    assert_eq!(counted.temper.requests(), 1, "the bundle");
    store.save(&change("one more")).unwrap();
    // Three that prove conditions, and the bundle.
    assert_eq!(counted.temper.requests(), 5);
    assert_eq!(store.events().unwrap().len(), 62);
    assert!(counted.temper.requests() > 5, "the segments");
}

#[test]
fn one_event_larger_than_a_segment_is_kept() {
    let root = root(&memory());
    let mut store = begin(&root);
    store.save(&large("big", 9 << 20)).unwrap();
    store.save(&change("one")).unwrap();
    store.save(&change("two")).unwrap();
    assert_eq!(told(&root), ["big", "one", "two"]);
}

#[test]
fn what_is_too_large_for_a_bundle_is_refused_with_numbers() {
    let root = root(&memory());
    let mut store = begin(&root);
    let mut large = change("big");
    large.handoff = Handoff::Write("x".repeat(40 << 20));
    let error = store.save(&large).unwrap_err().to_string();
    assert!(error.contains("67108864 are the most"), "{error}");
    assert!(matches!(
        store.save(&change("one")),
        Err(MemoryError::Unsound)
    ));
    assert_eq!(store.state().revision, 1);
    assert_eq!(told(&root), Vec::<String>::new());
}

#[test]
fn sessions_are_listed_in_pages() {
    let root = root(&memory());
    for number in 0..7 {
        let key = SessionKey::Session(format!("run {number}"));
        root.open_or_create(&GATE, &key, &start()).unwrap();
    }
    let all = root.list(None, 100).unwrap();
    assert_eq!(all.len(), 7);
    assert!(
        all.iter()
            .all(|it| it.problem.is_none() && it.revision == 1)
    );
    let first = root.list(None, 3).unwrap();
    let rest = root.list(Some(&first[2].folder), 100).unwrap();
    let folders = |listed: &[ralph_gate_memory::Listed]| -> Vec<String> {
        listed.iter().map(|it| it.folder.clone()).collect()
    };
    assert_eq!(
        [folders(&first), folders(&rest)].concat(),
        folders(&all),
        "nothing twice, nothing left out"
    );
}

#[test]
fn a_storage_that_ignores_conditions_is_refused_before_anything_is_written() {
    let storage: Arc<dyn ObjectStore> = Arc::new(Moody::new(&InMemory::new(), Careless));
    let root = root(&storage);
    let error = root.open_or_create(&GATE, &key(), &start()).unwrap_err();
    assert!(error.to_string().contains("ignores conditions"), "{error}");
    assert_eq!(objects(&storage).len(), 1, "the object that showed it");
}

#[test]
fn it_can_be_used_inside_of_a_runtime_and_dropped_there() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    runtime.block_on(async move {
        let theirs = Options {
            runtime: Some(handle.clone()),
            ..Options::default()
        };
        for options in [theirs, Options::default()] {
            let work = move || {
                let root = BucketRoot::from_url("memory:///", &options).unwrap();
                let mut store = begin(&root);
                store.save(&change("one")).unwrap();
                (told(&root), root)
            };
            let (told, root) = handle.spawn_blocking(work).await.unwrap();
            assert_eq!(told, ["one"]);
            drop(root);
        }
    });
}

#[test]
fn a_store_in_a_bucket_is_a_memory_like_any_other() {
    fn save(store: &mut dyn LoopMemoryStore) -> u64 {
        let change = Change {
            events: vec![event("one")],
            ..Change::default()
        };
        store.save(&change).unwrap().revision
    }
    let root = root(&memory());
    let mut store = begin(&root);
    let mut late = open(&root);
    assert_eq!(save(&mut store), 2);
    let late = LoopMemoryStore::save(&mut late, &change("late"));
    assert!(is_conflict(&late));
    let error = late.unwrap_err();
    assert_eq!(error.code(), "memory_conflict");
    assert!(error.to_string().contains(&key().folder()), "{error}");
}
