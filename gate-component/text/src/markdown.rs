//! Which places of a Markdown text are code, quotes, raw HTML or comments.
//!
//! Follows `CommonMark` where that matters here, and errs on the side of hiding: a fence may be indented
//! by any amount or stand in a list item, every line that begins with `>` is a quote, which text without a
//! blank line before it continues, and a comment that is never closed reaches to the end.

use memchr::{memchr, memmem};

/// What a place is part of, with the start of that part, so that two code spans are two regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// None of the others.
    Visible,
    /// A fenced code block.
    FencedCode(usize),
    /// A code span.
    InlineCode(usize),
    /// A block quote.
    BlockQuote(usize),
    /// An HTML comment.
    Comment(usize),
    /// A raw HTML block.
    Html(usize),
}

/// The region of each place. Places must be in increasing order.
///
/// ```
/// use ralph_gate_text::markdown::{Region, regions};
/// assert_eq!(regions("a `b` c", &[0, 3, 6]), [Region::Visible, Region::InlineCode(2), Region::Visible]);
/// ```
#[inline(never)]
pub fn regions(text: &str, places: &[usize]) -> Vec<Region> {
    let mut scanner = Scanner {
        text: text.as_bytes(),
        position: 0,
        paragraph: None,
        places,
        regions: Vec::with_capacity(places.len()),
    };
    scanner.run();
    scanner.regions
}

/// How far the end of a code span is looked for before its paragraph is indexed.
const NEARBY: usize = 512;

/// Jumps from one byte that may hide something to the next. Lines are looked at only around those.
struct Scanner<'a> {
    text: &'a [u8],
    /// Everything before is assigned to a region.
    position: usize,
    /// The paragraph that was last looked at.
    paragraph: Option<Paragraph>,
    /// Those that have no region yet.
    places: &'a [usize],
    regions: Vec<Region>,
}

/// Lines of text up to a blank line, a fence, a quote or an HTML block.
struct Paragraph {
    end: usize,
    runs: Runs,
}

/// What a line is, seen from outside any block.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Blank,
    Quote,
    Fence(Fence),
    Html(Ending),
    Text,
}

