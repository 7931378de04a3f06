//! Fuzzes the TOML reader.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::tree::check_toml(input));
