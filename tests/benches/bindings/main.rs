//! An evaluation natively and in wasmtime, by the size of the output, in microseconds, as JSON: for `cargo xtask bench bindings`.

#[path = "../gate/ways.rs"]
#[allow(
    dead_code,
    reason = "what the other benchmark needs beside the two ways that are measured here"
)]
mod ways;

use std::time::Duration;

use ralph_gate::engine::GateEngine;
use ralph_gate_tests::clock::{medians, micros};
use serde_json::{Map, Value, json};
use ways::{Native, Reused, agent_output};

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let budget = Duration::from_millis(if quick { 100 } else { 1000 });
    let engine = GateEngine::new().expect("the gate loads");
    let (mut native, mut wasmtime) = (Map::new(), Map::new());
    for (label, size) in [("1KiB", 1 << 10), ("64KiB", 1 << 16)] {
        let output = agent_output(size);
        let mut one = Native::new();
        let mut other = Reused::new(&engine, &output, Vec::new());
        let times = medians(
            budget,
            [&mut || one.evaluate(&output), &mut || other.evaluate()],
        );
        for (line, time) in [&mut native, &mut wasmtime].into_iter().zip(times) {
            line.insert(label.to_owned(), Value::from(micros(time)));
        }
    }
    println!("{}", json!({ "native": native, "wasmtime": wasmtime }));
}
