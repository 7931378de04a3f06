//! The process that is killed: opens a session, saves, and says what was acknowledged.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use ralph_gate::engine::{PrdUpdate, ProgressEntry};
use ralph_gate::memory::{
    Change, Event, FileStore, Handoff, MemoryError, Patience, Retention, SessionKey, Start,
};

use crate::gate;

pub(crate) const PRD: &str =
    r#"{"items": [{"id": "a", "passes": false}, {"id": "b", "passes": false}]}"#;

pub(crate) fn key() -> SessionKey {
    SessionKey::Session("crash".into())
}

/// Few checkpoints, so that a short life comes to clearing them away.
const RETENTION: Retention = Retention { keep: 2, gather: 3 };

pub(crate) fn open(root: &Path, patience: Patience) -> Result<FileStore<'static>, MemoryError> {
    let start = Start {
        contract: r#"{"mode": "ralph", "completion_checks": ["tests"]}"#.into(),
        prd: Some(PRD.into()),
        ..Start::default()
    };
    let mut store = FileStore::open_or_create(gate(), root, &key(), &start, patience)?;
    store.retain(RETENTION);
    Ok(store)
}

/// What a revision saves. Its number is in all of it, so that it can be told from the others.
pub(crate) fn change(revision: u64) -> Change {
    let title = title(revision);
    Change {
        progress: Some(ProgressEntry {
            iteration: 0,
            body: format!("learned in {title}\n")
                .repeat(1 + usize::try_from(revision % 7).unwrap_or(0) * 40),
            title,
        }),
        prd: if revision.is_multiple_of(3) {
            vec![PrdUpdate {
                id: "a".into(),
                passes: revision.is_multiple_of(2),
                evidence: Some(format!("revision {revision}")),
            }]
        } else {
            Vec::new()
        },
        events: (0..revision % 3)
            .filter_map(|index| Event::new("saved", &(revision, index)).ok())
            .collect(),
        handoff: match revision % 8 {
            0 | 4 => Handoff::Write(format!("# Handoff of {revision}\n")),
            6 => Handoff::Withdraw,
            _ => Handoff::Keep,
        },
        ..Change::default()
    }
}

pub(crate) fn title(revision: u64) -> String {
    format!("revision {revision}.")
}

/// Saves so many times. After an error it goes on as a host would: it opens the session again.
pub(crate) fn work(root: &Path, saves: u64) -> Result<ExitCode> {
    let mut store = open(root, Patience::None)?;
    say(&format!("acknowledged {}", store.state().revision));
    let mut failed = false;
    for _ in 0..saves {
        match store.save(&change(store.state().revision + 1)) {
            Ok(done) => say(&format!("acknowledged {}", done.revision)),
            Err(error) => {
                say(&format!("failed: {error}; {}", error.help()));
                failed = true;
                drop(store);
                store = open(root, Patience::None)?;
                say(&format!("acknowledged {}", store.state().revision));
            }
        }
    }
    Ok(if failed {
        ExitCode::from(3)
    } else {
        ExitCode::SUCCESS
    })
}

/// Opens, adds one entry and closes, so many times, among others who do the same.
pub(crate) fn append(root: &Path, name: &str, count: u64) -> Result<ExitCode> {
    for index in 0..count {
        let mut store = open(root, Patience::Wait)?;
        let change = Change {
            progress: Some(ProgressEntry {
                iteration: 0,
                title: format!("{name} {index}."),
                body: "appended".into(),
            }),
            events: Event::new("appended", &(name, index)).into_iter().collect(),
            ..Change::default()
        };
        let saved = store.save(&change)?;
        say(&format!("acknowledged {}", saved.revision));
    }
    Ok(ExitCode::SUCCESS)
}

/// One line, at once. Whoever reads it may be gone.
fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(format!("{text}\n").as_bytes());
    let _ = stdout.flush();
}
