//! Honest components that were cut or changed on their way: each is refused, or is another component that is judged like
//! any other. Neither the host nor its compiler ever falls over.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ralph_gate::evidence::{PolicyComponent, PolicyQuestion, PolicyRunner as _};
use ralph_gate::policy::{Compiler, PolicyError, PolicyHost, Wasi};
use ralph_gate::process::Stop;
use ralph_gate_tests::binary::binary;
use ralph_gate_tests::extent::{is_full, seed};
use ralph_gate_tests::policies;
use ralph_gate_tests::random::Random;
use ralph_gate_tests::trials::{input, limits};

/// Honest ones with all that a component can have: imports, texts, lists, and components in components.
const HONEST: [&str; 3] = [
    "describe-that-counts",
    "read-beyond-the-limit",
    "import-of-no-wasi",
];

#[test]
fn every_beginning_of_a_component_is_refused_or_judged() {
    let step = if is_full() { 1 } else { 37 };
    try_all(|honest| {
        let lengths = (0..honest.len()).step_by(step);
        lengths.map(|length| honest[..length].to_vec()).collect()
    });
}

#[test]
fn every_changed_component_is_refused_or_judged() {
    let flips = if is_full() { 3000 } else { 120 };
    try_all(|honest| {
        let mut random = Random::new(seed());
        let mut flipped = |_| {
            let mut bytes = honest.to_vec();
            // One bit, or a few: two that fit each other reach further than one.
            for _ in 0..=random.index(3) {
                let at = random.index(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            bytes
        };
        (0..flips).map(&mut flipped).collect()
    });
}

fn try_all(damage: impl Fn(&[u8]) -> Vec<Vec<u8>>) {
    let honest = HONEST.map(|name| policies::component(name).unwrap());
    let mut damaged: Vec<Vec<u8>> = honest.iter().flat_map(|honest| damage(honest)).collect();
    damaged.extend(found_by_fuzzing());
    let host = PolicyHost::new(Compiler::at(binary()), None).unwrap();
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(component) = damaged.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = outcome(&host, component);
                    *seen.lock().unwrap().entry(outcome).or_insert(0) += 1;
                }
            });
        }
    });
    let seen: BTreeMap<String, u32> = seen.into_inner().unwrap();
    println!("{} components: {seen:?}", damaged.len());
    assert!(seen["invalid_component"] > 0, "nothing was damaged");
    // These say that the host or its compiler failed, and not the policy.
    assert!(!seen.contains_key("compiler_failed"), "{seen:?}");
    assert!(!seen.contains_key("host"), "{seen:?}");
}

/// What broke something once.
fn found_by_fuzzing() -> impl Iterator<Item = Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions/policy");
    let files = fs::read_dir(folder).into_iter().flatten();
    files.map(|entry| fs::read(entry.unwrap().path()).unwrap())
}

fn outcome(host: &PolicyHost, component: &[u8]) -> String {
    let judged = host.judge(&PolicyQuestion {
        check: "damaged",
        component: PolicyComponent::Pinned(component),
        wasi: Wasi::DenyAll,
        input: &input(),
        limits: &limits(),
        stop: &Stop::new().unwrap(),
    });
    match judged.and_then(|run| run.result) {
        Ok(_) => "judged".to_owned(),
        Err(error) => PolicyError::code(&error).to_owned(),
    }
}
