//! Fuzzes verdicts on inputs of any shape.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::evaluate::check(input));
