//! What a run found: states, differences, and the properties that were checked on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::Result;
use ralph_gate::GateEngine;
use ralph_gate_component::json;

use crate::answer::{Answer, Decision, RoutedMode, StopReason, Verdict};
use crate::situation::{Claim, Contract, Enforcement, Iteration, Mode, Outcome};
use crate::wire::{GateLoop, Reply};

/// The specification's bound on the snapshot.
pub(crate) const SNAPSHOT_LIMIT: usize = 16 * 1024;
/// How many different stories are told in full.
const TOLD: usize = 8;
/// How many differences are looked into: finding the plainest situation takes many calls.
const LOOKED_INTO: u64 = 400;

/// What holds of the gate's answers whatever the model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    CompletedNeedsEvidence,
    StandardIsUntouched,
    LoopEnds,
    OrderOfResults,
    SameInputSameBytes,
    SnapshotIsSmall,
    ComponentAgrees,
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CompletedNeedsEvidence => "completed only on fresh passing evidence",
            Self::StandardIsUntouched => "standard mode intercepts nothing, writes nothing",
            Self::LoopEnds => "every loop ends within loop_max_iters",
            Self::OrderOfResults => "the order of results changes no byte",
            Self::SameInputSameBytes => "same input, same bytes",
            Self::SnapshotIsSmall => "the snapshot is at most 16 KiB",
            Self::ComponentAgrees => "the component gives the same bytes",
        })
    }
}

/// How often a property was looked at, and how often it did not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    checked: u64,
    broken: u64,
}

/// The properties that cost further calls are looked at in every n-th state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampling {
    pub(crate) order: u64,
    pub(crate) repeat: u64,
    pub(crate) component: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) states: u64,
    pub(crate) differences: u64,
    pub(crate) largest_snapshot: usize,
    properties: BTreeMap<Property, Count>,
    told: BTreeSet<String>,
    broken: BTreeSet<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.states += other.states;
        self.differences += other.differences;
        self.largest_snapshot = self.largest_snapshot.max(other.largest_snapshot);
        for (property, count) in other.properties {
            let sum = self.properties.entry(property).or_default();
            sum.checked += count.checked;
            sum.broken += count.broken;
        }
        self.told.extend(other.told);
        self.broken.extend(other.broken);
    }

    /// Counts a difference, and tells it unless it was told before.
    pub(crate) fn differ(&mut self, story: impl FnOnce() -> String) {
        self.differences += 1;
        if self.differences <= LOOKED_INTO && self.told.len() < TOLD {
            self.told.insert(story());
        }
    }

    /// Counts a property that held or did not.
    pub(crate) fn property(
        &mut self,
        property: Property,
        holds: bool,
        story: impl FnOnce() -> String,
    ) {
        let count = self.properties.entry(property).or_default();
        count.checked += 1;
        if !holds {
            count.broken += 1;
            if self.broken.len() < TOLD {
                self.broken
                    .insert(format!("not so: {property}\n  {}", story()));
            }
        }
    }

    pub(crate) fn broken(&self) -> u64 {
        self.properties.values().map(|count| count.broken).sum()
    }

    /// How often a property was looked at.
    pub(crate) fn checked(&self, property: Property) -> u64 {
        self.properties
            .get(&property)
            .map_or(0, |count| count.checked)
    }

    /// Looks at everything that one answer shows.
    pub(crate) fn observe(
        &mut self,
        contract: &Contract,
        iteration: &Iteration,
        gate: &GateLoop,
        reply: &Reply,
    ) {
        self.largest_snapshot = self
            .largest_snapshot
            .max(reply.snapshot.as_ref().map_or(0, String::len));
        if let Some(snapshot) = &reply.snapshot {
            self.property(
                Property::SnapshotIsSmall,
                snapshot.len() <= SNAPSHOT_LIMIT,
                || format!("{} bytes after {}", snapshot.len(), reply.input),
            );
        }
        if matches!(contract.mode, Mode::Absent | Mode::Standard) {
            self.property(
                Property::StandardIsUntouched,
                untouched(gate, reply),
                || format!("{}\n  {}", reply.input, reply.text),
            );
        }
        let Answer::Verdict(verdict) = &reply.answer else {
            return;
        };
        if verdict.enforced().stop_reason == Some(StopReason::Completed) {
            let overridden = iteration.overridden && contract.allow_override;
            let holds = overridden || proven(contract, iteration, verdict);
            self.property(Property::CompletedNeedsEvidence, holds, || {
                format!("{}\n  {}", reply.input, reply.text)
            });
        }
        if enforced(contract, verdict) && iteration.index >= contract.loop_max_iters {
            self.property(
                Property::LoopEnds,
                verdict.ruling.decision == Decision::Stop,
                || format!("{}\n  {}", reply.input, reply.text),
            );
        }
    }

    /// Asks again in other ways that must not matter.
    pub(crate) fn ask_again(
        &mut self,
        iteration: &Iteration,
        gate: &GateLoop,
        reply: &Reply,
        engine: &GateEngine,
        sampling: Sampling,
    ) -> Result<()> {
        if self.states.is_multiple_of(sampling.repeat) {
            let again = json::call("evaluate_final", &reply.input);
            self.property(Property::SameInputSameBytes, again == reply.text, || {
                format!("{}\n  {}\n  {again}", reply.input, reply.text)
            });
        }
        if self.states.is_multiple_of(sampling.component) {
            let component = engine.call("evaluate_final", &reply.input)?;
            self.property(Property::ComponentAgrees, component == reply.text, || {
                format!("{}\n  {}\n  {component}", reply.input, reply.text)
            });
        }
        if iteration.results.len() > 1 && self.states.is_multiple_of(sampling.order) {
            for shuffled in rearranged(iteration) {
                let input = gate.input(&shuffled)?;
                let other = json::call("evaluate_final", &input);
                self.property(Property::OrderOfResults, other == reply.text, || {
                    format!("{}\n  {}\n  {input}\n  {other}", reply.input, reply.text)
                });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} states, {} differences; largest snapshot {} bytes",
            self.states, self.differences, self.largest_snapshot
        )?;
        for (property, count) in &self.properties {
            writeln!(
                f,
                "  {:<50} {:>9} checked, {} broken",
                property.to_string(),
                count.checked,
                count.broken
            )?;
        }
        for told in self.broken.iter().take(TOLD).chain(&self.told) {
            writeln!(f, "\n{told}")?;
        }
        Ok(())
    }
}

