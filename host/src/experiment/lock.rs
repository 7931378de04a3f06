//! What must not change while an experiment goes on: written before its first run, compared before every other one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::order::RunId;

/// The version of this form.
pub(super) const VERSION: u32 = 1;

/// `plan.lock.json`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanLock {
    /// The version of this form.
    pub ralph_gate_experiment: u32,
    /// The experiment.
    pub name: String,
    /// When it began, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// What the arms are compared by, chosen before the first run.
    pub primary_metric: String,
    /// The arm that is compared with, and the one that is compared.
    pub arms: [String; 2],
    /// The digest of all parts.
    pub digest: String,
    /// The digest of each part that must not change, by its name in the plan.
    pub parts: BTreeMap<String, String>,
    /// Every run, in the order in which they are run.
    pub order: Vec<RunId>,
}

impl PlanLock {
    /// The digest of parts.
    pub(super) fn digest_of(parts: &BTreeMap<String, String>) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, digest) in parts {
            hasher.update(name.as_bytes());
            hasher.update(&[0]);
            hasher.update(digest.as_bytes());
            hasher.update(&[0]);
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The parts that are not what they were: changed, gone or new.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let names = self.parts.keys().chain(now.parts.keys());
        let mut changed: Vec<String> = names
            .filter(|name| self.parts.get(*name) != now.parts.get(*name))
            .cloned()
            .collect();
        changed.sort();
        changed.dedup();
        // The order follows from the plan, unless somebody edited the file.
        if changed.is_empty() && self.order != now.order {
            changed.push("order".to_owned());
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(parts: &[(&str, &str)]) -> PlanLock {
        let own = |(name, digest): &(&str, &str)| ((*name).to_owned(), (*digest).to_owned());
        let parts: BTreeMap<String, String> = parts.iter().map(own).collect();
        PlanLock {
            ralph_gate_experiment: VERSION,
            name: "n".into(),
            created_at_ms: 0,
            primary_metric: "m".into(),
            arms: ["a".into(), "b".into()],
            digest: PlanLock::digest_of(&parts),
            parts,
            order: Vec::new(),
        }
    }

    #[test]
    fn what_changed_came_or_went_is_named() {
        let before = lock(&[("seed", "1"), ("agent", "x"), ("tasks.a.folder", "f")]);
        assert_eq!(before.differences(&before), [""; 0]);
        let now = lock(&[("seed", "2"), ("agent", "x"), ("tasks.b.folder", "f")]);
        assert_eq!(
            before.differences(&now),
            ["seed", "tasks.a.folder", "tasks.b.folder"]
        );
        assert_ne!(before.digest, now.digest);
    }

    #[test]
    fn an_order_that_somebody_edited_is_named() {
        let before = lock(&[("seed", "1")]);
        let mut edited = before.clone();
        edited.order.push(RunId {
            arm: "a".into(),
            task: "t".into(),
            repeat: 1,
        });
        assert_eq!(edited.differences(&before), ["order"]);
    }
}
