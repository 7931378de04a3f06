//! A checkpoint: the commit record of one revision, and all that is needed to restore the session's files.
//!
//! One JSON object, closed by its own digest. It holds the whole of what is small (contract, snapshot, checklist),
//! and of the two logs what this revision added, with length and digest of the whole. So a save is durable with this
//! one file: the others are brought up to date from it, after a crash too.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::disk::{Folder, Place};
use super::events::Chain;
use super::key::SessionKey;
use super::seal::{seal, sealed};
use super::under::Under;
use crate::digest::Digest;

/// The version that this program writes. Since 2 there are `run` and `told`.
const VERSION: u32 = 2;
/// No session comes anywhere near it, and sums of such numbers don't overflow.
const LARGEST: u64 = 1 << 53;
const EXTENSION: &str = ".json";
const DIGITS: usize = 10;

/// The state of a session after one save.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Checkpoint {
    /// Format version.
    pub(super) version: u32,
    /// Counts saves.
    pub(super) revision: u64,
    /// The last iteration that was evaluated.
    pub(super) iteration: u32,
    pub(super) key: SessionKey,
    /// What the loop runs under. Sessions that began before there was this have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<Under>,
    /// What the log holds only as digests, and a loop needs to go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) told: Vec<Told>,
    pub(super) contract: Whole,
    pub(super) snapshot: Option<String>,
    pub(super) prd: Option<Whole>,
    pub(super) handoff: Option<Whole>,
    pub(super) progress: ProgressRecord,
    pub(super) events: EventsRecord,
    /// The seal, which is written and judged apart.
    #[serde(default, skip_serializing, rename = "digest")]
    pub(super) _seal: Option<Digest>,
}

/// An event as it was before its texts became digests.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Told {
    pub(super) seq: u64,
    pub(super) event: String,
    pub(super) data: Box<RawValue>,
}

/// A file that is kept as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Whole {
    pub(super) len: u64,
    pub(super) digest: Digest,
    pub(super) text: String,
}

impl Whole {
    pub(super) fn new(text: String) -> Self {
        Self {
            len: text.len() as u64,
            digest: Digest::of_content(text.as_bytes()),
            text,
        }
    }

    fn adds_up(&self) -> bool {
        self.len == self.text.len() as u64
            && self.digest == Digest::of_content(self.text.as_bytes())
    }
}

/// `progress.txt` after a save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgressRecord {
    /// Of the whole file.
    pub(super) len: u64,
    pub(super) digest: Digest,
    /// How much of it was on the disk for certain before this save.
    pub(super) settled: u64,
    /// Where this revision begins, and the digest of everything before.
    pub(super) from: u64,
    pub(super) before: Digest,
    /// What somebody else added since the revision before.
    pub(super) added: String,
    /// What this revision adds.
    pub(super) entry: String,
}

impl ProgressRecord {
    fn adds_up(&self) -> bool {
        let new = self.added.len() as u64 + self.entry.len() as u64;
        self.len < LARGEST
            && self.settled <= self.len
            && self.from.checked_add(new) == Some(self.len)
    }
}

/// `events.jsonl` after a save.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsRecord {
    /// What stands before the file's first line: nothing, unless older lines were lost.
    pub(super) base: Chain,
    /// The whole log.
    pub(super) end: Chain,
    /// The part of it that was on the disk for certain before this save.
    pub(super) settled: Chain,
    /// The log before this revision.
    pub(super) from: Chain,
    /// The lines of this revision.
    pub(super) lines: Vec<Box<RawValue>>,
}

impl EventsRecord {
    fn adds_up(&self) -> bool {
        let new = self
            .lines
            .iter()
            .map(|line| line.get().len() as u64 + 1)
            .sum();
        self.end.len < LARGEST
            && self.end.count < LARGEST
            && self.base.len == 0
            && self.base.count <= self.settled.count
            && self.settled.count <= self.from.count
            && self.settled.len <= self.from.len
            && self.from.len.checked_add(new) == Some(self.end.len)
            && self.from.count.checked_add(self.lines.len() as u64) == Some(self.end.count)
    }

    /// The bytes that this revision adds to the log.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(line.get());
            text.push('\n');
        }
        text
    }
}

