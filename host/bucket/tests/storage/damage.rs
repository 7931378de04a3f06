//! Objects that are torn, foreign or huge: an error that names the object, which stays as it is.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use ralph_gate_memory::{Event, MemoryError, SessionKey};

use super::storage::{objects, plant, take};
use super::{GATE, begin, change, key, open, root, start};

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

fn session() -> String {
    format!("loops/sessions/{}", key().folder())
}

fn bundle(storage: &Arc<dyn ObjectStore>) -> Vec<u8> {
    let mut found = objects(storage).into_iter();
    found
        .find(|(path, _)| *path == session())
        .map(|(_, bytes)| bytes)
        .unwrap()
}

#[test]
fn a_damaged_bundle_is_an_error_that_names_it_and_stays_as_it_is() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    store.save(&change("one")).unwrap();
    let whole = bundle(&storage);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x20;
    let torn = whole[..whole.len() - 20].to_vec();
    let doubled = [whole.clone(), whole.clone()].concat();
    let foreign = b"<html>no session</html>".to_vec();
    for damaged in [flipped, torn, doubled, foreign, Vec::new()] {
        plant(&storage, &session(), damaged.clone());
        let opened = root.open(&GATE, &key()).map(drop);
        let begun = root.open_or_create(&GATE, &key(), &start()).map(drop);
        let viewed = root.view(&key()).map(drop);
        for tried in [opened, begun, viewed] {
            let error = tried.unwrap_err();
            assert_eq!(error.code(), "memory_unreadable", "{error}");
            assert!(error.to_string().contains(&session()), "{error}");
        }
        let listed = root.list(None, 10).unwrap();
        assert!(listed[0].problem.is_some());
        assert_eq!(bundle(&storage), damaged);
    }
    plant(&storage, &session(), whole);
    assert_eq!(open(&root).state().revision, 2);
}

#[test]
fn a_save_over_a_damaged_bundle_is_refused() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    plant(&storage, &session(), b"ralph-gate session".to_vec());
    let error = store.save(&change("one")).unwrap_err();
    assert_eq!(error.code(), "memory_unreadable", "{error}");
    assert_eq!(bundle(&storage), b"ralph-gate session");
}

#[test]
fn a_session_that_was_taken_away_is_a_conflict_and_not_made_anew() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    take(&storage, &session());
    let saved = store.save(&change("one"));
    assert!(super::is_conflict(&saved));
    assert!(matches!(
        root.open(&GATE, &key()),
        Err(MemoryError::NoSession { .. })
    ));
}

#[test]
fn a_huge_object_is_not_fetched() {
    let storage = memory();
    let root = root(&storage);
    plant(&storage, &session(), vec![b'x'; (64 << 20) + 1]);
    let error = root.open(&GATE, &key()).unwrap_err().to_string();
    assert!(error.contains("67108865 bytes"), "{error}");
    assert!(error.contains(&session()), "{error}");
}

#[test]
fn the_bundle_of_another_session_is_not_taken_for_this_one() {
    let storage = memory();
    let root = root(&storage);
    let other = SessionKey::Session("other".into());
    root.open_or_create(&GATE, &other, &start()).unwrap();
    let (_, bytes) = objects(&storage).pop().unwrap();
    plant(&storage, &session(), bytes);
    let opened = root.open(&GATE, &key());
    assert!(matches!(opened, Err(MemoryError::OtherKey { .. })));
    let listed = root.list(None, 10).unwrap();
    let problems = listed.iter().filter(|it| it.problem.is_some());
    assert_eq!(problems.count(), 1);
}

#[test]
fn objects_that_are_nobodys_are_left_alone() {
    let storage = memory();
    let root = root(&storage);
    begin(&root);
    plant(&storage, "loops/sessions/deeper/object", b"x".to_vec());
    plant(&storage, "loops/notes.txt", b"x".to_vec());
    plant(&storage, "elsewhere", b"x".to_vec());
    assert_eq!(root.list(None, 10).unwrap().len(), 1);
    assert_eq!(objects(&storage).len(), 5);
}

#[test]
fn a_segment_that_is_missing_or_changed_is_an_error_that_names_it() {
    let storage = memory();
    let root = root(&storage);
    let mut store = begin(&root);
    for number in 0..10 {
        let name = format!("n{number}");
        let mut change = change(&name);
        change.events = vec![Event::new(&name, &"x".repeat(60_000)).unwrap()];
        store.save(&change).unwrap();
    }
    let found = objects(&storage);
    let (path, whole) = found
        .into_iter()
        .find(|(path, _)| path.contains("/segments/"))
        .unwrap();
    let mut changed = whole.clone();
    changed[7] ^= 1;
    for damaged in [Some(changed), Some(Vec::new()), None] {
        match damaged.clone() {
            Some(damaged) => plant(&storage, &path, damaged),
            None => take(&storage, &path),
        }
        let error = open(&root).events().unwrap_err();
        assert_eq!(error.code(), "memory_disk");
        assert!(error.to_string().contains(&path), "{error}");
        // What does not need it goes on.
        open(&root).save(&change("on")).unwrap();
    }
    plant(&storage, &path, whole);
    assert_eq!(open(&root).events().unwrap().len(), 14);
}
