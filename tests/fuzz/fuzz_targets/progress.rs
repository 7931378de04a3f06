//! Fuzzes reading and appending `progress.txt`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::progress::check(input));
