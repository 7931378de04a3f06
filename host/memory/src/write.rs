//! Writes a session's files: the checkpoint first, durably, then what it brings to the others.

use std::io;

use super::checkpoint::Checkpoint;
use super::disk::{Action, Disk, DiskError, DiskResult, Durability, Folder, Place, Stamp};
use super::error::MemoryError;
use super::finding::{Finding, FindingCode};
use super::progress::Growth;
use super::quarantine;
use super::store::{CONTRACT, EVENTS, HANDOFF, PRD, PROGRESS, Plan, Soundness, Store};

impl<D: Disk> Store<'_, D> {
    /// Makes a checkpoint durable. What an error leaves behind is written anew, through another descriptor: one that
    /// has reported an error once may not report it again.
    pub(super) fn commit(&mut self, revision: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let Err(first) = self.try_commit(revision, 1, bytes) else {
            return Ok(());
        };
        let Err(_) = self.try_commit(revision, 2, bytes) else {
            return Ok(());
        };
        for attempt in 1..=2 {
            let _ = self.disk.remove(&unfinished(revision, attempt));
        }
        // A checkpoint that has its name but may not be durable: neither saved nor not saved.
        let named = self.disk.stamp(&Checkpoint::place(revision));
        if !matches!(named, Ok(None)) {
            self.soundness = Soundness::Unsound;
        }
        Err(first.into())
    }

    fn try_commit(&self, revision: u64, attempt: u32, bytes: &[u8]) -> DiskResult<()> {
        let temporary = unfinished(revision, attempt);
        self.disk.create(&temporary, bytes, Durability::Synced)?;
        self.disk.rename(&temporary, &Checkpoint::place(revision))?;
        self.disk.sync_folder(Folder::Checkpoints)
    }

    /// Brings the files up to date with a checkpoint that is on the disk.
    pub(super) fn apply(&mut self, plan: Plan, findings: &mut Vec<Finding>) {
        let Plan {
            checkpoint,
            hasher,
            prd_found,
        } = plan;
        let before = std::mem::replace(&mut self.head, checkpoint);
        self.checkpoints += 1;
        self.progress.hasher = hasher;
        self.progress.len = self.head.progress.len;
        self.progress.growth = Growth::Added(String::new());
        self.events.end = self.head.events.end;

        let lines = self.head.events.text();
        self.events.stamp = self.append(&EVENTS, &lines, self.events.stamp, findings);
        let entry = self.head.progress.entry.clone();
        self.progress.stamp = self.append(&PROGRESS, &entry, self.progress.stamp, findings);
        let prd = self.head.prd.as_ref().map(|prd| prd.text.clone());
        if let Some(text) = prd {
            if prd_found.as_deref() == Some(text.as_bytes()) {
                self.unsure.remove(&PRD);
            } else {
                self.replace(&PRD, &text, prd_found.as_deref(), findings);
            }
        }
        if self.head.contract.digest != before.contract.digest || before.revision == 0 {
            let text = self.head.contract.text.clone();
            self.replace(
                &CONTRACT,
                &text,
                Some(before.contract.text.as_bytes()),
                findings,
            );
            self.contract = None;
        }
        let saved = before.handoff.map(|handoff| handoff.text);
        match (self.head.handoff.clone(), saved) {
            (Some(now), saved) if saved.as_ref() != Some(&now.text) => {
                let found = saved.as_deref().map(str::as_bytes);
                self.replace(&HANDOFF, &now.text, found, findings);
            }
            (None, Some(saved)) => self.withdraw(&HANDOFF, saved.as_bytes(), findings),
            _ => {}
        }
    }

    /// Takes a file away that is no longer needed. If somebody made something else of it, that is set aside. If it
    /// can't be done now, the next save does it.
    pub(super) fn withdraw(&mut self, place: &Place, saved: &[u8], findings: &mut Vec<Finding>) {
        match self.try_withdraw(place, saved) {
            Ok(kept) => {
                self.unsure.remove(place);
                if kept.is_some() {
                    let message = "it was edited by somebody else, and is no longer needed; theirs was set aside";
                    findings
                        .push(Finding::new(FindingCode::FileReplaced, place, message).kept(kept));
                }
            }
            Err(error) => {
                self.unsure.insert(place.clone());
                findings.push(behind(place, &error));
            }
        }
    }

    fn try_withdraw(&self, place: &Place, saved: &[u8]) -> DiskResult<Option<Place>> {
        if matches!(self.disk.stamp(place), Ok(None)) {
            return Ok(None);
        }
        // Out of everybody's sight first: what is looked at then is what is removed.
        let temporary = self.temporary(place)?;
        self.disk.rename(place, &temporary)?;
        let found = self.disk.read(&temporary, 0).unwrap_or_default();
        if found.is_some_and(|(bytes, _)| bytes == saved) {
            return self.disk.remove(&temporary).map(|()| None);
        }
        let reason = format!("{place} was edited by somebody else, and is no longer needed");
        quarantine::take(&self.disk, &temporary, &reason).map(Some)
    }

    /// Adds to a log that was right. Gives what it looks like now, or none if it may lack something.
    fn append(
        &self,
        place: &Place,
        text: &str,
        right: Option<Stamp>,
        findings: &mut Vec<Finding>,
    ) -> Option<Stamp> {
        let right = right?;
        if text.is_empty() {
            return Some(right);
        }
        match self.disk.append(place, text.as_bytes()) {
            // Somebody else added to it in between: it has to be looked at.
            Ok(stamp) if stamp.len != right.len + text.len() as u64 => None,
            Ok(stamp) => Some(stamp),
            Err(error) => {
                findings.push(behind(place, &error));
                None
            }
        }
    }

    /// Replaces a file in one step. If somebody replaced it since it was looked at, theirs is set aside. If it can't
    /// be done now, the next save does it.
    pub(super) fn replace(
        &mut self,
        place: &Place,
        text: &str,
        found: Option<&[u8]>,
        findings: &mut Vec<Finding>,
    ) {
        match self.try_replace(place, text, found) {
            Ok(kept) => {
                self.unsure.remove(place);
                if kept.is_some() {
                    let message =
                        "it was written by somebody else while it was saved; theirs was set aside";
                    findings
                        .push(Finding::new(FindingCode::FileReplaced, place, message).kept(kept));
                }
            }
            Err(error) => {
                self.unsure.insert(place.clone());
                findings.push(behind(place, &error));
            }
        }
    }

    fn try_replace(
        &self,
        place: &Place,
        text: &str,
        found: Option<&[u8]>,
    ) -> DiskResult<Option<Place>> {
        let temporary = self.temporary(place)?;
        let written = self
            .disk
            .create(&temporary, text.as_bytes(), Durability::Eventual);
        let exchanged = written.and_then(|_| self.disk.exchange(&temporary, place));
        match exchanged {
            Err(error) => {
                let _ = self.disk.remove(&temporary);
                Err(error)
            }
            Ok(false) => self.disk.rename(&temporary, place).map(|()| None),
            Ok(true) => {
                // What can't be read is certainly not what was found.
                let out = self.disk.read(&temporary, 0).unwrap_or_default();
                if out.is_some_and(|(bytes, _)| Some(bytes.as_slice()) == found) {
                    return self.disk.remove(&temporary).map(|()| None);
                }
                let reason = format!("{place} was written by somebody else while it was saved");
                quarantine::take(&self.disk, &temporary, &reason).map(Some)
            }
        }
    }

    /// Where a file is written before it gets its name. What an unlucky exchange left there is set aside.
    fn temporary(&self, place: &Place) -> DiskResult<Place> {
        let temporary = Place::new(place.folder(), &format!(".{}.new", place.name()));
        if !matches!(self.disk.stamp(&temporary), Ok(None)) {
            let reason = format!("was left where {place} is written before it gets its name");
            quarantine::take(&self.disk, &temporary, &reason)?;
        }
        Ok(temporary)
    }

    /// Makes a file's content durable. One that could not be synced is written anew: the system may have dropped
    /// what it failed to write, and will not say so twice.
    pub(super) fn make_durable(&self, place: &Place) -> DiskResult<()> {
        if self.disk.stamp(place)?.is_none() {
            return Ok(());
        }
        match self.disk.sync(place) {
            Ok(()) => Ok(()),
            Err(error) => match self.disk.read(place, 0)? {
                Some((bytes, _)) => self.rewrite(place, &bytes).map(drop),
                None => Err(error),
            },
        }
    }

    /// Writes a file anew, durable before it gets its name.
    pub(super) fn rewrite(&self, place: &Place, bytes: &[u8]) -> DiskResult<Stamp> {
        let temporary = self.temporary(place)?;
        let written = self.disk.create(&temporary, bytes, Durability::Synced);
        match written.and_then(|_| self.disk.rename(&temporary, place)) {
            Ok(()) => {}
            Err(error) => {
                let _ = self.disk.remove(&temporary);
                return Err(error);
            }
        }
        self.disk.sync_folder(place.folder())?;
        match self.disk.stamp(place)? {
            Some(stamp) => Ok(stamp),
            None => Err(DiskError::io(Action::Write, place, io::ErrorKind::NotFound)),
        }
    }

    /// Clears old checkpoints away, once what they hold is on the disk elsewhere.
    pub(super) fn clear(&mut self, findings: &mut Vec<Finding>) {
        let due = self.checkpoints >= self.retention.keep + self.retention.gather;
        let complete =
            self.progress.stamp.is_some() && self.events.stamp.is_some() && self.unsure.is_empty();
        if !due || !complete {
            return;
        }
        if let Err(error) = self.settle().and_then(|()| self.remove_old()) {
            let message = format!("old checkpoints could not be cleared away: {error}");
            findings.push(Finding::new(
                FindingCode::NotCleared,
                &"checkpoints",
                message,
            ));
        }
    }

    fn settle(&mut self) -> DiskResult<()> {
        self.make_durable(&EVENTS)?;
        self.make_durable(&PROGRESS)?;
        self.disk.sync_folder(Folder::Session)?;
        self.events.settled = self.events.end;
        self.progress.settled = self.progress.len;
        Ok(())
    }

    fn remove_old(&mut self) -> DiskResult<()> {
        let names = self.disk.list(Folder::Checkpoints)?.unwrap_or_default();
        let revisions: Vec<u64> = names
            .iter()
            .filter_map(|name| Checkpoint::revision_of(name))
            .collect();
        let oldest = self
            .head
            .revision
            .saturating_sub(self.retention.keep.saturating_sub(1));
        for revision in revisions.iter().filter(|revision| **revision < oldest) {
            self.disk.remove(&Checkpoint::place(*revision))?;
        }
        self.checkpoints = revisions
            .iter()
            .filter(|revision| **revision >= oldest)
            .count() as u64;
        Ok(())
    }
}

/// Where a checkpoint is written before it gets its name.
fn unfinished(revision: u64, attempt: u32) -> Place {
    Place::new(
        Folder::Checkpoints,
        &format!(".{revision:010}-{attempt}.new"),
    )
}

/// A file that lacks something until the next look at it.
pub(super) fn behind(place: &Place, error: &DiskError) -> Finding {
    let message =
        format!("it could not be brought up to date ({error}); the checkpoint holds what it lacks");
    Finding::new(FindingCode::FileBehind, place, message)
}
