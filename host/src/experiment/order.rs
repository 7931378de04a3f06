//! Which run comes when: shuffled by a seed, both arms of a task next to each other.

use serde::{Deserialize, Serialize};

/// What the dice are made from beside the seed: another way to shuffle gets another text.
const DICE: &str = "ralph-gate experiment order 1";

/// One run of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId {
    /// The arm.
    pub arm: String,
    /// The task.
    pub task: String,
    /// Counted from 1.
    pub repeat: u32,
}

impl RunId {
    /// Its name inside of the experiment, which is also its folder: `arm/task/repeat`.
    pub fn path(&self) -> String {
        format!("{}/{}/{}", self.arm, self.task, self.repeat)
    }
}

/// Every run, in the order in which they are to be run.
///
/// Each repetition is a round of all tasks in a new order. A task's two runs follow each other, so that whatever changes
/// with time (a model, a machine's load) meets both arms alike; which arm is first is shuffled too, and each is first in
/// half of the round.
///
/// ```
/// use ralph_gate::experiment::order;
///
/// let runs = order(7, ["standard", "ralph"], &["parser", "docs"], 3);
/// assert_eq!(runs.len(), 12);
/// assert_eq!(runs, order(7, ["standard", "ralph"], &["parser", "docs"], 3));
/// ```
pub fn order(seed: u32, arms: [&str; 2], tasks: &[&str], repeats: u32) -> Vec<RunId> {
    let mut dice = Dice::new(seed);
    let mut runs = Vec::new();
    for repeat in 1..=repeats {
        let mut tasks = tasks.to_vec();
        dice.shuffle(&mut tasks);
        let mut firsts: Vec<bool> = (0..tasks.len()).map(|place| place % 2 == 0).collect();
        // Of an odd number, the one that is left over is nobody's by right.
        if dice.below(2) == 1 {
            firsts = firsts.into_iter().map(|first| !first).collect();
        }
        dice.shuffle(&mut firsts);
        for (task, first) in tasks.iter().zip(firsts) {
            let [one, other] = arms;
            let pair = if first { [one, other] } else { [other, one] };
            runs.extend(pair.map(|arm| RunId {
                arm: arm.to_owned(),
                task: (*task).to_owned(),
                repeat,
            }));
        }
    }
    runs
}

/// Numbers that depend on the seed alone, on every machine and in every version.
struct Dice(blake3::OutputReader);

impl Dice {
    fn new(seed: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(DICE.as_bytes());
        hasher.update(&seed.to_le_bytes());
        Self(hasher.finalize_xof())
    }

    fn next(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below `bound`, each as likely as any other.
    fn below(&mut self, bound: u64) -> u64 {
        let bound = bound.max(1);
        // The numbers from here on would favour small remainders.
        let fair = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.next();
            if number < fair {
                return number % bound;
            }
        }
    }

    /// Fisher and Yates.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = u64::try_from(last).unwrap_or(u64::MAX).saturating_add(1);
            let chosen = usize::try_from(self.below(bound)).unwrap_or(last);
            items.swap(last, chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const ARMS: [&str; 2] = ["standard", "ralph"];

    #[test]
    fn every_run_is_there_once() {
        let runs = order(1, ARMS, &["a", "b", "c"], 4);
        let distinct: BTreeSet<&RunId> = runs.iter().collect();
        assert_eq!((runs.len(), distinct.len()), (24, 24));
    }

    #[test]
    fn both_arms_of_a_task_follow_each_other_in_each_round() {
        let runs = order(3, ARMS, &["a", "b", "c", "d", "e"], 3);
        for pair in runs.chunks(2) {
            assert_eq!(
                (&pair[0].task, pair[0].repeat),
                (&pair[1].task, pair[1].repeat)
            );
            assert_ne!(pair[0].arm, pair[1].arm);
        }
        let repeats: Vec<u32> = runs.iter().map(|run| run.repeat).collect();
        assert!(repeats.is_sorted(), "{repeats:?}");
    }

    #[test]
    fn each_arm_is_first_in_half_of_a_round() {
        for seed in 0..50 {
            let runs = order(seed, ARMS, &["a", "b", "c", "d", "e"], 1);
            let firsts = runs.iter().step_by(2);
            let first = firsts.filter(|run| run.arm == "ralph").count();
            assert!((2..=3).contains(&first), "{first} with seed {seed}");
        }
    }

    #[test]
    fn the_seed_and_nothing_else_decides_the_order() {
        let tasks: Vec<String> = (0..20).map(|number| format!("t{number}")).collect();
        let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
        assert_eq!(order(7, ARMS, &tasks, 2), order(7, ARMS, &tasks, 2));
        assert_ne!(order(7, ARMS, &tasks, 2), order(8, ARMS, &tasks, 2));
        // What was published with a seed must stay true: this order may never change.
        let first: Vec<String> = order(7, ARMS, &["a", "b", "c"], 1)
            .iter()
            .map(RunId::path)
            .collect();
        assert_eq!(
            first,
            [
                "ralph/c/1",
                "standard/c/1",
                "ralph/b/1",
                "standard/b/1",
                "standard/a/1",
                "ralph/a/1"
            ]
        );
    }

    #[test]
    fn every_order_of_three_is_about_as_likely() {
        let mut counts: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let mut dice = Dice::new(5);
        for _ in 0..6000 {
            let mut items = vec![0, 1, 2];
            dice.shuffle(&mut items);
            *counts.entry(items).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (850..1150).contains(count)),
            "{counts:?}"
        );
    }
}
