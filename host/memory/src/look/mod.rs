//! Looks at a session's files: what others did to them, and what a crash took.
//!
//! The newest checkpoint says what every file should hold. A file that lacks something gets it from the checkpoints;
//! one that somebody else changed keeps the change, except for the contract, which nobody may change. What is
//! overwritten is set aside first. All of it can be interrupted anywhere and done again.

mod logs;
mod wholes;

use super::checkpoint::Checkpoint;
use super::disk::{Disk, DiskError, DiskResult, Place, Stamp};
use super::finding::{Finding, FindingCode};
use super::quarantine;
use super::recovery::read_checkpoint;
use super::store::Store;

/// A file that is not there.
const ABSENT: Stamp = Stamp {
    len: 0,
    version: [0; 5],
};

impl<D: Disk> Store<'_, D> {
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

    /// Reads a file; what is not a plain file of this session's own is set aside.
    fn read_member(
        &self,
        place: &Place,
        findings: &mut Vec<Finding>,
    ) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        self.read_member_from(place, 0, findings)
    }

    /// The same from an offset on.
    fn read_member_from(
        &self,
        place: &Place,
        from: u64,
        findings: &mut Vec<Finding>,
    ) -> DiskResult<Option<(Vec<u8>, Stamp)>> {
        match self.disk.read(place, from) {
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

    /// Keeps a copy of bytes before they are overwritten. Nothing is kept of nothing.
    fn keep(&self, place: &Place, bytes: &[u8], reason: &str) -> DiskResult<Option<Place>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        quarantine::keep(&self.disk, place, bytes, reason).map(Some)
    }
}
