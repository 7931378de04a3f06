//! A loop begins.

use super::records::{LoopRecord, names};
use crate::change::Start;
use crate::error::MemoryError;
use crate::events::Event;

impl LoopRecord {
    /// What its session begins with: the pinned contract, the checklist, and that it began.
    pub fn start(&self, prd: Option<String>) -> Result<Start, MemoryError> {
        Ok(Start {
            contract: self.contract.clone(),
            prd,
            events: vec![Event::new(names::STARTED, self)?],
            ..Start::default()
        })
    }
}
