//! The writers of one process: each opens a session, saves, and begins again where somebody else was first.

use std::collections::BTreeMap;
use std::env;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use ralph_gate_bucket::{BucketRoot, Options};
use ralph_gate_memory::{Change, Event, MemoryError};
use ralph_gate_types::ProgressEntry;
use serde::{Deserialize, Serialize};

use crate::server::Server;
use crate::{BUCKET, GATE, PREFIX, SESSIONS, key};

pub(crate) const THREADS: usize = 32;
/// A writer that comes too late more often than this is stuck.
const PATIENCE: usize = 10_000;

/// What writers were told about their saves.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Told {
    /// By session.
    pub(crate) saved: BTreeMap<usize, Vec<String>>,
    pub(crate) conflicts: usize,
    pub(crate) errors: Vec<String>,
}

impl Told {
    pub(crate) fn add(&mut self, other: Self) {
        for (session, names) in other.saved {
            self.saved.entry(session).or_default().extend(names);
        }
        self.conflicts += other.conflicts;
        self.errors.extend(other.errors);
    }
}

/// A process of writers.
pub(crate) struct Writers(Child);

impl Writers {
    pub(crate) fn start(server: &Server, process: usize, writes: usize) -> Result<Self> {
        let child = Command::new(env::current_exe()?)
            .args(["writer", &process.to_string(), &writes.to_string()])
            .envs(server.environment())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self(child))
    }

    pub(crate) fn wait(self) -> Result<Told> {
        let output = self.0.wait_with_output()?;
        ensure!(output.status.success(), "writers: {}", output.status);
        serde_json::from_slice(&output.stdout).context("what writers told")
    }
}

/// Is such a process: prints what its writers were told.
pub(crate) fn run(process: &str, writes: &str) -> Result<()> {
    let writes: usize = writes.parse()?;
    let root = BucketRoot::from_url(&format!("s3://{BUCKET}/{PREFIX}"), &Options::default())?;
    let next = AtomicUsize::new(0);
    let mut told = Told::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let mut told = Told::default();
                    loop {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number >= writes || !told.errors.is_empty() {
                            return told;
                        }
                        write(
                            &root,
                            number % SESSIONS,
                            &format!("p{process}-{number}"),
                            &mut told,
                        );
                    }
                })
            })
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(one) => told.add(one),
                Err(_) => told.errors.push("a writer panicked".to_owned()),
            }
        }
    });
    println!("{}", serde_json::to_string(&told)?);
    Ok(())
}

/// Saves once, however often somebody else is first.
fn write(root: &BucketRoot, session: usize, name: &str, told: &mut Told) {
    for _ in 0..PATIENCE {
        let opened = root.open(&GATE, &key(session));
        let saved = opened.and_then(|mut store| {
            let revision = store.state().revision;
            store.save(&change(name)).map(|saved| (revision, saved))
        });
        match saved {
            Ok((revision, saved)) if saved.revision == revision + 1 => {
                told.saved.entry(session).or_default().push(name.to_owned());
                return;
            }
            Ok((revision, saved)) => {
                let message = format!("revision {} after {revision}", saved.revision);
                told.errors.push(message);
                return;
            }
            Err(MemoryError::Conflict { .. }) => told.conflicts += 1,
            Err(error) => {
                eprintln!("{name}: {error}");
                told.errors.push(error.to_string());
                return;
            }
        }
    }
    told.errors.push(format!("{name} never came in time"));
}

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

/// About as long as one of a small iteration.
pub(crate) fn event(name: &str) -> Event {
    let text = "what was seen ".repeat(100);
    let data = serde_json::json!({ "name": name, "text": text });
    match Event::new(name, &data) {
        Ok(event) => event,
        Err(error) => panic!("{error}"),
    }
}
