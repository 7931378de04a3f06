//! Brings a session's files back to what was saved, whatever happened to them.
//!
//! The newest checkpoint that is whole says what every file should hold. A file that lacks something gets it from the
//! checkpoints; one that somebody else changed keeps the change, except for the contract, which nobody may change.
//! What is overwritten is set aside first. All of it can be interrupted anywhere and done again.

use super::change::Change;
use super::checkpoint::{Checkpoint, EventsRecord, ProgressRecord, Unreadable, Whole};
use super::disk::{Disk, DiskError, DiskResult, Folder, Place, Stamp};
use super::error::MemoryError;
use super::events::{Break, Chain, follow};
use super::finding::{Finding, FindingCode};
use super::key::SessionKey;
use super::prd;
use super::progress::{self, Growth, Judgement, Past};
use super::quarantine;
use super::store::{CONTRACT, EVENTS, HANDOFF, PRD, PROGRESS, Store, behind};
use super::whole::{Found, compare};
use crate::engine::GateEngine;

/// A file that is not there.
const ABSENT: Stamp = Stamp {
    len: 0,
    version: [0; 5],
};

/// The ending of files that have not got their name yet.
const UNFINISHED: &str = ".new";

/// What a session's folder holds.
pub(super) enum Content {
    /// Nothing yet.
    Fresh,
    /// A session.
    Session(Box<Checkpoint>),
}

/// The newest checkpoint that is whole. Those that are not are reported; `aside` says what becomes of them.
pub(super) fn newest(
    disk: &impl Disk,
    key: Option<&SessionKey>,
    mut aside: impl FnMut(&Place, &str) -> Option<Place>,
    findings: &mut Vec<Finding>,
) -> Result<Content, MemoryError> {
    let names = disk.list(Folder::Checkpoints)?.unwrap_or_default();
    let mut damage = Vec::new();
    for revision in names
        .iter()
        .rev()
        .filter_map(|name| Checkpoint::revision_of(name))
    {
        match read_checkpoint(disk, revision, key)? {
            Ok(checkpoint) => return Ok(Content::Session(Box::new(checkpoint))),
            Err(reason) => {
                let place = Checkpoint::place(revision);
                damage.push(format!("{place}: {reason}"));
                let kept = aside(&place, &reason);
                let message = format!("{reason}; the newest one that is whole was used");
                findings
                    .push(Finding::new(FindingCode::CheckpointDamaged, &place, message).kept(kept));
            }
        }
    }
    if damage.is_empty() && !has_traces(disk)? {
        return Ok(Content::Fresh);
    }
    Err(MemoryError::Unreadable {
        session: disk.name(),
        damage,
    })
}

/// Whether there are files that only a session leaves.
fn has_traces(disk: &impl Disk) -> DiskResult<bool> {
    let names = disk.list(Folder::Session)?.unwrap_or_default();
    let members = [PRD, PROGRESS, EVENTS, CONTRACT, HANDOFF];
    let is_trace =
        |name: &String| members.iter().any(|member| member.name() == name) || name == "quarantine";
    Ok(names.iter().any(is_trace))
}

/// A checkpoint, or why it can't be used.
pub(super) fn read_checkpoint(
    disk: &impl Disk,
    revision: u64,
    key: Option<&SessionKey>,
) -> Result<Result<Checkpoint, String>, MemoryError> {
    let place = Checkpoint::place(revision);
    let bytes = match disk.read(&place, 0) {
        Ok(Some((bytes, _))) => bytes,
        Ok(None) => return Ok(Err("it is missing".to_owned())),
        Err(DiskError::Refused { what, .. }) => return Ok(Err(format!("it is {what}"))),
        Err(error) => return Err(error.into()),
    };
    match Checkpoint::read(&bytes) {
        Ok(checkpoint) if key.is_some_and(|key| checkpoint.key != *key) => {
            Err(MemoryError::OtherKey {
                session: disk.name(),
            })
        }
        Ok(checkpoint) if checkpoint.revision != revision => Ok(Err(format!(
            "it is the checkpoint of revision {}",
            checkpoint.revision
        ))),
        Ok(checkpoint) => Ok(Ok(checkpoint)),
        Err(Unreadable::Damaged(reason)) => Ok(Err(reason)),
        Err(Unreadable::Newer(found)) => Err(MemoryError::Newer {
            file: format!("{}/{place}", disk.name()),
            found,
            known: Checkpoint::VERSION,
        }),
    }
}

