//! What size and length cost: bytes of output, iterations of a loop.

use std::time::{Duration, Instant};

use ralph_gate::engine as host;

use crate::ways::{Reused, agent_output};
use ralph_gate_tests::clock::{Limits, median, medians, micros, nanos_per_byte, ratio, wish};

/// The time per byte must be the same for short and for long outputs.
pub(crate) fn flat(engine: &host::GateEngine, budget: Duration, limits: &mut Limits) {
    const BASE: usize = 1 << 20;
    let mut nothing = Reused::new(engine, &agent_output(64), Vec::new());
    let mut base = Reused::new(engine, &agent_output(BASE), Vec::new());
    let mut measured = Vec::new();
    for (label, size) in [
        ("16 KiB", 1 << 14),
        ("64 KiB", 1 << 16),
        ("256 KiB", 1 << 18),
        ("4 MiB", 1 << 22),
        ("16 MiB", 1 << 24),
    ] {
        let mut session = Reused::new(engine, &agent_output(size), Vec::new());
        // Each by itself for a while, so that a short one finds its memory in the processor's caches, as it would
        // in a loop; a few rounds, so that a busy machine slows all of them.
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..5 {
            times[0].extend(medians(budget / 30, [&mut || nothing.evaluate()]));
            times[1].extend(medians(budget / 10, [&mut || base.evaluate()]));
            times[2].extend(medians(budget / 10, [&mut || session.evaluate()]));
        }
        let [nothing, base, time] = times.map(median);
        let per_byte = |time: Duration, size| nanos_per_byte(size, time);
        let ratio = per_byte(time, size) / per_byte(base, BASE);
        let without = per_byte(time.saturating_sub(nothing), size)
            / per_byte(base.saturating_sub(nothing), BASE);
        measured.push((label, size, nothing, time, ratio, without));
    }
    println!("\ntime per byte beside an output of 1 MiB, session");
    println!(
        "{:>9} {:>12} {:>8} {:>7} {:>24}",
        "output", "µs", "ns/byte", "ratio", "without the fixed part"
    );
    for (label, size, nothing, time, ratio, without) in &measured {
        println!(
            "{label:>9} {:>12.1} {:>8.2} {ratio:>6.2}x {without:>10.2}x of {:>5.1} µs",
            micros(*time),
            nanos_per_byte(*size, *time),
            micros(*nothing)
        );
    }
    let spread = |ratios: Vec<f64>| {
        let most = ratios.iter().copied().fold(1.0, f64::max);
        most / ratios.iter().copied().fold(1.0, f64::min)
    };
    let whole = spread(measured.iter().map(|row| row.4).collect());
    let without = spread(measured.iter().map(|row| row.5).collect());
    wish(
        "dearest byte over cheapest, 16 KiB to 16 MiB",
        whole,
        1.25,
        "what every call costs is a third of the shortest",
    );
    limits.at_most("the same without the fixed part", without, 1.25);
}

const LOOP: &str = "mode: ralph\ncompletion_token: COMPLETE\nloop_max_iters: 10000\nno_progress_limit: 20\n\
                    plateau_limit: 10000\nmax_tool_calls: 1000000\n\
                    completion_checks: [build, format, lint, unit, end_to_end, docs, coverage, licences]\n";

/// An iteration late in a loop must cost what an early one costs.
pub(crate) fn iterations(engine: &host::GateEngine, budget: Duration, limits: &mut Limits) {
    let mut early = Late::after(engine, 9);
    let mut late = Late::after(engine, 9_999);
    let start = Instant::now();
    let mut times = [Vec::new(), Vec::new()];
    while start.elapsed() < budget * 2 {
        times[0].push(early.evaluate(engine));
        times[1].push(late.evaluate(engine));
    }
    let [early, late] = times.map(median);
    println!("\none iteration, 8 checks, 20 artifacts, output of 1 KiB, session");
    println!("{:>9} {:>12}", "iteration", "µs");
    println!("{:>9} {:>12.1}", "10", micros(early));
    println!("{:>9} {:>12.1}", "10000", micros(late));
    limits.at_most(
        "iteration 10,000 over iteration 10",
        ratio(late, early),
        1.1,
    );
}

/// A loop that stands before one iteration.
struct Late {
    snapshot: String,
    next: host::Iteration,
}

impl Late {
    fn after(engine: &host::GateEngine, iterations: u32) -> Self {
        let mut session = engine.open(LOOP, None).expect("the contract is good");
        for index in 1..=iterations {
            let verdict = session
                .evaluate_final(&iteration(index))
                .expect("it is in order");
            assert_eq!(verdict.decision, host::Decision::Continue, "{index}");
        }
        let snapshot = session.snapshot().expect("the session lives");
        Self {
            snapshot: snapshot.expect("there were iterations"),
            next: iteration(iterations + 1),
        }
    }

    fn evaluate(&mut self, engine: &host::GateEngine) -> Duration {
        let mut session = engine
            .open(LOOP, Some(&self.snapshot))
            .expect("the snapshot is good");
        // The first call of an instance pays for its memory.
        session.brief().expect("the session lives");
        let begin = Instant::now();
        session.evaluate_final(&self.next).expect("it is in order");
        begin.elapsed()
    }
}

/// Checks that come and go, artifacts of which some change.
fn iteration(index: u32) -> host::Iteration {
    let checks = [
        "build",
        "format",
        "lint",
        "unit",
        "end_to_end",
        "docs",
        "coverage",
        "licences",
    ];
    host::Iteration {
        index,
        action: host::Action::Final,
        output: agent_output(1 << 10),
        checks: (0..)
            .zip(checks)
            .map(|(place, id)| {
                let outcome = match (index + place) % 3 {
                    0 => host::Outcome::Pass,
                    _ => host::Outcome::Fail,
                };
                host::CheckResult::new(id, outcome)
            })
            .collect(),
        artifacts: (0..20)
            .map(|place| host::Artifact {
                name: format!("src/file{place}.rs"),
                kind: host::ArtifactKind::Digest,
                content: format!("{}", if place < 10 { index } else { place }),
            })
            .collect(),
        ..host::Iteration::default()
    }
}
