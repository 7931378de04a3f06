//! Which session a memory belongs to, and the folder that is its own.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::MemoryError;

/// How much of the key can be seen in the folder's name.
const SLUG: usize = 40;
/// Digits of the digest in the folder's name: 128 bits.
const DIGITS: usize = 32;

/// What names a session. Any text will do: the folder is named after its digest.
///
/// ```
/// use ralph_gate_memory::SessionKey;
///
/// let key = SessionKey::Session("../../etc/passwd".into());
/// assert!(key.folder().starts_with("etc-passwd-"));
/// // A draft and a session of the same name are two things.
/// assert_ne!(key.folder(), SessionKey::Draft("../../etc/passwd".into()).folder());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SessionKey {
    /// A request's `session_key`.
    #[serde(rename = "session_key")]
    Session(String),
    /// A request's `draft_id`, for a loop whose session has no key yet.
    #[serde(rename = "draft_id")]
    Draft(String),
}

impl SessionKey {
    /// The key itself.
    pub fn text(&self) -> &str {
        match self {
            Self::Session(text) | Self::Draft(text) => text,
        }
    }

    /// The name of the session's folder: readable letters, then a digest of the whole key. Lower case, so that it
    /// is the same folder where file names ignore case; no name that any system reserves.
    pub fn folder(&self) -> String {
        let digits = self.digest().to_string();
        let digits = digits.get(..DIGITS).unwrap_or(&digits);
        match slug(self.text()) {
            slug if slug.is_empty() => digits.to_owned(),
            slug => format!("{slug}-{digits}"),
        }
    }

    /// The same for a key that may be used: an empty one names nothing.
    pub fn checked_folder(&self) -> Result<String, MemoryError> {
        if self.text().is_empty() {
            return Err(MemoryError::EmptyKey);
        }
        Ok(self.folder())
    }

    /// Of kind and key.
    pub(super) fn digest(&self) -> Digest {
        let kind = match self {
            Self::Session(_) => "session_key",
            Self::Draft(_) => "draft_id",
        };
        Digest::of(&[b"ralph-gate", kind.as_bytes(), self.text().as_bytes()])
    }
}

/// The letters and digits of the key, with a dash for each run of anything else.
fn slug(key: &str) -> String {
    let mut slug = String::new();
    for character in key.chars() {
        if slug.len() >= SLUG {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(key: &str) -> String {
        SessionKey::Session(key.to_owned()).folder()
    }

    #[test]
    fn every_key_becomes_one_harmless_name() {
        let long = "k".repeat(10_000);
        let keys = [
            "",
            ".",
            "..",
            "../..",
            "/",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "C:\\x",
            "CON",
            "nul.txt",
            "a\0b",
            "-rf",
            "~",
            "\u{202e}gnp.exe",
            "ключ",
            "  ",
            "a\nb",
            &long,
            ".lock",
            "COM1",
            "$(reboot)",
        ];
        let mut folders = std::collections::BTreeSet::new();
        for key in keys {
            let name = folder(key);
            assert!(name.len() <= SLUG + 1 + DIGITS, "{name}");
            assert!(
                name.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{name}"
            );
            assert!(!name.starts_with('-') && name.len() >= DIGITS, "{name}");
            folders.insert(name);
        }
        assert_eq!(folders.len(), keys.len());
    }

    #[test]
    fn keys_that_differ_in_case_alone_get_folders_that_differ_in_more() {
        assert_ne!(folder("Main").to_lowercase(), folder("main").to_lowercase());
    }

    #[test]
    fn the_same_key_is_the_same_folder_for_ever() {
        assert_eq!(
            folder("night run 7"),
            "night-run-7-45b22bc3bb6e3c78cef0add37eca8076"
        );
    }
}
