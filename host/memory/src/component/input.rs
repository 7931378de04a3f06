//! What callers give, as JSON.

use std::collections::BTreeMap;

use ralph_gate_types::{Iteration, Mode, PrdUpdate, ProgressEntry, Resumption, Routing, Verdict};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::answer::Refused;
use super::{Event, LoopRecord, ResumeRecord, SessionKey};
use crate::course::{Run, check_labels};
use crate::{Change, Handoff, MemoryError, Recording, Snapshot, State, Under};

/// Reads what a caller gave.
pub(super) fn parse<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, Refused> {
    serde_json::from_str(text)
        .map_err(|error| Refused::input(format!("{what} can't be read: {error}")))
}

/// Whose session it is.
pub(super) fn key(text: &str) -> Result<SessionKey, Refused> {
    parse("the key", text)
}

/// Something else that happened.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Happened {
    event: String,
    data: Box<RawValue>,
}

pub(super) fn events(happened: &[Happened]) -> Result<Vec<Event>, MemoryError> {
    let events = happened.iter().map(|it| Event::new(&it.event, &it.data));
    Ok(events.collect::<Result<_, _>>()?)
}

/// What a loop begins with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Beginning {
    at_ms: u64,
    routing: Routing,
    #[serde(default)]
    pub(super) prd: Option<String>,
    #[serde(default)]
    task_class: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    rules_digest: String,
    #[serde(default)]
    pub(super) record: Recording,
}

impl Beginning {
    /// The first event, with the contract that is pinned.
    pub(super) fn record(&self, key: &SessionKey) -> Result<LoopRecord, Refused> {
        check_labels(&self.labels).map_err(|error| Refused::input(error.to_string()))?;
        pinned(&self.routing)?;
        Ok(LoopRecord {
            task_class: self.task_class.clone(),
            labels: self.labels.clone(),
            rules_digest: self.rules_digest.clone(),
            argv: self.argv.clone(),
            prompt: self.prompt.clone(),
            ..LoopRecord::new(key, self.at_ms, &self.routing)
        })
    }
}

/// The contract of a request that was routed to the gate, and its digest.
fn pinned(routing: &Routing) -> Result<(String, String), Refused> {
    match (routing.mode, &routing.contract) {
        (Mode::Ralph, Some(contract)) => {
            Ok((contract.clone(), routing.digest.clone().unwrap_or_default()))
        }
        _ => Err(Refused::input(
            "the request was routed to `standard`, which keeps no memory".to_owned(),
        )),
    }
}

/// An iteration that the gate has judged.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Judged {
    pub(super) at_ms: u64,
    pub(super) iteration: Iteration,
    pub(super) verdict: Verdict,
    #[serde(default)]
    pub(super) prd: Vec<PrdUpdate>,
    #[serde(default)]
    pub(super) events: Vec<Happened>,
    #[serde(default)]
    pub(super) runs: Vec<Run>,
}

/// A loop that goes on.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resumed {
    at_ms: u64,
    pub(super) resumption: Resumption,
    #[serde(default)]
    routing: Option<Routing>,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    rules_digest: String,
    #[serde(default)]
    record: Option<Recording>,
}

impl Resumed {
    /// What the loop runs under from now on; what is not said is as before.
    pub(super) fn under(&self, before: Option<&Under>) -> Option<Under> {
        let record = before.map_or(Recording::Full, |before| before.record);
        let record = self.record.unwrap_or(record);
        match (&self.routing, before) {
            (Some(routing), _) => Some(Under {
                mode: routing.mode,
                profile: routing.profile.clone(),
                enforcement: routing.enforcement,
                record,
            }),
            (None, before) => before.map(|before| Under {
                record,
                ..before.clone()
            }),
        }
    }

    /// The event, with the contract from now on.
    pub(super) fn record(&self, state: &State) -> Result<ResumeRecord, Refused> {
        let (contract, digest) = match &self.routing {
            Some(routing) => pinned(routing)?,
            None => (
                state.contract.clone(),
                super::formats::digest(&state.contract)?,
            ),
        };
        Ok(ResumeRecord {
            at_ms: self.at_ms,
            operator: self.resumption.operator.clone(),
            reason: self.resumption.reason.clone(),
            contract,
            contract_digest: digest,
            rules_digest: self.rules_digest.clone(),
            argv: self.argv.clone(),
            prompt: self.prompt.clone(),
            client: None,
            request: None,
        })
    }
}

/// Anything else that is to be remembered.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    #[serde(default)]
    snapshot: Option<Snapshot>,
    #[serde(default)]
    contract: Option<String>,
    #[serde(default)]
    progress: Option<ProgressEntry>,
    #[serde(default)]
    prd: Vec<PrdUpdate>,
    #[serde(default)]
    events: Vec<Happened>,
    #[serde(default)]
    handoff: Handoff,
}

impl Wanted {
    pub(super) fn change(self) -> Result<Change, MemoryError> {
        Ok(Change {
            snapshot: self.snapshot,
            contract: self.contract,
            progress: self.progress,
            prd: self.prd,
            events: events(&self.events)?,
            handoff: self.handoff,
            run: None,
        })
    }
}
