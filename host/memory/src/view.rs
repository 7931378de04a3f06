//! A session as a reader sees it: never waits for a lock, never changes a file.

use ralph_gate_types::{Prd, ProgressLog};
use serde::Serialize;

use super::change::State;
use super::checkpoint::{Checkpoint, Whole};
use super::disk::{Disk, DiskError, Folder, Place};
use super::error::MemoryError;
use super::events::{Break, Record, follow, records};
use super::finding::Finding;
use super::key::SessionKey;
use super::prd;
use super::progress;
use super::recovery::{Content, Flaw, newest, read_checkpoint};
use super::store::{CONTRACT, EVENTS, HANDOFF, PRD, PROGRESS, put_back, state};
use super::whole::{Found, compare};
use crate::gate::Gate;

/// How often a reader looks again while a writer is at work.
const ATTEMPTS: usize = 4;

/// Whether writers let a reader finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Nothing was saved while it was looked at.
    Still,
    /// Somebody saves all the time: files may be ahead of the checkpoint that was read, or just being written.
    Moving,
}

impl Pace {
    /// What is wrong with a file that nobody is writing to.
    fn wrong(self) -> Standing {
        match self {
            Self::Still => Standing::Wrong,
            Self::Moving => Standing::Changed,
        }
    }
}

/// A session that is open for reading.
#[derive(Debug)]
pub struct View<D> {
    disk: D,
    key: Option<SessionKey>,
}

/// What a session holds, as far as it can be read.
#[derive(Debug)]
pub struct Reading {
    /// Whose it is.
    pub key: SessionKey,
    /// What the newest checkpoint that is whole holds.
    pub state: State,
    /// The checklist as its file holds it now, or why it can't be read.
    pub prd: Result<Option<Prd>, MemoryError>,
    /// The progress log as its file holds it now.
    pub progress: ProgressLog,
    /// Checkpoints that can't be used.
    pub findings: Vec<Finding>,
}

/// How a file stands to what was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// As it was saved.
    Right,
    /// Changed by somebody who may change it, or to be brought up to date by the next writer.
    Changed,
    /// Not what it should be.
    Wrong,
}

/// What `verify` says about one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Relative to the session's folder.
    pub file: String,
    /// How it stands.
    pub standing: Standing,
    /// In words.
    pub message: String,
    /// The first line that was changed, counted from 1; of the event log only.
    pub line: Option<u64>,
}

impl FileReport {
    fn new(file: impl std::fmt::Display, standing: Standing, message: impl Into<String>) -> Self {
        Self {
            file: file.to_string(),
            standing,
            message: message.into(),
            line: None,
        }
    }

    fn right(file: impl std::fmt::Display, message: impl Into<String>) -> Self {
        Self::new(file, Standing::Right, message)
    }
}

/// What `verify` says about a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Whose it is.
    pub key: SessionKey,
    /// The revision that was verified.
    pub revision: u64,
    /// File by file.
    pub files: Vec<FileReport>,
}

impl Verification {
    /// The worst standing of any file.
    pub fn standing(&self) -> Standing {
        let standings = self.files.iter().map(|file| file.standing);
        standings.max().unwrap_or(Standing::Right)
    }
}

impl<D: Disk> View<D> {
    /// A session on any disk. Without a key, whoever's it is.
    pub fn new(disk: D, key: Option<SessionKey>) -> Self {
        Self { disk, key }
    }

    /// The disk that it is on.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// What it holds.
    pub fn read(&self, gate: &dyn Gate) -> Result<Reading, MemoryError> {
        self.steadily(|head, findings, _| {
            let progress = self.text(&PROGRESS)?.unwrap_or_default();
            let progress = gate.read_progress(&progress);
            Ok(Reading {
                key: head.key.clone(),
                state: state(head),
                prd: self.prd(gate),
                progress: progress.map_err(|error| MemoryError::gate(&PROGRESS, error))?,
                findings,
            })
        })
    }

    /// Where it stands: what the newest checkpoint says, whatever the length of its logs.
    pub fn state(&self) -> Result<State, MemoryError> {
        Ok(state(&self.head(&mut Vec::new())?))
    }

