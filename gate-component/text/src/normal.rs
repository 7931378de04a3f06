//! Normal text: what a tool or an agent printed, without what changes from run to run.
//!
//! Left out: ANSI escape sequences, carriage returns, trailing white space, blank lines at the end.
//! Masked: dates and times, durations, hexadecimal addresses, UUIDs, process ids and temporary paths.
//! One pass, bounded memory: the text is never copied as a whole.

/// All pieces of the normal form but the last are whole multiples of this: digests are fastest on whole,
/// aligned groups of chunks.
const BLOCK: usize = 16 * 1024;

/// Give a text's normal form to `out`, piece by piece.
///
/// ```
/// let mut normal = Vec::new();
/// ralph_gate_text::normal::write("ok in 12ms  \r\n", &mut |piece| normal.extend_from_slice(piece));
/// assert_eq!(normal, b"ok in <duration>");
/// ```
#[inline(never)]
pub fn write(text: &str, out: &mut dyn FnMut(&[u8])) {
    let mut sink = Sink::new(text.len(), out);
    scan(text.as_bytes(), &mut sink);
    sink.finish();
}

/// Collects the normal form and gives it away in whole blocks.
struct Sink<'o> {
    out: &'o mut dyn FnMut(&[u8]),
    buffer: Vec<u8>,
    /// White space at the end of the buffer. It waits, because nothing may follow it.
    blank: usize,
    /// The part of it that is on the last line.
    blank_on_line: usize,
}

impl<'o> Sink<'o> {
    fn new(size: usize, out: &'o mut dyn FnMut(&[u8])) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity((2 * BLOCK).min(size + 64)),
            blank: 0,
            blank_on_line: 0,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if bytes.len() >= 2 * BLOCK {
            return self.push_long(bytes);
        }
        self.observe(bytes);
        self.append(bytes);
    }

    /// Keep count of the white space at the end. Only the end of `bytes` is looked at, so that many small
    /// pieces stay linear.
    fn observe(&mut self, bytes: &[u8]) {
        if bytes.last().is_some_and(|byte| *byte > b' ') {
            (self.blank, self.blank_on_line) = (0, 0);
            return;
        }
        let blank = bytes.len() - bytes.trim_ascii_end().len();
        let on_line = bytes
            .iter()
            .rev()
            .take(blank)
            .take_while(|byte| **byte != b'\n')
            .count();
        let add = |count: usize, before: usize| {
            if count == bytes.len() {
                count + before
            } else {
                count
            }
        };
        self.blank_on_line = add(on_line, self.blank_on_line);
        self.blank = add(blank, self.blank);
    }

    fn append(&mut self, bytes: &[u8]) {
        // Copying memory is a call out of WebAssembly, which is not worth it for a few bytes.
        if bytes.len() <= 16 {
            self.buffer.extend(bytes.iter().copied());
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        if self.buffer.len() - self.blank >= BLOCK {
            self.flush();
        }
    }

    /// A long piece is given away from where it is, but for its ends.
    fn push_long(&mut self, bytes: &[u8]) {
        let content = bytes.trim_ascii_end().len();
        let head = (BLOCK - self.buffer.len() % BLOCK) % BLOCK;
        let blocks = content.saturating_sub(head) / BLOCK * BLOCK;
        if blocks == 0 {
            self.observe(bytes);
            return self.append(bytes);
        }
        self.buffer
            .extend_from_slice(bytes.get(..head).unwrap_or_default());
        if !self.buffer.is_empty() {
            (self.out)(&self.buffer);
            self.buffer.clear();
        }
        (self.out)(bytes.get(head..head + blocks).unwrap_or_default());
        self.observe(bytes);
        self.append(bytes.get(head + blocks..).unwrap_or_default());
    }

    fn flush(&mut self) {
        let blocks = (self.buffer.len() - self.blank) / BLOCK * BLOCK;
        (self.out)(self.buffer.get(..blocks).unwrap_or_default());
        self.buffer.drain(..blocks);
    }

    /// White space before a line end does not count.
    fn trim_line(&mut self) {
        self.buffer.truncate(self.buffer.len() - self.blank_on_line);
        self.blank -= self.blank_on_line;
        self.blank_on_line = 0;
    }

    /// White space at the end of the text does not count.
    fn trim(&mut self) {
        self.buffer.truncate(self.buffer.len() - self.blank);
        (self.blank, self.blank_on_line) = (0, 0);
    }

    fn finish(mut self) {
        self.trim();
        (self.out)(&self.buffer);
    }
}

/// Write a text's normal form in one pass. What stays as it is goes into the sink in long pieces.
fn scan(text: &[u8], sink: &mut Sink<'_>) {
    let mut writer = Writer {
        text,
        sink,
        done: 0,
        next: 0,
    };
    let (words, rest) = text.as_chunks::<8>();
    let mut start = 0;
    // Before the first byte there is nothing, which is as good as white space.
    let mut after_blank = true;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let mut marks = candidates(word, after_blank);
        after_blank = word >> 56 <= u64::from(b' ');
        while marks != 0 {
            writer.candidate(start + marks.trailing_zeros() as usize / 8);
            marks &= marks - 1;
        }
        start += 8;
    }
    for (index, byte) in rest.iter().enumerate() {
        if is_candidate(*byte, after_blank) {
            writer.candidate(start + index);
        }
        after_blank = *byte <= b' ';
    }
    let done = writer.done;
    sink.push(text.get(done..).unwrap_or_default());
}

