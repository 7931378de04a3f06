//! Normal text: what a tool or an agent printed, without what changes from run to run.
//!
//! Left out: ANSI escape sequences, carriage returns, trailing white space, blank lines at the end.
//! Masked: dates and times, durations, hexadecimal addresses, UUIDs, process ids and temporary paths.
//! One pass, bounded memory: the text is never copied as a whole.

use crate::digest::Digest;

/// Bytes that are digested at once. BLAKE3 is fastest on whole, aligned groups of its chunks.
const BLOCK: usize = 16 * 1024;

/// The digest of a text's normal form.
pub(super) fn digest(text: &str) -> String {
    let mut sink = Sink::new(text.len());
    write(text.as_bytes(), &mut sink);
    sink.finish()
}

/// Collects the normal form and digests it in whole blocks.
struct Sink {
    digest: Digest,
    buffer: Vec<u8>,
    /// White space at the end of the buffer. It waits, because nothing may follow it.
    blank: usize,
    /// The part of it that is on the last line.
    blank_on_line: usize,
}

impl Sink {
    fn new(size: usize) -> Self {
        Self {
            digest: Digest::new("text"),
            buffer: Vec::with_capacity((2 * BLOCK).min(size + 64)),
            blank: 0,
            blank_on_line: 0,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        // Invariant: only the end of `bytes` is looked at, so that many small pieces stay linear.
        let blank = bytes.len() - bytes.trim_ascii_end().len();
        let tail = bytes.get(bytes.len() - blank..).unwrap_or_default();
        let on_line = tail.iter().rev().take_while(|byte| **byte != b'\n').count();
        let is_blank = blank == bytes.len();
        self.blank = blank + if is_blank { self.blank } else { 0 };
        self.blank_on_line = on_line
            + if on_line == bytes.len() {
                self.blank_on_line
            } else {
                0
            };
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() - self.blank >= BLOCK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let blocks = (self.buffer.len() - self.blank) / BLOCK * BLOCK;
        self.digest
            .stream(self.buffer.get(..blocks).unwrap_or_default());
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

    fn finish(mut self) -> String {
        self.trim();
        self.digest.stream(&self.buffer);
        self.digest.hex()
    }
}

/// Write a text's normal form in one pass. What stays as it is goes into the sink in long pieces.
fn write(text: &[u8], sink: &mut Sink) {
    // Everything before `done` is written.
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(next_candidate) {
        at += found;
        match text.get(at) {
            Some(b'\n') => {
                let before = at.checked_sub(1).filter(|before| *before >= done);
                let clean = before
                    .and_then(|before| text.get(before))
                    .is_some_and(|byte| *byte > b' ');
                if !clean {
                    sink.push(text.get(done..at).unwrap_or_default());
                    sink.trim_line();
                    done = at;
                }
                at += 1;
            }
            Some(b'.' | b'\t') => at += 1,
            _ => match volatile(text, at) {
                // A run may begin before the byte that gave it away.
                Some(run) if run.start >= done => {
                    sink.push(text.get(done..run.start).unwrap_or_default());
                    sink.push(run.mask);
                    at = run.start + run.length;
                    done = at;
                }
                _ => at = after_word(text, at),
            },
        }
    }
    sink.push(text.get(done..).unwrap_or_default());
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

/// Where something volatile might be: a control character, or `-`, `.`, `/` and the digits, which are
/// neighbours in ASCII.
fn is_candidate(byte: u8) -> bool {
    byte < 0x20 || byte.wrapping_sub(b'-') <= b'9' - b'-'
}

/// The next candidate. Whole groups are looked at without a branch, so that the compiler can use SIMD.
fn next_candidate(text: &[u8]) -> Option<usize> {
    const GROUP: usize = 16;
    let mut at = 0;
    for group in text.chunks_exact(GROUP) {
        if group
            .iter()
            .fold(false, |any, byte| any | is_candidate(*byte))
        {
            break;
        }
        at += GROUP;
    }
    let rest = text.get(at..)?;
    rest.iter()
        .position(|byte| is_candidate(*byte))
        .map(|found| at + found)
}

/// The rest of the word that begins here can't be volatile any more.
fn after_word(text: &[u8], at: usize) -> usize {
    let word = text.get(at..).unwrap_or_default();
    at + word
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .unwrap_or(word.len())
        .max(1)
}

fn volatile(text: &[u8], at: usize) -> Option<Run> {
    let rest = text.get(at..)?;
    let before = at.checked_sub(1).and_then(|index| text.get(index)).copied();
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let run = match rest.first()? {
        0x1b => (escape(rest), &b""[..]),
        0..=0x1f => (1, &b""[..]),
        b'/' => temporary_path(rest, before)?,
        b'-' => return uuid(text, at),
        b'0'..=b'9' if !in_word => address(rest).or_else(|| number(text, at))?,
        _ => return None,
    };
    Some(Run::at(at, run))
}

/// A length, and what stands for it.
type Masked = (usize, &'static [u8]);

/// An ANSI escape sequence: CSI, OSC or a single character. It does not reach over the end of the line.
fn escape(rest: &[u8]) -> usize {
    match rest.get(1) {
        Some(b'[') => rest
            .iter()
            .skip(2)
            .position(|byte| matches!(byte, 0x40..=0x7e | b'\n'))
            .map_or(rest.len(), |end| {
                end + 2 + usize::from(rest.get(end + 2) != Some(&b'\n'))
            }),
        Some(b']') => match rest
            .iter()
            .skip(2)
            .position(|byte| matches!(byte, 0x07 | 0x1b | b'\n'))
        {
            None => rest.len(),
            Some(end) => match rest.get(end + 2..end + 4) {
                Some(b"\x1b\\") => end + 4,
                _ => end + 2 + usize::from(rest.get(end + 2) == Some(&0x07)),
            },
        },
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

/// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`, found by its first `-`.
fn uuid(text: &[u8], at: usize) -> Option<Run> {
    let start = at.checked_sub(8)?;
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
    // Most numbers are followed by nothing that makes them a date, a time or a duration.
    let next = rest.get(digits(rest)).copied().unwrap_or(b'\n');
    if matches!(
        next,
        b',' | b')' | b';' | b']' | b'%' | b'\n' | b'"' | b'\'' | b'`'
    ) {
        return process_id(text, at);
    }
    // `file.rs:12:30` is a place, not a time.
    let after_colon = at.checked_sub(1).and_then(|index| text.get(index)) == Some(&b':');
    date_time(rest)
        .or_else(|| {
            let length = clock(rest).filter(|_| !after_colon)?;
            Some((length, &b"<time>"[..]))
        })
        .or_else(|| duration(rest))
        .or_else(|| process_id(text, at))
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
fn duration(rest: &[u8]) -> Option<Masked> {
    const UNITS: [&[u8]; 22] = [
        b"milliseconds",
        b"microseconds",
        b"nanoseconds",
        b"millisecond",
        b"microsecond",
        b"nanosecond",
        b"seconds",
        b"minutes",
        b"second",
        b"minute",
        b"hours",
        b"secs",
        b"mins",
        b"hour",
        b"sec",
        b"min",
        b"\xc2\xb5s",
        b"ms",
        b"us",
        b"ns",
        b"s",
        b"m",
    ];
    let whole = digits(rest);
    let fraction = match rest.get(whole) {
        Some(b'.') => match digits(rest.get(whole + 1..)?) {
            0 => 0,
            digits => digits + 1,
        },
        _ => 0,
    };
    let number = whole + fraction;
    let space = usize::from(rest.get(number) == Some(&b' '));
    let unit = rest.get(number + space..)?;
    let length = UNITS.iter().find(|name| {
        unit.starts_with(name)
            && unit.get(name.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
            // `5 m` and `5 s` are too short to be sure of, unless they touch or have a fraction.
            && (space == 0 || name.len() > 1 || fraction > 0)
    })?;
    Some((number + space + length.len(), b"<duration>"))
}

/// A number after `pid`, as in `pid 123`, `pid=123`, `PID: 123` or `process 123`.
fn process_id(text: &[u8], at: usize) -> Option<Masked> {
    let mut before = text.get(..at)?;
    for mark in [b" ", b"=", b":", b"[", b" "] {
        before = before.strip_suffix(mark).unwrap_or(before);
    }
    let named = [&b"pid"[..], b"process"].iter().any(|name| {
        before.len().checked_sub(name.len()).is_some_and(|start| {
            before
                .get(start..)
                .is_some_and(|word| word.eq_ignore_ascii_case(name))
                && start
                    .checked_sub(1)
                    .and_then(|index| before.get(index))
                    .is_none_or(|byte| !byte.is_ascii_alphanumeric())
        })
    });
    let length = digits(text.get(at..)?);
    named.then_some((length, b"<pid>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        let mut sink = Sink::new(0);
        write(text.as_bytes(), &mut sink);
        sink.trim();
        String::from_utf8(sink.buffer).unwrap()
    }

    #[test]
    fn what_changes_from_run_to_run_is_masked() {
        for (text, expected) in [
            ("at 2026-11-16T05:36:01.123Z ok", "at <time> ok"),
            ("at 2026-11-16 05:36 ok", "at <time> ok"),
            ("[12:30:05] started", "[<time>] started"),
            ("finished in 12.5ms", "finished in <duration>"),
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
    fn a_long_text_has_the_normal_form_of_its_parts() {
        let line = "ran 12 tests in 1.5s  \n";
        let long = line.repeat(3000);
        let mut plain = "ran 12 tests in <duration>\n".repeat(3000);
        assert_eq!(digest(&long), digest(&plain));
        plain.push('x');
        assert_ne!(digest(&long), digest(&plain));
    }

    #[test]
    fn what_shows_progress_is_kept() {
        for text in [
            "3 passed; 2 failed",
            "error[E0308]: mismatched types at src/main.rs:12:5",
            "commit 1a2b3c4d",
            "version 1.2.3",
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
