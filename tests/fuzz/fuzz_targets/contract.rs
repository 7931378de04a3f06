//! Fuzzes the contract reader in each format.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::contract::check(input));
