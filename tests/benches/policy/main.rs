//! The speed of policies: a call, what metering costs, compiling and loading, and an expression beside its native engine.

mod components;
mod metering;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ralph_gate::policy::{
    CodeCache, Compiler, Counts, FindingOutcome, Judgement, Policy, PolicyFinding, PolicyHost,
    PolicyInput, PolicyLimits, PolicyOutcome, Shipped, Wasi,
};
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::clock::{Limits, median, medians, micros, ratio, wish};
use serde_json::json;

/// What the whole call of a policy that does nothing may take, in microseconds.
const CALL: f64 = 60.0;
/// What is wished for.
const WISHED: f64 = 30.0;

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let budget = Duration::from_millis(if quick { 100 } else { 1500 });
    let mut limits = Limits::new();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let cache = CodeCache::open(&folder.path().join("cache")).expect("a cache");
    let host = PolicyHost::new(Compiler::at(binary()), Some(cache)).expect("a host");
    call(&host, budget, &mut limits);
    metering::measure(budget);
    compile(folder.path(), if quick { 1 } else { 5 });
    expressions(&host, budget);
    limits.conclude(quick)
}

fn load(host: &PolicyHost, component: &[u8]) -> Arc<Policy> {
    host.load(component, Wasi::Absent, &PolicyLimits::default())
        .expect("an honest policy")
}

fn ask(policy: &Arc<Policy>, input: &PolicyInput) -> Judgement {
    let run = policy.evaluate(input, &PolicyLimits::default());
    run.expect("it runs").result.expect("it judges")
}

/// A policy that passes without looking at anything: all that is measured is the host's own.
fn call(host: &PolicyHost, budget: Duration, limits: &mut Limits) {
    let policy = load(host, &components::trivial());
    let (empty, told) = (PolicyInput::default(), evidence());
    let mut inside = Vec::new();
    let [whole, with_evidence] = medians(
        budget,
        [
            &mut || {
                let run = policy.evaluate(&empty, &PolicyLimits::default());
                inside.push(run.expect("it runs").elapsed);
            },
            &mut || assert_eq!(ask(&policy, &told).outcome, PolicyOutcome::Pass),
        ],
    );
    println!("one call of a policy that does nothing, in microseconds");
    println!(
        "{:>44} {:>8.1}",
        "new store, instance and call",
        micros(median(inside))
    );
    println!(
        "{:>44} {:>8.1}",
        "the same, as whoever asks sees it",
        micros(whole)
    );
    println!(
        "{:>44} {:>8.1}",
        "and with evidence of ten checks",
        micros(with_evidence)
    );
    limits.at_most("one call, in microseconds", micros(whole), CALL);
    let why = "most of it is mapping the memory";
    wish("one call, in microseconds", micros(whole), WISHED, why);
}

/// What ten checks found.
fn evidence() -> PolicyInput {
    let finding = |number: u32| PolicyFinding {
        id: format!("check{number}"),
        kind: "tests_green".to_owned(),
        outcome: FindingOutcome::Pass,
        reason: "14 passed".to_owned(),
        tests: Some(Counts {
            passed: 14,
            failed: 0,
            skipped: 0,
        }),
        exit: Some(0),
    };
    PolicyInput {
        iteration: 1,
        findings: (0..10).map(finding).collect(),
        ..PolicyInput::default()
    }
}

/// From bytes to a policy that can be asked: compiled, from the cache, and from memory.
fn compile(folder: &std::path::Path, runs: usize) {
    println!("\nfrom bytes to a policy that is ready, in milliseconds");
    println!(
        "{:>10} {:>10} {:>10} {:>10}",
        "component", "compiled", "cached", "ready"
    );
    for (label, size) in [("100 KB", 100_000), ("2 MB", 2_000_000)] {
        let component = components::large(size);
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for run in 0..runs {
            let place = folder.join(format!("{size}-{run}"));
            let host = || {
                let cache = CodeCache::open(&place).expect("a cache");
                PolicyHost::new(Compiler::at(binary()), Some(cache)).expect("a host")
            };
            let (first, second) = (host(), host());
            for (times, host) in times.iter_mut().zip([&first, &second, &second]) {
                let begun = Instant::now();
                load(host, &component);
                times.push(begun.elapsed());
            }
        }
        let [compiled, cached, ready] = times.map(|times| micros(median(times)) / 1000.0);
        println!("{label:>10} {compiled:>10.2} {cached:>10.2} {ready:>10.3}");
    }
}

/// The same decision in the sandbox and natively.
fn expressions(host: &PolicyHost, budget: Duration) {
    println!("\none decision over ten checks, in microseconds");
    println!(
        "{:>10} {:>10} {:>10} {:>7}",
        "", "sandbox", "native", "ratio"
    );
    let expression = "tests.failed == 0 && tests.passed >= 140 && checks.check3.passed";
    let module = "package p\nimport rego.v1\ndefault allow := false\n\
        allow if { input.tests.failed == 0; input.tests.passed >= 140; input.checks.check3.passed }";
    for (shipped, settings) in [
        (Shipped::Cel, json!({ "expr": expression })),
        (Shipped::Rego, json!({ "module": module })),
    ] {
        let policy = host.load_shipped(shipped).expect("it is shipped");
        let input = PolicyInput {
            settings: settings.to_string(),
            ..evidence()
        };
        let mut native = components::Native::new(shipped, &input);
        let [sandbox, native] = medians(
            budget,
            [
                &mut || assert_eq!(ask(&policy, &input).outcome, PolicyOutcome::Pass),
                &mut || native.decide(),
            ],
        );
        println!(
            "{:>10} {:>10.1} {:>10.1} {:>6.1}x",
            shipped.as_str(),
            micros(sandbox),
            micros(native),
            ratio(sandbox, native)
        );
    }
}
