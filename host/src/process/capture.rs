//! What a program wrote: the beginning, the end, and the digest of all of it.

use std::collections::VecDeque;

use super::program::Keep;

/// What a program wrote to one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The beginning.
    pub head: Vec<u8>,
    /// The end; it never repeats bytes of the head.
    pub tail: Vec<u8>,
    /// How many bytes there were in all.
    pub total: u64,
    /// The BLAKE3 digest of all of them.
    pub digest: [u8; 32],
}

impl Captured {
    /// How many bytes were not kept.
    pub fn left_out(&self) -> u64 {
        self.total
            .saturating_sub(self.head.len() as u64)
            .saturating_sub(self.tail.len() as u64)
    }

    /// The same with at most so many bytes from each end.
    #[must_use]
    pub fn shortened(&self, most: usize) -> Self {
        let whole;
        let (head, tail) = if self.left_out() == 0 {
            whole = [self.head.as_slice(), &self.tail].concat();
            (whole.as_slice(), whole.as_slice())
        } else {
            (self.head.as_slice(), self.tail.as_slice())
        };
        let kept = head.len().min(most);
        let room = usize::try_from(self.total)
            .unwrap_or(usize::MAX)
            .saturating_sub(kept);
        let end = tail.len().min(most).min(room);
        Self {
            head: head.get(..kept).unwrap_or_default().to_vec(),
            tail: tail.get(tail.len() - end..).unwrap_or_default().to_vec(),
            total: self.total,
            digest: self.digest,
        }
    }

    /// As text. What is no UTF-8 is replaced, and a line says how much was left out in the middle.
    pub fn text(&self) -> String {
        if self.left_out() == 0 {
            let whole = [self.head.as_slice(), &self.tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let (head, tail) = (without_torn_end(&self.head), without_torn_start(&self.tail));
        let shown = head.len() as u64 + tail.len() as u64;
        let mut text = String::from_utf8_lossy(head).into_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let left_out = self.total.saturating_sub(shown);
        text.push_str(&format!("[… {left_out} bytes left out …]\n"));
        text.push_str(&String::from_utf8_lossy(tail));
        text
    }
}

/// Without the first bytes of a character whose rest was left out.
fn without_torn_end(bytes: &[u8]) -> &[u8] {
    let torn = bytes
        .utf8_chunks()
        .last()
        .map_or(&[][..], |chunk| chunk.invalid());
    // Bytes that could never begin a character are the program's own fault and stay visible.
    let wanted = match torn.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 0,
    };
    let cut = if torn.len() < wanted { torn.len() } else { 0 };
    bytes
        .get(..bytes.len().saturating_sub(cut))
        .unwrap_or_default()
}

/// Without the last bytes of a character whose beginning was left out.
fn without_torn_start(bytes: &[u8]) -> &[u8] {
    let continues = |byte: &&u8| matches!(byte, 0x80..=0xbf);
    let torn = bytes.iter().take(3).take_while(continues).count();
    bytes.get(torn..).unwrap_or_default()
}

/// A stream as it arrives. It never holds more than it should keep.
pub(super) struct Capture {
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    hasher: blake3::Hasher,
}

impl Capture {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            keep,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            hasher: blake3::Hasher::new(),
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        self.hasher.update(chunk);
        let room = self.keep.head.saturating_sub(self.head.len());
        let (head, rest) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(head);
        let rest = rest
            .get(rest.len().saturating_sub(self.keep.tail)..)
            .unwrap_or_default();
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.keep.tail);
        self.tail.drain(..overflow.min(self.tail.len()));
        self.tail.extend(rest);
    }

    pub(super) fn finish(self) -> Captured {
        Captured {
            head: self.head,
            tail: self.tail.into(),
            total: self.total,
            digest: *self.hasher.finalize().as_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(chunks: &[&[u8]], head: usize, tail: usize) -> Captured {
        let mut capture = Capture::new(Keep { head, tail });
        for chunk in chunks {
            capture.push(chunk);
        }
        capture.finish()
    }

    #[test]
    fn head_and_tail_are_the_same_however_the_stream_was_cut() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for (head, tail) in [(0, 0), (10, 0), (0, 10), (7, 13), (600, 600), (1000, 0)] {
            let whole = captured(&[&bytes], head, tail);
            assert_eq!(whole.head, bytes[..head.min(1000)]);
            let rest = 1000 - whole.head.len();
            assert_eq!(whole.tail, bytes[1000 - tail.min(rest)..]);
            assert_eq!(whole.digest, *blake3::hash(&bytes).as_bytes());
            for size in [1, 3, 8, 100, 999] {
                let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
                assert_eq!(captured(&chunks, head, tail), whole, "{head} {tail} {size}");
            }
        }
    }

    #[test]
    fn a_line_says_how_many_bytes_were_left_out() {
        assert_eq!(
            captured(&[b"0123456789"], 3, 2).text(),
            "012\n[… 5 bytes left out …]\n89"
        );
        assert_eq!(captured(&[b"0123456789"], 5, 5).text(), "0123456789");
        assert_eq!(
            captured(&[b"0123456789"], 0, 0).text(),
            "[… 10 bytes left out …]\n"
        );
    }

    #[test]
    fn text_is_cut_between_characters() {
        let euros = "€€€€€€".as_bytes();
        for (head, tail) in [(4, 4), (5, 5), (3, 3)] {
            let text = captured(&[euros], head, tail).text();
            assert_eq!(text, "€\n[… 12 bytes left out …]\n€", "{head} {tail}");
        }
        // Head and tail together are whole, although they meet inside a character.
        assert_eq!(captured(&[euros], 4, 14).text(), "€€€€€€");
    }

    #[test]
    fn bytes_that_are_no_text_stay_visible() {
        let text = captured(&[b"a\xff-----\x80\x80\x80\x80b"], 2, 5).text();
        assert_eq!(text, "a\u{fffd}\n[… 8 bytes left out …]\n\u{fffd}b");
    }
}
