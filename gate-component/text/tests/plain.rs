//! The normal form of text again, rule by rule and byte by byte: slow and plain. Both must agree on everything.

use ralph_gate_text::normal;

/// A place that is masked: where it begins and ends, and what stands for it.
type Masked = (usize, usize, &'static str);

fn plain(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<(usize, Vec<u8>)> = Vec::new();
    let (mut at, mut done, mut next) = (0, 0, 0);
    while at < text.len() {
        let found = if at < next { None } else { volatile(text, at) };
        match found {
            Some((start, end, mask)) if start >= done => {
                out.retain(|(place, _)| *place < start);
                out.push((start, mask.into()));
                (at, done, next) = (end, end, end);
            }
            _ => {
                let looked_at = at >= next
                    && (text[at].is_ascii_digit()
                        || text[at] == b'/' && matches!(byte(text, at + 1), b't' | b'v' | b'p'));
                if looked_at {
                    next = end_of_word(text, at);
                }
                out.push((at, vec![text[at]]));
                at += 1;
            }
        }
    }
    let bytes: Vec<u8> = out.into_iter().flat_map(|(_, bytes)| bytes).collect();
    let lines: Vec<&[u8]> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .collect();
    lines.join(&b'\n').trim_ascii_end().to_vec()
}

/// A byte, or zero behind the end.
fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

fn before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |at| byte(text, at))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where a run of bytes of a kind ends.
fn end_of(text: &[u8], mut at: usize, is_kind: impl Fn(u8) -> bool) -> usize {
    while at < text.len() && is_kind(text[at]) {
        at += 1;
    }
    at
}

fn digits(text: &[u8], at: usize) -> usize {
    end_of(text, at, |byte| byte.is_ascii_digit()) - at
}

/// The end of a word; numbers with points between them are one.
fn end_of_word(text: &[u8], at: usize) -> usize {
    let end = end_of(text, at + 1, is_word);
    let goes_on = byte(text, end) == b'.'
        && before(text, end).is_ascii_digit()
        && byte(text, end + 1).is_ascii_digit();
    if goes_on { end_of_word(text, end) } else { end }
}

fn volatile(text: &[u8], at: usize) -> Option<Masked> {
    match text[at] {
        0x1b => Some((at, escape(text, at), "")),
        b'\t' | b'\n' => None,
        0..=0x1f => Some((at, at + 1, "")),
        b'/' => path(text, at),
        b'0'..=b'9' if !is_word(before(text, at)) => number(text, at),
        _ => None,
    }
}

fn escape(text: &[u8], at: usize) -> usize {
    match byte(text, at + 1) {
        _ if at + 1 == text.len() => at + 1,
        b'\n' => at + 1,
        b'[' => {
            let end = end_of(text, at + 2, |byte| !matches!(byte, b'@'..=b'~' | b'\n'));
            if end < text.len() && text[end] != b'\n' {
                end + 1
            } else {
                end
            }
        }
        b']' => {
            let end = end_of(text, at + 2, |byte| !matches!(byte, 0x07 | 0x1b | b'\n'));
            match (byte(text, end), byte(text, end + 1)) {
                (0x07, _) => end + 1,
                (0x1b, b'\\') => end + 2,
                _ => end,
            }
        }
        _ => at + 2,
    }
}

fn path(text: &[u8], at: usize) -> Option<Masked> {
    let inside = before(text, at);
    let roots = ["/tmp/", "/var/folders/", "/var/tmp/", "/private/var/"];
    let is_root = roots
        .iter()
        .any(|root| text[at..].starts_with(root.as_bytes()));
    if !is_root || inside.is_ascii_alphanumeric() || b"._-/".contains(&inside) {
        return None;
    }
    let end = end_of(text, at, |byte| {
        !byte.is_ascii_whitespace() && !b"\"'`),;".contains(&byte)
    });
    Some((at, end, "<path>"))
}

fn number(text: &[u8], at: usize) -> Option<Masked> {
    let end = at + digits(text, at);
    uuid(text, at)
        .or_else(|| {
            let end = end_of(text, at + 2, |byte| byte.is_ascii_hexdigit());
            (text[at..].starts_with(b"0x") && end > at + 2).then_some((at, end, "<address>"))
        })
        .or_else(|| date(text, at).map(|end| (at, end, "<time>")))
        .or_else(|| {
            let after_colon = before(text, at) == b':';
            let end = clock(text, at).filter(|_| !after_colon)?;
            Some((at, end, "<time>"))
        })
        .or_else(|| duration(text, at, end).map(|end| (at, end, "<duration>")))
        .or_else(|| is_process_id(text, at).then_some((at, end, "<pid>")))
}

/// Found by the first digit of its third group.
fn uuid(text: &[u8], at: usize) -> Option<Masked> {
    let start = at.checked_sub(14)?;
    let shape = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
    let fits = text.len() >= start + 36
        && shape
            .bytes()
            .zip(&text[start..])
            .all(|(kind, byte)| match kind {
                b'h' => byte.is_ascii_hexdigit(),
                _ => *byte == b'-',
            });
    let alone = !is_word(before(text, start)) && !is_word(byte(text, start + 36));
    (fits && alone).then_some((start, start + 36, "<uuid>"))
}

