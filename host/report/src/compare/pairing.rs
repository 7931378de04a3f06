//! The same task in both arms: pairs.

use std::collections::BTreeMap;

use super::at;
use crate::model::{Pair, Pairing, RunList};
use crate::run::Run;

/// At least this share of the larger arm must have partners.
const ENOUGH: (usize, usize) = (9, 10);

/// Pairs, or why there are none.
#[derive(Debug, Clone, Default)]
pub(super) struct Paired {
    pub(super) pairs: Vec<Pair>,
    /// Runs without a partner, where the others have one.
    pub(super) alone: RunList,
    reason: String,
}

/// What makes two runs a pair: the task, and which repetition of it.
type Key<'r> = (&'r str, &'r str);

impl Paired {
    pub(super) fn find(runs: &[Run], before: &[u32], after: &[u32]) -> Self {
        match Self::try_to_find(runs, before, after) {
            Ok(paired) => paired,
            Err(reason) => Self {
                reason,
                ..Self::default()
            },
        }
    }

    fn try_to_find(runs: &[Run], before: &[u32], after: &[u32]) -> Result<Self, String> {
        let (first, mut second) = (keys(runs, before)?, keys(runs, after)?);
        let mut paired = Self::default();
        for (key, place) in first {
            match second.remove(&key) {
                Some(partner) => paired.pairs.push(Pair {
                    name: name(key),
                    before: place,
                    after: partner,
                }),
                None => paired.alone.push(place),
            }
        }
        paired.alone.extend(second.into_values());
        let (count, most) = (paired.pairs.len(), before.len().max(after.len()));
        if count * ENOUGH.1 < most * ENOUGH.0 {
            return Err(format!(
                "only {count} of {most} runs have a partner with the same task in the other arm"
            ));
        }
        paired.reason = match paired.alone.len() {
            0 => "each task was run in both arms".to_owned(),
            alone => format!("all tasks but those of {alone} runs were run in both arms"),
        };
        Ok(paired)
    }

    pub(super) fn pairing(&self) -> Pairing {
        Pairing {
            paired: !self.pairs.is_empty(),
            pairs: self.pairs.len() as u64,
            reason: self.reason.clone(),
        }
    }
}

/// Runs by what makes them part of a pair.
fn keys<'r>(runs: &'r [Run], places: &[u32]) -> Result<BTreeMap<Key<'r>, u32>, String> {
    let mut keys = BTreeMap::new();
    for place in places {
        let Some(run) = at(runs, *place) else {
            continue;
        };
        let Some(task) = run.task.as_deref() else {
            return Err("not every run says which task it worked on".to_owned());
        };
        let repeat = run.labels.get("repeat").map_or("", String::as_str);
        if keys.insert((task, repeat), *place).is_some() {
            return Err(format!(
                "the task {task} was run more than once in one arm, and nothing tells which run belongs to which"
            ));
        }
    }
    Ok(keys)
}

fn name((task, repeat): Key<'_>) -> String {
    match repeat {
        "" => task.to_owned(),
        repeat => format!("{task} ({repeat})"),
    }
}
