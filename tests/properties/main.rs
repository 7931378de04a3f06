//! Property tests: the rules of `invariants` on generated inputs, on the vectors' inputs and on what fuzzing found.
//!
//! The generator is deterministic and the inputs are the same bytes that libFuzzer feeds the targets of
//! `tests/fuzz`, so an input can go from one to the other. A failing input is made small and printed.

mod formats;
#[expect(
    unreachable_pub,
    reason = "the fuzz targets use these modules from another crate"
)]
mod invariants;
mod outputs;
mod random;
mod replay;
mod seeds;
mod shrink;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use invariants::{TARGETS, differential};
use ralph_gate::GateEngine;
use random::Random;

static SEEDS: LazyLock<seeds::Seeds> =
    LazyLock::new(|| seeds::from_vectors().expect("the vectors can be read"));

/// The inputs that the vectors hold for a target.
fn seeds_of(target: &str) -> &'static BTreeMap<String, String> {
    SEEDS
        .get(target)
        .unwrap_or_else(|| panic!("no vector has an input for `{target}`"))
}

/// Runs a target's rules on an input. Panics with a small input where one is broken.
fn hold(target: &str, check: &mut dyn FnMut(&[u8]), input: &[u8]) {
    if shrink::broken(check, input).is_none() {
        return;
    }
    let small = shrink::smallest(check, input);
    let why = shrink::broken(check, &small).unwrap_or_default();
    panic!(
        "`{target}` breaks a rule on b\"{}\": {why}",
        small.escape_ascii()
    );
}

/// The vectors' inputs, then as many generated ones as said.
fn hold_for_generated(target: &str, check: &mut dyn FnMut(&[u8]), count: usize) {
    let seeds: Vec<&str> = seeds_of(target).values().map(String::as_str).collect();
    for seed in &seeds {
        hold(target, check, seed.as_bytes());
    }
    let mut random = Random::new(u64::try_from(count).unwrap());
    for round in 0..count {
        let input = match round % 4 {
            0 => random.text(24).into_bytes(),
            1 if target == "session" => random.bytes(400),
            _ => {
                let (one, other) = (*random.pick(&seeds), *random.pick(&seeds));
                random.changed(one, other)
            }
        };
        hold(target, check, &input);
    }
}

/// The rules of a target that needs no component.
fn rules_of(target: &str) -> fn(&[u8]) {
    TARGETS
        .iter()
        .find(|known| known.name == target)
        .unwrap_or_else(|| panic!("there is no target `{target}`"))
        .check
}

/// The component's answer.
fn component(engine: &GateEngine) -> impl FnMut(&str, &str) -> Result<String, String> {
    |function, input| {
        engine
            .call(function, input)
            .map_err(|error| error.to_string())
    }
}

/// One test per target, so that they run side by side and a failure names its target.
macro_rules! generated {
    ($($target:ident $count:literal)*) => {
        mod every_rule_holds_for_generated_inputs {
            $(
                #[test]
                fn $target() {
                    let target = stringify!($target);
                    let mut check = super::rules_of(target);
                    super::hold_for_generated(target, &mut check, $count);
                }
            )*

            #[test]
            fn no_target_is_left_out() {
                let tested = [$(stringify!($target)),*];
                let known: Vec<&str> = super::TARGETS.iter().map(|target| target.name).collect();
                assert_eq!(tested.as_slice(), known);
            }
        }
    };
}

generated! {
    contract 600
    evaluate 400
    fingerprint 1500
    json 3000
    loop_file 1500
    prd 1500
    progress 1500
    promise 4000
    route 600
    session 200
    signal 1200
    snapshot 500
    toml 2000
    yaml 2000
}

#[test]
fn the_component_answers_with_the_bytes_of_the_native_gate() {
    let engine = GateEngine::new().unwrap();
    let mut component = component(&engine);
    let mut check = |input: &[u8]| differential::check(input, &mut component);
    hold_for_generated("differential", &mut check, 300);
}

#[test]
fn an_answer_with_other_bytes_is_found() {
    let mut almost =
        |function: &str, input: &str| Ok(ralph_gate_component::json::call(function, input) + " ");
    let mut check = |input: &[u8]| differential::check(input, &mut almost);
    assert!(shrink::broken(&mut check, b"parse_promises.output\nx").is_some());
    let mut gone = |_: &str, _: &str| Err("it trapped".to_owned());
    let mut check = |input: &[u8]| differential::check(input, &mut gone);
    assert!(shrink::broken(&mut check, b"route\n{}").is_some());
}