    /// Where it stands, and the lines of its log up to there.
    pub fn log(&self) -> Result<(State, Vec<u8>), MemoryError> {
        self.steadily(|head, _, _| {
            // What is no file is refused, and not taken for an empty one.
            let log = self.disk.read(&EVENTS, 0)?.map(|(bytes, _)| bytes);
            Ok((state(head), up_to(head, log.unwrap_or_default())))
        })
    }

    /// What happened, oldest first, as far as the newest checkpoint knows of it: also what a killed writer saved and
    /// did not come to add to the log.
    pub fn events(&self) -> Result<Vec<Record>, MemoryError> {
        self.steadily(|head, _, _| Ok(records(&self.lines(head)?)))
    }

    /// What going on needs: where it stands, and what happened. How the loop began and was gone on with is there in full,
    /// also where the log holds digests only.
    pub fn recall(&self) -> Result<(State, Vec<Record>), MemoryError> {
        self.steadily(|head, _, _| {
            let mut records = records(&self.lines(head)?);
            put_back(&mut records, &head.told);
            Ok((state(head), records))
        })
    }

    fn lines(&self, head: &Checkpoint) -> Result<Vec<u8>, MemoryError> {
        let log = self.bytes(&EVENTS)?.ok().flatten();
        Ok(up_to(head, log.unwrap_or_default()))
    }

    /// Compares every file with what was saved, and every line of the event log with the one before.
    pub fn verify(&self, gate: &dyn Gate) -> Result<Verification, MemoryError> {
        self.steadily(|head, findings, pace| {
            let mut files = self.verify_checkpoints(head, &findings)?;
            files.push(verify_snapshot(gate, head));
            files.push(self.verify_contract(head, pace)?);
            files.extend(self.verify_prd(gate, head, pace)?);
            files.push(self.verify_progress(head, pace)?);
            files.push(self.verify_events(head, pace)?);
            files.extend(self.verify_handoff(head, pace)?);
            files.extend(self.count_quarantine()?);
            Ok(Verification {
                key: head.key.clone(),
                revision: head.revision,
                files,
            })
        })
    }

    /// The newest checkpoint.
    pub(super) fn head(&self, findings: &mut Vec<Finding>) -> Result<Checkpoint, MemoryError> {
        match newest(&self.disk, self.key.as_ref(), |_, _| None, findings)? {
            Content::Session(head) => Ok(*head),
            Content::Fresh => Err(MemoryError::NoSession {
                session: self.disk.name(),
            }),
        }
    }

    /// Looks at a session, and looks again if it was saved meanwhile; but not for ever.
    pub(super) fn steadily<T>(
        &self,
        look: impl Fn(&Checkpoint, Vec<Finding>, Pace) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        for _ in 0..ATTEMPTS {
            let mut findings = Vec::new();
            let head = self.head(&mut findings)?;
            let seen = look(&head, findings, Pace::Still);
            if self.head(&mut Vec::new())?.revision == head.revision && !self.lags(&head) {
                return seen;
            }
            self.disk.pause();
        }
        // What still lags behind the same checkpoint is no writer's doing.
        let mut findings = Vec::new();
        let head = self.head(&mut findings)?;
        let seen = look(&head, findings, Pace::Still);
        if self.head(&mut Vec::new())?.revision == head.revision {
            return seen;
        }
        let mut findings = Vec::new();
        let head = self.head(&mut findings)?;
        look(&head, findings, Pace::Moving)
    }

    /// Whether a file lacks what the newest checkpoint says: a writer may be about to write it.
    fn lags(&self, head: &Checkpoint) -> bool {
        let shorter = |place: &Place, expected: u64| {
            let stamp = self.disk.stamp(place).ok().flatten();
            stamp.map_or(0, |stamp| stamp.len) < expected
        };
        let logs = shorter(&EVENTS, head.events.end.len) || shorter(&PROGRESS, head.progress.len);
        let wholes = shorter(&CONTRACT, 1)
            || head.prd.is_some() && shorter(&PRD, 1)
            || head.handoff.is_some() && shorter(&HANDOFF, 1);
        logs || wholes
    }

