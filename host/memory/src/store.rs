//! A session's memory: takes in what others did to its files, and saves.
//!
//! A save is one checkpoint: written, synced, renamed, its folder synced. It holds what the other files gain, so they
//! are brought up to date afterwards, without waiting for the disk; [`super::recovery`] does it again from the
//! checkpoints where a crash came in between. Every now and then the logs are synced and old checkpoints cleared away.

use std::collections::BTreeSet;

use ralph_gate_types::{Prd, ProgressLog};

use super::change::{Change, Handoff, Saved, Start, State};
use super::checkpoint::{Checkpoint, EventsRecord, ProgressRecord, Told, Whole};
use super::disk::{Disk, Folder, Place, Ram, Stamp};
use super::error::MemoryError;
use super::events::{Chain, Event, Record, follow, records};
use super::finding::{Finding, FindingCode};
use super::key::SessionKey;
use super::prd;
use super::progress::Growth;
use super::under::{Recording, RunRecord, Under};
use crate::course::names;
use crate::digest::Digest;
use crate::gate::Gate;

pub(super) const PRD: Place = Place::member("prd.json");
pub(super) const PROGRESS: Place = Place::member("progress.txt");
pub(super) const EVENTS: Place = Place::member("events.jsonl");
pub(super) const CONTRACT: Place = Place::member("contract.json");
pub(super) const HANDOFF: Place = Place::member("handoff.md");

/// How many checkpoints are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The newest ones, which are always kept.
    pub keep: u64,
    /// How many more may gather before they are cleared away, which costs three syncs.
    pub gather: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            keep: 4,
            gather: 16,
        }
    }
}

/// A session that is open for writing, on any disk.
#[derive(Debug)]
pub struct Store<'g, D> {
    pub(super) disk: D,
    pub(super) gate: &'g dyn Gate,
    /// The newest checkpoint.
    pub(super) head: Checkpoint,
    pub(super) progress: Progress,
    pub(super) events: Events,
    /// What the contract's file looked like when it was last right.
    pub(super) contract: Option<Stamp>,
    /// Files that are kept as a whole and may not hold what was saved.
    pub(super) unsure: BTreeSet<Place>,
    /// Checkpoints that are there.
    pub(super) checkpoints: u64,
    pub(super) retention: Retention,
    pub(super) soundness: Soundness,
    pub(super) findings: Vec<Finding>,
}

/// A session in memory: for tests, and where there is no disk. Ends with the process.
pub type InMemoryStore<'g> = Store<'g, Ram>;

impl<'g> InMemoryStore<'g> {
    /// Begins a session.
    pub fn new(gate: &'g dyn Gate, key: &SessionKey, start: &Start) -> Result<Self, MemoryError> {
        Self::begin(Ram::default(), gate, key, start)
    }
}

/// `progress.txt` as it should be now.
#[derive(Debug)]
pub(super) struct Progress {
    /// Over all of it.
    pub(super) hasher: blake3::Hasher,
    pub(super) len: u64,
    /// Since the newest checkpoint.
    pub(super) growth: Growth,
    /// How much is on the disk for certain.
    pub(super) settled: u64,
    /// What the file looked like when it was last right. None if it may lack something.
    pub(super) stamp: Option<Stamp>,
}

/// `events.jsonl` as it should be now.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) base: Chain,
    pub(super) end: Chain,
    /// How much is on the disk for certain.
    pub(super) settled: Chain,
    /// What the file looked like when it was last right. None if it may lack something.
    pub(super) stamp: Option<Stamp>,
}

/// Whether the store knows what the disk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Soundness {
    Sound,
    /// A save failed after its checkpoint had got its name.
    Unsound,
}

/// The next checkpoint, and what the files hold before it.
pub(super) struct Plan {
    pub(super) checkpoint: Checkpoint,
    pub(super) hasher: blake3::Hasher,
    /// What `prd.json` holds.
    pub(super) prd_found: Option<Vec<u8>>,
}

