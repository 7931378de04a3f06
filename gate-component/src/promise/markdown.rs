//! Which places of a Markdown text are code, quotes or comments.
//!
//! Follows `CommonMark` where that matters here, and errs on the side of hiding: a fence may be indented
//! by any amount or stand in a list item, every line that begins with `>` is a quote, and a comment
//! that is never closed reaches to the end.

use memchr::{memchr, memchr3, memmem};

use crate::order::sort;

/// What a place is part of, with the start of that part, so that two code spans are two regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    Visible,
    FencedCode(usize),
    InlineCode(usize),
    BlockQuote(usize),
    Comment(usize),
}

/// The region of each place. Places must be in increasing order.
pub(super) fn regions(text: &str, places: impl Iterator<Item = usize>) -> Vec<Region> {
    let mut scanner = Scanner {
        text: text.as_bytes(),
        position: 0,
        places: places.peekable(),
        regions: Vec::new(),
    };
    scanner.run();
    scanner.regions
}

struct Scanner<'a, I: Iterator<Item = usize>> {
    text: &'a [u8],
    /// Everything before is assigned to a region.
    position: usize,
    places: std::iter::Peekable<I>,
    regions: Vec<Region>,
}

/// What a line is, seen from outside any block.
enum Line {
    Blank,
    Quote,
    Fence(Fence),
    Text,
}

#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
}

impl<I: Iterator<Item = usize>> Scanner<'_, I> {
    fn run(&mut self) {
        // Nothing after the last place matters.
        while self.position < self.text.len() && self.places.peek().is_some() {
            let end = self.line_end(self.position);
            match classify(self.slice(self.position, end)) {
                Line::Blank => self.advance(end, Region::Visible),
                Line::Quote => self.quote(end),
                Line::Fence(fence) => self.fence(fence, end),
                Line::Text => self.paragraph(end),
            }
        }
        self.advance(self.text.len(), Region::Visible);
    }

    fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The end of the line, its newline included.
    fn line_end(&self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        memchr(b'\n', rest).map_or(self.text.len(), |newline| from + newline + 1)
    }

    /// Assign everything up to `end` to a region.
    fn advance(&mut self, end: usize, region: Region) {
        while self.places.next_if(|place| *place < end).is_some() {
            self.regions.push(region);
        }
        self.position = end;
    }

    /// Quoted lines that follow one another are one quote.
    fn quote(&mut self, first_end: usize) {
        let region = Region::BlockQuote(self.position);
        self.advance(first_end, region);
        while self.position < self.text.len() {
            let end = self.line_end(self.position);
            if !matches!(classify(self.slice(self.position, end)), Line::Quote) {
                return;
            }
            self.advance(end, region);
        }
    }

    fn fence(&mut self, fence: Fence, first_end: usize) {
        let region = Region::FencedCode(self.position);
        self.advance(first_end, region);
        while self.position < self.text.len() {
            let end = self.line_end(self.position);
            let closes = closes(self.slice(self.position, end), fence);
            self.advance(end, region);
            if closes {
                return;
            }
        }
    }

    /// Lines of text up to a blank line, a fence or a quote; code spans and comments are found in them.
    fn paragraph(&mut self, first_end: usize) {
        let mut end = first_end;
        while end < self.text.len() {
            let next = self.line_end(end);
            match classify(self.slice(end, next)) {
                Line::Text => end = next,
                _ => break,
            }
        }
        self.inline(end);
    }

    fn inline(&mut self, end: usize) {
        let start = self.position;
        let mut spans = None;
        let mut at = start;
        while let Some(found) = memchr3(b'`', b'<', b'\\', self.slice(at, end)) {
            at += found;
            match self.text.get(at) {
                Some(b'\\') => at += 2,
                Some(b'<') if self.slice(at, self.text.len()).starts_with(b"<!--") => {
                    self.advance(at, Region::Visible);
                    self.comment(at);
                    if self.position >= end {
                        return;
                    }
                    at = self.position;
                }
                Some(b'<') => at += 1,
                _ => {
                    let length = run_length(self.slice(at, end));
                    let runs = spans.get_or_insert_with(|| {
                        Runs::of(self.text.get(start..end).unwrap_or_default(), start)
                    });
                    match runs.next_after(length, at) {
                        Some(closer) => {
                            self.advance(at, Region::Visible);
                            self.advance(closer + length, Region::InlineCode(at));
                            at = closer + length;
                        }
                        None => at += length,
                    }
                }
            }
        }
        self.advance(end, Region::Visible);
    }

    /// A comment reaches to its end wherever that is, over lines and fences.
    fn comment(&mut self, start: usize) {
        let end = memmem::find(self.slice(start + 2, self.text.len()), b"-->")
            .map_or(self.text.len(), |found| start + 2 + found + 3);
        self.advance(end, Region::Comment(start));
    }
}

