//! Whether the report's intervals at 95 % contain the truth as often as they say.
//!
//! Agents of stated honesty and skill are let loose: the gate decides each of their iterations, the memory writes the logs,
//! the report reads them and compares the arms. What is true is calculated from the agents' Markov chain, and nothing of
//! that calculation is shared with the rest. `cargo xtask coverage` repeats it 500 times with 2,000 runs each, which it asks for
//! with `RALPH_GATE_COVERAGE=500`. Otherwise there are fewer and smaller repetitions, and only what these refute is an error.

#[allow(dead_code, reason = "the benchmark's logs use the rest")]
mod play;
mod population;
mod tally;
mod truth;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, thread};

use play::{Stage, choose};
use population::Arm;
use ralph_gate_report::compare::{Options, Side, compare};
use ralph_gate_report::model::{Difference, Estimate, Interval, Report};
use ralph_gate_report::read::{gather, read};
use ralph_gate_report::run::Ending;
use ralph_gate_report::statistics::Random;
use tally::{Kind, Tally};
use truth::Truth;

/// From so many repetitions on the share of covering intervals is known well enough to ask for 95 % and two points.
const ENOUGH: u64 = 500;

/// How much is done.
#[derive(Debug, Clone, Copy)]
struct Extent {
    repetitions: u64,
    runs_per_arm: usize,
}

impl Extent {
    fn asked_for() -> Self {
        match env::var("RALPH_GATE_COVERAGE") {
            Ok(repetitions) => Self {
                repetitions: repetitions.parse().unwrap(),
                runs_per_arm: 1_000,
            },
            Err(_) => Self {
                repetitions: 40,
                runs_per_arm: 100,
            },
        }
    }
}

/// Whether both arms do the same tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Design {
    /// Each run has an agent of its own.
    Apart,
    /// Each task is done in both arms, by the same kind of agent.
    Paired,
}

/// One repetition: runs to a report.
fn repeat(stages: &[Stage; 2], design: Design, runs_per_arm: usize, seed: u64) -> Report {
    let mut random = Random::new(seed);
    let mut logs = Vec::new();
    for number in 0..runs_per_arm {
        let of_the_pair = choose(&mut random);
        let task = format!("task-{number}");
        for (arm, stage) in Arm::ALL.into_iter().zip(stages) {
            let (agent, task) = match design {
                Design::Apart => (choose(&mut random), None),
                Design::Paired => (of_the_pair, Some(task.as_str())),
            };
            let name = format!("{}-{number}", arm.name());
            let log = stage.play(agent, &name, task, &mut random);
            logs.push(read(&name, &log));
        }
    }
    let found = gather(logs);
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!(found.runs.len(), 2 * runs_per_arm);
    assert!(found.runs.iter().all(|run| !run.edited));
    // Also runs that were killed have an end that counts.
    assert!(found.runs.iter().all(|run| run.ending != Ending::Unknown));
    let side = |arm: Arm| Side {
        name: arm.name().to_owned(),
        runs: (0..)
            .zip(&found.runs)
            .filter(|(_, run)| run.labels["arm"] == arm.name())
            .map(|(place, _)| place)
            .collect(),
    };
    let (before, after) = (side(Arm::Standard), side(Arm::Ralph));
    let options = Options {
        // Known as well as cost and latency are, and as expensive to resample.
        omit: BTreeSet::from(["tokens".to_owned(), "tool_calls".to_owned()]),
        ..Options::default()
    };
    let report = compare(found.runs, before, after, &[], &options).unwrap();
    assert_eq!(report.pairing.paired, design == Design::Paired);
    report
}

