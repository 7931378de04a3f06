//! Appends labels to the logs of the sessions that they are about: all of them, or none.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::labels::Label;
use super::{CsvProblem, Keeping, PATIENCE};
use crate::engine::GateEngine;
use crate::evidence::now_ms;
use crate::memory::course::{AuditRecord, Witness, names};
use crate::memory::{
    Change, Event, FileStore, MemoryError, Record, SessionKey, Standing, TextDigest, View, holder,
    list,
};

/// Where labels go.
#[derive(Debug, Clone, Copy)]
pub struct Import<'i> {
    /// The gate.
    pub gate: &'i GateEngine,
    /// The folder that holds the sessions.
    pub root: &'i Path,
    /// Who says what the table names nobody for.
    pub by: &'i str,
}

/// What became of a label.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The label.
    pub label: Label,
    /// Whose loop it is about.
    pub key: SessionKey,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is in the log now.
    Appended,
    /// It was there already.
    Known,
    /// It would be appended.
    New,
}

/// Why labels were not imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// Something is wrong with some of them: none was imported.
    #[error("{} problems, and nothing was written", .0.len())]
    Problems(Vec<CsvProblem>),
    /// The memory refused when it came to writing.
    #[error("{appended} labels were appended, then: {error}")]
    Memory {
        /// How many went well.
        appended: usize,
        /// What it said.
        error: MemoryError,
    },
}

impl Import<'_> {
    /// Looks for every session first, and then appends.
    pub fn import(
        &self,
        labels: Vec<Label>,
        keeping: Keeping,
    ) -> Result<Vec<Imported>, ImportError> {
        let memory = |appended| move |error| ImportError::Memory { appended, error };
        let sessions = self.sessions().map_err(memory(0))?;
        let mut problems = Vec::new();
        let mut found = Vec::new();
        for label in labels {
            match self.look(&label, &sessions) {
                Ok((key, fate)) => found.push(Imported { label, key, fate }),
                Err(message) => problems.push(CsvProblem {
                    line: label.line,
                    message,
                }),
            }
        }
        if !problems.is_empty() {
            return Err(ImportError::Problems(problems));
        }
        if keeping == Keeping::Append {
            let new = found.iter_mut().filter(|it| it.fate == Fate::New);
            for (appended, imported) in new.enumerate() {
                self.append(imported).map_err(memory(appended))?;
            }
        }
        Ok(found)
    }

    /// The sessions, by their keys and by the names of their folders.
    fn sessions(&self) -> Result<BTreeMap<String, Vec<SessionKey>>, MemoryError> {
        let mut sessions: BTreeMap<String, Vec<SessionKey>> = BTreeMap::new();
        for listed in list(self.root)? {
            let Some(key) = listed.key.filter(|_| listed.problem.is_none()) else {
                continue;
            };
            let text = key.text().to_owned();
            if text != listed.folder {
                sessions.entry(listed.folder).or_default().push(key.clone());
            }
            sessions.entry(text).or_default().push(key);
        }
        Ok(sessions)
    }

    /// Which session a label is about, and whether it is known there.
    fn look(
        &self,
        label: &Label,
        sessions: &BTreeMap<String, Vec<SessionKey>>,
    ) -> Result<(SessionKey, Fate), String> {
        let name = &label.session;
        let key = match sessions.get(name).map(Vec::as_slice) {
            Some([key]) => key,
            Some(_) => {
                return Err(format!(
                    "{name:?} is the name of more than one session; write the name of its folder"
                ));
            }
            None => {
                let root = self.root.display();
                return Err(format!(
                    "there is no session {name:?} in {root}; `ralph-gate memory list` shows what is there"
                ));
            }
        };
        let said = |error: MemoryError| error.to_string();
        if let Some(holder) = holder(self.root, key).map_err(said)? {
            return Err(format!("the loop {name:?} is running: {holder}"));
        }
        let view = View::open(self.root, key).map_err(said)?;
        let verified = view.verify(self.gate).map_err(said)?;
        if verified.standing() == Standing::Wrong {
            return Err(format!(
                "the memory of {name:?} is not as it was saved; see `ralph-gate memory verify`"
            ));
        }
        let fate = self.fate(label, &view.events().map_err(said)?);
        Ok((key.clone(), fate))
    }

    fn fate(&self, label: &Label, events: &[Record]) -> Fate {
        let labels = events.iter().rev().filter(|it| it.event == names::AUDIT);
        let mut labels = labels.filter_map(Record::read::<Value>);
        let is_label = |data: &Value| data["witness"] == json!(Witness::Label);
        match labels.find(is_label) {
            Some(last) if self.is_in(label, &last) => Fate::Known,
            _ => Fate::New,
        }
    }

    /// Whether an event says what a label says. Of a log that records digests only, the digest of the reason.
    fn is_in(&self, label: &Label, data: &Value) -> bool {
        let reason = &data["reason"];
        data["truth"] == json!(label.truth)
            && data["by"] == json!(self.by_of(label))
            && (*reason == json!(label.reason) || *reason == json!(TextDigest::of(&label.reason)))
    }

    fn by_of<'l>(&'l self, label: &'l Label) -> &'l str {
        label.by.as_deref().unwrap_or(self.by)
    }

    fn append(&self, imported: &mut Imported) -> Result<(), MemoryError> {
        let label = &imported.label;
        let mut store = FileStore::open(self.gate, self.root, &imported.key, PATIENCE)?;
        let record = AuditRecord {
            at_ms: now_ms(),
            truth: label.truth,
            witness: Witness::Label,
            by: self.by_of(label).to_owned(),
            reason: label.reason.clone(),
            checks: Vec::new(),
        };
        store.save(&Change {
            events: vec![Event::new(names::AUDIT, &record)?],
            ..Change::default()
        })?;
        imported.fate = Fate::Appended;
        Ok(())
    }
}
