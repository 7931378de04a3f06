//! The format of `progress.txt`: an append-only log that people read and a torn write can't spoil.
//!
//! An entry is a Markdown section with a trailer that says where it ends:
//!
//! ```text
//!
//! ## Iteration 3: parser rewritten
//!
//! Any text.
//!
//! <!-- end 3 8c1f03aa -->
//! ```
//!
//! * The empty line in front belongs to the entry, so that an entry that follows a torn one still
//!   begins on a line of its own.
//! * A line of the body that begins like a header or a trailer gets a `\` in front, which Markdown
//!   does not show.
//! * The eight digits are a checksum of iteration, title and body.
//!
//! What is not an entry is kept:
//!
//! * Text before the first entry is the log's preamble.
//! * Text between entries or after the last one, for example a note that the agent wrote itself or a
//!   torn entry that others follow, becomes an entry of its own: without a title, and with the
//!   iteration of the entry before it. Empty lines alone are nothing.
//! * A last entry without its trailer, or whose checksum is wrong, is torn. A wrong checksum further
//!   up means that a person edited the entry; it counts as it reads now.

use serde::Serialize;

use crate::digest::Digest;
use crate::tree::Node;
use crate::tree::decode::{Decoder, Path};

const HEADER: &str = "## Iteration ";
const TRAILER: &str = "<!-- end ";

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProgressEntry {
    /// The iteration it was written in.
    pub iteration: u32,
    /// One line. Empty for text that was found between entries.
    pub title: String,
    /// Any text.
    pub body: String,
}

/// The whole log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProgressLog {
    /// Every entry, in the order of the text.
    pub entries: Vec<ProgressEntry>,
    /// Text before the first entry.
    pub preamble: String,
    /// A last entry that was cut off while it was written.
    pub torn: Option<String>,
}

impl ProgressEntry {
    /// From the JSON face.
    pub fn decode(decoder: &mut Decoder<'_>, node: &Node<'_>, path: Path<'_>) -> Option<Self> {
        let fields = decoder.object(node, path, &["iteration", "title", "body"])?;
        let iteration = match fields.get("iteration") {
            None => Some(0),
            Some(node) => decoder.integer(node, path.field("iteration"), 0, u32::MAX),
        };
        let mut text = |name| match fields.get(name) {
            None => Some(String::new()),
            Some(node) => decoder.string(node, path.field(name)).map(str::to_owned),
        };
        let (title, body) = (text("title"), text("body"));
        Some(Self {
            iteration: iteration?,
            title: title?,
            body: body?,
        })
    }
}

/// The bytes to append for an entry. Line breaks in the title become spaces.
///
/// ```
/// use ralph_gate_component::progress::{ProgressEntry, read, write};
/// let entry = ProgressEntry { iteration: 3, title: "parser".into(), body: "It works.".into() };
/// let text = write(&entry);
/// assert!(text.starts_with("\n## Iteration 3: parser\n\nIt works.\n\n<!-- end 3 "));
/// assert_eq!(read(&text).entries, [entry]);
/// ```
pub fn write(entry: &ProgressEntry) -> String {
    let ProgressEntry {
        iteration, body, ..
    } = entry;
    let title = one_line(&entry.title);
    let check = checksum(*iteration, &title, body);
    let space = if title.is_empty() { "" } else { " " };
    let gap = if body.is_empty() { "" } else { "\n\n" };
    let body = escape(body);
    format!("\n{HEADER}{iteration}:{space}{title}\n\n{body}{gap}{TRAILER}{iteration} {check} -->\n")
}

/// Read a log. Never fails; what is not an entry is kept, as the module says.
pub fn read(text: &str) -> ProgressLog {
    let mut reader = Reader {
        text,
        log: ProgressLog::default(),
        outside: 0,
        open: None,
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.line(line, start);
        start += line.len();
    }
    reader.finish()
}

/// A header that was read and whose trailer was not.
struct Open {
    iteration: u32,
    title: String,
    /// Where the header begins.
    start: usize,
    /// Where the line after the header begins.
    content: usize,
}