/// What ends a raw HTML block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// A blank line, which is not part of it.
    BlankLine,
    /// The line that contains this.
    Mark(&'static [u8]),
    /// The line that contains the closing tag of one of [`RAW`].
    RawTag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let mut at = 0;
        // Nothing after the last place matters.
        while !self.places.is_empty()
            && let Some(found) = next_mark(self.text, at)
        {
            at = self.mark(found);
        }
        self.advance(self.text.len(), Region::Visible);
    }

    /// Look at a byte that may hide something; gives where to go on.
    fn mark(&mut self, at: usize) -> usize {
        match self.text.get(at) {
            Some(b'<') if self.is_escaped(at) => at + 1,
            Some(b'<') if self.slice(at, at + 4) == b"<!--" => self.comment(at),
            Some(b'<') => match self.line_from(at) {
                Some((start, end, Line::Html(ending))) => self.html(start, end, ending),
                _ => at + 1,
            },
            Some(b'`') if !may_begin_line(self.text, at) => self.backticks(at),
            Some(b'`') => match self.line_from(at) {
                Some((start, end, Line::Fence(fence))) => self.fence(start, end, fence),
                _ => self.backticks(at),
            },
            _ => match self.line_from(at) {
                Some((start, end, Line::Fence(fence))) => self.fence(start, end, fence),
                Some((start, end, Line::Quote)) => self.quote(start, end),
                _ => at + 1,
            },
        }
    }

    fn slice(&self, from: usize, to: usize) -> &[u8] {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The end of the line, its newline included.
    fn line_end(&self, from: usize) -> usize {
        self.find(b'\n', from)
            .map_or(self.text.len(), |newline| newline + 1)
    }

    /// The next place of a byte.
    fn find(&self, byte: u8, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        let Some((near, far)) = rest.split_first_chunk::<8>() else {
            return memchr(byte, rest).map(|found| from + found);
        };
        // Often it is near, where a search with wide registers does not pay.
        let found = zeros(u64::from_le_bytes(*near) ^ (ONES * u64::from(byte)));
        if found != 0 {
            return Some(from + found.trailing_zeros() as usize / 8);
        }
        memchr(byte, far).map(|found| from + 8 + found)
    }

    /// Assign everything up to `end` to a region.
    fn advance(&mut self, end: usize, region: Region) {
        while let [place, rest @ ..] = self.places
            && *place < end
        {
            self.regions.push(region);
            self.places = rest;
        }
        self.position = end;
    }

    /// The line whose content begins exactly here, if one does: its start, its end and what it is. What comes
    /// before must be indentation and list markers. Each byte is looked back at once, since none of
    /// those is a mark.
    fn line_from(&self, at: usize) -> Option<(usize, usize, Line)> {
        let before = self.slice(self.position, at);
        let prefix = before
            .iter()
            .rev()
            .take_while(|byte| is_container(**byte))
            .count();
        let start = at - prefix;
        let newline = start.checked_sub(1).and_then(|index| self.text.get(index));
        if newline.is_some_and(|byte| *byte != b'\n') {
            return None;
        }
        let end = self.line_end(at);
        // Nothing stands before it: a quote whatever follows.
        if prefix == 0 && self.text.get(at) == Some(&b'>') {
            return Some((start, end, Line::Quote));
        }
        let line = self.slice(start, end);
        let (indent, content) = match prefix {
            0 => (0, line.trim_ascii_end()),
            _ => strip_containers(line),
        };
        (start + indent == at).then(|| (start, end, classify_content(indent, content)))
    }

    /// Whether an odd number of backslashes stands before a place.
    fn is_escaped(&self, at: usize) -> bool {
        let mut escaped = false;
        let mut start = at;
        while start > self.position && self.text.get(start - 1) == Some(&b'\\') {
            escaped = !escaped;
            start -= 1;
        }
        escaped
    }

    /// Quoted lines that follow one another are one quote, and so is text that follows them without a blank
    /// line.
    fn quote(&mut self, start: usize, mut end: usize) -> usize {
        while end < self.text.len() {
            let next = self.line_end(end);
            if !continues_quote(self.slice(end, next)) {
                break;
            }
            end = next;
        }
        self.advance(start, Region::Visible);
        self.advance(end, Region::BlockQuote(start));
        end
    }

    /// A raw HTML block, up to what ends it.
    fn html(&mut self, start: usize, first_end: usize, ending: Ending) -> usize {
        let end = html_end(self.text, start, first_end, ending);
        self.advance(start, Region::Visible);
        self.advance(end, Region::Html(start));
        end
    }

    /// Everything up to the line that closes the fence.
    fn fence(&mut self, start: usize, first_end: usize, fence: Fence) -> usize {
        self.advance(start, Region::Visible);
        let mut at = first_end;
        loop {
            let here = (self.text.get(at) == Some(&fence.mark)).then_some(at);
            let Some(mark) = here.or_else(|| self.find(fence.mark, at)) else {
                self.advance(self.text.len(), Region::FencedCode(start));
                return self.text.len();
            };
            let indent = self
                .slice(at, mark)
                .iter()
                .rev()
                .take_while(|byte| is_blank(**byte))
                .count();
            let line = mark - indent;
            let end = self.line_end(mark);
            let begins = line == at || self.text.get(line - 1) == Some(&b'\n');
            if begins && closes(self.slice(line, end), fence) {
                self.advance(end, Region::FencedCode(start));
                return end;
            }
            // Only the start of a line can close the fence.
            at = end;
        }
    }

    /// A comment reaches to its end wherever that is, over lines and fences.
    fn comment(&mut self, start: usize) -> usize {
        let end = memmem::find(self.slice(start + 2, self.text.len()), b"-->")
            .map_or(self.text.len(), |found| start + 2 + found + 3);
        self.advance(start, Region::Visible);
        self.advance(end, Region::Comment(start));
        end
    }

    /// A code span, if another run of the same length closes it in the same paragraph.
    fn backticks(&mut self, at: usize) -> usize {
        // An escaped backtick is not part of the run.
        let at = at + usize::from(self.is_escaped(at));
        if self.text.get(at) != Some(&b'`') {
            return at;
        }
        let length = run_length(self.slice(at, self.text.len()));
        let closer = match self
            .paragraph
            .as_ref()
            .filter(|paragraph| at < paragraph.end)
        {
            Some(paragraph) => paragraph.runs.next_after(length, at),
            None => self
                .closer_nearby(at, length)
                .or_else(|| self.closer_in_paragraph(at, length)),
        };
        match closer {
            Some(closer) => {
                self.advance(at, Region::Visible);
                self.advance(closer + length, Region::InlineCode(at));
                closer + length
            }
            None => at + length,
        }
    }

    /// Most code spans end on the line they begin on, not far away.
    fn closer_nearby(&self, at: usize, length: usize) -> Option<usize> {
        let mut from = at + length;
        while from < at + NEARBY
            && let Some(byte) = self.text.get(from)
            && *byte != b'\n'
        {
            if *byte != b'`' {
                from += 1;
                continue;
            }
            let run = run_length(self.slice(from, self.text.len()));
            if run == length {
                return Some(from);
            }
            from += run;
        }
        None
    }

    /// The runs of the paragraph are indexed once, so that backticks without a partner stay cheap.
    fn closer_in_paragraph(&mut self, at: usize, length: usize) -> Option<usize> {
        let end = self.paragraph_end(at);
        let runs = Runs::of(self.slice(at, end), at);
        let closer = runs.next_after(length, at);
        self.paragraph = Some(Paragraph { end, runs });
        closer
    }

    /// Where the paragraph of a place ends.
    fn paragraph_end(&self, at: usize) -> usize {
        let mut end = self.line_end(at);
        while end < self.text.len() {
            let next = self.line_end(end);
            match classify(self.slice(end, next)) {
                Line::Text => end = next,
                _ => break,
            }
        }
        end
    }
}

