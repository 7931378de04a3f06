//! Rules about `progress.txt`: what was appended is read back, and nothing is ever lost.

use ralph_gate_component::progress::{ProgressEntry, ProgressLog, read, write};

/// Lines of one log that are looked for, so that a long one does not take quadratic time.
const LOOKED_FOR: usize = 24;

/// Checks a text as a log, and as the parts of an entry.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    let log = read(&text);
    nothing_is_lost(&text, &log);
    let (title, body) = text.split_once('\n').unwrap_or(("", &text));
    let entry = ProgressEntry {
        iteration: u32::try_from(text.len() % 1000).unwrap(),
        title: title.to_owned(),
        body: body.to_owned(),
    };
    alone(&entry);
    appended(&text, &log, &entry);
}

/// Each line that is not a header or a trailer is somewhere in the log.
fn nothing_is_lost(text: &str, log: &ProgressLog) {
    let kept = |line: &str| {
        let line = line.trim();
        let unescaped = line.strip_prefix('\\').unwrap_or(line);
        std::iter::once(&log.preamble)
            .chain(&log.torn)
            .chain(log.entries.iter().map(|entry| &entry.body))
            .any(|part| part.contains(line) || part.contains(unescaped))
    };
    for line in text.lines().take(LOOKED_FOR) {
        let is_mark = line.starts_with("## Iteration ") || line.starts_with("<!-- end ");
        assert!(is_mark || kept(line), "the line {line:?} is lost: {log:?}");
    }
}

fn as_read(entry: &ProgressEntry) -> ProgressEntry {
    let mut title = String::new();
    for letter in entry.title.chars() {
        match letter {
            '\r' | '\n' if title.ends_with('\r') => {}
            '\r' | '\n' => title.push('\r'),
            _ => title.push(letter),
        }
    }
    ProgressEntry {
        title: title.replace('\r', " "),
        ..entry.clone()
    }
}

/// An entry is read back as it was written; cut off anywhere, it is torn and not lost.
fn alone(entry: &ProgressEntry) {
    let written = write(entry);
    let log = read(&written);
    assert_eq!(log.entries, [as_read(entry)], "{written:?}");
    assert_eq!((log.preamble.as_str(), log.torn.as_deref()), ("", None));
    let step = written.len() / 8 + 1;
    for cut in (1..written.len()).step_by(step) {
        let Some(part) = written.get(..cut) else {
            continue;
        };
        let log = read(part);
        let is_whole = log.entries == [as_read(entry)];
        assert!(is_whole || log.entries.is_empty(), "cut at {cut}: {log:?}");
        nothing_is_lost(part, &log);
    }
}

/// Whatever stands in the log, an entry that is appended becomes its last one.
fn appended(text: &str, before: &ProgressLog, entry: &ProgressEntry) {
    let log = read(&format!("{text}{}", write(entry)));
    assert_eq!(log.entries.last(), Some(&as_read(entry)), "{log:?}");
    assert_eq!(log.torn, None, "an entry behind a torn one is whole");
    if let Some(torn) = before.torn.as_deref().map(str::trim) {
        let found = log.preamble.contains(torn)
            || log.entries.iter().any(|entry| entry.body.contains(torn));
        assert!(
            found || is_edited(torn),
            "the torn {torn:?} is lost: {log:?}"
        );
    }
}

/// With more behind it, an entry with a wrong checksum is one that a person edited.
fn is_edited(torn: &str) -> bool {
    torn.starts_with("## Iteration ")
        && torn
            .lines()
            .any(|line| line.starts_with("<!-- end ") && line.ends_with(" -->"))
}
