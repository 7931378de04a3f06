//! Every bit flipped, every byte cut off, in every kind of file: noticed or harmless, and never a panic.

use std::collections::BTreeMap;
use std::time::Instant;

use ralph_gate::memory::disk::{Disk as _, Folder, Place};
use ralph_gate::memory::{
    Change, Event, Handoff, MemoryError, SessionKey, Snapshot, Standing, Start, Store, View,
};

use crate::simulator::{Image, SimDisk, snapshot};
use ralph_gate_tests::extent::is_full;
use ralph_gate_tests::gate;

fn key() -> SessionKey {
    SessionKey::Session("bits".into())
}

/// A small session with every kind of file, at rest.
fn session() -> Image {
    let sim = SimDisk::default();
    let start = Start {
        contract: r#"{"mode":"ralph","completion_checks":["t"]}"#.into(),
        prd: Some(r#"{"items":[{"id":"a","passes":false}]}"#.into()),
        ..Start::default()
    };
    let mut store = Store::begin(sim.clone(), gate(), &key(), &start).unwrap();
    for iteration in 1..=2 {
        let change = Change {
            snapshot: Some(Snapshot {
                iteration,
                ..snapshot(iteration)
            }),
            progress: Some(ralph_gate::engine::ProgressEntry {
                iteration,
                title: "t".into(),
                body: "b".into(),
            }),
            events: vec![Event::new("e", &iteration).unwrap()],
            handoff: Handoff::Write("# Handoff\n".into()),
            ..Change::default()
        };
        store.save(&change).unwrap();
    }
    sim.image()
}

/// What a change led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Opening the session reported it.
    ReportedByOpening,
    /// Verifying the session reported it.
    ReportedByVerifying,
    /// The session can't be opened.
    Refused,
    /// The content is the same for whoever reads it.
    Harmless,
    /// Nobody noticed, and it is not the same.
    Silent,
}

/// Opens and verifies a session with one changed file.
fn look(image: &Image, whole: &BTreeMap<String, Vec<u8>>) -> Outcome {
    let verified = View::new(SimDisk::new(image.clone()), Some(key())).verify(gate());
    let noticed = match &verified {
        Ok(verification) => verification.standing() != Standing::Right,
        Err(_) => true,
    };
    let sim = SimDisk::new(image.clone());
    match Store::recover(sim.clone(), gate(), &key()) {
        Err(MemoryError::Disk(error)) => panic!("the simulated disk does not fail: {error}"),
        Err(_) | Ok(Err(_)) => return Outcome::Refused,
        Ok(Ok(store)) if !store.findings().is_empty() => return Outcome::ReportedByOpening,
        Ok(Ok(_)) => {}
    }
    match (noticed, sim.image().files() == *whole) {
        (true, _) => Outcome::ReportedByVerifying,
        (false, true) => Outcome::Harmless,
        (false, false) => Outcome::Silent,
    }
}

fn places(image: &Image) -> Vec<Place> {
    let sim = SimDisk::new(image.clone());
    let mut places = Vec::new();
    for folder in [Folder::Session, Folder::Checkpoints] {
        let names = sim.list(folder).unwrap().unwrap_or_default();
        let files = names.iter().map(|name| Place::new(folder, name));
        places.extend(files.filter(|place| image.content(place).is_some()));
    }
    places
}

fn campaign(what: &str, changes: impl Fn(&[u8], &mut dyn FnMut(Vec<u8>))) {
    let start = Instant::now();
    let image = session();
    let whole = image.files();
    let mut all = 0_u64;
    for place in places(&image) {
        let mut counts: BTreeMap<Outcome, u64> = BTreeMap::new();
        let content = image.content(&place).unwrap().clone();
        changes(&content, &mut |changed| {
            let mut image = image.clone();
            let inode = image.names[&place];
            image.inodes.insert(inode, changed);
            *counts.entry(look(&image, &whole)).or_default() += 1;
        });
        let total: u64 = counts.values().sum();
        all += total;
        println!(
            "  {what}: {place} ({} bytes): {total} changes, {counts:?}",
            content.len()
        );
        assert!(
            !counts.contains_key(&Outcome::Silent),
            "{what}: {place}: a change was not noticed"
        );
    }
    println!(
        "{what}: {all} changes, 0 panics, 0 silent, {:.1} s",
        start.elapsed().as_secs_f64()
    );
}

#[test]
fn a_flipped_bit_is_noticed() {
    let step = if is_full() { 1 } else { 41 };
    campaign("bit flips", |content, look| {
        for bit in (0..content.len() * 8).step_by(step) {
            let mut changed = content.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            look(changed);
        }
    });
}

#[test]
fn a_cut_off_end_is_noticed() {
    let step = if is_full() { 1 } else { 13 };
    campaign("truncations", |content, look| {
        for len in (0..content.len()).step_by(step) {
            look(content[..len].to_vec());
        }
    });
}

#[test]
fn bytes_that_are_added_are_noticed() {
    campaign("additions", |content, look| {
        for added in [&b"\0"[..], b"\n", b"x", b"{}\n", &[0xff; 600]] {
            look([content, added].concat());
            look([added, content].concat());
        }
    });
}
