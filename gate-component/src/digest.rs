//! BLAKE3 digests with a domain each, so that equal bytes of different meaning never collide.

/// The digest of some bytes, in hex.
pub(crate) fn of(domain: &str, bytes: &[u8]) -> String {
    let mut digest = Digest::new(domain);
    digest.bytes(bytes);
    digest.hex()
}

/// A digest over a sequence of fields. Each field is written with its length, so that no two
/// sequences have the same bytes.
#[derive(Debug, Clone)]
pub(crate) struct Digest(blake3::Hasher);

impl Digest {
    /// A digest for one purpose.
    pub(crate) fn new(domain: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(&format!(
            "ralph-gate 1 {domain}"
        )))
    }

    /// Add one field.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len());
        self.0.update(bytes);
        self
    }

    /// Add a number.
    pub(crate) fn number(&mut self, number: usize) -> &mut Self {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Add raw bytes to a field whose end is marked by the caller.
    pub(crate) fn stream(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(bytes);
        self
    }

    /// The digest in hex, 64 digits.
    pub(crate) fn hex(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// The first 16 hex digits: enough to tell iterations of one loop apart, and small in a snapshot.
pub(crate) fn short(hex: &str) -> &str {
    hex.get(..16).unwrap_or(hex)
}