    /// A file's text. What can't be opened reads as if it were not there.
    fn text(&self, place: &Place) -> Result<Option<String>, MemoryError> {
        let bytes = self.bytes(place)?.ok().flatten();
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A file's bytes, or why it is not opened.
    fn bytes(&self, place: &Place) -> Result<Result<Option<Vec<u8>>, String>, MemoryError> {
        match self.disk.read(place, 0) {
            Ok(found) => Ok(Ok(found.map(|(bytes, _)| bytes))),
            Err(DiskError::Refused { what, .. }) => Ok(Err(format!("it is {what}"))),
            Err(error) => Err(error.into()),
        }
    }

    fn prd(&self, gate: &dyn Gate) -> Result<Option<Prd>, MemoryError> {
        match self.text(&PRD)? {
            None => Ok(None),
            Some(text) => match gate.read_prd(&text) {
                Ok(prd) => Ok(Some(prd)),
                Err(error) => Err(MemoryError::gate(&PRD, error)),
            },
        }
    }

    fn verify_checkpoints(
        &self,
        head: &Checkpoint,
        findings: &[Finding],
    ) -> Result<Vec<FileReport>, MemoryError> {
        let wrong =
            |finding: &Finding| FileReport::new(&finding.file, Standing::Wrong, &finding.message);
        let mut reports: Vec<FileReport> = findings.iter().map(wrong).collect();
        let names = self.disk.list(Folder::Checkpoints)?.unwrap_or_default();
        let mut whole = 0;
        for revision in names
            .iter()
            .filter_map(|name| Checkpoint::revision_of(name))
        {
            if revision > head.revision {
                continue;
            }
            match read_checkpoint(&self.disk, revision, Some(&head.key))? {
                Ok(_) => whole += 1,
                // A writer cleared it away since the folder was listed.
                Err(Flaw::Missing) => {}
                Err(Flaw::Damaged(reason)) => {
                    let place = Checkpoint::place(revision);
                    reports.push(FileReport::new(place, Standing::Wrong, reason));
                }
            }
        }
        for name in names
            .iter()
            .filter(|name| Checkpoint::revision_of(name).is_none())
        {
            let place = Place::new(Folder::Checkpoints, name);
            reports.push(FileReport::new(
                place,
                Standing::Changed,
                "it is not part of any save",
            ));
        }
        reports.push(FileReport::right(
            "checkpoints",
            format!("{whole} whole, the newest of revision {}", head.revision),
        ));
        Ok(reports)
    }

    fn verify_contract(&self, head: &Checkpoint, pace: Pace) -> Result<FileReport, MemoryError> {
        let found = match self.bytes(&CONTRACT)? {
            Err(reason) => return Ok(FileReport::new(CONTRACT, Standing::Wrong, reason)),
            Ok(found) => found,
        };
        if self.is_unfinished(found.as_deref(), head, |it| Some(&it.contract)) {
            return Ok(unfinished(CONTRACT));
        }
        Ok(match compare(found, Some(&head.contract.text), &[]) {
            Found::Same => FileReport::right(CONTRACT, "the pinned contract"),
            Found::Missing => FileReport::new(CONTRACT, pace.wrong(), "it is missing"),
            _ => FileReport::new(CONTRACT, pace.wrong(), "it is not the pinned contract"),
        })
    }

    /// Whether a file is still as it was before the newest save: whoever saved was killed, or is about to write it.
    fn is_unfinished(
        &self,
        found: Option<&[u8]>,
        head: &Checkpoint,
        whole: impl Fn(&Checkpoint) -> Option<&Whole>,
    ) -> bool {
        let is_as_in =
            |checkpoint: &Checkpoint| whole(checkpoint).map(|whole| whole.text.as_bytes()) == found;
        if is_as_in(head) {
            return false;
        }
        match head.revision {
            1 => found.is_none(),
            // Without the one before, nobody knows how it was.
            revision => read_checkpoint(&self.disk, revision - 1, Some(&head.key))
                .is_ok_and(|before| before.is_ok_and(|before| is_as_in(&before))),
        }
    }

    fn verify_prd(
        &self,
        gate: &dyn Gate,
        head: &Checkpoint,
        pace: Pace,
    ) -> Result<Option<FileReport>, MemoryError> {
        let saved = head.prd.as_ref().map(|prd| prd.text.as_str());
        let found = match self.bytes(&PRD)? {
            Err(reason) => return Ok(Some(FileReport::new(PRD, Standing::Wrong, reason))),
            Ok(found) => found,
        };
        if self.is_unfinished(found.as_deref(), head, |it| it.prd.as_ref()) {
            return Ok(Some(unfinished(PRD)));
        }
        let report = match compare(found, saved, &[]) {
            Found::Same if saved.is_none() => return Ok(None),
            Found::Same => FileReport::right(PRD, "as it was saved"),
            Found::Missing => FileReport::new(PRD, pace.wrong(), "it is missing"),
            Found::Earlier | Found::Torn(_) => FileReport::new(PRD, pace.wrong(), "it is torn"),
            Found::Other(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                match prd::difference(gate, saved, &text) {
                    Ok(difference) => FileReport::new(
                        PRD,
                        Standing::Changed,
                        format!("edited since: {difference}"),
                    ),
                    Err(error) => {
                        FileReport::new(PRD, Standing::Wrong, format!("it can't be read: {error}"))
                    }
                }
            }
        };
        Ok(Some(report))
    }

    fn verify_progress(&self, head: &Checkpoint, pace: Pace) -> Result<FileReport, MemoryError> {
        let found = match self.bytes(&PROGRESS)? {
            Err(reason) => return Ok(FileReport::new(PROGRESS, Standing::Wrong, reason)),
            Ok(found) => found,
        };
        let report = match progress::judge(found, &head.progress) {
            Ok(judgement) => match judgement.finding {
                None => {
                    FileReport::right(PROGRESS, format!("{} bytes, as saved", head.progress.len))
                }
                Some((_, message)) => FileReport::new(PROGRESS, Standing::Changed, message),
            },
            // All of it is what the newest save adds.
            Err(None) if head.progress.from == 0 => unfinished(PROGRESS),
            Err(None) => FileReport::new(PROGRESS, pace.wrong(), "it is missing"),
            Err(Some(_)) => FileReport::new(
                PROGRESS,
                Standing::Changed,
                "edited or torn since it was saved",
            ),
        };
        Ok(report)
    }

    fn verify_events(&self, head: &Checkpoint, pace: Pace) -> Result<FileReport, MemoryError> {
        let mut found = match self.bytes(&EVENTS)? {
            Err(reason) => return Ok(FileReport::new(EVENTS, Standing::Wrong, reason)),
            Ok(found) => found.unwrap_or_default(),
        };
        let (base, end) = (head.events.base, head.events.end);
        // Lines that a newer checkpoint knows by now.
        if pace == Pace::Moving {
            found.truncate(usize::try_from(end.len).unwrap_or(usize::MAX));
        }
        match follow(&found, base, Some(&end)) {
            Ok(_) if base.count > 0 => {
                let message = format!(
                    "lines {} to {}, each as it was written; the earlier ones were lost",
                    base.count + 1,
                    end.count
                );
                Ok(FileReport::new(EVENTS, Standing::Changed, message))
            }
            Ok(_) => Ok(FileReport::right(
                EVENTS,
                format!("{} lines, each as it was written", end.count),
            )),
            Err(broken) if is_being_written(&found, head) => Ok(FileReport {
                standing: Standing::Changed,
                message: format!("{broken}; the next writer adds them from there"),
                ..describe_break(&broken, base.count)
            }),
            Err(broken) => Ok(describe_break(&broken, base.count)),
        }
    }

    fn verify_handoff(
        &self,
        head: &Checkpoint,
        pace: Pace,
    ) -> Result<Option<FileReport>, MemoryError> {
        let Some(handoff) = &head.handoff else {
            let is_there = !matches!(self.bytes(&HANDOFF)?, Ok(None));
            let message = "only a loop that has stopped has one; the next writer takes it away";
            return Ok(is_there.then(|| FileReport::new(HANDOFF, Standing::Changed, message)));
        };
        let found = match self.bytes(&HANDOFF)? {
            Err(reason) => {
                return Ok(Some(FileReport::new(HANDOFF, Standing::Wrong, reason)));
            }
            Ok(found) => found,
        };
        if self.is_unfinished(found.as_deref(), head, |it| it.handoff.as_ref()) {
            return Ok(Some(unfinished(HANDOFF)));
        }
        Ok(Some(match compare(found, Some(&handoff.text), &[]) {
            Found::Same => FileReport::right(HANDOFF, "as it was saved"),
            Found::Missing => FileReport::new(HANDOFF, pace.wrong(), "it is missing"),
            _ => FileReport::new(HANDOFF, Standing::Changed, "edited since it was saved"),
        }))
    }

    fn count_quarantine(&self) -> Result<Option<FileReport>, MemoryError> {
        let names = self.disk.list(Folder::Quarantine)?.unwrap_or_default();
        let count = names
            .iter()
            .filter(|name| !name.ends_with(".reason.txt"))
            .count();
        Ok(match count {
            0 => None,
            count => Some(FileReport::right(
                "quarantine",
                format!("{count} files were set aside, each with its reason"),
            )),
        })
    }
}

/// A file that the newest save did not come to.
fn unfinished(file: Place) -> FileReport {
    let message = "it is as it was before the newest save; the next writer brings it up to date";
    FileReport::new(file, Standing::Changed, message)
}

/// The log as far as a checkpoint knows of it, with what a killed writer did not come to add.
fn up_to(head: &Checkpoint, mut log: Vec<u8>) -> Vec<u8> {
    if is_being_written(&log, head) {
        log.truncate(usize::try_from(head.events.from.len).unwrap_or(usize::MAX));
        log.extend(head.events.text().into_bytes());
    }
    log.truncate(usize::try_from(head.events.end.len).unwrap_or(usize::MAX));
    log
}

/// Whether a log is right up to the newest save, of which it has only a part: a crash, or a writer that is at work,
/// leaves it like this.
fn is_being_written(found: &[u8], head: &Checkpoint) -> bool {
    let from = usize::try_from(head.events.from.len).unwrap_or(usize::MAX);
    let Some((before, newest)) = found.split_at_checked(from) else {
        return false;
    };
    head.events.text().as_bytes().starts_with(newest)
        && follow(before, head.events.base, Some(&head.events.from)).is_ok()
}

/// Where the log was changed, in the file's own lines.
fn describe_break(broken: &Break, before: u64) -> FileReport {
    FileReport {
        line: Some(broken.line().saturating_sub(before)),
        ..FileReport::new(EVENTS, Standing::Wrong, broken.to_string())
    }
}

fn verify_snapshot(gate: &dyn Gate, head: &Checkpoint) -> FileReport {
    match head
        .snapshot
        .as_deref()
        .map(|text| gate.read_snapshot(text))
    {
        None => FileReport::right("snapshot", "none yet"),
        Some(Ok(view)) => FileReport::right("snapshot", format!("iteration {}", view.iteration)),
        Some(Err(error)) => FileReport::new("snapshot", Standing::Wrong, error.to_string()),
    }
}

/// One session of a root.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// The folder's name.
    pub folder: String,
    /// Whose it is, if that can be read.
    pub key: Option<SessionKey>,
    /// Counts saves.
    pub revision: u64,
    /// The last iteration.
    pub iteration: u32,
    /// How many events there are.
    pub events: u64,
    /// Why it can't be read.
    pub problem: Option<String>,
}

impl Listed {
    /// A folder that can't be read.
    pub fn unreadable(folder: String, problem: &MemoryError) -> Self {
        Self {
            folder,
            key: None,
            revision: 0,
            iteration: 0,
            events: 0,
            problem: Some(problem.to_string()),
        }
    }
}

impl<D: Disk> View<D> {
    /// The session as one line of a list, in the folder that it was found in. None if nothing was saved there yet, or
    /// if it is somebody else's.
    pub fn listed(&self, folder: String) -> Option<Listed> {
        let head = match self.head(&mut Vec::new()) {
            Ok(head) => head,
            Err(MemoryError::NoSession { .. }) => return None,
            Err(error) => return Some(Listed::unreadable(folder, &error)),
        };
        let is_elsewhere = head.key.folder() != folder;
        let unless = |number: u64| if is_elsewhere { 0 } else { number };
        Some(Listed {
            folder,
            revision: unless(head.revision),
            iteration: if is_elsewhere { 0 } else { head.iteration },
            events: unless(head.events.end.count),
            key: Some(head.key),
            problem: is_elsewhere.then(|| "it was made for another folder".to_owned()),
        })
    }
}
