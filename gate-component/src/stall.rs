//! Standing still: equal iterations in a row, oscillation, plateau. Constant memory however long the loop.

use crate::contract::Contract;
use crate::digest::short;
use crate::fingerprint::{Fingerprint, FingerprintPart};

/// The longest cycle that counts as oscillation.
pub(crate) const MAX_PERIOD: usize = 4;
/// Parts whose age is remembered.
pub(crate) const MAX_PARTS: usize = 64;

/// What is remembered to tell progress from standing still.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    /// The last fingerprints, newest first.
    pub(crate) recent: Vec<String>,
    /// For each period from 1: how many iterations in a row equalled the one that many before.
    pub(crate) runs: [u32; MAX_PERIOD],
    /// The fewest failing required checks so far.
    pub(crate) best_failing: Option<u32>,
    /// Iterations since there were fewer.
    pub(crate) since_best: u32,
    /// Parts of the last fingerprint.
    pub(crate) parts: Vec<PartMemory>,
}

/// A part of the last fingerprint and since which iteration it is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartMemory {
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) since: u32,
}

/// A loop that stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// The guardrail.
    pub detail: &'static str,
    /// What a person wants to know.
    pub diagnosis: String,
}

impl Memory {
    /// Take in an iteration. Sets the ages in its fingerprint.
    pub fn observe(
        &mut self,
        index: u32,
        fingerprint: &mut Fingerprint,
        failing_required: Option<u32>,
    ) {
        self.observe_parts(index, &mut fingerprint.parts);
        self.observe_digest(fingerprint);
        self.observe_failing(failing_required);
        fingerprint.equal_in_a_row = self.equal_in_a_row();
        if fingerprint.equal_in_a_row > 1 {
            fingerprint.diagnosis = same_since(index, fingerprint.equal_in_a_row);
        }
    }

    /// Forget what leads to a stop, so that a resumed loop gets its full chance.
    pub fn reset(&mut self) {
        *self = Self {
            parts: std::mem::take(&mut self.parts),
            ..Self::default()
        };
    }

    fn observe_parts(&mut self, index: u32, parts: &mut [FingerprintPart]) {
        let before = std::mem::take(&mut self.parts);
        for part in parts.iter_mut().take(MAX_PARTS) {
            let name = short(&crate::digest::of("part", part.name.as_bytes())).to_owned();
            let digest = short(&part.digest).to_owned();
            let since = before
                .iter()
                .find(|old| old.name == name && old.digest == digest)
                .map_or(index, |old| old.since);
            part.unchanged_for = index.saturating_sub(since).saturating_add(1);
            self.parts.push(PartMemory {
                name,
                digest,
                since,
            });
        }
    }

    fn observe_digest(&mut self, fingerprint: &Fingerprint) {
        if !fingerprint.counted {
            self.recent.clear();
            self.runs = [0; MAX_PERIOD];
            return;
        }
        let digest = short(&fingerprint.digest).to_owned();
        for (period, run) in self.runs.iter_mut().enumerate() {
            *run = match self.recent.get(period) {
                Some(earlier) if *earlier == digest => run.saturating_add(1),
                _ => 0,
            };
        }
        self.recent.insert(0, digest);
        self.recent.truncate(MAX_PERIOD);
    }

    fn observe_failing(&mut self, failing: Option<u32>) {
        let Some(failing) = failing else {
            return;
        };
        let improved = self.best_failing.is_none_or(|best| failing < best) || failing == 0;
        if improved {
            self.best_failing = Some(failing);
            self.since_best = 0;
        } else {
            self.since_best = self.since_best.saturating_add(1);
        }
    }

    fn equal_in_a_row(&self) -> u32 {
        match self.recent.first() {
            Some(_) => self.runs.first().copied().unwrap_or(0).saturating_add(1),
            None => 0,
        }
    }

    /// How often the shortest cycle longer than one has been seen in a row, and its length.
    pub(crate) fn cycle(&self) -> Option<(u32, u32)> {
        self.runs
            .iter()
            .zip(1_u32..)
            .skip(1)
            .map(|(run, period)| ((run.saturating_add(period)) / period, period))
            .filter(|(seen, _)| *seen > 1)
            .max_by_key(|(seen, period)| (*seen, std::cmp::Reverse(*period)))
    }

    /// Line 8 of the decision table, in its order.
    pub fn stall(&self, index: u32, contract: &Contract) -> Option<Stall> {
        let limit = contract.no_progress_limit;
        let equal = self.equal_in_a_row();
        if limit > 0 && equal >= limit {
            return Some(Stall {
                detail: "no_progress_limit",
                diagnosis: same_since(index, equal),
            });
        }
        if limit > 0
            && let Some((seen, period)) = self.cycle().filter(|(seen, _)| *seen >= limit)
        {
            let first = index
                .saturating_add(1)
                .saturating_sub(seen.saturating_mul(period));
            return Some(Stall {
                detail: "oscillation",
                diagnosis: format!(
                    "iterations {first} to {index} repeat a cycle of {period}; it was seen {seen} times"
                ),
            });
        }
        if contract.plateau_limit > 0 && self.since_best >= contract.plateau_limit {
            return Some(Stall {
                detail: "plateau_limit",
                diagnosis: format!(
                    "no fewer failing required checks since iteration {}; the fewest were {}",
                    index.saturating_sub(self.since_best),
                    self.best_failing.unwrap_or(0)
                ),
            });
        }
        None
    }
}

fn same_since(index: u32, equal: u32) -> String {
    match equal {
        0 | 1 => format!("iteration {index} has the same fingerprint as itself"),
        _ => format!(
            "iterations {} to {index} have the same fingerprint",
            index.saturating_add(1).saturating_sub(equal)
        ),
    }
}
