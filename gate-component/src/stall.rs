//! Standing still: equal iterations in a row, oscillation, plateau. Constant memory however long the loop.

use crate::contract::Contract;
use crate::digest::short;
use crate::fingerprint::{Fingerprint, FingerprintPart};

/// The longest cycle that counts as oscillation.
pub(crate) const MAX_PERIOD: usize = 8;
/// Parts whose age is remembered.
pub(crate) const MAX_PARTS: usize = 64;

/// What is remembered to tell progress from standing still.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    /// The last fingerprints that were compared, newest first.
    pub(crate) recent: Vec<Compared>,
    /// For each period from 1: how many iterations in a row equalled the one that many before.
    pub(crate) runs: [u32; MAX_PERIOD],
    /// For each of these runs: the iteration that its first one equalled.
    pub(crate) firsts: [u32; MAX_PERIOD],
    /// The fewest failing required checks so far.
    pub(crate) best_failing: Option<u32>,
    /// The iteration that last made progress with its checks.
    pub(crate) best_at: u32,
    /// Iterations compared since then.
    pub(crate) since_best: u32,
    /// Parts of the last fingerprint.
    pub(crate) parts: Vec<PartMemory>,
}

/// The fingerprint of an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    pub(crate) digest: String,
    pub(crate) index: u32,
}

/// What the checks say of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failing {
    /// How many required checks failed; none when the contract has none.
    pub required: Option<u32>,
    /// Whether fewer tests than ever failed inside a required check.
    pub fewer_tests: bool,
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
    /// Take in an iteration. Sets the ages in its fingerprint. Without `failing` it is not compared with others, and
    /// nothing is remembered of it.
    pub fn observe(&mut self, index: u32, fingerprint: &mut Fingerprint, failing: Option<Failing>) {
        let Some(failing) = failing else {
            self.age(index, &mut fingerprint.parts);
            fingerprint.leave_out();
            return;
        };
        self.parts = self.age(index, &mut fingerprint.parts);
        self.observe_digest(index, fingerprint);
        self.observe_failing(index, failing);
        fingerprint.equal_in_a_row = self.equal_in_a_row();
        if fingerprint.equal_in_a_row > 1 {
            fingerprint.diagnosis = self.same_since(index);
        }
    }

    /// Forget what leads to a stop, so that a resumed loop gets its full chance.
    pub fn reset(&mut self) {
        *self = Self {
            parts: std::mem::take(&mut self.parts),
            ..Self::default()
        };
    }

    /// Since when each part is the same. Sets their ages.
    fn age(&self, index: u32, parts: &mut [FingerprintPart]) -> Vec<PartMemory> {
        let parts = parts.iter_mut().take(MAX_PARTS).map(|part| {
            let name = short(&crate::digest::of("part", part.name.as_bytes())).to_owned();
            let digest = short(&part.digest).to_owned();
            let since = self
                .parts
                .iter()
                .find(|old| old.name == name && old.digest == digest)
                .map_or(index, |old| old.since);
            part.unchanged_for = index.saturating_sub(since).saturating_add(1);
            PartMemory {
                name,
                digest,
                since,
            }
        });
        parts.collect()
    }

    fn observe_digest(&mut self, index: u32, fingerprint: &Fingerprint) {
        if !fingerprint.counted {
            self.recent.clear();
            self.runs = [0; MAX_PERIOD];
            self.firsts = [0; MAX_PERIOD];
            return;
        }
        let digest = short(&fingerprint.digest).to_owned();
        let runs = self.runs.iter_mut().zip(&mut self.firsts);
        for (period, (run, first)) in runs.enumerate() {
            match self.recent.get(period) {
                Some(earlier) if earlier.digest == digest => {
                    if *run == 0 {
                        *first = earlier.index;
                    }
                    *run = run.saturating_add(1);
                }
                _ => (*run, *first) = (0, 0),
            }
        }
        self.recent.insert(0, Compared { digest, index });
        self.recent.truncate(MAX_PERIOD);
    }

    fn observe_failing(&mut self, index: u32, failing: Failing) {
        let Some(required) = failing.required else {
            return;
        };
        let fewer = self.best_failing.is_none_or(|best| required < best);
        if fewer {
            self.best_failing = Some(required);
        }
        if fewer || required == 0 || failing.fewer_tests {
            self.best_at = index;
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

    /// How often the shortest cycle longer than one has been seen in a row, its length and its first iteration.
    pub(crate) fn cycle(&self) -> Option<(u32, u32, u32)> {
        self.runs
            .iter()
            .zip(&self.firsts)
            .zip(1_u32..)
            .skip(1)
            .map(|((run, first), period)| ((run.saturating_add(period)) / period, period, *first))
            .filter(|(seen, ..)| *seen > 1)
            .max_by_key(|(seen, period, _)| (*seen, std::cmp::Reverse(*period)))
    }

    fn same_since(&self, index: u32) -> String {
        let equal = self.equal_in_a_row();
        if equal <= 1 {
            return format!("iteration {index} has the same fingerprint as itself");
        }
        let first = self.firsts.first().copied().unwrap_or(index);
        if index.saturating_sub(first) < equal {
            return format!("iterations {first} to {index} have the same fingerprint");
        }
        format!(
            "{equal} iterations from {first} to {index} have the same fingerprint; those that failed are not counted"
        )
    }

    /// Line 9 of the decision table, in its order.
    pub fn stall(&self, index: u32, contract: &Contract) -> Option<Stall> {
        let limit = contract.no_progress_limit;
        let equal = self.equal_in_a_row();
        if limit > 0 && equal >= limit {
            return Some(Stall {
                detail: "no_progress_limit",
                diagnosis: self.same_since(index),
            });
        }
        if limit > 0
            && let Some((seen, period, first)) = self.cycle().filter(|(seen, ..)| *seen >= limit)
        {
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
                    self.best_at,
                    self.best_failing.unwrap_or(0)
                ),
            });
        }
        None
    }
}