impl<'g, D: Disk> Store<'g, D> {
    /// Opens a session and mends what is not as it was saved. Gives the disk back if there is no session.
    pub fn recover(
        disk: D,
        gate: &'g GateEngine,
        key: &SessionKey,
    ) -> Result<Result<Self, D>, MemoryError> {
        let mut findings = Vec::new();
        // Where it can't be moved now it stays where it is.
        let aside = |place: &Place, reason: &str| quarantine::take(&disk, place, reason).ok();
        let head = match newest(&disk, Some(key), aside, &mut findings)? {
            Content::Fresh => return Ok(Err(disk)),
            Content::Session(head) => *head,
        };
        if let Some(snapshot) = &head.snapshot {
            let place = Checkpoint::place(head.revision);
            gate.read_snapshot(snapshot)
                .map_err(|error| MemoryError::gate(&place, error))?;
        }
        let mut store = Self::at(disk, gate, head);
        store.set_unfinished_aside(&mut findings)?;
        store.look_at_everything(&mut findings)?;
        store.findings = findings;
        Ok(Ok(store))
    }

    fn look_at_everything(&mut self, findings: &mut Vec<Finding>) -> Result<(), MemoryError> {
        self.look_at_contract(findings)?;
        let count = self.events.base.count;
        self.look_at_events(findings)?;
        self.look_at_progress(findings)?;
        self.look_at_handoff(findings)?;
        let (text, found) = self.look_at_prd(findings)?;
        let saved = self.head.prd.as_ref().map(|prd| prd.text.as_str());
        // Somebody's edit is there already; only what was saved is written.
        if let Some(text) = text
            && Some(text.as_str()) == saved
            && found.as_deref() != Some(text.as_bytes())
        {
            self.replace(&PRD, &text, found.as_deref(), findings);
        }
        // A log that begins elsewhere now: only a checkpoint can say where.
        if self.events.base.count != count {
            findings.extend(self.save(&Change::default())?.findings);
        }
        Ok(())
    }

    /// Sets aside what was being written when the process or the machine stopped.
    pub(super) fn set_unfinished_aside(&mut self, findings: &mut Vec<Finding>) -> DiskResult<()> {
        for folder in [Folder::Session, Folder::Checkpoints] {
            let names = self.disk.list(folder)?.unwrap_or_default();
            if folder == Folder::Checkpoints {
                self.checkpoints = names
                    .iter()
                    .filter_map(|name| Checkpoint::revision_of(name))
                    .count() as u64;
            }
            for name in names
                .iter()
                .filter(|name| name.starts_with('.') && name.ends_with(UNFINISHED))
            {
                let place = Place::new(folder, name);
                let reason = "it was being written when the process or the machine stopped";
                let kept = quarantine::take(&self.disk, &place, reason).ok();
                let message = format!("{reason}; it was not part of any save");
                findings
                    .push(Finding::new(FindingCode::SaveUnfinished, &place, message).kept(kept));
            }
        }
        Ok(())
    }

    /// The checkpoints before the newest one, as far back as there is no gap; the newest first.
    fn kept(&self) -> Vec<Checkpoint> {
        let mut kept: Vec<Checkpoint> = Vec::new();
        let mut revision = self.head.revision;
        while revision > 1 {
            revision -= 1;
            match read_checkpoint(&self.disk, revision, Some(&self.head.key)) {
                Ok(Ok(checkpoint)) => kept.push(checkpoint),
                _ => break,
            }
        }
        kept
    }

