//! What became of `progress.txt` between two looks at it. Pure: bytes in, judgement out.
//!
//! The log is append-only for us, but an agent may write to it as it likes. So whatever is found is explained as one
//! of these: as we left it; as we left it and something added; behind or torn, because the machine stopped before
//! our last writes reached the disk; edited. Nothing that was found is lost in any of them, and nothing that was
//! saved.

use memchr::{memmem, memrchr};

use super::checkpoint::ProgressRecord;
use super::finding::FindingCode;
use crate::digest::Digest;

/// The most that somebody else may add for it to be kept in a checkpoint.
const ADDED_LIMIT: usize = 64 * 1024;

/// What the log should hold now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judgement {
    /// The whole log.
    pub(super) content: Vec<u8>,
    /// How it relates to what was saved.
    pub(super) growth: Growth,
    /// Whether the file must be written.
    pub(super) write: bool,
    /// Bytes to set aside before it is.
    pub(super) aside: Option<Vec<u8>>,
    /// What to report.
    pub(super) finding: Option<(FindingCode, String)>,
}

/// How a log relates to the one that was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Growth {
    /// It is that one, with this text added.
    Added(String),
    /// It is another one: what a checkpoint knows can't rebuild it.
    Other,
}

impl Growth {
    fn of(added: &[u8]) -> Self {
        match str::from_utf8(added) {
            Ok(text) if text.len() <= ADDED_LIMIT => Self::Added(text.to_owned()),
            _ => Self::Other,
        }
    }
}

/// Judges a log that needs nothing but the newest record to be explained. Otherwise gives it back.
pub(super) fn judge(
    found: Option<Vec<u8>>,
    head: &ProgressRecord,
) -> Result<Judgement, Option<Vec<u8>>> {
    let Some(content) = found else {
        return if head.len == 0 {
            Ok(unchanged(Vec::new()))
        } else {
            Err(None)
        };
    };
    let len = usize::try_from(head.len).unwrap_or(usize::MAX);
    let Some((saved, added)) = content.split_at_checked(len) else {
        return Err(Some(content));
    };
    if Digest::of_content(saved) != head.digest {
        return Err(Some(content));
    }
    if added.is_empty() {
        return Ok(unchanged(content));
    }
    let message = format!(
        "{} bytes were added by somebody else; they stay",
        added.len()
    );
    Ok(Judgement {
        growth: Growth::of(added),
        write: false,
        aside: None,
        finding: Some((FindingCode::ProgressAdded, message)),
        content,
    })
}

fn unchanged(content: Vec<u8>) -> Judgement {
    Judgement {
        content,
        growth: Growth::Added(String::new()),
        write: false,
        aside: None,
        finding: None,
    }
}

/// Whether the log may lack what was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Past {
    /// It was seen to be complete.
    Complete,
    /// A crash may have come in between.
    Uncertain,
}

/// Judges a log that lacks something or was edited. `records` are those of the kept revisions, the newest first, each
/// beginning where the one after it in the list ends.
pub(super) fn rebuild(found: Option<Vec<u8>>, records: &[ProgressRecord], past: Past) -> Judgement {
    let missing = found.is_none();
    let content = found.unwrap_or_default();
    let prefixes = prefix_digests(&content, records);
    let anchor = records
        .iter()
        .zip(prefixes)
        .position(|(record, digest)| digest == Some(record.before));
    if let Some(anchor) = anchor
        && let Some(judgement) = redo(
            &content,
            records.get(..=anchor).unwrap_or_default(),
            missing,
        )
    {
        return judgement;
    }
    merge(content, records, missing, past)
}