struct Writer<'a, 'o> {
    text: &'a [u8],
    sink: &'a mut Sink<'o>,
    /// Everything before is written.
    done: usize,
    /// Candidates before are part of something already looked at.
    next: usize,
}

impl Writer<'_, '_> {
    fn candidate(&mut self, at: usize) {
        if at < self.next {
            return;
        }
        match self.text.get(at) {
            Some(b'\n') => self.line_end(at),
            Some(b'\t') => {}
            // Most slashes are in paths of the project.
            Some(b'/') if !matches!(self.text.get(at + 1), Some(b't' | b'v' | b'p')) => {}
            _ => match volatile(self.text, at) {
                // A run may begin before the byte that gave it away.
                Some(run) if run.start >= self.done => self.mask(&run),
                _ => self.next = after_word(self.text, at),
            },
        }
    }

    fn mask(&mut self, run: &Run) {
        self.write_to(run.start);
        self.sink.push(run.mask);
        self.done = run.start + run.length;
        self.next = self.done;
        // White space may have stood before what is left out.
        if self.text.get(self.done) == Some(&b'\n') {
            self.sink.trim_line();
        }
    }

    fn line_end(&mut self, at: usize) {
        self.write_to(at);
        self.sink.trim_line();
    }

    fn write_to(&mut self, end: usize) {
        self.sink
            .push(self.text.get(self.done..end).unwrap_or_default());
        self.done = end;
    }
}

/// A run of bytes that changes from run to run, and what stands for it.
struct Run {
    start: usize,
    length: usize,
    mask: &'static [u8],
}

impl Run {
    fn at(start: usize, (length, mask): (usize, &'static [u8])) -> Self {
        Self {
            start,
            length,
            mask,
        }
    }
}

/// Where something volatile might be: a control character, `/` or a digit. A line end is only of interest
/// after white space.
fn is_candidate(byte: u8, after_blank: bool) -> bool {
    match byte {
        b'\n' => after_blank,
        _ => byte < 0x20 || byte.wrapping_sub(b'/') <= b'9' - b'/',
    }
}

/// The high bit of each of eight bytes that is a candidate.
fn candidates(word: u64, after_blank: bool) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Seven bits and a number below 128 never carry into the next byte.
    let at_least = |limit: u8| (word & !HIGH) + ONES * u64::from(0x80 - limit);
    let blanks = !at_least(b' ' + 1) & !word & HIGH;
    let behind_blanks = blanks << 8 | u64::from(after_blank) << 7;
    let line_ends = at_least(b'\n') & !at_least(b'\n' + 1);
    let controls = !at_least(0x20) & (!line_ends | behind_blanks);
    let digits = at_least(b'/') & !at_least(b'9' + 1);
    (controls | digits) & !word & HIGH
}

/// The rest of the word that begins here can't be volatile any more, nor can what follows it after points: the
/// numbers of a version are one thing.
fn after_word(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(byte) = text.get(end)
        && (byte.is_ascii_alphanumeric() || *byte == b'_' || is_point(text, end))
    {
        end += 1;
    }
    end
}

/// Whether a point stands here, after a digit.
fn is_point(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    text.get(at) == Some(&b'.') && before.is_some_and(u8::is_ascii_digit)
}

fn volatile(text: &[u8], at: usize) -> Option<Run> {
    let rest = text.get(at..)?;
    let before = at.checked_sub(1).and_then(|index| text.get(index)).copied();
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let run = match rest.first()? {
        0x1b => (escape(rest), &b""[..]),
        0..=0x1f => (1, &b""[..]),
        b'/' => temporary_path(rest, before)?,
        b'0'..=b'9' if in_word => return None,
        b'0'..=b'9'
            if before == Some(b'-')
                && let Some(run) = uuid(text, at) =>
        {
            return Some(run);
        }
        b'0'..=b'9' => address(rest).or_else(|| number(text, at))?,
        _ => return None,
    };
    Some(Run::at(at, run))
}

