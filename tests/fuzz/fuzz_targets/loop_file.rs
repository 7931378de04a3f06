//! Fuzzes reading, updating and writing the loop state file.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::loop_file::check(input));
