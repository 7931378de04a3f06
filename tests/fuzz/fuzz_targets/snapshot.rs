//! Fuzzes the snapshot reader and writer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::snapshot::check(input));
