//! The lines of a file, the last one first.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;

use memchr::memrchr;

use super::{Extent, LIMIT};

/// How much is read at once.
pub(super) const BLOCK: usize = 64 * 1024;

/// Something of a certain size whose bytes can be read at any place.
pub(super) trait Source {
    fn size(&self) -> io::Result<u64>;
    fn read_at(&self, block: &mut [u8], offset: u64) -> io::Result<()>;
}

impl Source for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, block: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(block, offset)
    }
}

/// Why there is no further line.
#[derive(Debug)]
pub(super) enum SourceError {
    /// The bytes that were there a moment ago no longer are.
    Shorter,
    Failed(io::Error),
}

impl From<io::Error> for SourceError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Self::Shorter,
            _ => Self::Failed(error),
        }
    }
}

/// Gives out lines from the end. What is appended meanwhile is not seen.
pub(super) struct Backwards<'s, S> {
    source: &'s S,
    /// Where the bytes end that were not read yet.
    unread: u64,
    /// No byte before this one is read.
    floor: u64,
    /// What was read and not given out yet.
    block: Vec<u8>,
    /// The pieces of the line whose beginning was not found yet, its end first.
    pieces: Vec<Vec<u8>>,
}

impl<'s, S: Source> Backwards<'s, S> {
    pub(super) fn of(source: &'s S) -> Result<Self, SourceError> {
        let size = source.size()?;
        Ok(Self {
            source,
            unread: size,
            floor: size.saturating_sub(LIMIT),
            block: Vec::new(),
            pieces: Vec::new(),
        })
    }

    /// The line before the last one that was given out, without its line feed. None at the beginning, and where the
    /// limit cuts a line in two.
    pub(super) fn next_line(&mut self) -> Result<Option<Vec<u8>>, SourceError> {
        loop {
            if let Some(at) = memrchr(b'\n', &self.block) {
                let piece = self.block.split_off(at + 1);
                self.block.truncate(at);
                self.pieces.push(piece);
                return Ok(Some(self.join()));
            }
            let piece = std::mem::take(&mut self.block);
            if !piece.is_empty() {
                self.pieces.push(piece);
            }
            if self.unread > self.floor {
                self.read_block()?;
            } else {
                let first = self.floor == 0 && !self.pieces.is_empty();
                return Ok(first.then(|| self.join()));
            }
        }
    }

    /// How far it got, once there is no further line.
    pub(super) fn extent(&self) -> Extent {
        match self.floor {
            0 => Extent::Whole,
            _ => Extent::Limit,
        }
    }

    fn read_block(&mut self) -> Result<(), SourceError> {
        let left = usize::try_from(self.unread - self.floor).unwrap_or(BLOCK);
        let mut block = vec![0; left.min(BLOCK)];
        let start = self.unread - block.len() as u64;
        self.source.read_at(&mut block, start)?;
        self.unread = start;
        self.block = block;
        Ok(())
    }

    fn join(&mut self) -> Vec<u8> {
        let mut line = Vec::with_capacity(self.pieces.iter().map(Vec::len).sum());
        while let Some(piece) = self.pieces.pop() {
            line.extend_from_slice(&piece);
        }
        line
    }
}
