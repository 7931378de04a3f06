//! Rules about snapshots: what is read is written back, and damage is never read.

use std::fmt::Write as _;

use ralph_gate_component::snapshot::{MAX_BYTES, State, view};

const SEAL: &str = ",\"seal\":\"";

/// Checks a text as a snapshot, as it is and with a seal that fits.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    if let Ok(mut state) = State::read(&text) {
        assert_eq!(
            state.write(),
            text.trim(),
            "a snapshot is written as it was read"
        );
        undamaged(&text);
        assert_eq!(reseal(&text, None), text.trim(), "seals are made otherwise");
    }
    let sealed = reseal(&text, None);
    if let Ok(mut state) = State::read(&sealed) {
        let seal = state.seal.clone();
        // Whoever seals a text by hand may lay it out by hand; the gate's own layout is a fixed point.
        let written = state.write();
        let mut again = State::read(&written).expect("what the gate writes, it reads");
        assert_eq!(again, state);
        assert_eq!(again.write(), written);
        assert_eq!(state.seal == seal, written == sealed);
        let view = view(&sealed).expect("what can be read can be shown");
        assert_eq!(
            (view.iteration, view.stopped),
            (state.iteration, state.stopped)
        );
    }
}

/// One changed byte is found.
fn undamaged(text: &str) {
    let text = text.trim();
    assert!(text.len() <= MAX_BYTES);
    let step = text.len() / 16 + 1;
    for place in (0..text.len()).step_by(step) {
        let mut bytes = text.as_bytes().to_vec();
        if let Some(byte) = bytes.get_mut(place) {
            *byte = if *byte == b'0' { b'1' } else { b'0' };
        }
        let damaged = String::from_utf8_lossy(&bytes);
        assert!(
            damaged == text || State::read(&damaged).is_err(),
            "damage at byte {place} was not found"
        );
    }
}

/// The text with the seal that its content needs, and with another contract where one is given.
pub fn reseal(text: &str, contract: Option<&str>) -> String {
    let text = text.trim();
    let content = text.rfind(SEAL).and_then(|at| text.get(..at));
    let mut content = content.unwrap_or(text).to_owned();
    if let Some(digest) = contract {
        content = with_contract(&content, digest);
    }
    let seal = seal(&content);
    let _ = write!(content, "{SEAL}{seal}\"}}");
    content
}

fn with_contract(content: &str, digest: &str) -> String {
    const FIELD: &str = "\"contract\":\"";
    let found = content.find(FIELD).and_then(|at| {
        let (before, rest) = content.split_at(at + FIELD.len());
        let end = rest.find('"')?;
        Some(format!("{before}{digest}{}", rest.get(end..)?))
    });
    found.unwrap_or_else(|| content.to_owned())
}

/// The gate's digest of a snapshot's content: no secret, so anybody can make one.
fn seal(content: &str) -> String {
    let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
    let mut hasher = blake3::Hasher::new_derive_key("ralph-gate 1 snapshot");
    hasher.update(&length.to_le_bytes());
    hasher.update(content.as_bytes());
    hasher.finalize().to_hex().to_string()
}
