//! Sessions in a bucket: two writers, long logs, damaged objects, and requests that fail before or after they took effect.

mod damage;
mod faults;
mod gate;
mod race;
mod sessions;
mod storage;

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use ralph_gate_bucket::{BucketRoot, BucketStore, Options};
use ralph_gate_memory::{Change, Event, MemoryError, SessionKey, Standing, Start};
use ralph_gate_types::ProgressEntry;

use gate::Native;

/// The one gate.
static GATE: Native = Native;

fn key() -> SessionKey {
    SessionKey::Session("night run".into())
}

fn start() -> Start {
    Start {
        contract: r#"{"mode": "ralph", "completion_checks": ["tests"]}"#.into(),
        prd: Some(r#"{"items": [{"id": "a", "passes": false}]}"#.into()),
        events: vec![event("started")],
        ..Start::default()
    }
}

fn event(name: &str) -> Event {
    Event::new(name, &serde_json::json!({ "text": name })).unwrap()
}

/// A save that can be told from every other.
fn change(name: &str) -> Change {
    Change {
        events: vec![event(name)],
        progress: Some(ProgressEntry {
            iteration: 1,
            title: name.to_owned(),
            body: "learned".to_owned(),
        }),
        ..Change::default()
    }
}

fn root(storage: &Arc<dyn ObjectStore>) -> BucketRoot {
    let prefix = Path::parse("loops").unwrap();
    BucketRoot::of_storage(Arc::clone(storage), prefix, &Options::default()).unwrap()
}

fn begin(root: &BucketRoot) -> BucketStore<'static> {
    root.open_or_create(&GATE, &key(), &start()).unwrap()
}

fn open(root: &BucketRoot) -> BucketStore<'static> {
    root.open(&GATE, &key()).unwrap()
}

fn is_conflict<T>(result: &Result<T, MemoryError>) -> bool {
    matches!(result, Err(MemoryError::Conflict { .. }))
}

/// What a session's log names after its first event, if all of the session is as it should be.
fn told(root: &BucketRoot) -> Vec<String> {
    let view = root.view(&key()).unwrap();
    let verified = view.verify(&GATE).unwrap();
    assert_eq!(verified.standing(), Standing::Right, "{verified:?}");
    let store = open(root);
    assert_eq!(store.findings(), []);
    let events = store.events().unwrap();
    let names: Vec<String> = events
        .iter()
        .skip(1)
        .map(|record| record.event.clone())
        .collect();
    let entries = store.progress().unwrap().entries;
    let titles: Vec<String> = entries.into_iter().map(|entry| entry.title).collect();
    assert_eq!(names, titles, "both logs tell the same");
    names
}