/// What is true, by the name of the quantity.
fn truths(design: Design) -> BTreeMap<String, (Kind, f64)> {
    let arms = Arm::ALL.map(|arm| Truth::of(arm, false));
    // In differences of amounts only those pairs count that know both.
    let of_pairs = Arm::ALL.map(|arm| Truth::of(arm, design == Design::Paired));
    let mut truths = BTreeMap::new();
    let mut add = |name: &str, kind, [before, after]: &[Truth; 2], of: &dyn Fn(&Truth) -> f64| {
        truths.insert(format!("{name} before"), (kind, of(&arms[0])));
        truths.insert(format!("{name} after"), (kind, of(&arms[1])));
        let apart = of(after) - of(before);
        truths.insert(format!("{name} difference"), (kind, apart));
    };
    let mut rate = |name: &str, of: &dyn Fn(&Truth) -> f64| add(name, Kind::Smooth, &arms, of);
    rate("completion_rate", &Truth::completed);
    rate("verified_completion_rate", &Truth::verified);
    rate("false_complete_rate", &|arm| {
        arm.false_complete() / arm.completed()
    });
    rate("handoff_rate", &|arm| 1.0 - arm.completed());
    let mut amount = |name: &str, kind, of: &dyn Fn(&Truth) -> f64| add(name, kind, &of_pairs, of);
    for (title, p) in [("median", 0.5), ("p95", 0.95)] {
        amount(&format!("iterations {title}"), Kind::Whole, &|arm| {
            arm.iterations(p)
        });
        amount(&format!("latency_ms {title}"), Kind::Smooth, &|arm| {
            arm.quantile(p, 2, |agent| agent.time)
        });
        amount(&format!("cost_usd {title}"), Kind::Smooth, &|arm| {
            arm.quantile(p, 1, |agent| agent.cost)
        });
    }
    amount("iterations mean", Kind::Smooth, &|arm| arm.mean(|_| 1.0));
    amount("latency_ms mean", Kind::Smooth, &|arm| {
        arm.mean(|agent| agent.time)
    });
    amount("cost_usd mean", Kind::Smooth, &|arm| {
        arm.mean(|agent| agent.cost)
    });
    truths
}

/// The intervals of a report, by the same names.
fn intervals(report: &Report) -> Vec<(String, Option<Interval>)> {
    let mut found = Vec::new();
    let mut add = |name: &str, before, after, difference: &Option<Difference>| {
        let difference = difference.as_ref().and_then(|it| it.interval);
        found.push((format!("{name} before"), before));
        found.push((format!("{name} after"), after));
        found.push((format!("{name} difference"), difference));
    };
    for row in &report.overall.rates {
        let (before, after) = (row.before.interval, row.after.interval);
        add(&row.metric, before, after, &row.difference);
    }
    for row in &report.overall.amounts {
        let (before, after) = (&row.before, &row.after);
        let name = |title: &str| format!("{} {title}", row.metric);
        let of = |estimate: &Estimate| estimate.interval;
        let (one, other) = (of(&before.median), of(&after.median));
        add(&name("median"), one, other, &row.median_difference);
        let (one, other) = (of(&before.p95), of(&after.p95));
        add(&name("p95"), one, other, &row.p95_difference);
        let (one, other) = (of(&before.mean), of(&after.mean));
        add(&name("mean"), one, other, &row.mean_difference);
    }
    found
}

fn check(design: Design) {
    let extent = Extent::asked_for();
    let truths = truths(design);
    let next = AtomicU64::new(0);
    let work = || {
        let stages = Arm::ALL.map(Stage::new);
        let mut tally = Tally::default();
        loop {
            let repetition = next.fetch_add(1, Ordering::Relaxed);
            if repetition >= extent.repetitions {
                return tally;
            }
            let seed = (repetition << 1) | u64::from(design == Design::Paired);
            let report = repeat(&stages, design, extent.runs_per_arm, seed);
            for (name, interval) in intervals(&report) {
                let (kind, truth) = truths[&name];
                tally.add(&name, kind, truth, interval);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let tally = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let tallies = workers.into_iter().map(|worker| worker.join().unwrap());
        tallies.fold(Tally::default(), Tally::join)
    });
    let (table, wrong) = if extent.repetitions >= ENOUGH {
        tally.strictly()
    } else {
        tally.leniently()
    };
    println!(
        "{design:?}: {} repetitions of {} runs\n{table}",
        extent.repetitions,
        2 * extent.runs_per_arm
    );
    // Four rates, and three amounts with median, p95 and mean: before, after, difference.
    assert_eq!((tally.len(), truths.len()), (39, 39));
    assert!(
        wrong.is_empty(),
        "not covered as stated:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn intervals_cover_the_truth_of_two_groups() {
    check(Design::Apart);
}

#[test]
fn intervals_cover_the_truth_of_pairs() {
    check(Design::Paired);
}