/// Why bytes are not a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Torn, edited, or something else altogether.
    Damaged(String),
    /// Whole, but of a version that this program does not know.
    Newer(u32),
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Checkpoint {
    pub(super) const VERSION: u32 = VERSION;

    /// The file's bytes.
    pub(super) fn write(&self) -> Result<Vec<u8>, serde_json::Error> {
        let (mut text, _) = seal(serde_json::to_string(self)?);
        text.push('\n');
        Ok(text.into_bytes())
    }

    /// Reads a file, if its seal is whole.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let damaged = |reason: &str| Unreadable::Damaged(reason.to_owned());
        let object = bytes
            .strip_suffix(b"\n")
            .ok_or_else(|| damaged("its last line is not complete"))?;
        sealed(object).ok_or_else(|| damaged("its digest does not fit its content"))?;
        let Version { version } =
            serde_json::from_slice(object).map_err(|_| damaged("it is not a checkpoint"))?;
        if version > VERSION {
            return Err(Unreadable::Newer(version));
        }
        let checkpoint: Self = serde_json::from_slice(object)
            .map_err(|error| Unreadable::Damaged(format!("it is not a checkpoint: {error}")))?;
        if !checkpoint.adds_up() {
            return Err(damaged("its numbers contradict each other"));
        }
        Ok(checkpoint)
    }

    /// Whether lengths, counts and digests fit each other. A seal shows damage, not forgery: whoever can write here can
    /// make one, and what follows calculates with these numbers.
    fn adds_up(&self) -> bool {
        let wholes = [
            Some(&self.contract),
            self.prd.as_ref(),
            self.handoff.as_ref(),
        ];
        (1..LARGEST).contains(&self.revision)
            && wholes.into_iter().flatten().all(Whole::adds_up)
            && self.progress.adds_up()
            && self.events.adds_up()
    }

    /// Where the checkpoint of a revision is kept.
    pub(super) fn place(revision: u64) -> Place {
        Place::new(
            Folder::Checkpoints,
            &format!("{revision:0DIGITS$}{EXTENSION}"),
        )
    }

    /// The revision that a file's name stands for.
    pub(super) fn revision_of(name: &str) -> Option<u64> {
        let digits = name.strip_suffix(EXTENSION)?;
        let revision = digits.parse().ok()?;
        (Self::place(revision).name() == name).then_some(revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Event;

    fn sample() -> Checkpoint {
        let key = SessionKey::Session("s".into());
        let mut end = Chain::start(&key);
        let line = end
            .link(&Event::new("e", &"quoted \" text").unwrap(), None)
            .unwrap();
        Checkpoint {
            version: VERSION,
            revision: 1,
            iteration: 1,
            run: None,
            told: Vec::new(),
            contract: Whole::new("{}".into()),
            snapshot: Some("{\"a\":1}".into()),
            prd: None,
            handoff: None,
            progress: ProgressRecord {
                len: 2,
                digest: Digest::of_content(b"ab"),
                settled: 0,
                from: 0,
                before: Digest::of_content(b""),
                added: "a".into(),
                entry: "b".into(),
            },
            events: EventsRecord {
                base: Chain::start(&key),
                end,
                settled: Chain::start(&key),
                from: Chain::start(&key),
                lines: vec![line],
            },
            key,
            _seal: None,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = sample().write().unwrap();
        let read = Checkpoint::read(&bytes).unwrap();
        assert_eq!(read.write().unwrap(), bytes);
        assert_eq!(read.events.text().len() as u64, read.events.end.len);
    }

    #[test]
    fn one_from_before_lines_said_what_a_loop_runs_under_is_read() {
        let old = Checkpoint {
            version: 1,
            ..sample()
        };
        let bytes = old.write().unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("\"run\""));
        assert_eq!(Checkpoint::read(&bytes).unwrap().run, None);
    }

    #[test]
    fn a_newer_version_is_not_damage() {
        let checkpoint = Checkpoint {
            version: VERSION + 1,
            ..sample()
        };
        let bytes = checkpoint.write().unwrap();
        assert_eq!(
            Checkpoint::read(&bytes).unwrap_err(),
            Unreadable::Newer(VERSION + 1)
        );
    }

    #[test]
    fn a_forged_record_that_does_not_add_up_is_not_used() {
        let forgeries: [fn(&mut Checkpoint); 11] = [
            |forged| forged.revision = u64::MAX,
            |forged| forged.revision = 0,
            |forged| forged.contract.len = 1,
            |forged| forged.contract.text.push(' '),
            |forged| forged.progress.len = u64::MAX,
            |forged| forged.progress.from = u64::MAX,
            |forged| forged.progress.settled = 3,
            |forged| forged.events.end.len = 0,
            |forged| forged.events.end.count = u64::MAX,
            |forged| forged.events.settled.len = u64::MAX,
            |forged| forged.events.from.len = u64::MAX,
        ];
        for (index, forge) in forgeries.iter().enumerate() {
            let mut forged = sample();
            forge(&mut forged);
            let read = Checkpoint::read(&forged.write().unwrap());
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "{index}");
        }
    }

    #[test]
    fn the_name_is_the_revision() {
        assert_eq!(
            Checkpoint::place(12).to_string(),
            "checkpoints/0000000012.json"
        );
        assert_eq!(Checkpoint::revision_of("0000000012.json"), Some(12));
        for other in [
            "12.json",
            "0000000012.json.new",
            "+000000012.json",
            ".json",
            "x",
        ] {
            assert_eq!(Checkpoint::revision_of(other), None, "{other}");
        }
        assert_eq!(
            Checkpoint::revision_of(Checkpoint::place(u64::MAX).name()),
            Some(u64::MAX)
        );
    }
}