fn date(text: &[u8], at: usize) -> Option<usize> {
    let separator = byte(text, at + 4);
    let fits = digits(text, at) == 4
        && b"-/".contains(&separator)
        && digits(text, at + 5) == 2
        && byte(text, at + 7) == separator
        && digits(text, at + 8) == 2;
    let time = || {
        let marked = b"Tt _".contains(&byte(text, at + 10));
        clock(text, at + 11).filter(|_| marked)
    };
    fits.then(|| time().unwrap_or(at + 10))
}

fn clock(text: &[u8], at: usize) -> Option<usize> {
    let hours = digits(text, at);
    let group = |at: usize| byte(text, at) == b':' && digits(text, at + 1) == 2;
    let minutes = at + hours;
    if !(hours == 1 || hours == 2) || !group(minutes) {
        return None;
    }
    let seconds = minutes + 3;
    let mut end = match byte(text, seconds) {
        b':' if group(seconds) => seconds + 3,
        b':' => return None,
        _ => seconds,
    };
    if b".,".contains(&byte(text, end)) && digits(text, end + 1) > 0 {
        end += 1 + digits(text, end + 1);
    }
    Some(match byte(text, end) {
        b'Z' | b'z' => end + 1,
        b'+' | b'-' if digits(text, end + 1) == 4 => end + 5,
        b'+' | b'-'
            if digits(text, end + 1) == 2
                && byte(text, end + 3) == b':'
                && digits(text, end + 4) == 2 =>
        {
            end + 6
        }
        _ => end,
    })
}

fn duration(text: &[u8], at: usize, whole: usize) -> Option<usize> {
    const SHORT: [&str; 2] = ["s", "m"];
    const LONG: &str = "ms us ns µs sec secs min mins hour hours second seconds minute minutes millisecond \
                        milliseconds microsecond microseconds nanosecond nanoseconds";
    let mut end = whole;
    if byte(text, end) == b'.' && digits(text, end + 1) > 0 {
        end += 1 + digits(text, end + 1);
    }
    let exact = end > whole;
    let spaced = byte(text, end) == b' ';
    end += usize::from(spaced);
    let unit_end = end_of(text, end, |byte| is_word(byte) || byte >= 0x80);
    let unit = std::str::from_utf8(&text[end.min(text.len())..unit_end]).ok()?;
    let is_unit =
        SHORT.contains(&unit) && (exact || !spaced) || LONG.split(' ').any(|long| long == unit);
    (is_unit && at < whole).then_some(unit_end)
}

fn is_process_id(text: &[u8], at: usize) -> bool {
    let mut start = &text[..at];
    for mark in [b" ", b"=", b":", b"[", b" "] {
        start = start.strip_suffix(mark).unwrap_or(start);
    }
    let lower = start.to_ascii_lowercase();
    ["pid", "process"].iter().any(|name| {
        lower
            .strip_suffix(name.as_bytes())
            .is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_alphanumeric))
    })
}

/// A deterministic stream of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit
    }
}

fn agree(text: &str) {
    let mut normal = Vec::new();
    normal::write(text, &mut |piece| normal.extend_from_slice(piece));
    let plain = plain(text.as_bytes());
    assert_eq!(
        String::from_utf8_lossy(&normal),
        String::from_utf8_lossy(&plain),
        "{text:?}"
    );
    assert_eq!(normal, plain, "{text:?}");
}

const PIECES: &[&str] = &[
    " s",
    " m",
    "1.5",
    "0.34",
    "a",
    "b7",
    "_",
    " ",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\u{7}",
    "\u{1b}",
    "\u{1b}[0m",
    "\u{1b}[1;3",
    "\u{1b}]0;x",
    "\u{1b}\\",
    "[",
    "]",
    "é",
    "\u{b5}s",
    "1",
    "12",
    "05",
    "2026",
    "123",
    "4711",
    "2026-11-16",
    "2026/11/16",
    "2026-11/16",
    "05:36",
    "5:36",
    "05:36:01",
    "T",
    ":",
    ".",
    ",",
    "-",
    "+",
    "Z",
    "z",
    "+02:00",
    "-0200",
    "s",
    "m",
    "ms",
    "us",
    "ns",
    "sec",
    "min",
    "mins",
    "hours",
    "seconds",
    "minutes",
    "milliseconds",
    "nanosecond",
    "microseconds",
    "pid",
    "PID",
    "process",
    "Process",
    "=",
    ": ",
    " [",
    "0x",
    "ff",
    "7ffe",
    "/",
    "/tmp/",
    "/tmp",
    "/var/tmp/",
    "/var/folders/",
    "/private/var/",
    "\"",
    "'",
    ")",
    ";",
    "123e4567-e89b-12d3-a456-426614174000",
    "abcdef01-",
    "e89b-",
    "12d3-",
    "a456-",
    "426614174000",
];

#[test]
fn the_fast_normal_form_is_the_plain_one() {
    let mut random = Random(88_172_645_463_325_252);
    for round in 0..150_000 {
        let length = 1 + random.below(if round % 3 == 0 { 24 } else { 8 });
        let text: String = (0..length)
            .map(|_| PIECES[random.below(PIECES.len())])
            .collect();
        agree(&text);
    }
}

#[test]
fn the_fast_normal_form_is_the_plain_one_for_any_two_pieces_after_any_one() {
    for one in PIECES {
        for two in PIECES {
            agree(&format!("{one}{two}"));
            for three in PIECES {
                agree(&format!("{one}{two}{three}"));
            }
        }
    }
}
