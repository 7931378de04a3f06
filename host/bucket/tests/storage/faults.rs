//! Requests that fail, at each place and in each way: at most the save under way is lost, and never one that was
//! acknowledged.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use ralph_gate_bucket::{BucketRoot, BucketStore, Options};
use ralph_gate_memory::{Change, Event, MemoryError};

use super::storage::{Chance, Fault, Faulty, Moody, Overtaken, Plan, Silent};
use super::{GATE, begin, change, key, root, start, told};

fn over(memory: &InMemory, plan: Plan) -> (BucketRoot, Arc<Moody<Faulty>>) {
    let storage = Arc::new(Moody::new(memory, Faulty::new(plan, 0)));
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
fn live(memory: &InMemory, plan: Plan) -> Lived {
    let (root, storage) = over(memory, plan);
    let mut lived = Lived {
        acknowledged: Vec::new(),
        unknown: None,
        requests: 0,
    };
    let opened = root.open_or_create(&GATE, &key(), &start());
    let Ok(mut store) = opened else {
        lived.unknown = Some(String::new());
        lived.requests = storage.temper.requests();
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
    lived.requests = storage.temper.requests();
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
    let lived = live(&InMemory::new(), Plan::Sound);
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
            let lived = live(&memory, Plan::Dies(at, fault));
            let case = format!("{fault:?} {at}");
            assert!(lived.unknown.is_some(), "{case}");
            look_after(&memory, &lived, &case);
        }
    }
}

#[test]
fn one_request_that_fails_loses_nothing_that_was_acknowledged() {
    for at in 1..=requests() {
        for fault in Fault::ALL {
            let memory = InMemory::new();
            let lived = live(&memory, Plan::Once(at, fault));
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
        let (root, _) = over(&memory, Plan::Once(FIRST_SAVE, fault));
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
        let (root, _) = over(&memory, Plan::Once(at, Fault::Refused));
        let mut store = begin(&root);
        store.save(&change("one")).unwrap();
        assert_eq!(told(&sound(&memory)), ["one"]);
    }
}

#[test]
fn a_write_that_did_not_arrive_is_no_conflict_and_says_that_it_is_not_known() {
    let memory = InMemory::new();
    let (root, _) = over(&memory, Plan::Once(FIRST_SAVE, Fault::Before));
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

/// A store whose next save is answered with a failed condition, after somebody else saved `count` times.
fn overtaken(memory: &InMemory, took_effect: bool, count: usize) -> BucketStore<'static> {
    let theirs = sound(memory);
    begin(&theirs);
    let meanwhile = move || {
        let mut store = theirs.open(&GATE, &key()).unwrap();
        for number in 0..count {
            store.save(&change(&format!("theirs{number}"))).unwrap();
        }
    };
    let temper = Overtaken {
        meanwhile: Mutex::new(Some(Box::new(meanwhile))),
        took_effect,
    };
    let storage: Arc<dyn ObjectStore> = Arc::new(Moody::new(memory, temper));
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

/// Several writers over storages that fail often, in an order that chance decides.
fn crowd(seed: u64) -> [usize; 3] {
    let memory = InMemory::new();
    begin(&sound(&memory));
    let mut chance = Chance(seed);
    let roots: Vec<BucketRoot> = (0..3)
        .map(|writer| {
            let faulty = Faulty::new(Plan::Often(4), seed * 10 + writer);
            let storage: Arc<dyn ObjectStore> = Arc::new(Moody::new(&memory, faulty));
            root(&storage)
        })
        .collect();
    let mut stores: Vec<Option<BucketStore<'static>>> = vec![None, None, None];
    let (mut saved, mut beaten, mut unknown) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for step in 0..40 {
        let writer = chance.below(3);
        let Some(mut store) = stores[writer].take() else {
            stores[writer] = roots[writer].open(&GATE, &key()).ok();
            continue;
        };
        let name = format!("w{writer}-{step}");
        let make = [change, change, save_of][chance.below(3)];
        match store.save(&make(&name)) {
            Ok(_) => {
                saved.push(name);
                stores[writer] = Some(store);
            }
            Err(MemoryError::Conflict { .. }) => drop(beaten.insert(name)),
            Err(_) => drop(unknown.insert(name)),
        }
    }
    let told = told(&sound(&memory));
    let certain: Vec<&String> = told
        .iter()
        .filter(|name| !unknown.contains(*name))
        .collect();
    assert!(told.iter().all(|name| !beaten.contains(name)), "{seed}");
    // A write that was followed before its writer learned of it is acknowledged later than what followed.
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let certain = certain.into_iter().cloned().collect();
    assert_eq!(sorted(certain), sorted(saved.clone()), "{seed}");
    [saved.len(), beaten.len(), unknown.len()]
}

#[test]
fn writers_over_a_storage_that_fails_often_lose_nothing_and_invent_nothing() {
    let mut seen = [0; 3];
    for seed in 0..60 {
        let counts = crowd(seed);
        for (sum, count) in seen.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    let [saved, beaten, unknown] = seen;
    assert!(saved > 200 && beaten > 50 && unknown > 50, "{seen:?}");
}

/// A root over a storage that never answers.
fn silent(runtime: Option<tokio::runtime::Handle>) -> BucketRoot {
    let storage: Arc<dyn ObjectStore> = Arc::new(Moody::new(&InMemory::new(), Silent));
    let options = Options {
        deadline: Duration::from_millis(50),
        runtime,
    };
    BucketRoot::of_storage(storage, Path::default(), &options).unwrap()
}

fn gives_up(root: &BucketRoot) {
    let error = root.open(&GATE, &key()).unwrap_err();
    assert!(
        error.to_string().contains("no answer within 50ms"),
        "{error}"
    );
    assert!(error.help().contains("the way to the storage"));
}

#[test]
fn a_storage_that_never_answers_is_given_up_by_the_deadline() {
    gives_up(&silent(None));
}

#[test]
fn who_waits_on_the_only_thread_that_could_answer_gets_an_error_and_does_not_wait_for_ever() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let root = silent(Some(runtime.handle().clone()));
    runtime.block_on(async { gives_up(&root) });
}

#[test]
fn a_runtime_that_has_ended_is_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let root = silent(Some(runtime.handle().clone()));
    drop(runtime);
    let error = root.open(&GATE, &key()).unwrap_err();
    assert!(error.to_string().contains("is ending"), "{error}");
}
