//! Fuzzes the component against the native gate: any function, any input, the same bytes.
#![no_main]

use std::sync::{LazyLock, Mutex, PoisonError};

use libfuzzer_sys::fuzz_target;
use ralph_gate_fuzz::invariants::differential;
use ralph_gate_fuzz::partner::Partner;

static PARTNER: LazyLock<Mutex<Result<Partner, String>>> =
    LazyLock::new(|| Mutex::new(Partner::start("answer")));

fuzz_target!(|input: &[u8]| {
    let mut partner = PARTNER.lock().unwrap_or_else(PoisonError::into_inner);
    let partner = match &mut *partner {
        Ok(partner) => partner,
        Err(error) => panic!("{error}"),
    };
    differential::check(input, &mut |function, input| partner.call(function, input));
});
