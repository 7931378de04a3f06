//! Fuzzes the JSON reader, against serde's.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::tree::check_json(input));