struct Reader<'a> {
    text: &'a str,
    log: ProgressLog,
    /// Where the text begins that no entry has claimed yet.
    outside: usize,
    open: Option<Open>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, start: usize) {
        let end = start + line.len();
        let line = trim_line_end(line);
        if let Some((iteration, title)) = header(line) {
            // An entry that is still open was cut off here: its text stays outside.
            self.open = Some(Open {
                iteration,
                title,
                start,
                content: end,
            });
            return;
        }
        let Some(check) = self
            .open
            .as_ref()
            .and_then(|open| trailer(line, open.iteration))
        else {
            return;
        };
        if let Some(open) = self.open.take() {
            self.close(open, start, end, check);
        }
    }

    fn close(&mut self, open: Open, trailer: usize, end: usize, check: &str) {
        let content = self.text.get(open.content..trailer).unwrap_or_default();
        let matches = |body: &String| checksum(open.iteration, &open.title, body) == check;
        let as_it_reads = body(content);
        let body = if matches(&as_it_reads) {
            as_it_reads
        } else if let Some(body) = Some(body(&content.replace("\r\n", "\n"))).filter(matches) {
            // A tool rewrote the line ends of the whole file.
            body
        } else if self.is_blank_after(end) {
            self.open = Some(open);
            return;
        } else {
            as_it_reads
        };
        self.keep_outside(open.start);
        self.log.entries.push(ProgressEntry {
            iteration: open.iteration,
            title: open.title,
            body,
        });
        self.outside = end;
    }

    fn is_blank_after(&self, end: usize) -> bool {
        self.text
            .get(end..)
            .is_none_or(|rest| rest.trim_start().is_empty())
    }

    /// Keep the unclaimed text in front of `end`, where a header begins.
    fn keep_outside(&mut self, end: usize) {
        let text = self.text.get(self.outside..end).unwrap_or_default();
        // The line break directly in front of a header belongs to the entry. A tool may have made it CR LF.
        let text = text.strip_suffix('\n').unwrap_or(text);
        let is_empty_line = text == "\r" || text.ends_with("\n\r");
        self.keep(
            text.strip_suffix('\r')
                .filter(|_| is_empty_line)
                .unwrap_or(text),
        );
    }

    fn keep(&mut self, text: &str) {
        match self.log.entries.last() {
            None => text.clone_into(&mut self.log.preamble),
            Some(_) if text.trim().is_empty() => {}
            Some(before) => {
                let iteration = before.iteration;
                self.log.entries.push(ProgressEntry {
                    iteration,
                    title: String::new(),
                    body: text.to_owned(),
                });
            }
        }
    }

    fn finish(mut self) -> ProgressLog {
        let last_line = self.text.rfind('\n').map_or(0, |newline| newline + 1);
        let tail = self.text.get(last_line..).unwrap_or_default();
        let torn = match &self.open {
            Some(open) => Some(open.start),
            None => (last_line >= self.outside && is_torn_header(tail)).then_some(last_line),
        };
        match torn {
            Some(start) => {
                self.keep_outside(start);
                self.log.torn = self.text.get(start..).map(str::to_owned);
            }
            None => self.keep(self.text.get(self.outside..).unwrap_or_default()),
        }
        self.log
    }
}

/// Whether an unfinished last line may be the beginning of a header.
fn is_torn_header(line: &str) -> bool {
    !line.is_empty() && (HEADER.starts_with(line) || line.starts_with(HEADER))
}

/// Iteration and title, if the line is a header.
fn header(line: &str) -> Option<(u32, String)> {
    let (number, title) = line.strip_prefix(HEADER)?.split_once(':')?;
    let title = title.strip_prefix(' ').unwrap_or(title);
    Some((decimal(number)?, title.to_owned()))
}

/// The checksum, if the line is the trailer of that iteration.
fn trailer(line: &str, iteration: u32) -> Option<&str> {
    let (number, check) = line
        .strip_prefix(TRAILER)?
        .strip_suffix(" -->")?
        .split_once(' ')?;
    let is_check = check.len() == 8 && check.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_check && decimal(number) == Some(iteration)).then_some(check)
}

