//! Fuzzes the promise parser under both rule sets.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::promise::check(input));