/// Bytes that indentation and list markers are made of.
fn is_container(byte: u8) -> bool {
    is_blank(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'*' | b'+' | b'.' | b')')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte that is zero; exact, because seven bits never carry.
fn zeros(word: u64) -> u64 {
    !(((word & !HIGH) + !HIGH) | word) & HIGH
}

/// The next byte that may hide something: the start of a comment, a backtick, or a tilde, `<` or `>` that may be
/// the first on its line. Eight bytes at a time.
fn next_mark(text: &[u8], from: usize) -> Option<usize> {
    let marks = |word: u64| {
        let angles = (word & !(ONES * 2)) ^ (ONES * u64::from(b'<'));
        let backticks = word ^ (ONES * u64::from(b'`'));
        let tildes = word ^ (ONES * u64::from(b'~'));
        zeros(angles) | zeros(backticks) | zeros(tildes)
    };
    let (words, rest) = text.get(from..)?.as_chunks::<8>();
    let mut at = from;
    for word in words {
        let mut found = marks(u64::from_le_bytes(*word));
        while found != 0 {
            let mark = at + found.trailing_zeros() as usize / 8;
            if may_hide(text, mark) {
                return Some(mark);
            }
            found &= found - 1;
        }
        at += 8;
    }
    (at..at + rest.len()).find(|mark| may_hide(text, *mark))
}

/// Whether a byte is worth a closer look. Most `<` and `>` are not.
fn may_hide(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        Some(b'`') => true,
        Some(b'<') => match text.get(at + 1) {
            Some(b'!') if text.get(at + 2..at + 4) == Some(b"--") => true,
            Some(b'!' | b'?' | b'/' | b'a'..=b'z' | b'A'..=b'Z') => may_begin_line(text, at),
            _ => false,
        },
        Some(b'>' | b'~') => may_begin_line(text, at),
        _ => false,
    }
}

/// Whether indentation, a list marker or nothing stands before.
fn may_begin_line(text: &[u8], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| text.get(before)) {
        Some(before) => *before == b'\n' || is_container(*before),
        None => true,
    }
}

fn run_length(text: &[u8]) -> usize {
    let other = text.iter().position(|byte| Some(byte) != text.first());
    other.unwrap_or(text.len())
}

/// Runs of backticks in a paragraph: their places, by length and then in order.
struct Runs {
    places: Vec<usize>,
    /// Where the places of each length begin. Lengths are few or short, for together they are in one text.
    starts: Vec<usize>,
}

