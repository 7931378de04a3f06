//! `events.jsonl`: one event a line, each line closed by its own digest and carrying that of the line before.
//!
//! ```text
//! {"seq":7,"prev":"9f2c…","event":"verdict","run":{"mode":"ralph",…},"data":{…},"digest":"04ab…"}
//! ```
//!
//! `run` says what the loop ran under when the line was written: mode, profile, enforcement and gate. Older logs lack it.
//!
//! So an edited line breaks its own seal, and a removed, moved or forged one the seal's use in the next line. The
//! newest checkpoint knows how many lines there are and the digest of the last one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::digested::digested;
use super::key::SessionKey;
use super::seal::{seal, sealed};
use super::under::RunRecord;
use crate::digest::Digest;

/// Something that happened in a loop.
#[derive(Debug, Clone)]
pub struct Event {
    name: String,
    data: Box<RawValue>,
}

impl Event {
    /// An event with a name and what belongs to it.
    ///
    /// ```
    /// let event = ralph_gate_memory::Event::new("verdict", &serde_json::json!({ "decision": "continue" }))?;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new(name: &str, data: &impl Serialize) -> Result<Self, serde_json::Error> {
        let mut data = to_raw_value(data)?;
        // Only a raw value inside of it can bring line breaks along.
        if data.get().contains(['\n', '\r']) {
            data = to_raw_value(&serde_json::from_str::<serde_json::Value>(data.get())?)?;
        }
        Ok(Self {
            name: name.to_owned(),
            data,
        })
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The details.
    pub(super) fn data(&self) -> &RawValue {
        &self.data
    }

    /// The same with digests in place of texts. None if there is nothing to hide.
    pub(super) fn digested(&self) -> Result<Option<Self>, serde_json::Error> {
        let Some(data) = digested(&self.name, self.data.get())? else {
            return Ok(None);
        };
        Ok(Some(Self {
            name: self.name.clone(),
            data: RawValue::from_string(data)?,
        }))
    }
}

/// One line, before it is sealed.
#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    prev: Digest,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a RunRecord>,
    data: &'a RawValue,
}

/// One event of a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Its number, from 1.
    pub seq: u64,
    /// What happened.
    pub event: String,
    /// What the loop ran under. Older logs lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunRecord>,
    /// The details.
    pub data: Box<RawValue>,
}

impl Record {
    /// The details as a type. None if they are of another one.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.data.get()).ok()
    }
}

/// The events of a log, oldest first, up to the first line that is none.
pub(super) fn records(log: &[u8]) -> Vec<Record> {
    lines(log)
        .map_while(|line| serde_json::from_slice(line.strip_suffix(b"\n")?).ok())
        .collect()
}

/// What of a line binds it to the others.
#[derive(Deserialize)]
struct Link {
    seq: u64,
    prev: Digest,
}

/// The end of a chain: where the next line goes and what it must carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chain {
    /// Bytes.
    pub(super) len: u64,
    /// Lines.
    pub(super) count: u64,
    /// The digest of the last line.
    pub(super) head: Digest,
}

impl Chain {
    /// Before the first line of a session.
    pub(super) fn start(key: &SessionKey) -> Self {
        let session = key.digest().to_string();
        Self {
            len: 0,
            count: 0,
            head: Digest::of(&[b"ralph-gate events", session.as_bytes()]),
        }
    }

    /// The line for an event, without its line break.
    pub(super) fn link(
        &mut self,
        event: &Event,
        run: Option<&RunRecord>,
    ) -> Result<Box<RawValue>, serde_json::Error> {
        let line = Line {
            seq: self.count + 1,
            prev: self.head,
            event: &event.name,
            run,
            data: &event.data,
        };
        let (line, digest) = seal(serde_json::to_string(&line)?);
        *self = Self {
            len: self.len + line.len() as u64 + 1,
            count: self.count + 1,
            head: digest,
        };
        RawValue::from_string(line)
    }