/// Whether the verdict binds.
pub(crate) fn enforced(contract: &Contract, verdict: &Verdict) -> bool {
    verdict.mode == RoutedMode::Ralph && contract.enforcement == Enforcement::Enforce
}

/// Passed through, and the snapshot comes back as it was given.
fn untouched(gate: &GateLoop, reply: &Reply) -> bool {
    let Answer::Verdict(verdict) = &reply.answer else {
        return false;
    };
    verdict.ruling.decision == Decision::PassThrough
        && !verdict.intercepted
        && reply.snapshot == gate.snapshot()
}

/// Whether each required check that nobody waived has evidence, all of it fresh, passing and without
/// a cause for doubt. Looks at the input for everything else.
fn proven(contract: &Contract, iteration: &Iteration, verdict: &Verdict) -> bool {
    contract
        .checks
        .iter()
        .filter(|check| check.required && !verdict.waived.iter().any(|id| id == check.id))
        .all(|check| {
            let mut results = iteration
                .results
                .iter()
                .filter(|result| result.id == check.id)
                .peekable();
            results.peek().is_some()
                && results.all(|result| {
                    matches!(result.outcome, Outcome::Pass | Outcome::Flaky)
                        && result.cause.is_none()
                        && result.iteration != Claim::Another
                        && result.state != Claim::Another
                })
        })
}

/// The results in other orders: backwards, and each rotation.
fn rearranged(iteration: &Iteration) -> Vec<Iteration> {
    let mut orders = Vec::new();
    let mut backwards = iteration.clone();
    backwards.results.reverse();
    orders.push(backwards);
    for turn in 1..iteration.results.len() {
        let mut rotated = iteration.clone();
        rotated.results.rotate_left(turn);
        orders.push(rotated);
    }
    orders
}
