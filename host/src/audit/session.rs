//! Runs checks again in the work of a loop that has ended.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::{Keeping, PATIENCE, truth};
use crate::config::{Config, Terms};
use crate::engine::{GateEngine, Outcome};
use crate::evidence::{Evidence, PolicyRunner, now_ms};
use crate::memory::course::{AuditRecord, AuditedCheck, LoopRecord, ResumeRecord, Witness, names};
use crate::memory::{
    Change, Event, FileStore, MemoryError, Record, SessionKey, State, View, holder,
};
use crate::process::Stop;
use crate::runner::{Rerun, RunError, rerun};

/// Who audits which loop, with what.
#[derive(Debug, Clone, Copy)]
pub struct Auditor<'a> {
    /// The gate.
    pub gate: &'a GateEngine,
    /// The folder that holds the sessions.
    pub root: &'a Path,
    /// Whose loop it is.
    pub key: &'a SessionKey,
    /// The folder with the work and its configuration, unless the loop itself knows them.
    pub folder: &'a Path,
    /// Another configuration, whose checks count instead of the loop's own.
    pub config: Option<&'a Path>,
    /// Who asks.
    pub by: &'a str,
    /// Runs policies, if anything does.
    pub policies: Option<&'a dyn PolicyRunner>,
    /// Ends everything.
    pub stop: &'a Stop,
}

/// What an audit found out.
#[derive(Debug, Clone)]
pub struct Audited {
    /// As it is in the log, or would be.
    pub record: AuditRecord,
    /// Each check, in the order of the contract.
    pub checks: Vec<JudgedCheck>,
    /// The number of its event, if it was appended.
    pub event: Option<u64>,
}

/// What a check said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedCheck {
    /// Its id.
    pub id: String,
    /// Whether it had to pass.
    pub required: bool,
    /// What it gave.
    pub outcome: Outcome,
    /// Why, in words.
    pub reason: String,
}

impl Auditor<'_> {
    /// Runs the checks, and appends what they say.
    pub fn audit(&self, keeping: Keeping) -> Result<Audited, RunError> {
        // Locked from here on: nobody goes on with the loop while its work is looked at.
        let mut store = match keeping {
            Keeping::Append => Some(FileStore::open(self.gate, self.root, self.key, PATIENCE)?),
            Keeping::Forget => None,
        };
        let view = View::open(self.root, self.key)?;
        if store.is_none()
            && let Some(holder) = holder(self.root, self.key)?
        {
            let session = view.path().display().to_string();
            return Err(MemoryError::Busy { session, holder }.into());
        }
        let reading = view.read(self.gate)?;
        let events = match &store {
            Some(store) => store.recall()?,
            None => view.recall()?.1,
        };
        if !has_ended(&events) {
            return Err(RunError::NotEnded);
        }
        let (config, terms) = self.checks(&reading.state, &events)?;
        let problem = reading.prd.as_ref().err().map(ToString::to_string);
        let prd = match &problem {
            Some(problem) => Err(problem.as_str()),
            None => Ok(reading.prd.as_ref().ok().and_then(Option::as_ref)),
        };
        let evidence = rerun(&Rerun {
            config: &config,
            terms: &terms,
            root: self.root,
            events: &events,
            prd,
            policies: self.policies,
            stop: self.stop,
        });
        // Checks that were ended early say nothing of the work.
        if self.stop.is_canceled() {
            return Err(RunError::Interrupted);
        }
        let mut audited = self.judge(&terms, &evidence);
        if let Some(store) = &mut store {
            let event = Event::new(names::AUDIT, &audited.record).map_err(MemoryError::from)?;
            store.save(&Change {
                events: vec![event],
                ..Change::default()
            })?;
            audited.event = Some(store.state().events);
        }
        Ok(audited)
    }

    /// Which checks are run, and how.
    fn checks(&self, state: &State, events: &[Record]) -> Result<(Config, Terms), RunError> {
        let begun: Option<LoopRecord> = events.first().and_then(Record::read);
        let attended = begun.as_ref().and_then(|begun| begun.attended.as_ref());
        if let Some(file) = self.config {
            let mut config = Config::load(file)?;
            let terms = config.route_loop(self.gate, None)?.terms()?;
            // A file that nobody shows to agents is elsewhere, and the work is where the loop ran.
            let work = attended.and_then(|attended| attended.config_file.parent());
            work.unwrap_or(self.folder)
                .clone_into(&mut config.workspace);
            return Ok((config, terms));
        }
        let terms = Terms::read(&state.contract).ok_or(RunError::OtherChecks)?;
        if let Some(attended) = attended {
            let config = Config::read(&attended.config_file, &attended.config)?;
            return Ok((config, terms));
        }
        let config = Config::load(&Config::find(self.folder)?)?;
        if rules(events).as_ref() != Some(&config.rules_digest()) {
            return Err(RunError::OtherChecks);
        }
        Ok((config, terms))
    }

    fn judge(&self, terms: &Terms, evidence: &[Evidence]) -> Audited {
        let (truth, reason) = truth(terms, evidence);
        let named = terms.completion_checks.iter();
        let checks: Vec<JudgedCheck> = named
            .map(|named| {
                let found = evidence.iter().find(|it| it.check == named.id);
                JudgedCheck {
                    id: named.id.clone(),
                    required: named.required,
                    outcome: found.map_or(Outcome::Unknown, |it| it.outcome),
                    reason: found
                        .map_or_else(|| "it gave no result".to_owned(), |it| it.reason.clone()),
                }
            })
            .collect();
        let name = self.config.and_then(Path::file_name);
        let reason = match name {
            Some(name) => format!("by {}: {reason}", name.to_string_lossy()),
            None => reason,
        };
        let audited = |check: &JudgedCheck| AuditedCheck {
            id: check.id.clone(),
            outcome: check.outcome,
            reason: check.reason.clone(),
        };
        Audited {
            record: AuditRecord {
                at_ms: now_ms(),
                truth,
                witness: Witness::Audit,
                by: self.by.to_owned(),
                reason,
                checks: checks.iter().map(audited).collect(),
            },
            checks,
            event: None,
        }
    }
}

/// Whether a loop came to an end: by a verdict, or because its client went away.
fn has_ended(events: &[Record]) -> bool {
    let is_turn = |record: &&Record| {
        matches!(
            record.event.as_str(),
            names::STARTED | names::RESUMED | names::VERDICT | names::CLIENT_ENDED
        )
    };
    let Some(last) = events.iter().rev().find(is_turn) else {
        return false;
    };
    let data: Value = last.read().unwrap_or_default();
    let decision = data.pointer("/verdict/decision").and_then(Value::as_str);
    match last.event.as_str() {
        names::VERDICT => decision.is_some_and(|decision| decision != "continue"),
        event => event == names::CLIENT_ENDED,
    }
}

/// How checks were run in the loop, last.
fn rules(events: &[Record]) -> Option<String> {
    events
        .iter()
        .rev()
        .find_map(|record| match record.event.as_str() {
            names::STARTED => record.read::<LoopRecord>().map(|it| it.rules_digest),
            names::RESUMED => record.read::<ResumeRecord>().map(|it| it.rules_digest),
            _ => None,
        })
}
