//! Text of any length in bounded memory: lines that arrive in pieces, and the end of a long text.

/// A line that is longer is passed over.
pub(super) const LINE_LIMIT: usize = 8 << 20;
/// So much of a text's end is kept.
pub(super) const TAIL_LIMIT: usize = 1 << 20;
/// A buffer that has grown beyond this is given back after its line.
const KEPT_CAPACITY: usize = 64 << 10;

/// Puts chunks together into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
    state: Fill,
    /// How many lines were too long.
    pub(super) overlong: u64,
}

/// Whether the line that is arriving still fits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Fill {
    #[default]
    Fits,
    Overlong,
}

impl Lines {
    /// Takes a chunk, and gives each line that it completes to `act`, without the line break.
    pub(super) fn feed(&mut self, mut chunk: &[u8], mut act: impl FnMut(&[u8])) {
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = chunk.split_at(end);
            chunk = rest.get(1..).unwrap_or_default();
            self.add(line);
            self.complete(&mut act);
        }
        self.add(chunk);
    }

    /// Gives the last line to `act`, if the text did not end with a line break.
    pub(super) fn finish(&mut self, mut act: impl FnMut(&[u8])) {
        if !self.partial.is_empty() || self.state == Fill::Overlong {
            self.complete(&mut act);
        }
    }

    fn add(&mut self, piece: &[u8]) {
        if self.partial.len().saturating_add(piece.len()) > LINE_LIMIT {
            self.state = Fill::Overlong;
            self.partial = Vec::new();
        }
        if self.state == Fill::Fits {
            self.partial.extend_from_slice(piece);
        }
    }

    fn complete(&mut self, act: &mut impl FnMut(&[u8])) {
        match self.state {
            Fill::Fits => act(&self.partial),
            Fill::Overlong => self.overlong += 1,
        }
        self.state = Fill::Fits;
        self.partial.clear();
        self.partial.shrink_to(KEPT_CAPACITY);
    }
}

/// The end of a text.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    dropped: u64,
}

impl Tail {
    /// Appends a piece; what moves out of reach in front is dropped.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let reach = piece.len().saturating_sub(TAIL_LIMIT);
        if reach > 0 {
            self.dropped += (self.bytes.len() + reach) as u64;
            self.bytes.clear();
        }
        self.bytes
            .extend_from_slice(piece.get(reach..).unwrap_or_default());
        // Twice the limit, so that each byte is moved at most once on average.
        if self.bytes.len() > 2 * TAIL_LIMIT {
            self.cut();
        }
    }

    /// Forgets the text, because another one takes its place.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The newest line that has something in it, from the last few kilobytes.
    pub(super) fn newest_line(&self) -> String {
        let start = self.bytes.len().saturating_sub(4096);
        let end = String::from_utf8_lossy(self.bytes.get(start..).unwrap_or_default());
        let line = end.lines().rev().find(|line| !line.trim().is_empty());
        line.unwrap_or_default().to_owned()
    }

    /// The text as far as it was kept, and how many bytes were left out in front of it.
    pub(super) fn into_text(mut self) -> (String, u64) {
        self.cut();
        if self.dropped > 0 {
            // No text begins with the second half of a character.
            let is_rest = |byte: &&u8| **byte & 0xC0 == 0x80;
            self.drop_front(self.bytes.iter().take(3).take_while(is_rest).count());
        }
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        // A broken byte becomes a character of three.
        let mut excess = text.len().saturating_sub(TAIL_LIMIT);
        while !text.is_char_boundary(excess) {
            excess += 1;
        }
        text.drain(..excess);
        (text, self.dropped + excess as u64)
    }

    fn cut(&mut self) {
        self.drop_front(self.bytes.len().saturating_sub(TAIL_LIMIT));
    }

    fn drop_front(&mut self, count: usize) {
        self.dropped += count as u64;
        self.bytes.drain(..count.min(self.bytes.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlong_line_costs_no_more_than_the_limit() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..50 {
            lines.feed(&chunk, |line| seen.push(line.len()));
            assert!(lines.partial.capacity() <= 2 * LINE_LIMIT);
        }
        lines.feed(b"\nshort\n", |line| seen.push(line.len()));
        assert_eq!((seen, lines.overlong), (vec![5], 1));
    }

    #[test]
    fn a_last_line_without_its_break_is_given_too() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        lines.feed(b"a\nb", |line| seen.push(line.to_vec()));
        lines.finish(|line| seen.push(line.to_vec()));
        lines.finish(|line| seen.push(line.to_vec()));
        assert_eq!(seen, [b"a", b"b"]);
    }

    #[test]
    fn the_tail_is_the_same_however_it_arrives() {
        let text = "é€x".repeat(TAIL_LIMIT);
        let whole = tail(&[text.as_bytes()]);
        assert!(whole.0.len() <= TAIL_LIMIT && text.ends_with(&whole.0));
        assert_eq!(whole.0.len() as u64 + whole.1, text.len() as u64);
        for size in [1000, 65_537, TAIL_LIMIT, TAIL_LIMIT + 1, 3 * TAIL_LIMIT] {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(tail(&chunks), whole, "{size}");
        }
    }

    #[test]
    fn broken_bytes_do_not_make_the_text_longer_than_the_limit() {
        let (text, omitted) = tail(&[&vec![0xFF; TAIL_LIMIT]]);
        assert!(text.len() <= TAIL_LIMIT && omitted > 0);
        assert!(text.chars().all(|character| character == '\u{fffd}'));
    }

    fn tail(chunks: &[&[u8]]) -> (String, u64) {
        let mut tail = Tail::default();
        for chunk in chunks {
            tail.push(chunk);
        }
        tail.into_text()
    }
}
