//! What happens to a session before the power is cut: saves, edits by an agent, restarts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ralph_gate::engine::{GateEngine, PrdUpdate, ProgressEntry};
use ralph_gate::memory::disk::{Disk, Place};
use ralph_gate::memory::{
    Change, Event, Handoff, Retention, SessionKey, Snapshot, Start, State, Store,
};

use super::disk::{Op, SimDisk};
use ralph_gate_tests::gate;

pub(crate) const PRD: Place = Place::member("prd.json");
pub(crate) const PROGRESS: Place = Place::member("progress.txt");

pub(crate) const PRD_TEXT: &str =
    r#"{"items": [{"id": "a", "passes": false}, {"id": "b", "passes": false}]}"#;

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// An iteration is saved: a snapshot, an entry, two events.
    Iterate,
    /// An entry longer than a page is saved.
    Learn,
    /// A line of the checklist is updated.
    Story,
    /// The loop stops, with a handoff.
    Handoff,
    /// The loop completes, and the handoff is withdrawn.
    Complete,
    /// An operator accepts another contract.
    Contract,
    /// The agent adds a note to the progress log.
    Note,
    /// The agent writes the progress log anew, with its own beginning.
    Rewrite,
    /// The agent edits the checklist.
    Edit,
    /// The process ends and another one begins.
    Restart,
}

impl Step {
    pub(crate) const ALL: [Self; 10] = [
        Self::Iterate,
        Self::Learn,
        Self::Story,
        Self::Handoff,
        Self::Complete,
        Self::Contract,
        Self::Note,
        Self::Rewrite,
        Self::Edit,
        Self::Restart,
    ];

    fn is_foreign(self) -> bool {
        matches!(self, Self::Note | Self::Rewrite | Self::Edit)
    }
}

/// A session's life.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    pub(crate) retention: Retention,
}

/// What is known after a save.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expected {
    pub(crate) state: Option<State>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Titles of the entries that were saved.
    pub(crate) entries: Vec<String>,
}

/// How a life went while the power was on.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) log: Vec<Op>,
    /// By revision; the first one is that before the session began.
    pub(crate) expected: Vec<Expected>,
    /// Whether an agent wrote to the files.
    pub(crate) foreign: bool,
}

pub(crate) fn key() -> SessionKey {
    SessionKey::Session("simulated".into())
}

impl Script {
    /// Lives it on a disk. `wrap` puts a protocol around it.
    pub(crate) fn live<D: Disk>(&self, wrap: impl Fn(SimDisk) -> D) -> Life {
        let sim = SimDisk::default();
        let start = Start {
            contract: contract(0),
            prd: Some(PRD_TEXT.to_owned()),
            ..Start::default()
        };
        let store = Store::begin(wrap(sim.clone()), gate(), &key(), &start).unwrap();
        let mut life = Living {
            store,
            expected: vec![Expected::default()],
            entries: Vec::new(),
            sim,
        };
        life.store.retain(self.retention);
        life.acknowledge();
        for (number, step) in self.steps.iter().enumerate() {
            life = life.step(*step, number, &wrap, self.retention);
        }
        Life {
            log: life.sim.log(),
            expected: life.expected,
            foreign: self.steps.iter().any(|step| step.is_foreign()),
        }
    }
}

struct Living<D> {
    store: Store<'static, D>,
    expected: Vec<Expected>,
    entries: Vec<String>,
    sim: SimDisk,
}

impl<D: Disk> Living<D> {
    fn acknowledge(&mut self) {
        let state = self.store.state();
        let revision = usize::try_from(state.revision).unwrap();
        self.sim.acknowledge(revision);
        // A save that a recovery made is known too.
        while self.expected.len() <= revision {
            self.expected.push(Expected {
                state: Some(state.clone()),
                files: self.sim.image().files(),
                entries: self.entries.clone(),
            });
        }
    }

    fn step(
        mut self,
        step: Step,
        number: usize,
        wrap: &impl Fn(SimDisk) -> D,
        retention: Retention,
    ) -> Self {
        match step {
            Step::Note => self.note(&format!("note {number}\n")),
            Step::Rewrite => self.rewrite(&format!("# Rewritten {number}\n")),
            Step::Edit => self.edit(number),
            Step::Restart => {
                let disk = wrap(self.sim.clone());
                let store = Store::recover(disk, gate(), &key()).unwrap();
                self.store = store.unwrap_or_else(|_| panic!("the session is gone"));
                self.store.retain(retention);
            }
            step => {
                let change = self.change(step, number);
                if let Some(entry) = &change.progress {
                    self.entries.push(entry.title.clone());
                }
                self.store.save(&change).unwrap();
                self.acknowledge();
            }
        }
        self
    }