    /// Compares a file with what was saved, now and earlier.
    fn compare(&self, found: Option<Vec<u8>>, of: impl Fn(&Checkpoint) -> Option<&Whole>) -> Found {
        let text = |checkpoint| of(checkpoint).map(|whole| whole.text.as_str());
        let saved = text(&self.head);
        if found.as_deref() == saved.map(str::as_bytes) {
            return Found::Same;
        }
        let kept = self.kept();
        let earlier: Vec<Option<&str>> = kept.iter().map(text).collect();
        compare(found, saved, &earlier)
    }

    /// Reads a file; what is not a plain file of this session's own is set aside.
    fn read_member(
        &self,
        place: &Place,
        findings: &mut Vec<Finding>,
    ) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        match self.disk.read(place, 0) {
            Err(DiskError::Refused { what, .. }) => {
                self.set_aside(place, &what.to_string(), findings)?;
                Ok(None)
            }
            read => read,
        }
    }

    fn set_aside(&self, place: &Place, what: &str, findings: &mut Vec<Finding>) -> DiskResult<()> {
        let reason = format!("it was {what}, not a plain file of this session");
        let kept = quarantine::take(&self.disk, place, &reason)?;
        findings.push(Finding::new(FindingCode::FileReplaced, place, reason).kept(Some(kept)));
        Ok(())
    }

    /// What a file looks like; what is not a plain file is set aside.
    fn stamp_member(&self, place: &Place, findings: &mut Vec<Finding>) -> DiskResult<Stamp> {
        match self.disk.stamp(place) {
            Err(DiskError::Refused { what, .. }) => {
                self.set_aside(place, &what.to_string(), findings)?;
                Ok(ABSENT)
            }
            stamp => Ok(stamp?.unwrap_or(ABSENT)),
        }
    }

    pub(super) fn look_at_contract(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let stamp = self.stamp_member(&CONTRACT, findings)?;
        if self.contract == Some(stamp) || self.head.revision == 0 {
            return Ok(());
        }
        let found = self
            .read_member(&CONTRACT, findings)?
            .map(|(bytes, _)| bytes);
        let text = self.head.contract.text.clone();
        match self.compare(found.clone(), |checkpoint| Some(&checkpoint.contract)) {
            Found::Same => {
                self.contract = Some(stamp);
                self.unsure.remove(&CONTRACT);
                return Ok(());
            }
            Found::Missing => findings.push(restored(&CONTRACT)),
            Found::Earlier => findings.push(redone(&CONTRACT)),
            Found::Torn(bytes) => {
                let kept = self.keep(&CONTRACT, &bytes, "it was torn")?;
                findings.push(redone(&CONTRACT).kept(kept));
            }
            Found::Other(bytes) => {
                let reason = "it was edited by somebody else; a loop's contract changes only when an operator accepts it";
                let kept = self.keep(&CONTRACT, &bytes, reason)?;
                let message = "it was edited by somebody else; the pinned contract was restored";
                findings
                    .push(Finding::new(FindingCode::ContractEdited, &CONTRACT, message).kept(kept));
            }
        }
        self.replace(&CONTRACT, &text, found.as_deref(), findings);
        Ok(())
    }

    /// Keeps a copy of bytes before they are overwritten. Nothing is kept of nothing.
    fn keep(&self, place: &Place, bytes: &[u8], reason: &str) -> DiskResult<Option<Place>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        quarantine::keep(&self.disk, place, bytes, reason).map(Some)
    }

    /// Only a file that may lack something is looked at: notes that a person makes in it are theirs.
    pub(super) fn look_at_handoff(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let is_unsure = self.unsure.remove(&HANDOFF);
        let Some(handoff) = self.head.handoff.as_ref().filter(|_| is_unsure) else {
            return Ok(());
        };
        let text = handoff.text.clone();
        let found = self
            .read_member(&HANDOFF, findings)?
            .map(|(bytes, _)| bytes);
        match self.compare(found.clone(), |checkpoint| checkpoint.handoff.as_ref()) {
            Found::Same | Found::Other(_) => return Ok(()),
            Found::Missing => findings.push(restored(&HANDOFF)),
            Found::Earlier | Found::Torn(_) => findings.push(redone(&HANDOFF)),
        }
        self.replace(&HANDOFF, &text, found.as_deref(), findings);
        Ok(())
    }

    /// The checklist to go on with, and what its file holds.
    pub(super) fn look_at_prd(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(Option<String>, Option<Vec<u8>>), MemoryError> {
        let found = self.read_member(&PRD, findings)?.map(|(bytes, _)| bytes);
        let saved = self.head.prd.as_ref().map(|prd| prd.text.clone());
        let is_first = self.head.revision == 0;
        let comparison = if self.unsure.contains(&PRD) {
            self.compare(found.clone(), |checkpoint| checkpoint.prd.as_ref())
        } else {
            compare(found.clone(), saved.as_deref(), &[])
        };
        match comparison {
            Found::Same => {
                self.unsure.remove(&PRD);
            }
            Found::Missing if is_first => {}
            Found::Missing => findings.push(restored(&PRD)),
            Found::Earlier => findings.push(redone(&PRD)),
            Found::Torn(bytes) => {
                let kept = self.keep(&PRD, &bytes, "it was torn")?;
                findings.push(redone(&PRD).kept(kept));
            }
            Found::Other(bytes) => return self.take_in_prd(bytes, saved, findings),
        }
        Ok((saved, found))
    }

    /// Somebody else wrote the checklist: theirs counts if it can be read.
    fn take_in_prd(
        &mut self,
        bytes: Vec<u8>,
        saved: Option<String>,
        findings: &mut Vec<Finding>,
    ) -> Result<(Option<String>, Option<Vec<u8>>), MemoryError> {
        let reason = match String::from_utf8(bytes) {
            Err(error) => {
                let reason = "it is not UTF-8 text".to_owned();
                return self.set_prd_aside(error.into_bytes(), saved, &reason, findings);
            }
            Ok(text) => match prd::difference(self.gate, saved.as_deref(), &text) {
                Ok(difference) => {
                    let message =
                        format!("it was edited by somebody else ({difference}); the edit stays");
                    findings.push(Finding::new(FindingCode::PrdEdited, &PRD, message));
                    self.unsure.remove(&PRD);
                    let found = text.clone().into_bytes();
                    return Ok((Some(text), Some(found)));
                }
                Err(error) => (text, error.to_string()),
            },
        };
        let (text, reason) = reason;
        self.set_prd_aside(text.into_bytes(), saved, &reason, findings)
    }

    fn set_prd_aside(
        &self,
        bytes: Vec<u8>,
        saved: Option<String>,
        reason: &str,
        findings: &mut Vec<Finding>,
    ) -> Result<(Option<String>, Option<Vec<u8>>), MemoryError> {
        let (kept, message) = match &saved {
            Some(_) => (
                self.keep(&PRD, &bytes, reason)?,
                format!("it can't be read ({reason}); the last good one was restored"),
            ),
            None => (
                Some(quarantine::take(&self.disk, &PRD, reason)?),
                format!("it can't be read ({reason}); it was set aside"),
            ),
        };
        let found = saved.is_some().then_some(bytes);
        findings.push(Finding::new(FindingCode::PrdDamaged, &PRD, message).kept(kept));
        Ok((saved, found))
    }

    pub(super) fn look_at_progress(
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

    pub(super) fn look_at_events(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let stamp = self.stamp_member(&EVENTS, findings)?;
        if self.events.stamp == Some(stamp) {
            return Ok(());
        }
        let (settled, end) = (self.events.settled, self.events.end);
        let tail = self.disk.read(&EVENTS, settled.len)?;
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

fn restored(place: &Place) -> Finding {
    Finding::new(
        FindingCode::FileRestored,
        place,
        "it was missing; it was written again",
    )
}

fn redone(place: &Place) -> Finding {
    Finding::new(
        FindingCode::FileRedone,
        place,
        "it was not up to date; it was written again",
    )
}
