//! Fuzzes what runs untrusted policies: any bytes are refused or judged, the same each time, and the host lives.
//!
//! The host is a process of its own, into which libFuzzer can't see. What it sees is the validator that the host's
//! compiler begins with: whatever reaches new parts of that is kept and changed further.
#![no_main]

use std::sync::{LazyLock, Mutex, PoisonError};

use libfuzzer_sys::fuzz_target;
use ralph_gate_fuzz::partner::Partner;
use wasmparser::{Validator, WasmFeatures};

/// One in so many inputs that are no component is handed over all the same: to refuse them is a part of the work, but
/// most inputs are of this kind.
const SELDOM: u8 = 32;

/// Says that the host or its compiler failed, and not the policy.
const FAILURES: [&str; 2] = ["host", "compiler_failed"];

static PARTNER: LazyLock<Mutex<Result<Partner, String>>> =
    LazyLock::new(|| Mutex::new(Partner::start("policies")));

fuzz_target!(|input: &[u8]| {
    let is_valid = Validator::new_with_features(WasmFeatures::default())
        .validate_all(input)
        .is_ok();
    let [chance, ..] = *blake3::hash(input).as_bytes();
    if !is_valid && chance % SELDOM != 0 {
        return;
    }
    let mut partner = PARTNER.lock().unwrap_or_else(PoisonError::into_inner);
    let partner = match &mut *partner {
        Ok(partner) => partner,
        Err(error) => panic!("{error}"),
    };
    match partner.judge(input) {
        Ok(code) => assert!(!FAILURES.contains(&code.as_str()), "{code}"),
        Err(error) => panic!("{error}"),
    }
});
