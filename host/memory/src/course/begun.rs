//! A loop begins.

use std::collections::BTreeMap;

use ralph_gate_types::Routing;

use super::records::{LoopRecord, names};
use crate::change::Start;
use crate::error::MemoryError;
use crate::events::Event;
use crate::key::SessionKey;
use crate::under::{Recording, Under};

impl LoopRecord {
    /// A loop under the contract that a request was routed to. Who works on what is to be added.
    pub fn new(key: &SessionKey, at_ms: u64, routing: &Routing) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            at_ms,
            session: Some(key.text().to_owned()),
            mode: routing.mode,
            profile: routing.profile.clone(),
            enforcement: routing.enforcement,
            task_class: None,
            labels: BTreeMap::new(),
            contract: routing.contract.clone().unwrap_or_default(),
            contract_digest: routing.digest.clone().unwrap_or_default(),
            rules_digest: String::new(),
            argv: Vec::new(),
            prompt: String::new(),
            client: None,
            request: None,
            attended: None,
            given: None,
        }
    }

    /// What its session begins with: the pinned contract, the checklist, and that it began.
    pub fn start(&self, prd: Option<String>) -> Result<Start, MemoryError> {
        Ok(Start {
            contract: self.contract.clone(),
            prd,
            events: vec![Event::new(names::STARTED, self)?],
            run: Some(Under {
                mode: self.mode,
                profile: self.profile.clone(),
                enforcement: self.enforcement,
                record: Recording::Full,
            }),
            ..Start::default()
        })
    }
}
