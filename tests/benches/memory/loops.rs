//! What an iteration of an ordinary loop saves.

use std::path::Path;

use ralph_gate::engine::{GateEngine, PrdUpdate, ProgressEntry};
use ralph_gate::memory::{Change, Event, FileStore, Patience, SessionKey, Snapshot, Start};
use serde_json::{Value, json};

const CONTRACT: &str = r#"{"mode": "ralph", "completion_checks": ["tests", "lint"], "completion_token": "DONE", "loop_max_iters": 10000}"#;

const LEARNED: &str = "The parser keeps the place of every value, so errors can name line and column. \
    The tests for nested lists were wrong and are mended; two of fourteen still fail.\n";

pub(crate) fn key() -> SessionKey {
    SessionKey::Session("bench".into())
}

/// A checklist of eight lines.
fn prd() -> String {
    let line = |number: u32| json!({ "id": format!("US-{number}"), "title": "As a user I can do this and that", "passes": false });
    let lines: Vec<Value> = (1..=8).map(line).collect();
    serde_json::to_string_pretty(&json!({ "project": "bench", "userStories": lines }))
        .unwrap_or_default()
}

/// A loop that saves one iteration after the other. The verdict is the same each time: only saving is measured.
pub(crate) struct Loop<'g> {
    store: FileStore<'g>,
    verdict: Value,
}

impl<'g> Loop<'g> {
    pub(crate) fn new(gate: &'g GateEngine, root: &Path) -> Self {
        let start = Start {
            contract: CONTRACT.into(),
            prd: Some(prd()),
            ..Start::default()
        };
        let store = FileStore::open_or_create(gate, root, &key(), &start, Patience::None)
            .expect("a session");
        Self {
            store,
            verdict: verdict(gate),
        }
    }

    pub(crate) fn save(&mut self) {
        let iteration = self.store.state().iteration + 1;
        let change = Change {
            snapshot: Some(Snapshot {
                iteration,
                text: self.verdict["snapshot"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            }),
            progress: Some(ProgressEntry {
                iteration,
                title: "nested lists".into(),
                body: LEARNED.into(),
            }),
            prd: if iteration.is_multiple_of(5) {
                vec![story(iteration)]
            } else {
                Vec::new()
            },
            events: vec![Event::new("verdict", &self.verdict).expect("an event")],
            ..Change::default()
        };
        let saved = self.store.save(&change).expect("saved");
        assert!(saved.findings.is_empty(), "{:?}", saved.findings);
    }
}

fn story(iteration: u32) -> PrdUpdate {
    PrdUpdate {
        id: format!("US-{}", 1 + iteration % 8),
        passes: iteration.is_multiple_of(2),
        evidence: Some(format!("iteration {iteration}: 14 passed")),
    }
}

/// What the gate says to an agent that is not done.
fn verdict(gate: &GateEngine) -> Value {
    let input = json!({
        "contract": serde_json::from_str::<Value>(CONTRACT).unwrap_or_default(),
        "snapshot": null,
        "iteration": {
            "index": 1, "action": "final", "output": "All done.\n<promise>DONE</promise>",
            "checks": [{ "id": "tests", "outcome": "fail", "reason": "2 of 14 failed" }, { "id": "lint", "outcome": "pass" }],
            "artifacts": [{ "name": "tree", "kind": "digest", "content": "4b825dc642cb6eb9a060e54bf8d69288fbee4904" }],
            "usage": { "elapsed_ms": 5200, "tool_calls": 3, "cost_usd": "0.14" },
        },
    });
    let answer = gate
        .call("evaluate_final", &input.to_string())
        .expect("the gate answers");
    serde_json::from_str(&answer).expect("the answer is JSON")
}

/// Bytes that a save adds to files.
pub(crate) fn appended() -> [(&'static str, String); 2] {
    [
        ("events.jsonl", "x".repeat(3300)),
        ("progress.txt", "x".repeat(260)),
    ]
}

/// Files that a save replaces.
pub(crate) fn replaced() -> [(&'static str, String); 2] {
    [("prd.json", prd()), ("snapshot.json", "x".repeat(1300))]
}

/// About what a checkpoint has.
pub(crate) fn checkpoint_size() -> usize {
    7000
}