    /// Goes one line on, if that is the line that belongs here.
    fn follow(&mut self, line: &[u8]) -> Result<(), Misfit> {
        let digest = sealed(line).ok_or(Misfit::Seal)?;
        let Link { seq, prev } = serde_json::from_slice(line).map_err(|_| Misfit::Seal)?;
        if seq != self.count + 1 {
            return Err(Misfit::Order { found: seq });
        }
        if prev != self.head {
            return Err(Misfit::Before);
        }
        *self = Self {
            len: self.len + line.len() as u64 + 1,
            count: self.count + 1,
            head: digest,
        };
        Ok(())
    }
}

/// Why a line is not the one that belongs in its place.
enum Misfit {
    /// Its own seal is broken.
    Seal,
    /// It has another number than its place.
    Order { found: u64 },
    /// It was written after another line than the one that stands before it.
    Before,
}

/// Where a log was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Break {
    /// A line is not what was written.
    Edited {
        /// Counted from 1.
        line: u64,
    },
    /// Lines are missing in front of a line.
    Removed {
        /// Where they should be; counted from 1.
        line: u64,
        /// How many.
        count: u64,
    },
    /// A line stands where another one belongs.
    Reordered {
        /// Counted from 1.
        line: u64,
        /// The number that it carries.
        found: u64,
    },
    /// The log ends too early.
    Truncated {
        /// The first line that is missing.
        line: u64,
        /// How many the newest checkpoint knows.
        expected: u64,
    },
    /// There are lines that the newest checkpoint doesn't know.
    Added {
        /// The first of them.
        line: u64,
    },
}

impl Break {
    /// The line, counted from 1.
    pub fn line(&self) -> u64 {
        match self {
            Self::Edited { line }
            | Self::Removed { line, .. }
            | Self::Reordered { line, .. }
            | Self::Truncated { line, .. }
            | Self::Added { line } => *line,
        }
    }
}

impl std::fmt::Display for Break {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Edited { line } => write!(f, "line {line} was edited"),
            Self::Removed { line, count: 1 } => {
                write!(f, "one line was removed in front of line {line}")
            }
            Self::Removed { line, count } => {
                write!(f, "{count} lines were removed in front of line {line}")
            }
            Self::Reordered { line, found } => {
                write!(f, "line {line} was moved: it was written as line {found}")
            }
            Self::Truncated { line, expected } => write!(
                f,
                "the log ends before line {line}, and the newest checkpoint knows {expected} lines"
            ),
            Self::Added { line } => write!(
                f,
                "line {line} was added: the newest checkpoint does not know it"
            ),
        }
    }
}

/// Follows a chain through a log, and finds the first place where it was changed. With `end`, the log must end as the
/// newest checkpoint says.
pub(super) fn follow(log: &[u8], start: Chain, end: Option<&Chain>) -> Result<Chain, Break> {
    let mut chain = start;
    for (index, line) in lines(log).enumerate() {
        let number = start.count + index as u64 + 1;
        if end.is_some_and(|end| chain.count >= end.count) {
            return match end {
                Some(end) if *end == chain => Err(Break::Added { line: number }),
                _ => Err(Break::Edited {
                    line: number.saturating_sub(1).max(1),
                }),
            };
        }
        // A last line without its line break is not complete.
        let complete = line.strip_suffix(b"\n").ok_or(Misfit::Seal);
        match complete.and_then(|line| chain.follow(line)) {
            Ok(()) => {}
            Err(Misfit::Seal) => return Err(Break::Edited { line: number }),
            // The line itself is whole, so it is the one before that was exchanged.
            Err(Misfit::Before) => {
                return Err(Break::Edited {
                    line: number.saturating_sub(1).max(1),
                });
            }
            Err(Misfit::Order { found }) => return Err(out_of_order(log, number, found)),
        }
    }
    match end {
        Some(end) if chain.count < end.count => Err(Break::Truncated {
            line: chain.count + 1,
            expected: end.count,
        }),
        // Every line is whole and follows the one before, but another log's end is known.
        Some(end) if chain.head != end.head => Err(Break::Edited {
            line: chain.count.max(1),
        }),
        _ => Ok(chain),
    }
}

