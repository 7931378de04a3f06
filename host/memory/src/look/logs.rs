//! The two logs: `progress.txt`, to which anybody may write, and `events.jsonl`, which is ours alone.

use super::ABSENT;
use crate::checkpoint::{EventsRecord, ProgressRecord};
use crate::disk::{Disk, Place, Stamp};
use crate::error::MemoryError;
use crate::events::{Break, Chain, follow};
use crate::finding::{Finding, FindingCode};
use crate::progress::{self, Growth, Judgement, Past};
use crate::quarantine;
use crate::store::{EVENTS, PROGRESS, Store};
use crate::write::behind;

impl<D: Disk> Store<'_, D> {
    pub(crate) fn look_at_progress(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let stamp = self.stamp_member(&PROGRESS, findings)?;
        if self.progress.stamp == Some(stamp) {
            return Ok(());
        }
        let (found, stamp) = match self.read_member(&PROGRESS, findings)? {
            Some((bytes, stamp)) => (Some(bytes), stamp),
            None => (None, ABSENT),
        };
        let past = match self.progress.stamp {
            Some(_) => Past::Complete,
            None => Past::Uncertain,
        };
        let judgement = match progress::judge(found, &self.head.progress) {
            Ok(judgement) => judgement,
            Err(found) => progress::rebuild(found, &self.progress_records(), past),
        };
        self.progress.hasher = blake3::Hasher::new();
        self.progress.hasher.update(&judgement.content);
        self.progress.len = judgement.content.len() as u64;
        self.progress.growth = judgement.growth.clone();
        self.progress.settled = self.progress.settled.min(self.progress.len);
        self.progress.stamp = if judgement.write {
            self.write_progress(&judgement, findings)?
        } else {
            report(&judgement, None, findings);
            Some(stamp)
        };
        Ok(())
    }

    /// Writes the log anew, and what it replaces aside. None if it can't be done now.
    fn write_progress(
        &self,
        judgement: &Judgement,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Stamp>, MemoryError> {
        let written = (|| {
            let torn = judgement.aside.as_deref().unwrap_or_default();
            let kept = self.keep(&PROGRESS, torn, "the torn end of progress.txt")?;
            Ok((kept, self.rewrite(&PROGRESS, &judgement.content)?))
        })();
        match written {
            Ok((kept, stamp)) => {
                report(judgement, kept, findings);
                Ok(Some(stamp))
            }
            // The checkpoints hold what it lacks.
            Err(error) if judgement.growth != Growth::Other => {
                findings.push(behind(&PROGRESS, &error));
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What the kept checkpoints know of the progress log, without a gap; the newest first.
    fn progress_records(&self) -> Vec<ProgressRecord> {
        let mut records = vec![self.head.progress.clone()];
        for checkpoint in self.kept() {
            let record = checkpoint.progress;
            let continues =
                |later: &ProgressRecord| later.from == record.len && later.before == record.digest;
            if !records.last().is_some_and(continues) {
                break;
            }
            records.push(record);
        }
        records
    }

    pub(crate) fn look_at_events(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let stamp = self.stamp_member(&EVENTS, findings)?;
        if self.events.stamp == Some(stamp) {
            return Ok(());
        }
        let (settled, end) = (self.events.settled, self.events.end);
        if self.events.stamp.is_some() {
            self.look_at_settled_events(findings)?;
        }
        let tail = self.read_member_from(&EVENTS, settled.len, findings)?;
        let (tail, stamp) = tail.map_or((None, ABSENT), |(tail, stamp)| (Some(tail), stamp));
        let is_there = stamp.len >= settled.len;
        match follow(tail.as_deref().unwrap_or_default(), settled, Some(&end)) {
            Ok(_) if is_there => self.events.stamp = Some(stamp),
            Err(Break::Added { .. }) if is_there => {
                self.cut_events(&tail.unwrap_or_default(), findings)?;
            }
            _ => self.redo_events(tail, is_there, findings)?,
        }
        Ok(())
    }

    /// Somebody else touched the log. What no checkpoint holds any more can't be restored, so it stays as it is.
    fn look_at_settled_events(&mut self, findings: &mut Vec<Finding>) -> Result<(), MemoryError> {
        let (base, settled) = (self.events.base, self.events.settled);
        let Some((log, _)) = self.read_member_from(&EVENTS, 0, findings)? else {
            return Ok(());
        };
        let len = usize::try_from(settled.len).unwrap_or(usize::MAX);
        if let Some(old) = log.get(..len)
            && let Err(broken) = follow(old, base, Some(&settled))
        {
            let message = format!("{broken}; it is too old to be restored");
            findings.push(Finding::new(FindingCode::EventsEdited, &EVENTS, message));
        }
        Ok(())
    }

    /// Somebody else added to the log: it is ours alone.
    fn cut_events(&mut self, tail: &[u8], findings: &mut Vec<Finding>) -> Result<(), MemoryError> {
        let (settled, end) = (self.events.settled, self.events.end);
        let ours = usize::try_from(end.len - settled.len).unwrap_or(usize::MAX);
        let added = tail.get(ours..).unwrap_or_default();
        let is_later = follow(added, end, None).is_ok();
        let message = if is_later {
            "it has lines that are later than the newest checkpoint, so newer checkpoints are missing; they were set aside"
        } else {
            "lines were added by somebody else; they were set aside"
        };
        let kept = self.keep(&EVENTS, added, message)?;
        self.disk.cut(&EVENTS, end.len)?;
        self.events.stamp = self.disk.stamp(&EVENTS)?;
        findings.push(Finding::new(FindingCode::EventsAdded, &EVENTS, message).kept(kept));
        Ok(())
    }

    /// The end of the log is missing, torn or changed: writes it again from the checkpoints.
    fn redo_events(
        &mut self,
        tail: Option<Vec<u8>>,
        is_there: bool,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let records = self.events_records();
        let anchor = tail
            .as_deref()
            .or(Some(&[]))
            .filter(|_| is_there)
            .and_then(|tail| anchor(tail, self.events.settled, &records));
        let Some((anchor, whole)) = anchor else {
            return self.begin_events_anew(&records, tail.is_some(), findings);
        };
        let tail = tail.unwrap_or_default();
        let tail = tail.get(whole..).unwrap_or_default();
        let from = records
            .get(anchor)
            .map_or(self.events.end, |record| record.from);
        let text: String = records
            .iter()
            .take(anchor + 1)
            .rev()
            .map(EventsRecord::text)
            .collect();
        let rest = text.as_bytes().strip_prefix(tail);
        let written = (|| {
            let kept = match rest {
                Some(_) => None,
                None => self.keep(&EVENTS, tail, "the end of events.jsonl, torn or changed")?,
            };
            if rest.is_none() {
                self.disk.cut(&EVENTS, from.len)?;
            }
            let stamp = self.disk.append(&EVENTS, rest.unwrap_or(text.as_bytes()))?;
            Ok((kept, stamp))
        })();
        match written {
            Ok((kept, stamp)) => {
                let (code, message) = match rest {
                    Some(_) => (
                        FindingCode::FileRedone,
                        "its newest lines were missing; they were written again",
                    ),
                    None => (
                        FindingCode::LogTorn,
                        "its end was torn or changed; it was written again",
                    ),
                };
                findings.push(Finding::new(code, &EVENTS, message).kept(kept));
                self.events.stamp = Some(stamp);
            }
            Err(error) => {
                findings.push(behind(&EVENTS, &error));
                self.events.stamp = None;
            }
        }
        Ok(())
    }

    /// Lines that no checkpoint holds are gone: sets the log aside and begins another one with what is known.
    fn begin_events_anew(
        &mut self,
        records: &[EventsRecord],
        is_there: bool,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let reason = "lines are missing that no checkpoint holds";
        let kept = if is_there {
            Some(quarantine::take(&self.disk, &EVENTS, reason)?)
        } else {
            None
        };
        let base = records.last().map_or(self.events.end, |record| record.from);
        let text: String = records.iter().rev().map(EventsRecord::text).collect();
        let stamp = self.rewrite(&EVENTS, text.as_bytes())?;
        self.events.base = Chain { len: 0, ..base };
        self.events.end.len = text.len() as u64;
        self.events.settled = self.events.end;
        self.events.stamp = Some(stamp);
        let message = format!(
            "{reason}; it begins with line {} now, and what was there was set aside",
            base.count + 1
        );
        findings.push(Finding::new(FindingCode::EventsLost, &EVENTS, message).kept(kept));
        Ok(())
    }

    /// What the kept checkpoints know of the event log, without a gap; the newest first.
    fn events_records(&self) -> Vec<EventsRecord> {
        let mut records = vec![self.head.events.clone()];
        for checkpoint in self.kept() {
            let record = checkpoint.events;
            if records.last().is_none_or(|later| later.from != record.end) {
                break;
            }
            records.push(record);
        }
        records
    }
}

/// The newest record up to whose beginning the log is whole, and the bytes from `settled` to there.
fn anchor(tail: &[u8], settled: Chain, records: &[EventsRecord]) -> Option<(usize, usize)> {
    let whole = |record: &EventsRecord| {
        let len = usize::try_from(record.from.len.checked_sub(settled.len)?).ok()?;
        follow(tail.get(..len)?, settled, Some(&record.from)).ok()?;
        Some(len)
    };
    let mut anchors = records.iter().enumerate();
    anchors.find_map(|(index, record)| Some((index, whole(record)?)))
}

fn report(judgement: &Judgement, kept: Option<Place>, findings: &mut Vec<Finding>) {
    if let Some((code, message)) = &judgement.finding {
        findings.push(Finding::new(*code, &PROGRESS, message.clone()).kept(kept));
    }
}