fn run_length(text: &[u8]) -> usize {
    match text.first() {
        Some(mark) => text.iter().take_while(|byte| *byte == mark).count(),
        None => 0,
    }
}

/// Runs of backticks in a paragraph: length and place, sorted.
struct Runs(Vec<(usize, usize)>);

impl Runs {
    fn of(paragraph: &[u8], offset: usize) -> Self {
        let mut runs = Vec::new();
        let mut at = 0;
        while let Some(found) = memchr(b'`', paragraph.get(at..).unwrap_or_default()) {
            at += found;
            let length = run_length(paragraph.get(at..).unwrap_or_default());
            runs.push((length, offset + at));
            at += length;
        }
        sort(&mut runs, Ord::cmp);
        Self(runs)
    }

    /// The next run of exactly this length after a place.
    fn next_after(&self, length: usize, place: usize) -> Option<usize> {
        let at = self.0.partition_point(|run| *run <= (length, place));
        self.0
            .get(at)
            .filter(|run| run.0 == length)
            .map(|run| run.1)
    }
}

fn classify(line: &[u8]) -> Line {
    // Most lines begin with a letter.
    if line.first().is_some_and(u8::is_ascii_alphabetic) {
        return Line::Text;
    }
    let (indent, content) = strip_containers(line);
    match content.first() {
        None => Line::Blank,
        Some(b'>') => Line::Quote,
        Some(mark @ (b'`' | b'~')) => {
            let length = run_length(content);
            let info = content.get(length..).unwrap_or_default();
            // A backtick in the info string makes it a code span.
            if length >= 3 && (*mark == b'~' || memchr(b'`', info).is_none()) {
                Line::Fence(Fence {
                    mark: *mark,
                    length,
                    indent,
                })
            } else {
                Line::Text
            }
        }
        Some(_) => Line::Text,
    }
}

/// Whether a line ends a fenced block: the same mark, at least as long, nothing after it, and not
/// indented so far that it would be content.
fn closes(line: &[u8], fence: Fence) -> bool {
    let indent = indentation(line);
    let content = line.get(indent..).unwrap_or_default();
    let length = match content.first() {
        Some(mark) if *mark == fence.mark => run_length(content),
        _ => return false,
    };
    length >= fence.length
        && indent <= fence.indent + 3
        && content
            .get(length..)
            .unwrap_or_default()
            .trim_ascii()
            .is_empty()
}

fn indentation(line: &[u8]) -> usize {
    line.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// The line without indentation and list markers, and how far in its content begins.
fn strip_containers(line: &[u8]) -> (usize, &[u8]) {
    let mut start = indentation(line);
    // Eight levels of lists are more than anybody writes; the bound keeps a line of markers linear.
    for _ in 0..8 {
        let rest = line.get(start..).unwrap_or_default();
        let Some(marker) = list_marker(rest) else {
            break;
        };
        start += marker;
        start += indentation(line.get(start..).unwrap_or_default());
    }
    (
        start,
        line.get(start..).unwrap_or_default().trim_ascii_end(),
    )
}

/// The length of `- `, `* `, `+ `, `1. ` or `1) ` at the beginning.
fn list_marker(text: &[u8]) -> Option<usize> {
    let digits = text
        .iter()
        .take(9)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let marker = match text.get(digits) {
        Some(b'.' | b')') if digits > 0 => digits + 1,
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        _ => return None,
    };
    matches!(text.get(marker), Some(b' ' | b'\t')).then_some(marker + 1)
}