/// Every place where a log was changed, as far as the log alone can tell: without its session, of which the first line
/// carries a digest, and without the checkpoints, which know its end. A last line may lack its line break.
///
/// ```
/// use ralph_gate_memory::{Break, inspect};
///
/// assert_eq!(inspect(b""), []);
/// assert_eq!(inspect(b"{}\n"), [Break::Edited { line: 1 }]);
/// ```
pub fn inspect(log: &[u8]) -> Vec<Break> {
    let read = |line: &[u8]| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let Link { seq, prev } = serde_json::from_slice(line).ok()?;
        Some((seq, prev, sealed(line)?))
    };
    let links: Vec<Option<(u64, Digest, Digest)>> = lines(log).map(read).collect();
    let written: BTreeSet<u64> = links.iter().flatten().map(|(seq, ..)| *seq).collect();
    let mut breaks = Vec::new();
    let mut seen = BTreeSet::new();
    // Where the next line belongs, and the digest that it must carry, unless the line before can't tell.
    let (mut place, mut head) = (1, None);
    // Lines that can't be read stand for as many that are missing.
    let mut unread = 0;
    for (line, link) in (1..).zip(links) {
        let Some((seq, prev, digest)) = link else {
            breaks.push(Break::Edited { line });
            (unread, head) = (unread + 1, None);
            continue;
        };
        let is_next = seq > place && !written.contains(&place);
        if is_next {
            let missing = seq - place;
            if missing > unread {
                let count = missing - unread;
                breaks.push(Break::Removed { line, count });
            }
        } else if seq != place {
            breaks.push(Break::Reordered { line, found: seq });
        } else if head.is_some_and(|head| head != prev) {
            // The line itself is whole, so it is the one before that was exchanged.
            breaks.push(Break::Edited { line: line - 1 });
        }
        seen.insert(seq);
        if is_next || seq == place {
            (place, head, unread) = (seq.saturating_add(1), Some(digest), 0);
        } else {
            head = None;
        }
        while seen.remove(&place) {
            (place, head) = (place.saturating_add(1), None);
        }
    }
    breaks
}

/// What happened if the line at `number` carries another number: are the missing ones still somewhere below?
fn out_of_order(log: &[u8], number: u64, found: u64) -> Break {
    let seq = |line: &[u8]| Some(serde_json::from_slice::<Link>(line).ok()?.seq);
    if found > number && !lines(log).any(|line| seq(line) == Some(number)) {
        return Break::Removed {
            line: number,
            count: found - number,
        };
    }
    Break::Reordered {
        line: number,
        found,
    }
}

