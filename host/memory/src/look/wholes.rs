//! The files that are always replaced as a whole: contract, checklist, handoff.

use super::ABSENT;
use crate::checkpoint::{Checkpoint, Whole};
use crate::disk::{Disk, Place};
use crate::error::MemoryError;
use crate::finding::{Finding, FindingCode};
use crate::store::{CONTRACT, HANDOFF, PRD, Store};
use crate::whole::{Found, compare};
use crate::{prd, quarantine};

impl<D: Disk> Store<'_, D> {
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

    /// The newest checkpoint is ours alone: a changed one is set aside and written again.
    pub(crate) fn look_at_newest(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let place = Checkpoint::place(self.head.revision);
        let right = self.head.write()?;
        let found = self.read_member(&place, findings)?.map(|(bytes, _)| bytes);
        if found.as_deref() == Some(&right) {
            return Ok(());
        }
        let message = match found {
            Some(_) => "it was changed by somebody else; it was written again",
            None => "it was removed by somebody else; it was written again",
        };
        let kept = self.keep(&place, &found.unwrap_or_default(), message)?;
        self.rewrite(&place, &right)?;
        findings.push(Finding::new(FindingCode::CheckpointDamaged, &place, message).kept(kept));
        Ok(())
    }

    pub(crate) fn look_at_contract(
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

    /// Only a file that may lack something is looked at: notes that a person makes in it are theirs. But where there
    /// is none, nobody else may write one.
    pub(crate) fn look_at_handoff(
        &mut self,
        findings: &mut Vec<Finding>,
    ) -> Result<(), MemoryError> {
        let is_unsure = self.unsure.remove(&HANDOFF);
        let Some(handoff) = self.head.handoff.as_ref() else {
            return self.look_for_stray_handoff(findings);
        };
        if !is_unsure {
            return Ok(());
        }
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

    /// Where there is no handoff, what is found is one that was withdrawn, or somebody else's.
    fn look_for_stray_handoff(&mut self, findings: &mut Vec<Finding>) -> Result<(), MemoryError> {
        if self.stamp_member(&HANDOFF, findings)? == ABSENT {
            return Ok(());
        }
        let found = self
            .read_member(&HANDOFF, findings)?
            .map(|(bytes, _)| bytes);
        let bytes = found.clone().unwrap_or_default();
        match self.compare(found, |checkpoint| checkpoint.handoff.as_ref()) {
            Found::Same | Found::Missing => {}
            Found::Earlier | Found::Torn(_) => {
                let message = "it was no longer needed; it was taken away";
                findings.push(Finding::new(FindingCode::FileRedone, &HANDOFF, message));
                self.withdraw(&HANDOFF, &bytes, findings);
            }
            Found::Other(_) => {
                let reason =
                    "it was written by somebody else, and only a loop that has stopped has one";
                let kept = quarantine::take(&self.disk, &HANDOFF, reason)?;
                let message = format!("{reason}; it was set aside");
                findings.push(
                    Finding::new(FindingCode::FileReplaced, &HANDOFF, message).kept(Some(kept)),
                );
            }
        }
        Ok(())
    }

    /// The checklist to go on with, and what its file holds.
    pub(crate) fn look_at_prd(
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
                        format!("it was edited while the agent was at work ({difference})");
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
