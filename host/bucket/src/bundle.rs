//! The bundle: a session as one object. Pure: bytes to files and back.
//!
//! A first line with format and version, a line of JSON that says what follows, the bytes of all files one after the
//! other, and a last line with the digest of everything before it. What a log holds beyond its newest part is in
//! segments, objects of their own that never change; the bundle lists them.

use std::collections::{BTreeMap, VecDeque};

use ralph_gate_memory::disk::{Folder, Place};
use ralph_gate_memory::{Digest, SessionKey};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "ralph-gate session";
/// The version that this program writes.
pub(crate) const VERSION: u32 = 1;
/// The largest bundle, in bytes.
pub(crate) const BUNDLE_LIMIT: u64 = 64 << 20;
/// The largest segment, in bytes.
pub(crate) const SEGMENT_LIMIT: u64 = 4 << 20;
/// The most segments that a file has.
pub(crate) const SEGMENTS_LIMIT: usize = 4096;
/// The most files that a session has.
pub(crate) const FILES_LIMIT: usize = 4096;
/// How many writes a bundle remembers: so far back a writer can tell whether its own took effect.
pub(crate) const WRITES: usize = 64;
/// No session comes anywhere near it, and sums of such numbers don't overflow.
const LARGEST: u64 = 1 << 53;
/// Hexadecimal digits of a write's name.
const WRITE_DIGITS: usize = 32;
/// A digest and two line ends.
const TRAILER: usize = 66;

/// A session's files, as one object holds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bundle {
    pub(crate) key: SessionKey,
    /// The newest revision of the session.
    pub(crate) revision: u64,
    pub(crate) writes: Writes,
    pub(crate) files: BTreeMap<Place, Stored>,
}

/// A file as a bundle holds it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// What is in segments, from the beginning on.
    pub(crate) segments: Vec<Segment>,
    /// What comes after them.
    pub(crate) tail: Vec<u8>,
}

/// A part of a file that never changes, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Segment {
    pub(crate) len: u64,
    pub(crate) digest: Digest,
}

/// Who wrote this object: each write has a name of its own, so that no two objects are ever equal, and a writer finds its
/// own again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Writes {
    /// Counts them.
    count: u64,
    /// The names of the last ones, the newest last.
    names: VecDeque<String>,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is the newest.
    Newest,
    /// It is there, and others have written since.
    Followed,
    /// Another one stands in its place.
    Beaten,
    /// It is not there yet.
    Pending,
    /// It is too long ago to tell.
    Forgotten,
}

impl Writes {
    /// One more.
    pub(crate) fn followed_by(&self, name: String) -> Self {
        let mut names = self.names.clone();
        names.push_back(name);
        while names.len() > WRITES {
            names.pop_front();
        }
        Self {
            count: self.count + 1,
            names,
        }
    }

    /// What became of the newest write of `ours`, if these are the writes that are there.
    pub(crate) fn fate_of(&self, ours: &Self) -> Fate {
        let Some(since) = self.count.checked_sub(ours.count) else {
            return Fate::Pending;
        };
        let index = usize::try_from(since)
            .ok()
            .and_then(|since| self.names.len().checked_sub(since + 1));
        match index.and_then(|index| self.names.get(index)) {
            None => Fate::Forgotten,
            Some(name) if Some(name) != ours.names.back() => Fate::Beaten,
            Some(_) if since == 0 => Fate::Newest,
            Some(_) => Fate::Followed,
        }
    }

    fn adds_up(&self) -> bool {
        let is_name = |name: &String| {
            name.len() == WRITE_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        (1..LARGEST).contains(&self.count)
            && self.names.len() as u64 == self.count.min(WRITES as u64)
            && self.names.iter().all(is_name)
    }
}

/// Why bytes are not a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// Torn, edited, or something else altogether.
    Damaged(String),
    /// Whole, but of a version that this program does not know.
    Newer(u32),
}

impl Unreadable {
    fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged(reason.into())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    key: SessionKey,
    revision: u64,
    /// How many writes there were.
    write: u64,
    writes: VecDeque<String>,
    files: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    segments: Vec<Segment>,
    /// Of what is in this object.
    len: u64,
}