fn lines(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    log.split_inclusive(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Chain {
        Chain::start(&SessionKey::Session("s".into()))
    }

    /// A log of so many events, and its end.
    fn log(count: u64) -> (Vec<String>, Chain) {
        let mut chain = start();
        let line = |index| {
            let event = Event::new("e", &index).unwrap();
            format!("{}\n", chain.link(&event, None).unwrap().get())
        };
        ((1..=count).map(line).collect(), chain)
    }

    fn check(lines: &[String], end: &Chain) -> Result<Chain, Break> {
        follow(lines.concat().as_bytes(), start(), Some(end))
    }

    #[test]
    fn an_untouched_log_ends_where_it_should() {
        let (lines, end) = log(5);
        assert_eq!(check(&lines, &end), Ok(end));
        assert_eq!(end.len, lines.concat().len() as u64);
        assert_eq!(follow(b"", start(), None), Ok(start()));
    }

    #[test]
    fn each_edit_is_named_by_its_line() {
        let (whole, end) = log(5);
        let changed = |change: fn(&mut Vec<String>)| {
            let mut lines = whole.clone();
            change(&mut lines);
            check(&lines, &end).unwrap_err()
        };
        assert_eq!(
            changed(|lines| lines[2] = lines[2].replace("\"data\":3", "\"data\":9")),
            Break::Edited { line: 3 }
        );
        assert_eq!(
            changed(|lines| drop(lines.remove(1))),
            Break::Removed { line: 2, count: 1 }
        );
        assert_eq!(
            changed(|lines| lines.swap(1, 3)),
            Break::Reordered { line: 2, found: 4 }
        );
        assert_eq!(
            changed(|lines| lines.truncate(3)),
            Break::Truncated {
                line: 4,
                expected: 5
            }
        );
        assert_eq!(
            changed(|lines| lines.push(lines[4].clone())),
            Break::Added { line: 6 }
        );
        assert_eq!(
            changed(|lines| lines[4].truncate(20)),
            Break::Edited { line: 5 }
        );
        assert_eq!(
            changed(|lines| lines.insert(2, "\n".into())),
            Break::Edited { line: 3 }
        );
    }

    #[test]
    fn a_forged_line_with_a_good_seal_is_found_by_the_next_one() {
        let (whole, end) = log(4);
        let mut chain = start();
        let _ = chain.link(&Event::new("e", &1).unwrap(), None);
        let forged = chain
            .link(&Event::new("e", &"forged").unwrap(), None)
            .unwrap();
        let mut lines = whole.clone();
        lines[1] = format!("{}\n", forged.get());
        assert_eq!(check(&lines, &end), Err(Break::Edited { line: 2 }));
    }

    #[test]
    fn a_forged_last_line_is_found_by_the_checkpoint() {
        let (mut lines, end) = log(3);
        let (_, mut chain) = log(2);
        let forged = chain
            .link(&Event::new("e", &"forged").unwrap(), None)
            .unwrap();
        lines[2] = format!("{}\n", forged.get());
        assert_eq!(check(&lines, &end), Err(Break::Edited { line: 3 }));
        lines.push("more\n".into());
        assert_eq!(check(&lines, &end), Err(Break::Edited { line: 3 }));
    }

    #[test]
    fn the_log_of_another_session_does_not_begin_here() {
        let (lines, end) = log(2);
        let other = Chain::start(&SessionKey::Session("t".into()));
        let found = follow(lines.concat().as_bytes(), other, Some(&end));
        assert_eq!(found, Err(Break::Edited { line: 1 }));
    }

    #[test]
    fn a_log_alone_tells_of_every_change_but_its_end() {
        let (whole, _) = log(7);
        let changed = |change: fn(&mut Vec<String>)| {
            let mut lines = whole.clone();
            change(&mut lines);
            inspect(lines.concat().as_bytes())
        };
        assert_eq!(changed(|_| ()), []);
        assert_eq!(changed(|lines| lines.truncate(4)), []);
        assert_eq!(
            inspect(whole.concat().trim_end().as_bytes()),
            [],
            "no last line break"
        );
        assert_eq!(
            changed(|lines| {
                lines[1] = lines[1].replace("\"data\":2", "\"data\":9");
                lines[4] = "what is this\n".into();
                lines.remove(5);
            }),
            [
                Break::Edited { line: 2 },
                Break::Edited { line: 5 },
                Break::Removed { line: 6, count: 1 }
            ]
        );
        assert_eq!(
            changed(|lines| lines.insert(2, "what is this\n".into())),
            [Break::Edited { line: 3 }]
        );
        assert_eq!(
            changed(|lines| lines.insert(3, lines[1].clone())),
            [Break::Reordered { line: 4, found: 2 }]
        );
        assert_eq!(
            changed(|lines| drop(lines.drain(..2))),
            [Break::Removed { line: 1, count: 2 }]
        );
        assert_eq!(
            changed(|lines| lines.swap(1, 2)),
            [Break::Reordered { line: 2, found: 3 }]
        );
    }

    #[test]
    fn a_forged_line_is_found_by_the_line_after_it() {
        let (mut lines, _) = log(4);
        let (_, mut chain) = log(1);
        let forged = chain
            .link(&Event::new("e", &"forged").unwrap(), None)
            .unwrap();
        lines[1] = format!("{}\n", forged.get());
        assert_eq!(
            inspect(lines.concat().as_bytes()),
            [Break::Edited { line: 2 }]
        );
    }
}
