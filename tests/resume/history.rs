//! What the events of a loop must say, however often it was killed.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::workspace::{KEY, Workspace};

/// The checks of which each iteration has one result.
pub(crate) const CHECKS: [&str; 2] = ["steps", "lines"];

/// What happened in a loop so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// The iterations of the verdicts, in their order.
    pub(crate) verdicts: Vec<u64>,
    /// How many results there are for each iteration and check.
    results: BTreeMap<(u64, String), u32>,
    /// The events themselves, in their order.
    pub(crate) events: Vec<(String, String)>,
    /// Results of checks before the first iteration.
    before: usize,
}

impl History {
    pub(crate) fn read(workspace: &Workspace) -> Self {
        let logs = workspace.ask(&["logs", KEY, "--json"]).assert_code(0);
        let mut history = Self::default();
        for line in logs.stdout.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let text = record["data"].as_str().map(str::to_owned);
            let text = text.unwrap_or_else(|| record["data"].to_string());
            let name = record["event"].as_str().unwrap().to_owned();
            history.add(&name, &serde_json::from_str(&text).unwrap());
            history.events.push((name, text));
        }
        history
    }

    fn add(&mut self, event: &str, data: &Value) {
        let number = |pointer: &str| data.pointer(pointer).and_then(Value::as_u64).unwrap();
        // What the checks gave before the agent began belongs to no turn of it.
        let is_baseline = |pointer: &str| data.pointer(pointer) == Some(&Value::from(0));
        match event {
            "verdict" if is_baseline("/iteration/index") => {}
            "evidence" if is_baseline("/iteration") => self.before += 1,
            "verdict" => self.verdicts.push(number("/iteration/index")),
            "evidence" => {
                let check = data["check"].as_str().unwrap().to_owned();
                *self
                    .results
                    .entry((number("/iteration"), check))
                    .or_default() += 1;
            }
            _ => {}
        }
    }

    pub(crate) fn count(&self, event: &str) -> usize {
        let all = self.events.iter().filter(|(name, _)| name == event).count();
        match event {
            "evidence" => all - self.before,
            _ => all,
        }
    }

    /// Every rule that is broken.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let expected: Vec<u64> = (1..).take(self.verdicts.len()).collect();
        if self.verdicts != expected {
            problems.push(format!("verdicts of iterations {:?}", self.verdicts));
        }
        for iteration in &expected {
            for check in CHECKS {
                let key = (*iteration, check.to_owned());
                match self.results.get(&key).copied().unwrap_or_default() {
                    1 => {}
                    count => problems.push(format!(
                        "iteration {iteration} has {count} results of {check}"
                    )),
                }
            }
        }
        let stray = |key: &&(u64, String)| !expected.contains(&key.0);
        for (iteration, check) in self.results.keys().filter(stray) {
            problems.push(format!(
                "a result of {check} for iteration {iteration}, which has no verdict"
            ));
        }
        problems
    }

    /// Whether this is what came of an earlier history: nothing that was there is gone or changed.
    pub(crate) fn continues(&self, earlier: &Self) -> bool {
        self.events.starts_with(&earlier.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(verdicts: &[u64], results: &[(u64, &str, u32)]) -> History {
        let result = |(iteration, check, count): &(u64, &str, u32)| {
            ((*iteration, (*check).to_owned()), *count)
        };
        History {
            verdicts: verdicts.to_vec(),
            results: results.iter().map(result).collect(),
            events: Vec::new(),
            before: 0,
        }
    }

    #[test]
    fn a_gap_a_repetition_and_a_step_back_are_seen() {
        let results = [
            (1, "steps", 1),
            (1, "lines", 1),
            (2, "steps", 1),
            (2, "lines", 1),
        ];
        assert!(history(&[1, 2], &results).problems().is_empty());
        for wrong in [&[1, 3], &[1, 1], &[2, 1]] {
            assert!(!history(wrong, &results).problems().is_empty(), "{wrong:?}");
        }
    }

    #[test]
    fn a_result_that_is_missing_doubled_or_stray_is_seen() {
        assert!(!history(&[1], &[(1, "steps", 1)]).problems().is_empty());
        let doubled = [(1, "steps", 2), (1, "lines", 1)];
        assert!(!history(&[1], &doubled).problems().is_empty());
        let stray = [(1, "steps", 1), (1, "lines", 1), (2, "steps", 1)];
        assert!(!history(&[1], &stray).problems().is_empty());
    }
}
