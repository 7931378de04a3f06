//! Fuzzes whole loops that are well-formed by construction.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ralph_gate_fuzz::invariants::session::check(input));