impl Bundle {
    /// The object's bytes.
    pub(crate) fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        let files = self.files.iter().map(|(place, stored)| Entry {
            file: place.to_string(),
            segments: stored.segments.clone(),
            len: stored.tail.len() as u64,
        });
        let header = Header {
            key: self.key.clone(),
            revision: self.revision,
            write: self.writes.count,
            writes: self.writes.names.clone(),
            files: files.collect(),
        };
        let mut bytes = format!("{FORMAT} {VERSION}\n").into_bytes();
        serde_json::to_writer(&mut bytes, &header)?;
        bytes.push(b'\n');
        for stored in self.files.values() {
            bytes.extend_from_slice(&stored.tail);
        }
        let digest = Digest::of_content(&bytes);
        bytes.extend_from_slice(format!("\n{digest}\n").as_bytes());
        Ok(bytes)
    }

    /// Reads an object, if it is whole.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let begins = bytes.starts_with(FORMAT.as_bytes());
        if !begins {
            return Err(Unreadable::damaged("it is not a session"));
        }
        let content = without_trailer(bytes)
            .ok_or_else(|| Unreadable::damaged("its digest does not fit its content"))?;
        let (first, rest) =
            line(content).ok_or_else(|| Unreadable::damaged("its first line is not complete"))?;
        let version = std::str::from_utf8(first)
            .ok()
            .and_then(|first| first.strip_prefix(FORMAT)?.trim_start().parse().ok())
            .ok_or_else(|| Unreadable::damaged("it has no version"))?;
        if version > VERSION {
            return Err(Unreadable::Newer(version));
        }
        let (header, body) =
            line(rest).ok_or_else(|| Unreadable::damaged("its header is not complete"))?;
        let header: Header = serde_json::from_slice(header)
            .map_err(|error| Unreadable::Damaged(format!("its header can't be read: {error}")))?;
        header.with(body)
    }
}

impl Header {
    /// The files, if lengths and counts fit each other. A digest shows damage, not forgery: whoever can write to the
    /// bucket can make one, and what follows calculates with these numbers.
    fn with(self, mut body: &[u8]) -> Result<Bundle, Unreadable> {
        let wrong = || Unreadable::damaged("its numbers contradict each other");
        if self.files.len() > FILES_LIMIT || self.revision >= LARGEST {
            return Err(wrong());
        }
        let mut files = BTreeMap::new();
        for entry in self.files {
            let place = place(&entry.file).ok_or_else(|| {
                Unreadable::Damaged(format!("`{}` is no file of a session", entry.file))
            })?;
            let sizes = entry.segments.iter().map(|segment| segment.len);
            let fits = entry.segments.len() <= SEGMENTS_LIMIT
                && sizes.clone().all(|len| (1..=SEGMENT_LIMIT).contains(&len));
            let len = usize::try_from(entry.len).map_err(|_| wrong())?;
            let (tail, rest) = body
                .split_at_checked(len)
                .filter(|_| fits)
                .ok_or_else(wrong)?;
            body = rest;
            let stored = Stored {
                segments: entry.segments,
                tail: tail.to_vec(),
            };
            if files.insert(place, stored).is_some() {
                return Err(wrong());
            }
        }
        let writes = Writes {
            count: self.write,
            names: self.writes,
        };
        if !body.is_empty() || !writes.adds_up() {
            return Err(wrong());
        }
        Ok(Bundle {
            key: self.key,
            revision: self.revision,
            writes,
            files,
        })
    }
}

/// What the digest at the end covers, if it fits.
fn without_trailer(bytes: &[u8]) -> Option<&[u8]> {
    let (content, trailer) = bytes.split_at_checked(bytes.len().checked_sub(TRAILER)?)?;
    let digest = format!("\n{}\n", Digest::of_content(content));
    (trailer == digest.as_bytes()).then_some(content)
}

fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (line, rest) = bytes.split_at_checked(end)?;
    Some((line, rest.get(1..)?))
}

