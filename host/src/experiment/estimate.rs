//! How long the rest of an experiment may take, as far as the past tells.

use std::collections::BTreeMap;

/// How long runs took.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// Runs and their time together, by arm: a loop that is held takes longer than one that is not.
    arms: BTreeMap<String, (u64, u64)>,
}

impl Past {
    /// One run has ended.
    pub fn add(&mut self, arm: &str, duration_ms: u64) {
        let (runs, time) = self.arms.entry(arm.to_owned()).or_default();
        *runs += 1;
        *time = time.saturating_add(duration_ms);
    }

    fn mean(&self, arm: &str) -> Option<u64> {
        let (runs, time) = self.arms.get(arm)?;
        time.checked_div(*runs)
    }

    fn mean_of_all(&self) -> Option<u64> {
        let add = |(runs, time): (u64, u64), more: &(u64, u64)| (runs + more.0, time + more.1);
        let (runs, time) = self.arms.values().fold((0, 0), add);
        time.checked_div(runs)
    }
}

/// How long these runs may take, each given by its arm, when so many are run at a time. None as long as no run has ended.
pub fn remaining_ms<'a>(
    past: &Past,
    arms: impl IntoIterator<Item = &'a str>,
    jobs: usize,
) -> Option<u64> {
    let otherwise = past.mean_of_all()?;
    let each = arms
        .into_iter()
        .map(|arm| past.mean(arm).unwrap_or(otherwise));
    let total = each.fold(0_u64, u64::saturating_add);
    Some(total / u64::try_from(jobs.max(1)).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arm_is_estimated_by_its_own_runs() {
        let mut past = Past::default();
        assert_eq!(remaining_ms(&past, ["a"], 1), None);
        past.add("a", 10);
        assert_eq!(
            remaining_ms(&past, ["a", "b"], 1),
            Some(20),
            "nothing is known of b"
        );
        past.add("b", 30);
        past.add("b", 50);
        assert_eq!(remaining_ms(&past, ["a", "b", "b"], 1), Some(90));
        assert_eq!(remaining_ms(&past, ["a", "b", "b"], 2), Some(45));
        assert_eq!(remaining_ms(&past, [], 1), Some(0));
    }
}
