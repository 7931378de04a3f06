//! Normal text: what a tool or an agent printed, without what changes from run to run.
//!
//! Left out: ANSI escape sequences, carriage returns, trailing white space, blank lines at the end.
//! Masked: dates and times, durations, hexadecimal addresses, UUIDs, process ids and temporary paths.
//! One pass, bounded memory: the text is never copied as a whole.

use crate::digest::Digest;

/// Bytes collected before they are digested.
const CHUNK: usize = 4096;

/// The digest of a text's normal form.
pub(super) fn digest(text: &str) -> String {
    let mut sink = Sink {
        digest: Digest::new("text"),
        buffer: Vec::with_capacity(2 * CHUNK),
        newlines: 0,
    };
    write(text.as_bytes(), &mut sink);
    sink.finish()
}

struct Sink {
    digest: Digest,
    buffer: Vec<u8>,
    /// Line ends that are written once something follows them.
    newlines: usize,
}

impl Sink {
    fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        for _ in 0..self.newlines {
            self.buffer.push(b'\n');
        }
        self.newlines = 0;
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK {
            self.digest.stream(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> String {
        self.digest.stream(&self.buffer);
        self.digest.hex()
    }
}

/// Write a text's normal form, line by line.
fn write(text: &[u8], sink: &mut Sink) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        write_line(line.trim_ascii_end(), sink);
        sink.newlines += 1;
        rest = rest.get(end + 1..).unwrap_or_default();
    }
}

fn write_line(line: &[u8], sink: &mut Sink) {
    // Everything before `done` is written.
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(next_candidate) {
        at += found;
        match volatile(line, at) {
            Some(Run { length, mask }) => {
                sink.push(line.get(done..at).unwrap_or_default());
                sink.push(mask);
                at += length;
                done = at;
            }
            None => at = after_word(line, at),
        }
    }
    sink.push(line.get(done..).unwrap_or_default());
}

/// A run of bytes that changes from run to run, and what stands for it.
struct Run {
    length: usize,
    mask: &'static [u8],
}

/// Where something volatile might begin: a control character, a digit, or a path.
fn next_candidate(line: &[u8]) -> Option<usize> {
    line.iter().position(
        |byte| matches!(byte, 0..=0x1f | b'0'..=b'9' | b'/' | b'\\' | b'a'..=b'f' | b'A'..=b'F'),
    )
}

/// The rest of the word that begins here can't be volatile any more.
fn after_word(line: &[u8], at: usize) -> usize {
    let word = line.get(at..).unwrap_or_default();
    at + word
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .unwrap_or(word.len())
        .max(1)
}

fn volatile(line: &[u8], at: usize) -> Option<Run> {
    let rest = line.get(at..)?;
    let before = at.checked_sub(1).and_then(|index| line.get(index)).copied();
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match rest.first()? {
        0x1b => Some(escape(rest)),
        0..=0x1f if rest.first() != Some(&b'\t') => Some(Run {
            length: 1,
            mask: b"",
        }),
        b'/' => temporary_path(rest, before),
        b'\\' => None,
        _ if in_word => None,
        first => uuid(rest)
            .or_else(|| address(rest))
            .or_else(|| first.is_ascii_digit().then(|| number(line, at))?),
    }
}

/// An ANSI escape sequence: CSI, OSC or a single character.
fn escape(rest: &[u8]) -> Run {
    let length = match rest.get(1) {
        Some(b'[') => rest
            .iter()
            .skip(2)
            .position(|byte| (0x40..=0x7e).contains(byte))
            .map_or(rest.len(), |end| end + 3),
        Some(b']') => rest
            .iter()
            .position(|byte| *byte == 0x07)
            .map(|end| end + 1)
            .or_else(|| memchr::memmem::find(rest.get(1..)?, b"\x1b\\").map(|end| end + 3))
            .unwrap_or(rest.len()),
        Some(_) => 2,
        None => 1,
    };
    Run { length, mask: b"" }
}

/// `/tmp/…`, `/var/folders/…`, `/var/tmp/…`, `/private/var/…`: masked up to white space or a quote.
fn temporary_path(rest: &[u8], before: Option<u8>) -> Option<Run> {
    if before.is_some_and(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/')
    }) {
        return None;
    }
    let roots: [&[u8]; 4] = [b"/tmp/", b"/var/folders/", b"/var/tmp/", b"/private/var/"];
    if !roots.iter().any(|root| rest.starts_with(root)) {
        return None;
    }
    let length = rest
        .iter()
        .position(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b')' | b',' | b';')
        })
        .unwrap_or(rest.len());
    Some(Run {
        length,
        mask: b"<path>",
    })
}

/// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
fn uuid(rest: &[u8]) -> Option<Run> {
    let candidate = rest.get(..36)?;
    let shaped = candidate
        .iter()
        .enumerate()
        .all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let ends = rest
        .get(36)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (shaped && ends).then_some(Run {
        length: 36,
        mask: b"<uuid>",
    })
}

/// `0x` and hexadecimal digits.
fn address(rest: &[u8]) -> Option<Run> {
    let digits = rest.strip_prefix(b"0x")?;
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    (length > 0).then_some(Run {
        length: length + 2,
        mask: b"<address>",
    })
}

/// A date, a time, a duration or a process id.
fn number(line: &[u8], at: usize) -> Option<Run> {
    let rest = line.get(at..)?;
    // `file.rs:12:30` is a place, not a time.
    let after_colon = at.checked_sub(1).and_then(|index| line.get(index)) == Some(&b':');
    date_time(rest)
        .or_else(|| {
            let length = clock(rest).filter(|_| !after_colon)?;
            Some(Run {
                length,
                mask: b"<time>",
            })
        })
        .or_else(|| duration(rest))
        .or_else(|| process_id(line, at))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// `2026-11-16`, `2026/11/16`, either with a time after `T` or a space.
fn date_time(rest: &[u8]) -> Option<Run> {
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
    Some(Run {
        length: 10 + time.unwrap_or(0),
        mask: b"<time>",
    })
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
fn duration(rest: &[u8]) -> Option<Run> {
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
    Some(Run {
        length: number + space + length.len(),
        mask: b"<duration>",
    })
}

/// A number after `pid`, as in `pid 123`, `pid=123`, `PID: 123` or `process 123`.
fn process_id(line: &[u8], at: usize) -> Option<Run> {
    let before = line.get(..at)?.trim_ascii_end();
    let before = before
        .strip_suffix(b"=")
        .or_else(|| before.strip_suffix(b":"))
        .or_else(|| before.strip_suffix(b"["))
        .unwrap_or(before)
        .trim_ascii_end();
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
    let length = digits(line.get(at..)?);
    named.then_some(Run {
        length,
        mask: b"<pid>",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        let mut sink = Sink {
            digest: Digest::new("text"),
            buffer: Vec::new(),
            newlines: 0,
        };
        write(text.as_bytes(), &mut sink);
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
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
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
