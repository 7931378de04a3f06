//! Bytes that the build script compressed, and that are unpacked when they are first needed: most processes never do.

use std::sync::OnceLock;

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The most bytes that something may have. The largest is the machine code of a shipped policy.
const LIMIT: usize = 64 << 20;

/// Compressed bytes of this program.
#[derive(Debug)]
pub(crate) struct Packed {
    packed: &'static [u8],
    unpacked: OnceLock<Vec<u8>>,
}

impl Packed {
    /// Bytes that the build script wrote.
    pub(crate) const fn new(packed: &'static [u8]) -> Self {
        Self {
            packed,
            unpacked: OnceLock::new(),
        }
    }

    /// The bytes as they were; none if the program is damaged, which whoever loads them notices.
    pub(crate) fn get(&self) -> &[u8] {
        self.unpacked
            .get_or_init(|| decompress_to_vec_with_limit(self.packed, LIMIT).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_bytes_are_none() {
        let packed = Packed::new(b"not compressed");
        assert!(packed.get().is_empty());
    }
}
