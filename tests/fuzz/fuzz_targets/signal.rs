//! Fuzzes the loop evaluator on issue files.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::signal::check(input));
