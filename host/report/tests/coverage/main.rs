//! Whether the report's intervals at 95 % contain the truth as often as they say.
//!
//! Agents of stated honesty and skill are let loose: the gate decides each of their iterations, the memory writes the logs,
//! the report reads them and compares the arms. What is true is calculated from the agents' Markov chain, and nothing of
//! that calculation is shared with the rest. `cargo xtask coverage` repeats it 500 times with 2,000 runs each, which it asks for
//! with `RALPH_GATE_COVERAGE=500`. Otherwise there are fewer and smaller repetitions, and only what these refute is an error.

mod play;
mod population;
mod tally;
mod truth;

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, thread};

use play::{Stage, choose};
use population::Arm;
use ralph_gate_report::compare::{Options, Side, compare};
use ralph_gate_report::model::{AmountRow, Estimate, Interval, RateRow, Report};
use ralph_gate_report::read::{gather, read};
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

/// The truth of both arms, and of pairs.
struct Truths {
    before: Truth,
    after: Truth,
    /// Of the runs that count in differences of amounts.
    before_of_pairs: Truth,
    after_of_pairs: Truth,
}

impl Truths {
    fn of(design: Design) -> Self {
        let paired = design == Design::Paired;
        Self {
            before: Truth::of(Arm::Standard, false),
            after: Truth::of(Arm::Ralph, false),
            before_of_pairs: Truth::of(Arm::Standard, paired),
            after_of_pairs: Truth::of(Arm::Ralph, paired),
        }
    }

    fn compare(&self, report: &Report) -> Tally {
        let mut tally = Tally::default();
        for row in &report.overall.rates {
            self.rate(row, &mut tally);
        }
        for row in &report.overall.amounts {
            self.amount(row, &mut tally);
        }
        tally
    }

    fn rate(&self, row: &RateRow, tally: &mut Tally) {
        let truth = |arm: &Truth| match row.metric.as_str() {
            "completion_rate" => arm.completed(),
            "verified_completion_rate" => arm.verified(),
            "false_complete_rate" => arm.false_complete(),
            "false_share_of_completions" => arm.false_complete() / arm.completed(),
            "handoff_rate" => 1.0 - arm.completed(),
            other => panic!("nobody knows the truth of {other}"),
        };
        let (before, after) = (truth(&self.before), truth(&self.after));
        let name = |of: &str| format!("{} {of}", row.metric);
        let difference = row.difference.as_ref().unwrap();
        tally.add(&name("before"), Kind::Smooth, before, row.before.interval);
        tally.add(&name("after"), Kind::Smooth, after, row.after.interval);
        tally.add(
            &name("difference"),
            Kind::Smooth,
            after - before,
            difference.interval,
        );
    }

    fn amount(&self, row: &AmountRow, tally: &mut Tally) {
        let whole = row.metric == "iterations";
        let quantile = |arm: &Truth, p: f64| match row.metric.as_str() {
            "iterations" => arm.iterations(p),
            "latency_ms" => arm.quantile(p, 2, |agent| agent.time),
            "cost_usd" => arm.quantile(p, 1, |agent| agent.cost),
            other => panic!("nobody knows the truth of {other}"),
        };
        let mean = |arm: &Truth| match row.metric.as_str() {
            "iterations" => arm.mean_iterations(),
            "latency_ms" => arm.mean(|agent| agent.time),
            "cost_usd" => arm.mean(|agent| agent.cost),
            other => panic!("nobody knows the truth of {other}"),
        };
        let kind = if whole { Kind::Whole } else { Kind::Smooth };
        let mut add =
            |name: &str, kind, truth: &dyn Fn(&Truth) -> f64, found: [Option<Interval>; 3]| {
                let [before, after, difference] = found;
                let name = |of: &str| format!("{} {name} {of}", row.metric);
                tally.add(&name("before"), kind, truth(&self.before), before);
                tally.add(&name("after"), kind, truth(&self.after), after);
                let apart = truth(&self.after_of_pairs) - truth(&self.before_of_pairs);
                tally.add(&name("difference"), kind, apart, difference);
            };
        let of = |estimate: &Estimate| estimate.interval;
        let found = [
            of(&row.before.median),
            of(&row.after.median),
            row.median_difference.as_ref().unwrap().interval,
        ];
        add("median", kind, &|arm| quantile(arm, 0.5), found);
        let found = [
            of(&row.before.p95),
            of(&row.after.p95),
            row.p95_difference.as_ref().unwrap().interval,
        ];
        add("p95", kind, &|arm| quantile(arm, 0.95), found);
        let found = [
            of(&row.before.mean),
            of(&row.after.mean),
            row.mean_difference.as_ref().unwrap().interval,
        ];
        add("mean", Kind::Smooth, &mean, found);
    }
}

fn check(design: Design) {
    let extent = Extent::asked_for();
    let truths = Truths::of(design);
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
            tally = tally.join(truths.compare(&report));
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
    // Five rates, and three amounts with median, p95 and mean: before, after, difference.
    assert_eq!(tally.len(), 3 * (5 + 3 * 3));
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