/// A number as [`write`] writes it: digits alone, no leading zero.
fn decimal(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn trim_line_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// Each run of line breaks becomes one space.
fn one_line(title: &str) -> String {
    let mut line = String::with_capacity(title.len());
    let mut was_break = false;
    for character in title.chars() {
        let is_line_end = matches!(character, '\r' | '\n');
        match (is_line_end, was_break) {
            (true, true) => {}
            (true, false) => line.push(' '),
            (false, _) => line.push(character),
        }
        was_break = is_line_end;
    }
    line
}

/// Whether a line, without the escapes in front of it, begins like a header or a trailer.
fn looks_like_mark(line: &str) -> bool {
    let line = line.trim_start_matches('\\');
    line.starts_with(HEADER) || line.starts_with(TRAILER)
}

fn escape(body: &str) -> String {
    let mut text = String::with_capacity(body.len());
    for line in body.split_inclusive('\n') {
        if looks_like_mark(line) {
            text.push('\\');
        }
        text.push_str(line);
    }
    text
}

/// The body that stands between header and trailer: the inverse of what [`write`] does.
fn body(content: &str) -> String {
    let content = content.strip_prefix('\n').unwrap_or(content);
    let content = content
        .strip_suffix("\n\n")
        .or_else(|| content.strip_suffix('\n'))
        .unwrap_or(content);
    let mut body = String::with_capacity(content.len());
    for line in content.split_inclusive('\n') {
        let escaped = line.starts_with('\\') && looks_like_mark(line);
        body.push_str(line.strip_prefix('\\').filter(|_| escaped).unwrap_or(line));
    }
    body
}

/// The eight digits that a trailer carries.
fn checksum(iteration: u32, title: &str, body: &str) -> String {
    let mut digest = Digest::new("progress");
    digest
        .bytes(iteration.to_string().as_bytes())
        .bytes(title.as_bytes())
        .bytes(body.as_bytes());
    digest.hex().chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(iteration: u32, title: &str, body: &str) -> ProgressEntry {
        ProgressEntry {
            iteration,
            title: title.to_owned(),
            body: body.to_owned(),
        }
    }

    fn written(entries: &[ProgressEntry]) -> String {
        entries.iter().map(write).collect()
    }

    /// A small deterministic generator of texts out of the pieces that could confuse the reader.
    struct Texts(u64);

    impl Texts {
        fn next(&mut self, below: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % below
        }

        fn text(&mut self) -> String {
            const PIECES: [&str; 22] = [
                "\n",
                "\n",
                "\r\n",
                "\r",
                " ",
                "\\",
                "\\\\",
                "#",
                "## ",
                HEADER,
                "## Iteration 3: x",
                TRAILER,
                "<!-- end 3 0a1b2c3d -->",
                "-->",
                ":",
                "3",
                "é",
                "😀",
                "\u{2028}",
                "\0",
                "word",
                "\t",
            ];
            let length = self.next(9);
            (0..length)
                .map(|_| PIECES[usize::try_from(self.next(PIECES.len() as u64)).unwrap()])
                .collect()
        }

        fn entries(&mut self) -> Vec<ProgressEntry> {
            let count = self.next(4) + 1;
            (0..count)
                .map(|_| {
                    let iteration = u32::try_from(self.next(5)).unwrap();
                    entry(iteration, &one_line(&self.text()), &self.text())
                })
                .collect()
        }
    }

    #[test]
    fn an_entry_is_written_as_readable_markdown() {
        assert_eq!(
            write(&entry(3, "parser", "It works.\nReally.")),
            format!(
                "\n## Iteration 3: parser\n\nIt works.\nReally.\n\n<!-- end 3 {} -->\n",
                checksum(3, "parser", "It works.\nReally.")
            )
        );
        let empty = write(&entry(0, "", ""));
        assert_eq!(
            empty,
            format!(
                "\n## Iteration 0:\n\n<!-- end 0 {} -->\n",
                checksum(0, "", "")
            )
        );
    }

    #[test]
    fn line_breaks_in_a_title_become_one_space() {
        let text = write(&entry(1, "a\r\n\r\nb\rc", ""));
        assert_eq!(read(&text).entries[0].title, "a b c");
    }

    #[test]
    fn lines_that_look_like_marks_are_escaped_visibly() {
        let body = "## Iteration 9: no\n<!-- end 1 00000000 -->\n\\## Iteration 9: no";
        let text = write(&entry(1, "t", body));
        assert!(text.contains(
            "\n\\## Iteration 9: no\n\\<!-- end 1 00000000 -->\n\\\\## Iteration 9: no\n"
        ));
        assert_eq!(read(&text).entries, [entry(1, "t", body)]);
    }

    #[test]
    fn any_entries_come_back_from_their_text() {
        let mut texts = Texts(1);
        for round in 0..4000 {
            let entries = texts.entries();
            let log = read(&written(&entries));
            assert_eq!(log.entries, entries, "round {round}");
            assert_eq!(log.preamble, "", "round {round}");
            assert_eq!(log.torn, None, "round {round}");
        }
    }

    #[test]
    fn a_cut_at_any_byte_loses_nothing() {
        let mut texts = Texts(2);
        for round in 0..300 {
            let entries = texts.entries();
            let text = written(&entries);
            let mut ends: Vec<usize> = Vec::new();
            for entry in &entries {
                ends.push(ends.last().unwrap_or(&0) + write(entry).len());
            }
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let log = read(text.split_at(cut).0);
                // The last line break of an entry is not needed to know that it is complete.
                let complete = ends.iter().filter(|end| cut + 1 >= **end).count();
                let rest = match complete {
                    0 => text.split_at(cut).0,
                    n => text.get(ends[n - 1]..cut).unwrap_or_default(),
                };
                let rest = rest.strip_prefix('\n').unwrap_or(rest);
                assert_eq!(log.entries, entries[..complete], "round {round}, cut {cut}");
                assert_eq!(
                    log.torn.unwrap_or_default(),
                    rest,
                    "round {round}, cut {cut}"
                );
                assert_eq!(log.preamble.trim(), "", "round {round}, cut {cut}");
            }
        }
    }

    #[test]
    fn an_entry_after_a_torn_one_is_read_and_the_torn_text_is_kept() {
        let first = entry(1, "one", "1");
        let torn = write(&entry(2, "two", "half of the te"));
        let last = entry(3, "three", "3");
        for cut in 1..torn.len() - 1 {
            let torn = torn.split_at(cut).0;
            let text = format!("{}{torn}{}", write(&first), write(&last));
            let log = read(&text);
            assert_eq!(log.entries.first(), Some(&first), "cut {cut}");
            assert_eq!(log.entries.last(), Some(&last), "cut {cut}");
            assert_eq!(log.torn, None, "cut {cut}");
            if let [_, note, _] = log.entries.as_slice() {
                assert_eq!((note.iteration, note.title.as_str()), (1, ""), "cut {cut}");
                assert_eq!(note.body, torn, "cut {cut}");
            } else {
                assert_eq!(torn.trim(), "", "cut {cut}");
            }
        }
    }

    #[test]
    fn text_around_entries_is_kept() {
        let one = write(&entry(1, "one", "1"));
        let two = write(&entry(2, "two", "2"));
        let log = read(&format!("# Log\n\nmine\n{one}a note\n{two}the end"));
        assert_eq!(log.preamble, "# Log\n\nmine\n");
        assert_eq!(
            log.entries,
            [
                entry(1, "one", "1"),
                entry(1, "", "a note\n"),
                entry(2, "two", "2"),
                entry(2, "", "the end"),
            ]
        );
        assert_eq!(log.torn, None);
    }

    #[test]
    fn text_without_entries_is_the_preamble() {
        for text in ["", "\n\n", "just notes", "# Progress\r\n\r\n- a\r\n"] {
            let log = read(text);
            assert_eq!(
                (log.preamble.as_str(), log.entries.len(), log.torn),
                (text, 0, None)
            );
        }
    }

    #[test]
    fn a_wrong_checksum_is_torn_at_the_end_and_an_edit_further_up() {
        let edited = write(&entry(1, "one", "teh body")).replace("teh", "the");
        let log = read(&edited);
        assert_eq!(log.entries, []);
        assert_eq!(log.torn.as_deref(), edited.strip_prefix('\n'));

        let log = read(&format!("{edited}{}", write(&entry(2, "two", "2"))));
        assert_eq!(
            log.entries,
            [entry(1, "one", "the body"), entry(2, "two", "2")]
        );
        assert_eq!(log.torn, None);
    }

    #[test]
    fn a_file_whose_line_ends_were_rewritten_is_read() {
        let entries = [
            entry(1, "one", "a\n\nb"),
            entry(2, "", ""),
            entry(3, "three", "c"),
        ];
        let log = read(&written(&entries).replace('\n', "\r\n"));
        assert_eq!(log.entries, entries);
        assert_eq!((log.preamble.as_str(), log.torn), ("", None));
    }

    #[test]
    fn numbers_that_no_writer_writes_are_not_headers() {
        for line in [
            "## Iteration 01: x",
            "## Iteration +1: x",
            "## Iteration 4294967296: x",
            "## Iteration : x",
        ] {
            let log = read(&format!("{line}\n"));
            assert_eq!((log.entries.len(), log.preamble), (0, format!("{line}\n")));
        }
    }

    #[test]
    fn hostile_logs_take_linear_time() {
        let headers = "## Iteration 1: x\n".repeat(200_000);
        assert_eq!(read(&headers).torn.as_deref(), Some("## Iteration 1: x\n"));
        let trailers = format!(
            "## Iteration 1: x\n{}",
            "<!-- end 1 00000000 -->\n\n\n".repeat(100_000)
        );
        assert_eq!(read(&trailers).entries.len(), 2);
    }
}