/// A length, and what stands for it.
type Masked = (usize, &'static [u8]);

/// An ANSI escape sequence: CSI, OSC or a single character. It does not reach over the end of the line.
pub(crate) fn escape(rest: &[u8]) -> usize {
    match rest.get(1) {
        Some(b'[') => rest
            .iter()
            .skip(2)
            .position(|byte| matches!(byte, 0x40..=0x7e | b'\n'))
            .map_or(rest.len(), |end| {
                end + 2 + usize::from(rest.get(end + 2) != Some(&b'\n'))
            }),
        // What ends it may be an escape sequence of its own.
        Some(b']') => rest
            .iter()
            .skip(2)
            .position(|byte| matches!(byte, 0x07 | 0x1b | b'\n'))
            .map_or(rest.len(), |end| {
                end + 2 + usize::from(rest.get(end + 2) == Some(&0x07))
            }),
        None | Some(b'\n') => 1,
        Some(_) => 2,
    }
}

/// `/tmp/…`, `/var/folders/…`, `/var/tmp/…`, `/private/var/…`: masked up to white space or a quote.
fn temporary_path(rest: &[u8], before: Option<u8>) -> Option<Masked> {
    let roots: [&[u8]; 4] = [b"/tmp/", b"/var/folders/", b"/var/tmp/", b"/private/var/"];
    if !roots.iter().any(|root| rest.starts_with(root)) {
        return None;
    }
    if before.is_some_and(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/')
    }) {
        return None;
    }
    let length = rest
        .iter()
        .position(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b')' | b',' | b';')
        })
        .unwrap_or(rest.len());
    Some((length, b"<path>"))
}

