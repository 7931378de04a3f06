//! Power cuts at every point: what was acknowledged is there, and nothing else is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ralph_gate::memory::Retention;
use ralph_gate_tests::random::Random;

use crate::simulator::broken::{Broken, Mistake};
use crate::simulator::explore::{explore, explore_with};
use crate::simulator::{Extent, Script, Step, Tally};
use ralph_gate_tests::extent::{is_full, seed};

/// Clears after every save, so that short scripts come to it too.
const EAGER: Retention = Retention { keep: 2, gather: 0 };

/// Every sequence of steps up to a length.
fn sequences(longest: usize) -> Vec<Vec<Step>> {
    let mut all: Vec<Vec<Step>> = vec![Vec::new()];
    let mut newest = all.clone();
    for _ in 0..longest {
        newest = newest
            .iter()
            .flat_map(|steps| Step::ALL.map(|step| [steps.as_slice(), &[step]].concat()))
            .collect();
        all.extend(newest.iter().cloned());
    }
    all
}

/// A seed for each script.
fn seeds() -> impl Iterator<Item = u64> {
    let mut random = Random::new(seed());
    std::iter::repeat_with(move || random.next_number())
}

/// Explores scripts on all processors.
fn explore_all(scripts: &[(Script, u64)], extent: Extent) -> Tally {
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((script, seed)) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = explore(script, extent, *seed);
                    tally.lock().unwrap().add(found);
                }
            });
        }
    });
    tally.into_inner().unwrap()
}

fn conclude(what: &str, tally: &Tally, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!("{what}: {tally}, seed {}, {seconds:.1} s", seed());
    for violation in tally.violations.iter().take(10) {
        println!("  {violation}");
    }
    assert!(
        tally.violations.is_empty(),
        "{what}, seed {}: {}",
        seed(),
        tally.violations[0]
    );
    assert!(
        tally.disks > tally.scripts && tally.second > 0,
        "{what}: hardly anything was looked at"
    );
}

#[test]
fn nothing_is_lost_in_any_short_life() {
    let (longest, extent) = if is_full() {
        (
            3,
            Extent {
                life: 200,
                recovery: 3,
                once_in: 24,
            },
        )
    } else {
        (
            1,
            Extent {
                life: 24,
                recovery: 3,
                once_in: 16,
            },
        )
    };
    let start = Instant::now();
    let script = |(seed, steps)| {
        let script = Script {
            steps,
            retention: EAGER,
        };
        (script, seed)
    };
    let scripts: Vec<_> = seeds().zip(sequences(longest)).map(script).collect();
    conclude("short lives", &explore_all(&scripts, extent), start);
}

#[test]
fn nothing_is_lost_in_long_lives() {
    let (count, length, extent) = if is_full() {
        (
            60,
            40,
            Extent {
                life: 10,
                recovery: 2,
                once_in: 32,
            },
        )
    } else {
        (
            12,
            30,
            Extent {
                life: 4,
                recovery: 1,
                once_in: 32,
            },
        )
    };
    let start = Instant::now();
    let script = |seed: u64| {
        let mut random = Random::new(seed);
        let steps = (0..length).map(|_| random.pick(&Step::ALL)).collect();
        let gather = u64::from(random.below(4));
        let script = Script {
            steps,
            retention: Retention {
                keep: 1 + u64::from(random.below(3)),
                gather,
            },
        };
        (script, seed)
    };
    let scripts: Vec<_> = seeds().take(count).map(script).collect();
    conclude("long lives", &explore_all(&scripts, extent), start);
}

#[test]
fn each_mistake_in_the_protocol_is_found() {
    for mistake in [
        Mistake::UnsyncedFolder,
        Mistake::EarlyRename,
        Mistake::EarlyDelete,
        Mistake::UnsyncedLogs,
    ] {
        let script = Script {
            steps: vec![Step::Iterate, Step::Learn, Step::Iterate],
            retention: EAGER,
        };
        let extent = Extent {
            life: 100,
            recovery: 1,
            once_in: 8,
        };
        let tally = explore_with(&script, extent, 1, |sim| Broken { sim, mistake });
        let found = tally.violations.first();
        println!(
            "{mistake:?}: {}",
            found.map_or("not found", |violation| violation
                .lines()
                .next()
                .unwrap_or_default())
        );
        assert!(found.is_some(), "{mistake:?} was not found: {tally}");
    }
}