impl<'g, D: Disk> Store<'g, D> {
    /// Begins a session on an empty disk.
    pub fn begin(
        disk: D,
        gate: &'g dyn Gate,
        key: &SessionKey,
        start: &Start,
    ) -> Result<Self, MemoryError> {
        disk.make_folder(Folder::Checkpoints)?;
        disk.sync_folder(Folder::Session)?;
        let mut store = Self::blank(disk, gate, key.clone());
        let mut findings = Vec::new();
        store.set_unfinished_aside(&mut findings)?;
        store.findings = findings;
        if let Some(text) = &start.prd {
            gate.read_prd(text)
                .map_err(|error| MemoryError::gate(&PRD, error))?;
            store.head.prd = Some(Whole::new(text.clone()));
        }
        let change = Change {
            contract: Some(start.contract.clone()),
            progress: start.progress.clone(),
            events: start.events.clone(),
            run: start.run.clone(),
            ..Change::default()
        };
        store.save(&change)?;
        Ok(store)
    }

    fn blank(disk: D, gate: &'g dyn Gate, key: SessionKey) -> Self {
        let chain = Chain::start(&key);
        let nothing = Digest::of_content(b"");
        let head = Checkpoint {
            version: Checkpoint::VERSION,
            revision: 0,
            iteration: 0,
            key,
            run: None,
            told: Vec::new(),
            contract: Whole::new(String::new()),
            snapshot: None,
            prd: None,
            handoff: None,
            progress: ProgressRecord {
                len: 0,
                digest: nothing,
                settled: 0,
                from: 0,
                before: nothing,
                added: String::new(),
                entry: String::new(),
            },
            events: EventsRecord {
                base: chain,
                end: chain,
                settled: chain,
                from: chain,
                lines: Vec::new(),
            },
            _seal: None,
        };
        Self::at(disk, gate, head)
    }

    /// A store whose newest checkpoint is known, and whose files have not been looked at.
    pub(super) fn at(disk: D, gate: &'g dyn Gate, head: Checkpoint) -> Self {
        Self {
            disk,
            gate,
            progress: Progress {
                hasher: blake3::Hasher::new(),
                len: head.progress.len,
                growth: Growth::Added(String::new()),
                settled: head.progress.settled,
                stamp: None,
            },
            events: Events {
                base: head.events.base,
                end: head.events.end,
                settled: head.events.settled,
                stamp: None,
            },
            contract: None,
            unsure: BTreeSet::from([PRD, CONTRACT, HANDOFF]),
            checkpoints: 0,
            retention: Retention::default(),
            soundness: Soundness::Sound,
            findings: Vec::new(),
            head,
        }
    }

    /// The disk that it is on.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Whose session it is.
    pub fn key(&self) -> &SessionKey {
        &self.head.key
    }

    /// What the session holds.
    pub fn state(&self) -> State {
        state(&self.head)
    }

    /// Keeps another number of checkpoints.
    pub fn retain(&mut self, retention: Retention) {
        self.retention = retention;
    }

    /// What was found when the session was opened.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The checklist as its file holds it now, with what an agent changed. None if there is none.
    pub fn prd(&self) -> Result<Option<Prd>, MemoryError> {
        let Some(text) = self.text(&PRD)? else {
            return Ok(None);
        };
        let prd = self
            .gate
            .read_prd(&text)
            .map_err(|error| MemoryError::gate(&PRD, error))?;
        Ok(Some(prd))
    }

    /// The progress log as its file holds it now, with what an agent wrote into it.
    pub fn progress(&self) -> Result<ProgressLog, MemoryError> {
        let text = self.text(&PROGRESS)?.unwrap_or_default();
        self.gate
            .read_progress(&text)
            .map_err(|error| MemoryError::gate(&PROGRESS, error))
    }