/// The log was cut off somewhere in what these revisions added: writes it again.
fn redo(content: &[u8], records: &[ProgressRecord], missing: bool) -> Option<Judgement> {
    let start = usize::try_from(records.last()?.from).ok()?;
    let (before, tail) = content.split_at_checked(start)?;
    let mut expected = Vec::new();
    let mut is_boundary = tail.is_empty();
    for record in records.iter().rev() {
        expected.extend_from_slice(record.added.as_bytes());
        expected.extend_from_slice(record.entry.as_bytes());
        is_boundary |= tail == expected;
    }
    // What somebody added behind it is there, whatever became of ours.
    let (ours, added) = tail.split_at(tail.len().min(expected.len()));
    if !is_torn(ours, &expected) {
        return None;
    }
    let lacking = expected.len().saturating_sub(ours.len());
    let (code, message) = match (missing, is_boundary) {
        (true, _) => (
            FindingCode::FileRestored,
            "it was missing; it was written again".to_owned(),
        ),
        (false, true) => (
            FindingCode::FileRedone,
            format!("its last {lacking} bytes were missing; they were written again"),
        ),
        (false, false) => (
            FindingCode::LogTorn,
            "its end was torn; it was written again".to_owned(),
        ),
    };
    Some(Judgement {
        content: [before, &expected, added].concat(),
        growth: Growth::of(added),
        write: true,
        aside: (!is_boundary).then(|| ours.to_vec()),
        finding: Some((code, message)),
    })
}

/// Somebody edited the log. Their version stays; what a crash may have taken from it is added again.
fn merge(mut content: Vec<u8>, records: &[ProgressRecord], missing: bool, past: Past) -> Judgement {
    let settled = records.first().map_or(0, |head| head.settled);
    let mut again = 0_usize;
    for record in records.iter().rev() {
        let entry = record.entry.as_bytes();
        let may_be_lost = missing || past == Past::Uncertain && record.from >= settled;
        if may_be_lost && !entry.is_empty() && memmem::find(&content, last_line(entry)).is_none() {
            content.extend_from_slice(entry);
            again += 1;
        }
    }
    let (code, mut message) = if missing {
        let message = "it was missing; what the checkpoints still hold was written again";
        (FindingCode::FileRestored, message.to_owned())
    } else {
        (
            FindingCode::ProgressEdited,
            "it was edited by somebody else; the edit stays".to_owned(),
        )
    };
    if again > 0 && !missing {
        message.push_str(&format!(
            ", and {again} of the newest entries, which it lacked, were added again"
        ));
    }
    Judgement {
        content,
        growth: Growth::Other,
        write: again > 0,
        aside: None,
        finding: Some((code, message)),
    }
}

/// Whether bytes are what a crash can leave of others: less of them, and zeros where a block was never written.
pub(super) fn is_torn(found: &[u8], whole: &[u8]) -> bool {
    found.len() <= whole.len()
        && found
            .iter()
            .zip(whole)
            .all(|(found, whole)| found == whole || *found == 0)
}

/// What an entry is known by when somebody edited it: its trailer, with a checksum of what it said.
fn last_line(entry: &[u8]) -> &[u8] {
    let entry = entry.trim_ascii_end();
    let start = memrchr(b'\n', entry).map_or(0, |newline| newline + 1);
    entry.get(start..).unwrap_or_default()
}

