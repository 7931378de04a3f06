//! An independent model of the specification, and the gate against it.
//!
//! `reference.rs` is the model. The tests compare it with the gate in every state of a reduced
//! space and in random loops; with `RALPH_GATE_MODEL=full`, which `cargo xtask model` sets, the
//! space has millions of states.

mod answer;
mod compare;
mod dimensions;
mod long;
mod loops;
mod mutants;
mod reference;
mod situation;
mod space;
mod spaces;
mod tally;
mod wire;

use std::time::Instant;

use anyhow::{Result, bail, ensure};
use ralph_gate::GateEngine;

use reference::Rules;
use space::Space;
use tally::{Property, Sampling, Tally};

/// How much is looked at.
struct Extent {
    name: &'static str,
    spaces: Vec<Space>,
    seeds: u32,
    long_loop: u32,
    sampling: Sampling,
}

impl Extent {
    fn chosen() -> Result<Self> {
        match std::env::var("RALPH_GATE_MODEL").as_deref() {
            Err(_) | Ok("reduced") => Ok(Self {
                name: "reduced",
                spaces: spaces::reduced(),
                seeds: 2_000,
                long_loop: 100,
                sampling: Sampling {
                    order: 10,
                    repeat: 50,
                    component: 100,
                },
            }),
            Ok("full") => Ok(Self {
                name: "full",
                spaces: spaces::full(),
                seeds: 100_000,
                long_loop: 10_000,
                sampling: Sampling {
                    order: 5,
                    repeat: 25,
                    component: 100,
                },
            }),
            Ok(other) => bail!("RALPH_GATE_MODEL is `{other}`; set it to `reduced` or `full`"),
        }
    }
}

/// Prints what a run found, and fails where it found anything.
fn conclude(what: &str, tally: &Tally, start: Instant, looked_at: &[Property]) -> Result<()> {
    println!("{what}: {tally}  in {:.1} s", start.elapsed().as_secs_f64());
    for property in looked_at {
        ensure!(
            tally.checked(*property) > 0,
            "{what}: never looked at: {property}"
        );
    }
    ensure!(
        tally.differences == 0 && tally.broken() == 0,
        "{what}: {} differences, {} broken properties",
        tally.differences,
        tally.broken()
    );
    Ok(())
}

#[test]
fn the_gate_agrees_with_the_model_in_every_state() -> Result<()> {
    let extent = Extent::chosen()?;
    let engine = GateEngine::new()?;
    let start = Instant::now();
    let mut all = Tally::default();
    for space in &extent.spaces {
        let begin = Instant::now();
        let tally = compare::explore(space, &Rules::default(), &engine, extent.sampling)?;
        println!(
            "  {:<12} {:>9} states, {} differences, {:.1} s",
            space.name,
            tally.states,
            tally.differences,
            begin.elapsed().as_secs_f64()
        );
        all.add(tally);
    }
    let expected: usize = extent.spaces.iter().map(Space::size).sum();
    assert_eq!(all.states, expected as u64, "every state is looked at once");
    conclude(
        &format!("{} space", extent.name),
        &all,
        start,
        &[
            Property::CompletedNeedsEvidence,
            Property::StandardIsUntouched,
            Property::LoopEnds,
            Property::OrderOfResults,
            Property::SameInputSameBytes,
            Property::SnapshotIsSmall,
            Property::ComponentAgrees,
        ],
    )
}

#[test]
fn the_gate_agrees_with_the_model_in_random_loops() -> Result<()> {
    let extent = Extent::chosen()?;
    let engine = GateEngine::new()?;
    let start = Instant::now();
    let tally = loops::play(extent.seeds, &Rules::default(), &engine, extent.sampling)?;
    conclude(
        &format!("{} random loops", extent.seeds),
        &tally,
        start,
        &[
            Property::CompletedNeedsEvidence,
            Property::LoopEnds,
            Property::OrderOfResults,
            Property::SameInputSameBytes,
            Property::SnapshotIsSmall,
            Property::ComponentAgrees,
        ],
    )
}

#[test]
fn the_snapshot_stays_small_in_a_long_loop() -> Result<()> {
    let extent = Extent::chosen()?;
    let start = Instant::now();
    let tally = long::play(extent.long_loop)?;
    conclude(
        &format!("loop of {} iterations", extent.long_loop),
        &tally,
        start,
        &[Property::SnapshotIsSmall, Property::LoopEnds],
    )
}

#[test]
fn a_wrong_model_is_found_out() -> Result<()> {
    let recordings = mutants::recordings()?;
    ensure!(
        mutants::found_after(&Rules::default(), recordings).is_none(),
        "the right model differs as well"
    );
    let mut unexpected = Vec::new();
    let mut judge = |name: String, rules: &Rules, visible: bool| {
        let found = mutants::found_after(rules, recordings);
        match found {
            Some(after) => println!("  {name:<45} found in state {}", after + 1),
            None => println!("  {name:<45} can't be seen"),
        }
        if found.is_some() != visible {
            unexpected.push(name);
        }
    };
    for (name, rules) in mutants::lines_left_out() {
        judge(name, &rules, true);
    }
    for (name, rules, visible) in mutants::wrong_orders() {
        judge(name, &rules, visible);
    }
    for mistake in mutants::MISTAKES {
        judge(format!("{mistake:?}"), &mutants::with(*mistake), true);
    }
    println!("{} states tell the models apart", recordings.len());
    ensure!(unexpected.is_empty(), "not as expected: {unexpected:?}");
    Ok(())
}
