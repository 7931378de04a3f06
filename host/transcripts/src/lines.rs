//! The lines of a file, one at a time, in memory that does not depend on the file.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr;

/// The longest line that is read, in bytes. Pictures stand in lines as text, and lines of some megabytes are usual.
pub(crate) const LONGEST: usize = 32 << 20;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'l> {
    /// Without its line end.
    Whole(&'l [u8]),
    /// Longer than [`LONGEST`]: its bytes were passed over.
    TooLong,
}

/// Gives out lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn of(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
        }
    }

    /// The next line. None at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut length = 0_usize;
        let ended = loop {
            let block = match self.reader.fill_buf() {
                Ok(block) => block,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if block.is_empty() {
                break false;
            }
            let end = memchr(b'\n', block);
            let piece = block.get(..end.unwrap_or(block.len())).unwrap_or(block);
            length = length.saturating_add(piece.len());
            if length <= LONGEST {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                break true;
            }
        };
        if length == 0 && !ended {
            return Ok(None);
        }
        if length > LONGEST {
            // A file of one such line must not keep its memory.
            self.line = Vec::new();
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.line)))
    }

    /// What has not been read yet.
    pub(crate) fn into_rest(self) -> R {
        self.reader
    }
}

/// A line without what may stand around JSON: a mark at the beginning of a file, zeros after a crash, white space.
pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    let mut bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_margin = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    while let [first, rest @ ..] = bytes
        && is_margin(first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_margin(last)
    {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn all(bytes: &[u8], block: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::of(BufReader::with_capacity(block, bytes));
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                Line::Whole(bytes) => Some(trimmed(bytes).to_vec()),
                Line::TooLong => None,
            });
        }
        found
    }

    #[test]
    fn lines_are_the_same_whatever_the_size_of_a_block() {
        let text = b"\xef\xbb\xbfone\r\n\n  two \n\0\0\0\nthree";
        let expected = vec![
            Some(b"one".to_vec()),
            Some(b"".to_vec()),
            Some(b"two".to_vec()),
            Some(b"".to_vec()),
            Some(b"three".to_vec()),
        ];
        for block in 1..40 {
            assert_eq!(all(text, block), expected, "{block}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let mut text = vec![b'x'; LONGEST + 1];
        text.extend_from_slice(b"\nnext\n");
        assert_eq!(all(&text, 1 << 16), vec![None, Some(b"next".to_vec())]);
    }
}