impl Runs {
    fn of(paragraph: &[u8], offset: usize) -> Self {
        let mut runs = Vec::new();
        let mut longest = 0;
        let mut at = 0;
        while let Some(found) = memchr(b'`', paragraph.get(at..).unwrap_or_default()) {
            at += found;
            let length = run_length(paragraph.get(at..).unwrap_or_default());
            longest = longest.max(length);
            runs.push((length, offset + at));
            at += length;
        }
        // Counting by length sorts in one pass.
        let mut starts = vec![0; longest + 2];
        for (length, _) in &runs {
            if let Some(count) = starts.get_mut(length + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut places = vec![0; runs.len()];
        for (length, place) in runs {
            if let Some(slot) = next.get_mut(length) {
                if let Some(entry) = places.get_mut(*slot) {
                    *entry = place;
                }
                *slot += 1;
            }
        }
        Self { places, starts }
    }

    /// The next run of exactly this length after a place.
    fn next_after(&self, length: usize, place: usize) -> Option<usize> {
        let (start, end) = (*self.starts.get(length)?, *self.starts.get(length + 1)?);
        let places = self.places.get(start..end)?;
        places
            .get(places.partition_point(|run| *run <= place))
            .copied()
    }
}

fn classify(line: &[u8]) -> Line {
    // Most lines begin with a letter.
    if line.first().is_some_and(u8::is_ascii_alphabetic) {
        return Line::Text;
    }
    let (indent, content) = strip_containers(line);
    classify_content(indent, content)
}

/// What a line is that has this content after its indentation and list markers.
fn classify_content(indent: usize, content: &[u8]) -> Line {
    match content.first() {
        None => Line::Blank,
        Some(b'>') => Line::Quote,
        Some(b'<') => html(content).map_or(Line::Text, Line::Html),
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

/// Whether a line behind a quoted one is part of the quote: text continues it.
fn continues_quote(line: &[u8]) -> bool {
    matches!(classify(line), Line::Quote | Line::Text)
}

/// Elements whose content is not Markdown, blank lines or not.
const RAW: [&[u8]; 4] = [b"pre", b"script", b"style", b"textarea"];

/// Elements that begin a block wherever a line begins with one of their tags.
const BLOCKS: &str = "address article aside base basefont blockquote body caption center col colgroup dd details \
    dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html \
    iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table \
    tbody td tfoot th thead title tr track ul";

/// What ends the HTML block that begins with this content of a line, if one does. The gate's own tags begin none.
fn html(content: &[u8]) -> Option<Ending> {
    let rest = content.strip_prefix(b"<")?;
    match rest.first()? {
        b'?' => return Some(Ending::Mark(b"?>")),
        b'!' if rest.starts_with(b"![CDATA[") => return Some(Ending::Mark(b"]]>")),
        b'!' if rest.get(1).is_some_and(u8::is_ascii_alphabetic) => {
            return Some(Ending::Mark(b">"));
        }
        _ => {}
    }
    let closes = rest.first() == Some(&b'/');
    let rest = rest.get(usize::from(closes)..)?;
    let length = rest
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
        .unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(length)?;
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic);
    if !is_name || !matches!(after.first(), None | Some(b' ' | b'\t' | b'>' | b'/')) {
        return None;
    }
    let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
    if is(b"promise") || is(b"context") {
        return None;
    }
    if !closes && RAW.iter().any(|raw| is(raw)) {
        return Some(Ending::RawTag);
    }
    // Any other tag begins a block where it stands alone on its line.
    let is_alone = tag_end(after) == Some(after.len().wrapping_sub(1));
    let is_block = BLOCKS
        .split_ascii_whitespace()
        .any(|block| is(block.as_bytes()));
    (is_block || is_alone).then_some(Ending::BlankLine)
}

/// Where the `>` is that ends a tag: the first one that is in no quoted value.
fn tag_end(rest: &[u8]) -> Option<usize> {
    let mut quote = None;
    rest.iter().position(|byte| {
        match (quote, *byte) {
            (None, b'>') => return true,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
        false
    })
}

/// Where an HTML block ends that begins with the line from `start` to `first_end`.
fn html_end(text: &[u8], start: usize, first_end: usize, ending: Ending) -> usize {
    let line_end = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        memchr(b'\n', rest).map_or(text.len(), |newline| from + newline + 1)
    };
    let rest = text.get(start..).unwrap_or_default();
    let found = match ending {
        Ending::BlankLine => {
            let mut end = first_end;
            while end < text.len() {
                let next = line_end(end);
                if text
                    .get(end..next)
                    .unwrap_or_default()
                    .trim_ascii()
                    .is_empty()
                {
                    break;
                }
                end = next;
            }
            return end;
        }
        Ending::Mark(mark) => memmem::find(rest, mark),
        Ending::RawTag => raw_tag_end(rest),
    };
    found.map_or(text.len(), |found| line_end(start + found))
}

/// The first closing tag of one of [`RAW`].
fn raw_tag_end(text: &[u8]) -> Option<usize> {
    memmem::find_iter(text, b"</").find(|at| {
        let rest = text.get(at + 2..).unwrap_or_default();
        RAW.iter().any(|name| {
            let found = rest.get(..name.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(name))
                && rest.get(name.len()) == Some(&b'>')
        })
    })
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

/// The length of `-`, `*`, `+`, `1.` or `1)` at the beginning, if white space follows.
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
    matches!(text.get(marker), Some(b' ' | b'\t')).then_some(marker)
}

#[cfg(test)]
mod tests {
    use memchr::memchr3;

    use super::*;

    // The same rules, line by line: plain, and slow on long texts.

    /// The region of each place. Places must be in increasing order.
    fn plain_regions(text: &str, places: &[usize]) -> Vec<Region> {
        let mut scanner = Plain {
            text: text.as_bytes(),
            position: 0,
            places,
            regions: Vec::new(),
        };
        scanner.run();
        scanner.regions
    }

    struct Plain<'a> {
        text: &'a [u8],
        /// Everything before is assigned to a region.
        position: usize,
        places: &'a [usize],
        regions: Vec<Region>,
    }

    impl Plain<'_> {
        fn run(&mut self) {
            // Nothing after the last place matters.
            while self.position < self.text.len() && !self.places.is_empty() {
                let end = self.line_end(self.position);
                match classify(self.slice(self.position, end)) {
                    Line::Blank => self.advance(end, Region::Visible),
                    Line::Quote => self.quote(end),
                    Line::Fence(fence) => self.fence(fence, end),
                    Line::Html(ending) => {
                        let start = self.position;
                        let end = html_end(self.text, start, end, ending);
                        self.advance(end, Region::Html(start));
                    }
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
            while self.places.first().is_some_and(|place| *place < end) {
                self.regions.push(region);
                self.places = &self.places[1..];
            }
            self.position = end;
        }

        /// Quoted lines that follow one another are one quote, with the text behind them.
        fn quote(&mut self, first_end: usize) {
            let region = Region::BlockQuote(self.position);
            self.advance(first_end, region);
            while self.position < self.text.len() {
                let end = self.line_end(self.position);
                if !continues_quote(self.slice(self.position, end)) {
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

        /// Lines of text up to a blank line, a fence, a quote or an HTML block; code spans and comments are found in them.
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
                            // What follows on the line of its end is text, whatever it looks like.
                            return self.paragraph(self.line_end(self.position));
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

    /// A deterministic stream of numbers.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    #[test]
    fn jumping_finds_the_regions_that_going_line_by_line_finds() {
        let pieces = [
            "a",
            "`",
            "``",
            "```",
            "````",
            "~~~",
            "~",
            "> ",
            ">",
            "\n",
            "\n\n",
            "\r\n",
            "    ",
            "\t",
            "- ",
            "1. ",
            "* ",
            "\\",
            "<",
            "<promise>",
            "text",
            " ",
            "x`y",
            "é",
            "<!--",
            "-->",
            "<div>",
            "</p>",
            "<b>",
            "<pre>",
            "</pre>",
            "<?",
            "?>",
            "<!A",
        ];
        let mut state = 88_172_645_463_325_252;
        for _ in 0..60_000 {
            let length = random(&mut state) % 24;
            let text: String = (0..length)
                .map(|_| pieces[usize::try_from(random(&mut state)).unwrap() % pieces.len()])
                .collect();
            let places: Vec<usize> = (0..text.len()).collect();
            assert_eq!(
                regions(&text, &places),
                plain_regions(&text, &places),
                "{text:?}"
            );
        }
    }
}
