//! The gate's speed: native and through the component, in one run, as tables with ratios and limits.

mod hostile;
mod long;
mod ways;

use std::process::ExitCode;
use std::time::Duration;

use ralph_gate::engine as host;

use ralph_gate_tests::clock::{Limits, medians, megabytes_per_second, micros, ratio};
use ways::{Alone, Native, Reused, agent_output};

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let budget = Duration::from_millis(if quick { 100 } else { 1500 });
    let engine = host::GateEngine::new().expect("the gate loads");
    let mut limits = Limits::new();
    load(budget);
    evaluations(&engine, budget, &mut limits);
    long::flat(&engine, budget, &mut limits);
    long::iterations(&engine, budget, &mut limits);
    hostile::texts(budget / 4, &mut limits);
    limits.conclude(quick)
}

/// What a process pays once, and what it would pay if it compiled the component itself.
fn load(budget: Duration) {
    let [embedded, compiled] = medians(
        budget,
        [
            &mut || drop(host::GateEngine::new().expect("the gate loads")),
            &mut || {
                let engine = wasmtime::Engine::default();
                drop(
                    wasmtime::component::Component::new(&engine, host::COMPONENT)
                        .expect("it compiles"),
                );
            },
        ],
    );
    println!("once per process, in microseconds");
    println!("{:>28} {:>10.1}", "embedded machine code", micros(embedded));
    println!(
        "{:>28} {:>10.1} {:>6.0}x\n",
        "compiled at start",
        micros(compiled),
        ratio(compiled, embedded)
    );
}

/// One evaluation, asked for in three ways.
fn evaluations(engine: &host::GateEngine, budget: Duration, limits: &mut Limits) {
    println!("whole evaluation of one iteration, median of many, in microseconds");
    println!(
        "{:>9} {:>10} {:>10} {:>7} {:>10} {:>7} {:>10}",
        "output", "native", "session", "ratio", "alone", "ratio", "session"
    );
    let mut figures = Vec::new();
    for (label, size) in [("1 KiB", 1 << 10), ("64 KiB", 1 << 16), ("1 MiB", 1 << 20)] {
        let output = agent_output(size);
        let mut native = Native::new();
        let mut session = Reused::new(engine, &output, Vec::new());
        let mut alone = Alone::new(engine, &output);
        let [native, session, alone] = medians(
            budget,
            [
                &mut || native.evaluate(&output),
                &mut || session.evaluate(),
                &mut || alone.evaluate(),
            ],
        );
        let speed = megabytes_per_second(size, session);
        println!(
            "{label:>9} {:>10.1} {:>10.1} {:>6.2}x {:>10.1} {:>6.2}x {speed:>5.0} MB/s",
            micros(native),
            micros(session),
            ratio(session, native),
            micros(alone),
            ratio(alone, native),
        );
        figures.push((ratio(session, native), speed));
    }
    println!(
        "native: the crate; session: the component, contract read once; alone: the component, contract and snapshot read anew"
    );
    limits.at_most("1 KiB, session over native", figures[0].0, 3.0);
    limits.at_most("1 MiB, session over native", figures[2].0, 2.0);
    limits.at_least("1 MiB, session, MB/s", figures[2].1, 300.0);
}
