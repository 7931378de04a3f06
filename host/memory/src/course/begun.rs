//! A loop begins.

use super::records::{LoopRecord, names};
use crate::change::Start;
use crate::error::MemoryError;
use crate::events::Event;
use crate::under::{Recording, Under};

impl LoopRecord {
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
