//! Digests: BLAKE3, of files and of parts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A BLAKE3 digest; 64 hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(blake3::Hash);

impl Digest {
    /// Of some parts. Where one part ends and the next begins counts.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            add(&mut hasher, part);
        }
        Self(hasher.finalize())
    }

    /// Of a file's content, as any BLAKE3 tool gives it.
    pub fn of_content(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes))
    }

    /// Of what a hasher has seen so far.
    pub fn so_far(hasher: &blake3::Hasher) -> Self {
        Self(hasher.finalize())
    }
}

/// Adds a part such that it can't be shifted into the next one.
pub fn add(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes());
    hasher.update(part);
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_hex().as_str())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match blake3::Hash::from_hex(&text) {
            Ok(hash) if hash.to_hex().as_str() == text => Ok(Self(hash)),
            _ => Err("a digest is 64 hexadecimal digits in lower case"),
        }
    }
}
