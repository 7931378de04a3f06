//! One very long loop with many checks and artifacts: the snapshot stays small.

use anyhow::{Context as _, Result};
use ralph_gate_component::json;
use serde_json::{Value, json};

use crate::tally::{Property, SNAPSHOT_LIMIT, Tally};
use ralph_gate_tests::random::Random;

const CHECKS: u32 = 64;
const ARTIFACTS: u32 = 200;

/// Plays a loop of this many iterations. It never completes and never stands still.
pub(crate) fn play(iterations: u32) -> Result<Tally> {
    let mut random = Random::new(1);
    let mut tally = Tally::default();
    let checks: Vec<Value> = (0..CHECKS)
        .map(|number| json!({ "id": format!("check-with-a-rather-long-name-{number}") }))
        .collect();
    let contract = json!({
        "mode": "ralph",
        "completion_token": "COMPLETE",
        "completion_checks": checks,
        "loop_max_iters": 10_000,
        "no_progress_limit": 10_000,
        "max_tool_calls": 1_000_000_000,
        "cost_budget_usd": "99999999.99",
    });
    let mut snapshot = Value::Null;
    for index in 1..=iterations {
        let iteration = iteration(&mut random, &checks, index);
        let input = json!({ "contract": contract, "snapshot": snapshot, "iteration": iteration });
        let text = json::call("evaluate_final", &input.to_string());
        let answer: Value = serde_json::from_str(&text)?;
        snapshot = answer
            .get("snapshot")
            .cloned()
            .with_context(|| format!("iteration {index} was refused: {text}"))?;
        let size = snapshot.as_str().map_or(0, str::len);
        tally.states += 1;
        tally.largest_snapshot = tally.largest_snapshot.max(size);
        tally.property(
            Property::SnapshotIsSmall,
            size > 0 && size <= SNAPSHOT_LIMIT,
            || format!("{size} bytes after iteration {index}"),
        );
        tally.property(
            Property::LoopEnds,
            (index == 10_000) == (answer.get("decision") == Some(&json!("stop"))),
            || format!("iteration {index}: {}", answer["decision"]),
        );
    }
    Ok(tally)
}

fn iteration(random: &mut Random, checks: &[Value], index: u32) -> Value {
    let results: Vec<Value> = checks
        .iter()
        .map(|check| {
            let outcome = random.pick(&["pass", "fail", "fail", "error", "timeout", "flaky"]);
            json!({ "id": check["id"], "outcome": outcome, "reason": format!("run {index}") })
        })
        .collect();
    let artifacts: Vec<Value> = (0..ARTIFACTS)
        .map(|number| {
            let content = random.below(1_000_000).to_string();
            json!({ "name": format!("src/module/file-{number}.rs"), "kind": "digest", "content": content })
        })
        .collect();
    json!({
        "index": index,
        "action": "continue",
        "output": "Still at it.",
        "checks": results,
        "artifacts": artifacts,
        "usage": { "elapsed_ms": 1, "tool_calls": 123, "cost_usd": "0.123456789", "tokens": 99_999 },
    })
}