    /// The end of the progress log, from the beginning of a line.
    pub fn recent_progress(&self, most: u64) -> Result<String, MemoryError> {
        let Some(stamp) = self.disk.stamp(&PROGRESS)? else {
            return Ok(String::new());
        };
        let from = stamp.len.saturating_sub(most);
        let read = self.disk.read(&PROGRESS, from)?;
        let bytes = read.map(|(bytes, _)| bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        Ok(match text.split_once('\n') {
            Some((_, lines)) if from > 0 => lines.to_owned(),
            _ => text.into_owned(),
        })
    }

    /// What is not text in a file is shown as such.
    fn text(&self, place: &Place) -> Result<Option<String>, MemoryError> {
        let found = self.disk.read(place, 0)?;
        Ok(found.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// What happened, oldest first. Fails if somebody else changed any of it.
    pub fn events(&self) -> Result<Vec<Record>, MemoryError> {
        let found = self.disk.read(&EVENTS, 0)?;
        let mut log = found.map(|(bytes, _)| bytes).unwrap_or_default();
        log.truncate(usize::try_from(self.events.end.len).unwrap_or(usize::MAX));
        match follow(&log, self.events.base, Some(&self.events.end)) {
            Ok(_) => Ok(records(&log)),
            Err(broken) => Err(MemoryError::LogChanged {
                file: EVENTS.to_string(),
                broken,
            }),
        }
    }

    /// What happened, as far as going on needs it: how the loop began and was gone on with is there in full, also where
    /// the log holds digests only.
    pub fn recall(&self) -> Result<Vec<Record>, MemoryError> {
        let mut records = self.events()?;
        put_back(&mut records, &self.head.told);
        Ok(records)
    }

    /// What the loop runs under. None in sessions from before this was kept.
    pub fn under(&self) -> Option<&Under> {
        self.head.run.as_ref()
    }

    /// Looks at what others did to the files since the last look. What nobody else may change is restored; each
    /// change is reported once.
    pub fn look(&mut self) -> Result<Vec<Finding>, MemoryError> {
        self.disk.guard()?;
        let mut findings = Vec::new();
        self.look_at_newest(&mut findings)?;
        self.look_at_contract(&mut findings)?;
        self.look_at_handoff(&mut findings)?;
        self.look_at_events(&mut findings)?;
        self.look_at_progress(&mut findings)?;
        Ok(findings)
    }

    /// Saves a change. When this returns, it is on the disk.
    pub fn save(&mut self, change: &Change) -> Result<Saved, MemoryError> {
        if self.soundness == Soundness::Unsound {
            return Err(MemoryError::Unsound);
        }
        self.disk.guard()?;
        let mut findings = Vec::new();
        let plan = self.plan(change, &mut findings)?;
        let bytes = plan.checkpoint.write()?;
        self.commit(plan.checkpoint.revision, &bytes)?;
        self.apply(plan, &mut findings);
        self.clear(&mut findings);
        Ok(Saved {
            revision: self.head.revision,
            findings,
        })
    }

    fn plan(&mut self, change: &Change, findings: &mut Vec<Finding>) -> Result<Plan, MemoryError> {
        let saved = self.head.iteration;
        let iteration = change
            .snapshot
            .as_ref()
            .map_or(saved, |snapshot| snapshot.iteration);
        if iteration < saved {
            return Err(MemoryError::WentBack {
                given: iteration,
                saved,
            });
        }
        self.look_at_contract(findings)?;
        self.look_at_handoff(findings)?;
        self.look_at_events(findings)?;
        self.look_at_progress(findings)?;
        let (prd, prd_found) = self.look_at_prd(findings)?;
        let prd = match (prd, change.prd.is_empty()) {
            (Some(text), _) => Some(prd::update(self.gate, text, &change.prd, findings)?),
            (None, true) => None,
            (None, false) => {
                let message = "there is no checklist to update";
                findings.push(Finding::new(FindingCode::PrdLineMissing, &PRD, message));
                None
            }
        };
        self.settle_foreign_progress()?;
        let (progress, hasher) = self.plan_progress(change)?;
        let run = change.run.clone().or_else(|| self.head.run.clone());
        let (events, told) = self.plan_events(change, run.as_ref())?;
        let head = &self.head;
        let checkpoint = Checkpoint {
            version: Checkpoint::VERSION,
            revision: head.revision + 1,
            iteration,
            key: head.key.clone(),
            run,
            told,
            contract: change
                .contract
                .clone()
                .map_or_else(|| head.contract.clone(), Whole::new),
            snapshot: match &change.snapshot {
                Some(snapshot) => Some(snapshot.text.clone()),
                None => head.snapshot.clone(),
            },
            prd: match prd {
                Some(text) if head.prd.as_ref().is_some_and(|prd| prd.text == text) => {
                    head.prd.clone()
                }
                prd => prd.map(Whole::new),
            },
            handoff: match &change.handoff {
                Handoff::Keep => head.handoff.clone(),
                Handoff::Write(text) => Some(Whole::new(text.clone())),
                Handoff::Withdraw => None,
            },
            progress,
            events,
            _seal: None,
        };
        Ok(Plan {
            checkpoint,
            hasher,
            prd_found,
        })
    }

    /// A log that somebody else wrote can't be rebuilt from checkpoints, so it must be on the disk itself.
    fn settle_foreign_progress(&mut self) -> Result<(), MemoryError> {
        if self.progress.growth == Growth::Other {
            self.make_durable(&PROGRESS)?;
            // It may be another file that only got this name.
            self.disk.sync_folder(Folder::Session)?;
            self.progress.settled = self.progress.len;
        }
        Ok(())
    }

    fn plan_progress(
        &mut self,
        change: &Change,
    ) -> Result<(ProgressRecord, blake3::Hasher), MemoryError> {
        let entry = match &change.progress {
            None => String::new(),
            Some(entry) => {
                let written = self.gate.write_progress(entry);
                written.map_err(|error| MemoryError::gate(&PROGRESS, error))?
            }
        };
        let (added, from, before) = match &self.progress.growth {
            Growth::Added(text) => (
                text.clone(),
                self.head.progress.len,
                self.head.progress.digest,
            ),
            Growth::Other => (
                String::new(),
                self.progress.len,
                Digest::so_far(&self.progress.hasher),
            ),
        };
        let mut hasher = self.progress.hasher.clone();
        hasher.update(entry.as_bytes());
        let record = ProgressRecord {
            len: self.progress.len + entry.len() as u64,
            digest: Digest::so_far(&hasher),
            settled: self.progress.settled,
            from,
            before,
            added,
            entry,
        };
        Ok((record, hasher))
    }

    fn plan_events(
        &self,
        change: &Change,
        run: Option<&Under>,
    ) -> Result<(EventsRecord, Vec<Told>), MemoryError> {
        let record = run.map_or(Recording::Full, |under| under.record);
        let run = run.map(|under| RunRecord::new(under, self.gate.digest()));
        let mut end = self.events.end;
        let mut told = self.head.told.clone();
        let mut lines = Vec::new();
        for event in &change.events {
            let digested = match record {
                Recording::Full => None,
                Recording::DigestOnly => event.digested()?,
            };
            lines.push(end.link(digested.as_ref().unwrap_or(event), run.as_ref())?);
            if digested.is_some() {
                keep(&mut told, end.count, event);
            }
        }
        let events = EventsRecord {
            base: self.events.base,
            end,
            settled: self.events.settled,
            from: self.events.end,
            lines,
        };
        Ok((events, told))
    }
}

/// Keeps an event that a loop needs to go on: how it began, and how it was gone on with last.
fn keep(told: &mut Vec<Told>, seq: u64, event: &Event) {
    if matches!(event.name(), names::STARTED | names::RESUMED) {
        told.retain(|it| it.event != event.name());
        told.push(Told {
            seq,
            event: event.name().to_owned(),
            data: event.data().to_owned(),
        });
    }
}

/// Puts what the checkpoint still knows in the place of digests.
pub(super) fn put_back(records: &mut [Record], told: &[Told]) {
    for it in told {
        let mut found = records.iter_mut().filter(|record| record.seq == it.seq);
        if let Some(record) = found.next() {
            record.data = it.data.clone();
        }
    }
}

pub(super) fn state(head: &Checkpoint) -> State {
    State {
        revision: head.revision,
        iteration: head.iteration,
        contract: head.contract.text.clone(),
        snapshot: head.snapshot.clone(),
        prd: head.prd.as_ref().map(|prd| prd.text.clone()),
        handoff: head.handoff.as_ref().map(|handoff| handoff.text.clone()),
        events: head.events.end.count,
    }
}
