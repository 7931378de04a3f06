//! Fuzzes reading and updating `prd.json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::prd::check(input));
