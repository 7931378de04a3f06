//! The seal that closes a line or a file with its own digest.

use crate::digest::Digest;

/// What stands between an object's own fields and its digest.
const SEAM: &str = ",\"digest\":\"";
const END: &str = "\"}";
const HEX: usize = 64;

/// Closes a JSON object with the digest of everything before it, as its last field.
pub(super) fn seal(mut object: String) -> (String, Digest) {
    object.pop();
    let digest = Digest::of_content(object.as_bytes());
    object.push_str(SEAM);
    object.push_str(&digest.to_string());
    object.push_str(END);
    (object, digest)
}

/// The digest of a sealed object, such as a line of a log, if it is the right one.
///
/// ```
/// assert_eq!(ralph_gate_memory::sealed(b"{}"), None);
/// ```
pub fn sealed(object: &[u8]) -> Option<Digest> {
    let start = object.len().checked_sub(SEAM.len() + HEX + END.len())?;
    let (content, seal) = object.split_at_checked(start)?;
    let digest = Digest::of_content(content);
    let expected = format!("{SEAM}{digest}{END}");
    (seal == expected.as_bytes()).then_some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_broken_by_every_changed_bit() {
        let (text, digest) = seal(r#"{"a":1}"#.to_owned());
        assert_eq!(sealed(text.as_bytes()), Some(digest));
        for bit in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(sealed(&bytes), None, "bit {bit}");
        }
        for length in 0..text.len() {
            assert_eq!(sealed(&text.as_bytes()[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn parts_can_not_be_shifted_into_each_other() {
        assert_ne!(Digest::of(&[b"ab", b"c"]), Digest::of(&[b"a", b"bc"]));
    }
}
