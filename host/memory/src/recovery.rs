//! Opens a session: the newest checkpoint that is whole, and every file brought up to date with it.

use super::change::Change;
use super::checkpoint::{Checkpoint, Unreadable};
use super::disk::{Disk, DiskError, DiskResult, Folder, Place};
use super::error::MemoryError;
use super::finding::{Finding, FindingCode};
use super::key::SessionKey;
use super::quarantine;
use super::store::{CONTRACT, EVENTS, HANDOFF, PRD, PROGRESS, Store};
use crate::gate::Gate;

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
            // A writer cleared it away since the folder was listed.
            Err(Flaw::Missing) => {}
            Err(Flaw::Damaged(reason)) => {
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
    // A reader may have looked while a writer began the session, or cleared away what was listed.
    if disk.list(Folder::Checkpoints)?.unwrap_or_default() != names && damage.is_empty() {
        return newest(disk, key, aside, findings);
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

/// Why a checkpoint can't be used.
#[derive(Debug)]
pub(super) enum Flaw {
    Missing,
    Damaged(String),
}

/// A checkpoint, or why it can't be used.
pub(super) fn read_checkpoint(
    disk: &impl Disk,
    revision: u64,
    key: Option<&SessionKey>,
) -> Result<Result<Checkpoint, Flaw>, MemoryError> {
    let place = Checkpoint::place(revision);
    let bytes = match disk.read(&place, 0) {
        Ok(Some((bytes, _))) => bytes,
        Ok(None) => return Ok(Err(Flaw::Missing)),
        Err(DiskError::Refused { what, .. }) => {
            return Ok(Err(Flaw::Damaged(format!("it is {what}"))));
        }
        Err(error) => return Err(error.into()),
    };
    match Checkpoint::read(&bytes) {
        Ok(checkpoint) if key.is_some_and(|key| checkpoint.key != *key) => {
            Err(MemoryError::OtherKey {
                session: disk.name(),
            })
        }
        Ok(checkpoint) if checkpoint.revision != revision => Ok(Err(Flaw::Damaged(format!(
            "it is the checkpoint of revision {}",
            checkpoint.revision
        )))),
        Ok(checkpoint) => Ok(Ok(checkpoint)),
        Err(Unreadable::Damaged(reason)) => Ok(Err(Flaw::Damaged(reason))),
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
        gate: &'g dyn Gate,
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
}