    fn change(&self, step: Step, number: usize) -> Change {
        let iteration = self.store.state().iteration + 1;
        let entry = |body: &str| {
            Some(ProgressEntry {
                iteration,
                title: format!("entry {number}"),
                body: body.to_owned(),
            })
        };
        let event = |data: &str| Event::new("step", &data).unwrap();
        match step {
            Step::Iterate => Change {
                snapshot: Some(snapshot(iteration)),
                progress: entry("short"),
                events: vec![event("one"), event("two")],
                ..Change::default()
            },
            Step::Learn => Change {
                progress: entry(&"long line\n".repeat(500)),
                ..Change::default()
            },
            Step::Story => Change {
                prd: vec![PrdUpdate {
                    id: "a".to_owned(),
                    passes: true,
                    evidence: Some(format!("evidence {number}")),
                }],
                events: vec![event("story")],
                ..Change::default()
            },
            Step::Handoff => Change {
                handoff: Handoff::Write(format!("# Handoff {number}\n")),
                events: vec![event(&"long".repeat(1200))],
                ..Change::default()
            },
            Step::Complete => Change {
                handoff: Handoff::Withdraw,
                ..Change::default()
            },
            _ => Change {
                contract: Some(contract(number + 1)),
                ..Change::default()
            },
        }
    }

    fn note(&self, text: &str) {
        let inode = self
            .sim
            .inode(&PROGRESS)
            .unwrap_or_else(|| self.sim.make(&PROGRESS));
        self.sim.op(Op::Write {
            inode,
            offset: self.sim.len(inode),
            bytes: text.as_bytes().to_vec(),
        });
    }

    /// As an editor does it: a new file, and then its name.
    fn rewrite(&self, text: &str) {
        let image = self.sim.image();
        let old = image
            .content(&PROGRESS)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let temporary = Place::member("editor.tmp");
        let inode = self.sim.make(&temporary);
        self.sim.op(Op::Write {
            inode,
            offset: 0,
            bytes: [text.as_bytes(), old].concat(),
        });
        self.sim.op(Op::Sync(inode));
        self.sim.op(Op::Rename {
            from: temporary,
            to: PROGRESS,
            inode,
        });
    }

    /// As a careless script does it: emptied, then written.
    fn edit(&self, number: usize) {
        let image = self.sim.image();
        let old = String::from_utf8(image.content(&PRD).unwrap().clone()).unwrap();
        let new = old.replacen(
            "\"id\": \"b\",",
            &format!("\"id\": \"b\", \"note\": {number},"),
            1,
        );
        let inode = self.sim.inode(&PRD).unwrap();
        self.sim.op(Op::Cut { inode, len: 0 });
        self.sim.op(Op::Write {
            inode,
            offset: 0,
            bytes: new.into_bytes(),
        });
    }
}

fn contract(number: usize) -> String {
    format!(r#"{{"mode": "ralph", "completion_checks": ["tests", "check{number}"]}}"#)
}

/// Snapshots that the gate made, by iteration.
pub(crate) fn snapshot(iteration: u32) -> Snapshot {
    static SNAPSHOTS: LazyLock<Vec<String>> = LazyLock::new(|| snapshots(gate(), 200));
    Snapshot {
        iteration,
        text: SNAPSHOTS[iteration as usize - 1].clone(),
    }
}

fn snapshots(gate: &GateEngine, count: u32) -> Vec<String> {
    let mut snapshots: Vec<String> = Vec::new();
    for index in 1..=count {
        let input = serde_json::json!({
            "contract": { "mode": "ralph", "completion_checks": ["tests"], "loop_max_iters": 10_000 },
            "snapshot": snapshots.last(),
            "iteration": { "index": index, "action": "continue", "output": format!("turn {index}") },
        });
        let answer = gate.call("evaluate_final", &input.to_string()).unwrap();
        let verdict: serde_json::Value = serde_json::from_str(&answer).unwrap();
        snapshots.push(verdict["snapshot"].as_str().unwrap().to_owned());
    }
    snapshots
}