/// `xxxxxxxx-xxxx-Vxxx-xxxx-xxxxxxxxxxxx`, found by its version, which is always a digit.
fn uuid(text: &[u8], at: usize) -> Option<Run> {
    let start = at.checked_sub(14)?;
    let candidate = text.get(start..start + 36)?;
    let shaped = candidate
        .iter()
        .enumerate()
        .all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let is_word = |index: Option<usize>| {
        index
            .and_then(|index| text.get(index))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let alone = !is_word(start.checked_sub(1)) && !is_word(Some(start + 36));
    (shaped && alone).then_some(Run {
        start,
        length: 36,
        mask: b"<uuid>",
    })
}

/// `0x` and hexadecimal digits.
fn address(rest: &[u8]) -> Option<Masked> {
    let digits = rest.strip_prefix(b"0x")?;
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    (length > 0).then_some((length + 2, b"<address>"))
}

/// A date, a time, a duration or a process id.
fn number(text: &[u8], at: usize) -> Option<Masked> {
    let rest = text.get(at..)?;
    // What follows the digits says what it may be. Most numbers are followed by nothing of interest.
    let whole = digits(rest);
    let found = match rest.get(whole) {
        Some(b'-' | b'/') => date_time(rest),
        // `file.rs:12:30` is a place, not a time.
        Some(b':') if at.checked_sub(1).and_then(|index| text.get(index)) == Some(&b':') => None,
        Some(b':') => clock(rest).map(|length| (length, &b"<time>"[..])),
        Some(b'.' | b' ' | 0xc2 | b'a'..=b'z') => duration(rest, whole),
        _ => None,
    };
    found.or_else(|| process_id(text, at))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// `2026-11-16`, `2026/11/16`, either with a time after `T` or a space.
fn date_time(rest: &[u8]) -> Option<Masked> {
    let separator = *rest.get(4)?;
    let is_date = matches!(separator, b'-' | b'/')
        && digits(rest) == 4
        && digits(rest.get(5..)?) == 2
        && *rest.get(7)? == separator
        && digits(rest.get(8..)?) == 2;
    if !is_date {
        return None;
    }
    let time = match rest.get(10) {
        Some(b'T' | b't' | b' ' | b'_') => rest.get(11..).and_then(clock).map(|length| length + 1),
        _ => None,
    };
    Some((10 + time.unwrap_or(0), b"<time>"))
}

/// `12:30`, `12:30:05`, `12:30:05.123`, with an offset or `Z` after it.
fn clock(text: &[u8]) -> Option<usize> {
    if !(1..=2).contains(&digits(text)) {
        return None;
    }
    let mut length = digits(text);
    let mut groups = 0;
    while groups < 2
        && text.get(length) == Some(&b':')
        && digits(text.get(length + 1..).unwrap_or_default()) == 2
    {
        length += 3;
        groups += 1;
    }
    if groups == 0 || (groups == 1 && text.get(length) == Some(&b':')) {
        return None;
    }
    if let Some(b'.' | b',') = text.get(length) {
        let fraction = digits(text.get(length + 1..).unwrap_or_default());
        if fraction > 0 {
            length += 1 + fraction;
        }
    }
    match text.get(length) {
        Some(b'Z' | b'z') => length += 1,
        Some(b'+' | b'-') => {
            let offset = text.get(length + 1..).unwrap_or_default();
            match (digits(offset), offset.get(2)) {
                (4, _) => length += 5,
                (2, Some(b':')) if digits(offset.get(3..).unwrap_or_default()) == 2 => length += 6,
                _ => {}
            }
        }
        _ => {}
    }
    Some(length)
}

/// A number and a unit of time: `12ms`, `0.34 s`, `2m 3.5s` (each by itself), `5 seconds`.
fn duration(rest: &[u8], whole: usize) -> Option<Masked> {
    let fraction = match rest.get(whole) {
        Some(b'.') => match digits(rest.get(whole + 1..)?) {
            0 => 0,
            digits => digits + 1,
        },
        _ => 0,
    };
    let number = whole + fraction;
    let space = usize::from(rest.get(number) == Some(&b' '));
    let rest_of_it = rest.get(number + space..)?;
    if !matches!(rest_of_it.first(), Some(b'a'..=b'z' | 0xc2)) {
        return None;
    }
    let unit = word(rest_of_it);
    let is_unit = match unit {
        // `5 m` and `5 s` are too short to be sure of, unless they touch or have a fraction.
        b"s" | b"m" => space == 0 || fraction > 0,
        b"ms" | b"us" | b"ns" | b"\xc2\xb5s" | b"sec" | b"secs" | b"min" | b"mins" | b"hour"
        | b"hours" | b"second" | b"seconds" | b"minute" | b"minutes" | b"millisecond"
        | b"milliseconds" | b"microsecond" | b"microseconds" | b"nanosecond" | b"nanoseconds" => {
            true
        }
        _ => false,
    };
    is_unit.then_some((number + space + unit.len(), b"<duration>"))
}

/// The word that a text begins with, as far as a unit could be long.
fn word(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let length = text
        .iter()
        .take(16)
        .take_while(|byte| is_part(byte))
        .count();
    text.get(..length).unwrap_or_default()
}

/// A number after `pid`, as in `pid 123`, `pid=123`, `PID: 123` or `process 123`.
fn process_id(text: &[u8], at: usize) -> Option<Masked> {
    let mut end = at;
    for mark in [b' ', b'=', b':', b'[', b' '] {
        if end > 0 && text.get(end - 1) == Some(&mark) {
            end -= 1;
        }
    }
    let name: &[u8] = match text.get(end.checked_sub(1)?)? {
        b'd' | b'D' => b"pid",
        b's' | b'S' => b"process",
        // Nearly every number stands after something else.
        _ => return None,
    };
    let start = end.checked_sub(name.len())?;
    let before = start.checked_sub(1).and_then(|index| text.get(index));
    let named = text.get(start..end)?.eq_ignore_ascii_case(name)
        && before.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    named.then(|| (digits(text.get(at..).unwrap_or_default()), &b"<pid>"[..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        let mut normal = Vec::new();
        write(text, &mut |piece| normal.extend_from_slice(piece));
        String::from_utf8(normal).unwrap()
    }

    /// What the sink gives away for these pieces. All but the last must be whole blocks.
    fn given_away<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<Vec<u8>> {
        let mut given: Vec<Vec<u8>> = Vec::new();
        let mut out = |piece: &[u8]| given.push(piece.to_vec());
        let mut sink = Sink::new(0, &mut out);
        pieces.into_iter().for_each(|piece| sink.push(piece));
        sink.finish();
        let whole = given.len() - 1;
        let is_whole = |piece: &Vec<u8>| !piece.is_empty() && piece.len().is_multiple_of(BLOCK);
        assert!(given.iter().take(whole).all(is_whole));
        given
    }

    #[test]
    fn what_changes_from_run_to_run_is_masked() {
        for (text, expected) in [
            ("at 2026-11-16T05:36:01.123Z ok", "at <time> ok"),
            ("at 2026-11-16 05:36 ok", "at <time> ok"),
            ("[12:30:05] started", "[<time>] started"),
            ("finished in 12.5ms", "finished in <duration>"),
            ("finished in .5s", "finished in .<duration>"),
            ("1.2.3 finished in 1.5s", "1.2.3 finished in <duration>"),
            ("finished in 3 seconds", "finished in <duration>"),
            (
                "test result: ok. 3 passed; finished in 0.00s",
                "test result: ok. 3 passed; finished in <duration>",
            ),
            ("at 0x7ffe12ab", "at <address>"),
            ("id 123e4567-e89b-12d3-a456-426614174000.", "id <uuid>."),
            ("wrote /tmp/abc.x/y.txt", "wrote <path>"),
            ("pid 4711, PID=12", "pid <pid>, PID=<pid>"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("progress 10%\rprogress 20%\r\n", "progress 10%progress 20%"),
            ("a  \nb\t\n\n\n", "a\nb"),
            ("a\n \n", "a"),
            ("a\n \n\u{1e}\n b", "a\n\n\n b"),
            ("a  \u{1b}[0m\n\n\nb \u{1b}]0;title\u{7}", "a\n\n\nb"),
            ("x \u{1b}]8;;link\u{1b}\\text", "x text"),
            ("id abcdef01-e89b-12d3-a456-426614174000", "id <uuid>"),
            ("pid=7 [12:00:01]", "pid=<pid> [<time>]"),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn white_space_at_the_end_of_a_line_never_matters_however_it_got_there() {
        for text in [
            "a\n\n b",
            "a  \n\t\n b",
            "a \u{7} \n \u{1b}[0m \n b  ",
            "a\r\n\r\n b\r\n \r\n",
        ] {
            assert_eq!(normal(text), "a\n\n b", "{text:?}");
        }
    }

    #[test]
    fn candidates_are_found_wherever_they_stand() {
        for byte in 0..=u8::MAX {
            for other in [b'a', b' ', 0, b'/', b'\n', 0xff] {
                for place in 0..8 {
                    for mut after_blank in [true, false] {
                        let mut word = [other; 8];
                        word[place] = byte;
                        let marks = candidates(u64::from_le_bytes(word), after_blank);
                        for (index, byte) in word.iter().enumerate() {
                            let marked = marks >> (8 * index) & 0xff == 0x80;
                            assert_eq!(marked, is_candidate(*byte, after_blank), "{word:?}");
                            after_blank = *byte <= b' ';
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_piece_is_given_away_like_many_short_ones() {
        for blank in [0, 1, BLOCK, 3 * BLOCK] {
            for content in [0, 1, BLOCK + 1, 3 * BLOCK + 5] {
                for before in [0, 1, BLOCK - 1, BLOCK + 7] {
                    for end in ["", "z"] {
                        let text = format!("{}{}", "x".repeat(content), " ".repeat(blank));
                        let start = "y".repeat(before);
                        let whole = [start.as_bytes(), text.as_bytes(), end.as_bytes()];
                        let parts = std::iter::once(start.as_bytes())
                            .chain(text.as_bytes().chunks(1000))
                            .chain([end.as_bytes()]);
                        let expected = whole.concat().trim_ascii_end().to_vec();
                        assert_eq!(given_away(whole).concat(), expected, "{before} {blank}");
                        assert_eq!(given_away(parts).concat(), expected, "{before} {blank}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_white_space_that_waits_for_its_end_makes_a_piece_longer_than_a_block() {
        let pieces = |text: &str| given_away(text.as_bytes().chunks(100));
        let longest = |text: &str| pieces(text).iter().map(Vec::len).max();
        assert_eq!(longest(&"x".repeat(10 * BLOCK)), Some(BLOCK));
        let waits = format!("{}{}x", "x".repeat(BLOCK / 2), " ".repeat(3 * BLOCK));
        assert_eq!(longest(&waits), Some(3 * BLOCK));
    }

    #[test]
    fn a_long_text_has_the_normal_form_of_its_parts() {
        let mut plain = "ran 12 tests in <duration>\n".repeat(3000);
        plain.pop();
        assert_eq!(normal(&"ran 12 tests in 1.5s  \n".repeat(3000)), plain);
    }

    #[test]
    fn what_shows_progress_is_kept() {
        for text in [
            "3 passed; 2 failed",
            "error[E0308]: mismatched types at src/main.rs:12:5",
            "commit 1a2b3c4d",
            "version 1.2.3",
            "version 1.2.3s",
            "127.0.0.1:8080",
            "5 minor issues",
            "/home/user/tmp/file",
            "a/tmp/b",
            "x86_64 deadbeef",
            "12 of 14",
            "src/lib.rs:12:34: warning",
        ] {
            assert_eq!(normal(text), text);
        }
    }
}
