//! What must hold on every disk that a power cut can leave behind.

use std::collections::BTreeMap;

use ralph_gate::memory::disk::Folder;
use ralph_gate::memory::{Change, FindingCode, Start, Store};

use super::disk::{Image, Op, SimDisk};
use super::script::{Expected, Life, PRD, PROGRESS, key};
use ralph_gate_tests::gate;

/// How a recovery went.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) revision: usize,
    pub(crate) log: Vec<Op>,
}

/// Recovers a disk and checks every invariant, or says which one is broken.
pub(crate) fn recover(
    image: &Image,
    acknowledged: usize,
    life: &Life,
) -> Result<Recovered, String> {
    named_checkpoints_are_whole(image)?;
    let sim = SimDisk::new(image.clone());
    let store = Store::recover(sim.clone(), gate(), &key())
        .map_err(|error| format!("can't be opened: {error}"))?;
    let Ok(store) = store else {
        return match acknowledged {
            0 => begin_again(image),
            _ => Err("a session that was acknowledged is gone".to_owned()),
        };
    };
    let revision = usize::try_from(store.state().revision).unwrap();
    if revision < acknowledged {
        return Err(format!(
            "revision {acknowledged} was acknowledged, {revision} was found"
        ));
    }
    let expected = life
        .expected
        .get(revision)
        .filter(|_| revision <= acknowledged + 1);
    let expected = expected.ok_or_else(|| format!("revision {revision} was never saved"))?;
    if Some(store.state()) != expected.state {
        return Err(format!("revision {revision} holds another state"));
    }
    drop(store);
    let after = sim.image();
    files_are_right(&after, expected, life.foreign)?;
    again(&after, revision, life.foreign)?;
    go_on(&after, revision)?;
    Ok(Recovered {
        revision,
        log: sim.log(),
    })
}

/// A session that never began can begin.
fn begin_again(image: &Image) -> Result<Recovered, String> {
    let sim = SimDisk::new(image.clone());
    let start = Start {
        contract: "{}".to_owned(),
        ..Start::default()
    };
    Store::begin(sim.clone(), gate(), &key(), &start)
        .map_err(|error| format!("can't begin: {error}"))?;
    again(&sim.image(), 1, false)?;
    Ok(Recovered {
        revision: 0,
        log: Vec::new(),
    })
}

/// A checkpoint is synced before it gets its name, so none of them can be torn.
fn named_checkpoints_are_whole(image: &Image) -> Result<(), String> {
    for (place, inode) in &image.names {
        let is_named = place.folder() == Folder::Checkpoints && !place.name().starts_with('.');
        let content = image
            .inodes
            .get(inode)
            .map(Vec::as_slice)
            .unwrap_or_default();
        if is_named && !is_sealed(content) {
            return Err(format!("{place} has its name and is not whole"));
        }
    }
    Ok(())
}

fn is_sealed(content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else {
        return false;
    };
    let Some((body, seal)) = text.rsplit_once(",\"digest\":\"") else {
        return false;
    };
    seal == format!("{}\"}}\n", blake3::hash(body.as_bytes()).to_hex())
}

fn files_are_right(image: &Image, expected: &Expected, foreign: bool) -> Result<(), String> {
    let found = image.files();
    let mut names = vec!["events.jsonl", "contract.json", "handoff.md"];
    if !foreign {
        names.extend(["progress.txt", "prd.json"]);
    }
    for name in names {
        let empty = Vec::new();
        let holds = |files: &BTreeMap<String, Vec<u8>>| files.get(name).unwrap_or(&empty).clone();
        if holds(&found) != holds(&expected.files) {
            return Err(format!("{name} is not what was saved"));
        }
    }
    let progress = image.content(&PROGRESS).cloned().unwrap_or_default();
    let progress = String::from_utf8_lossy(&progress).into_owned();
    for entry in &expected.entries {
        let count = progress.matches(&format!(": {entry}\n")).count();
        if count != 1 {
            return Err(format!("progress.txt has `{entry}` {count} times"));
        }
    }
    let prd = image.content(&PRD).cloned().unwrap_or_default();
    let prd = String::from_utf8(prd).map_err(|_| "prd.json is not text".to_owned())?;
    gate()
        .read_prd(&prd)
        .map_err(|error| format!("prd.json: {error}"))?;
    Ok(())
}

/// The second recovery finds nothing to do.
fn again(image: &Image, revision: usize, foreign: bool) -> Result<(), String> {
    let sim = SimDisk::new(image.clone());
    let store = Store::recover(sim.clone(), gate(), &key())
        .map_err(|error| format!("the second time: {error}"))?;
    let store = store.map_err(|_| "the session is gone the second time".to_owned())?;
    if store.state().revision != revision as u64 {
        return Err("the second recovery found another revision".to_owned());
    }
    let is_edit = |code| {
        matches!(
            code,
            FindingCode::PrdEdited | FindingCode::ProgressAdded | FindingCode::ProgressEdited
        )
    };
    if let Some(finding) = store
        .findings()
        .iter()
        .find(|finding| !(foreign && is_edit(finding.code)))
    {
        return Err(format!("the second recovery found {finding:?}"));
    }
    if sim.image().files() != image.files() {
        return Err("the second recovery changed something".to_owned());
    }
    Ok(())
}

/// The session goes on.
fn go_on(image: &Image, revision: usize) -> Result<(), String> {
    let sim = SimDisk::new(image.clone());
    let store = Store::recover(sim, gate(), &key()).map_err(|error| error.to_string())?;
    let mut store = store.map_err(|_| "the session is gone the third time".to_owned())?;
    let saved = store
        .save(&Change::default())
        .map_err(|error| format!("can't go on: {error}"))?;
    if saved.revision != revision as u64 + 1 {
        return Err(format!(
            "revision {revision} is followed by {}",
            saved.revision
        ));
    }
    Ok(())
}