/// The digest of the content up to where each record begins, in one pass over it.
fn prefix_digests(content: &[u8], records: &[ProgressRecord]) -> Vec<Option<Digest>> {
    let mut hasher = blake3::Hasher::new();
    let mut done = 0;
    let mut digests: Vec<Option<Digest>> = records
        .iter()
        .rev()
        .map(|record| {
            let end = usize::try_from(record.from).ok()?;
            hasher.update(content.get(done..end)?);
            done = end;
            Some(Digest::so_far(&hasher))
        })
        .collect();
    digests.reverse();
    digests
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of revisions that added these texts; the newest first.
    fn records(start: &str, entries: &[&str]) -> Vec<ProgressRecord> {
        let mut content = start.to_owned();
        let mut records = Vec::new();
        for entry in entries {
            let before = content.clone();
            content.push_str(entry);
            records.push(ProgressRecord {
                len: content.len() as u64,
                digest: Digest::of_content(content.as_bytes()),
                settled: start.len() as u64,
                from: before.len() as u64,
                before: Digest::of_content(before.as_bytes()),
                added: String::new(),
                entry: (*entry).to_owned(),
            });
        }
        records.reverse();
        records
    }

    fn outcome(found: Option<&str>, records: &[ProgressRecord]) -> (String, Judgement) {
        let found = found.map(|text| text.as_bytes().to_vec());
        let judgement = judge(found, &records[0])
            .unwrap_or_else(|found| rebuild(found, records, Past::Uncertain));
        (
            String::from_utf8(judgement.content.clone()).unwrap(),
            judgement,
        )
    }

    #[test]
    fn what_was_left_is_what_is_found() {
        let records = records("start ", &["one ", "two "]);
        let (content, judgement) = outcome(Some("start one two "), &records);
        assert_eq!(
            (content.as_str(), judgement.write, judgement.finding),
            ("start one two ", false, None)
        );
    }

    #[test]
    fn what_somebody_adds_stays() {
        let records = records("start ", &["one "]);
        let (content, judgement) = outcome(Some("start one mine"), &records);
        assert_eq!(
            (content.as_str(), judgement.write),
            ("start one mine", false)
        );
        assert_eq!(judgement.growth, Growth::Added("mine".into()));
    }

    #[test]
    fn a_torn_end_is_written_again_from_every_point() {
        let records = records("start ", &["one ", "two "]);
        let whole = "start one two ";
        for length in "start ".len()..whole.len() {
            let (content, judgement) = outcome(Some(&whole[..length]), &records);
            assert_eq!(
                (content.as_str(), judgement.write),
                (whole, true),
                "{length}"
            );
            let is_torn = ![6, 10].contains(&length);
            assert_eq!(judgement.aside.is_some(), is_torn, "{length}");
        }
        let (content, judgement) = outcome(Some("start on\0 \0\0\0\0mine"), &records);
        assert_eq!(
            (content.as_str(), judgement.write),
            ("start one two mine", true)
        );
        assert_eq!(judgement.growth, Growth::Added("mine".into()));
        let (content, judgement) = outcome(Some("start \0\0\0\0two "), &records);
        assert_eq!((content.as_str(), judgement.write), (whole, true));
        assert_eq!(judgement.aside.as_deref(), Some(&b"\0\0\0\0two "[..]));
    }

    #[test]
    fn an_edit_stays_and_what_it_lacks_is_added() {
        let records = records("start ", &["one ", "two "]);
        let (content, judgement) = outcome(Some("START one two "), &records);
        assert_eq!(
            (content.as_str(), judgement.write),
            ("START one two ", false)
        );
        assert_eq!(judgement.growth, Growth::Other);
        let (content, judgement) = outcome(Some("START one mine "), &records);
        assert_eq!(
            (content.as_str(), judgement.write),
            ("START one mine two ", true)
        );
        let (content, _) = outcome(Some("start one mine "), &records);
        assert_eq!(content, "start one mine two ");
    }

    #[test]
    fn an_entry_that_somebody_edited_or_removed_is_not_added_again() {
        let records = records("start ", &["one\nend 1\n", "two\nend 2\n"]);
        let (content, judgement) = outcome(Some("start ONE\nend 1\ntwo\nend 2\n"), &records);
        assert_eq!(
            (content.as_str(), judgement.write),
            ("start ONE\nend 1\ntwo\nend 2\n", false)
        );
        let judgement = rebuild(Some(b"start mine".to_vec()), &records, Past::Complete);
        assert_eq!(
            (judgement.content.as_slice(), judgement.write),
            (&b"start mine"[..], false)
        );
    }

    #[test]
    fn a_missing_log_is_restored_as_far_as_it_is_known() {
        let (content, judgement) = outcome(None, &records("start ", &["one ", "two "]));
        assert_eq!(
            (content.as_str(), judgement.growth),
            ("one two ", Growth::Other)
        );
        let (content, judgement) = outcome(None, &records("", &["one ", "two "]));
        assert_eq!(
            (content.as_str(), judgement.growth),
            ("one two ", Growth::Added(String::new()))
        );
    }

    #[test]
    fn the_second_look_finds_what_the_first_one_left() {
        let records = records("start ", &["one ", "two "]);
        for found in [
            "",
            "sta",
            "start ",
            "start on",
            "START",
            "start one two ",
            "start one mine",
            "\0\0",
        ] {
            let (once, _) = outcome(Some(found), &records);
            let (twice, judgement) = outcome(Some(&once), &records);
            assert_eq!((twice, judgement.write), (once, false), "{found}");
        }
    }

    #[test]
    fn more_than_a_checkpoint_can_hold_is_another_log() {
        let records = records("", &["one "]);
        let long = format!("one {}", "x".repeat(ADDED_LIMIT + 1));
        assert_eq!(outcome(Some(&long), &records).1.growth, Growth::Other);
        let broken = judge(Some(b"one \xff".to_vec()), &records[0]).unwrap();
        assert_eq!(broken.growth, Growth::Other);
    }
}