/// Where a file goes. None for what would not stay where it belongs.
fn place(file: &str) -> Option<Place> {
    let folders = [Folder::Checkpoints, Folder::Quarantine];
    let (folder, name) = match file.split_once('/') {
        None => (Folder::Session, file),
        Some((folder, name)) => {
            let found = folders.into_iter().find(|it| it.name() == Some(folder));
            (found?, name)
        }
    };
    let place = Place::new(folder, name);
    let is_folder = folders.iter().any(|folder| folder.name() == Some(file));
    (place.to_string() == file && !is_folder).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u64) -> String {
        format!("{number:032x}")
    }

    fn writes(names: impl IntoIterator<Item = u64>) -> Writes {
        let mut writes = Writes::default();
        for number in names {
            writes = writes.followed_by(name(number));
        }
        writes
    }

    fn sample() -> Bundle {
        let segment = Segment {
            len: 3,
            digest: Digest::of_content(b"abc"),
        };
        let log = Stored {
            segments: vec![segment],
            tail: b"def\n\n\xff\n".to_vec(),
        };
        Bundle {
            key: SessionKey::Session("s".into()),
            revision: 7,
            writes: writes(1..=3),
            files: BTreeMap::from([
                (Place::member("events.jsonl"), log),
                (Place::new(Folder::Checkpoints, "1.json"), Stored::default()),
            ]),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = sample().write().unwrap();
        assert_eq!(Bundle::read(&bytes).unwrap(), sample());
        assert!(bytes.starts_with(b"ralph-gate session 1\n{\"key\":"));
    }

    #[test]
    fn every_changed_and_every_missing_byte_is_noticed() {
        let bytes = sample().write().unwrap();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            let read = Bundle::read(&changed);
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "{index}");
            let read = Bundle::read(&bytes[..index]);
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "{index}");
        }
    }

    fn resealed(change: impl Fn(&str) -> String) -> Vec<u8> {
        let bytes = sample().write().unwrap();
        let content = &bytes[..bytes.len() - TRAILER];
        // Not all of the content is text.
        let end = content.len() - 7;
        let mut changed = change(std::str::from_utf8(&content[..end]).unwrap()).into_bytes();
        changed.extend_from_slice(&content[end..]);
        let digest = Digest::of_content(&changed);
        changed.extend_from_slice(format!("\n{digest}\n").as_bytes());
        changed
    }

    #[test]
    fn a_newer_version_is_not_damage() {
        let newer = resealed(|text| text.replacen(" 1\n", " 2\n", 1));
        assert_eq!(Bundle::read(&newer), Err(Unreadable::Newer(2)));
    }

    #[test]
    fn a_forged_bundle_that_does_not_add_up_is_not_used() {
        let forgeries = [
            ("\"len\":7}", "\"len\":8}"),
            ("\"len\":7}", "\"len\":6}"),
            ("\"len\":7}", "\"len\":18446744073709551615}"),
            ("\"len\":3,", "\"len\":0,"),
            ("\"len\":3,", "\"len\":4194305,"),
            ("\"len\":3,", "\"len\":18446744073709551615,"),
            ("\"write\":3", "\"write\":4"),
            ("\"write\":3", "\"write\":0"),
            ("\"write\":3", "\"write\":18446744073709551615"),
            ("\"revision\":7", "\"revision\":18446744073709551615"),
            ("events.jsonl", "../events.jsonl"),
            ("events.jsonl", "other/events.jsonl"),
            ("events.jsonl", "checkpoints"),
            ("events.jsonl", "checkpoints/1.json"),
            ("events.jsonl", "checkpoints/../x"),
            ("\"files\":", "\"more\":1,\"files\":"),
        ];
        for (from, to) in forgeries {
            let forged = resealed(|text| {
                assert!(text.contains(from), "{from}");
                text.replacen(from, to, 1)
            });
            let read = Bundle::read(&forged);
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "{from} {to}");
        }
    }

    #[test]
    fn a_writer_finds_out_what_became_of_its_write() {
        let ours = writes([1, 2, 3]);
        let cases = [
            (writes([1, 2, 3]), Fate::Newest),
            (writes([1, 2, 3, 4]), Fate::Followed),
            (writes([1, 2, 4]), Fate::Beaten),
            (writes([1, 2, 4, 3]), Fate::Beaten),
            (writes([1, 2]), Fate::Pending),
            (writes(1..3 + WRITES as u64), Fate::Followed),
            (writes(1..=3 + WRITES as u64), Fate::Forgotten),
        ];
        for (there, fate) in cases {
            assert_eq!(there.fate_of(&ours), fate, "{there:?}");
        }
    }
}
