//! The checklist between two saves: what an agent changed in it, and what we change.

use std::collections::BTreeMap;

use super::error::MemoryError;
use super::finding::{Finding, FindingCode};
use super::store::PRD;
use crate::gate::Gate;
use ralph_gate_types::{CallError, Prd, PrdUpdate};

/// How many changed lines are named.
const NAMED: usize = 5;

/// Applies updates to a checklist. A line that somebody removed is reported, not made again.
pub(super) fn update(
    gate: &dyn Gate,
    text: String,
    updates: &[PrdUpdate],
    findings: &mut Vec<Finding>,
) -> Result<String, MemoryError> {
    if updates.is_empty() {
        return Ok(text);
    }
    let failed = |error| MemoryError::gate(&PRD, error);
    let lines = gate.read_prd(&text).map_err(failed)?;
    let (known, gone): (Vec<PrdUpdate>, Vec<PrdUpdate>) = updates
        .iter()
        .cloned()
        .partition(|update| lines.items.iter().any(|line| line.id == update.id));
    for update in gone {
        let message = format!("it has no line `{}` to update", update.id);
        findings.push(Finding::new(FindingCode::PrdLineMissing, &PRD, message));
    }
    gate.update_prd(&text, &known).map_err(failed)
}

/// What somebody changed in the checklist, in a few words. None if the gate can't read the new one.
pub(super) fn difference(
    gate: &dyn Gate,
    old: Option<&str>,
    new: &str,
) -> Result<String, CallError> {
    let new = gate.read_prd(new)?;
    let old = old.and_then(|text| gate.read_prd(text).ok());
    Ok(describe(old.as_ref(), &new))
}

fn describe(old: Option<&Prd>, new: &Prd) -> String {
    let passes = |prd: &Prd| -> BTreeMap<String, bool> {
        let lines = prd.items.iter();
        lines.map(|line| (line.id.clone(), line.passes)).collect()
    };
    let before = old.map(passes).unwrap_or_default();
    let after = passes(new);
    let mut changes = Vec::new();
    for (id, now) in &after {
        match before.get(id) {
            Some(then) if then == now => {}
            Some(_) if *now => changes.push(format!("`{id}` passes now")),
            Some(_) => changes.push(format!("`{id}` no longer passes")),
            None => changes.push(format!("`{id}` is new")),
        }
    }
    let gone = before.keys().filter(|id| !after.contains_key(*id));
    changes.extend(gone.map(|id| format!("`{id}` is gone")));
    let more = changes.len().saturating_sub(NAMED);
    changes.truncate(NAMED);
    match (changes.is_empty(), more) {
        (true, _) => "no line's status changed".to_owned(),
        (false, 0) => changes.join(", "),
        (false, more) => format!("{}, and {more} more", changes.join(", ")),
    }
}
