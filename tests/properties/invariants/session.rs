//! Rules about whole loops: each input picks a contract and iterations that are well-formed by construction.

use serde_json::{Value as Json, json};

use super::evaluate::Loop;

/// Iterations of one loop.
const ITERATIONS: u32 = 8;
const IDS: [&str; 4] = ["tests_green", "lint", "build", "docs"];

/// Checks the loop that an input picks.
pub fn check(input: &[u8]) {
    let mut choices = Choices(input);
    let contract = contract(&mut choices).to_string();
    let mut round = Loop::new(&contract, None);
    // Some loops begin with evidence of the run before them.
    for index in u32::from(!choices.rarely(4))..=ITERATIONS {
        let iteration = iteration(&mut choices, index, round.token().as_deref());
        if !round.evaluate(&iteration.to_string()) {
            return;
        }
    }
    round.can_complete();
}

/// Picks from what is possible, byte by byte; the first possibility when there are no bytes left.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn below(&mut self, count: u8) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                first % count
            }
            None => 0,
        }
    }

    /// True once in `count` times.
    fn rarely(&mut self, count: u8) -> bool {
        self.below(count) == count - 1
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        let count = u8::try_from(from.len()).unwrap_or(u8::MAX);
        from.get(usize::from(self.below(count)))
            .copied()
            .unwrap_or_default()
    }
}

fn contract(choices: &mut Choices<'_>) -> Json {
    let mut contract = json!({
        "mode": choices.pick(&["ralph", "ralph", "ralph", "auto", "standard"]),
        "loop_max_iters": 1 + choices.below(12),
        "no_progress_limit": choices.below(5),
        "plateau_limit": choices.below(4),
        "blocked_limit": 1 + choices.below(3),
        "max_tokens": u32::from(choices.below(4)) * 100,
        "max_tool_calls": choices.below(30),
        "max_duration_ms": 1 + u32::from(choices.below(200)) * 10,
        "max_consecutive_failures": 1 + choices.below(3),
        "max_check_retries": choices.below(3),
        "allow_override": !choices.rarely(4),
        "optional_pass_ratio": choices.pick(&["0", "0.5", "0.34", "1"]),
        "promise_rules": choices.pick(&["strict", "strict", "lenient"]),
        "on_flaky": choices.pick(&["fail", "pass"]),
        "feedback_max_bytes": 256 + u32::from(choices.below(255)) * 8,
    });
    if choices.rarely(5) {
        contract["enforcement"] = json!("shadow");
    }
    if choices.rarely(3) {
        contract["cost_budget_usd"] = json!(choices.pick(&["0.30", "0", "1.000000000001"]));
    }
    contract["completion_token"] = match choices.below(4) {
        0 => Json::Null,
        1 | 2 => json!("ALL DONE"),
        _ => json!({"text": "ALL DONE", "nonce": true, "seed": choices.pick(&["a", "b"])}),
    };
    let mut checks = Vec::new();
    for id in IDS {
        match choices.below(4) {
            0 | 1 => checks.push(json!(id)),
            2 => checks.push(json!({
                "id": id,
                "required": false,
                "on_flaky": choices.pick(&["fail", "pass"]),
                "retries": choices.below(3),
                "retry_on": choices.pick(&["fail", "error", "timeout"]).split(' ').collect::<Vec<_>>(),
            })),
            _ => {}
        }
    }
    contract["completion_checks"] = json!(checks);
    contract
}

fn iteration(choices: &mut Choices<'_>, index: u32, token: Option<&str>) -> Json {
    let index = if choices.rarely(40) { index + 1 } else { index };
    let mut iteration = json!({
        "index": index,
        "action": choices.pick(&["final", "final", "final", "continue", "error", "timeout"]),
        "canceled": choices.rarely(40),
        "output": output(choices, token.unwrap_or("ALL DONE")),
        "usage": {
            "elapsed_ms": u32::from(choices.below(100)),
            "tool_calls": choices.below(6),
            "cost_usd": choices.pick(&["0", "0.1", "0.000000000001", "0.30"]),
            "tokens": choices.below(100),
        },
    });
    let checks: Vec<Json> = (0..choices.below(7))
        .map(|_| result(choices, index))
        .collect();
    iteration["checks"] = json!(checks);
    let artifacts: Vec<Json> = (0..choices.below(3)).map(|_| artifact(choices)).collect();
    iteration["artifacts"] = json!(artifacts);
    if choices.rarely(5) {
        let content = choices.pick(&["ok", "ok in 0.12s", "2 failed", ""]);
        iteration["tool_outputs"] = json!([{"name": "cargo", "content": content}]);
    }
    if choices.rarely(20) {
        iteration["override"] = json!({"operator": "alice", "reason": "checked by hand"});
    }
    if choices.rarely(20) {
        let check = choices.pick(&IDS);
        iteration["waivers"] = json!([{"check": check, "operator": "alice", "reason": "known"}]);
    }
    if choices.rarely(20) {
        iteration["tampered"] = json!([{"what": "contract", "reason": "its digest changed"}]);
    }
    iteration
}

/// What an agent writes: one to four pieces, so that promises stand in every place.
fn output(choices: &mut Choices<'_>, token: &str) -> String {
    let promise = format!("<promise>{token}</promise>");
    let pieces = [
        promise.as_str(),
        "Done.\n",
        "```\n",
        "`",
        "> ",
        "<!-- ",
        "<promise>LOOP_CONTINUE</promise>",
        "<promise>LOOP_BLOCKED</promise>",
        "<promise>LOOP_ERROR</promise>",
        "<promise>OTHER</promise>",
        "\n<context>\nfiles: 3\n</context>\n",
        "\n\n",
    ];
    (0..=choices.below(4))
        .map(|_| choices.pick(&pieces))
        .collect()
}

fn result(choices: &mut Choices<'_>, index: u32) -> Json {
    let outcome = choices.pick(&[
        "pass", "pass", "pass", "fail", "unknown", "error", "timeout", "flaky",
    ]);
    let mut result = json!({"id": choices.pick(&IDS), "outcome": outcome});
    match choices.below(12) {
        0 => result["reason"] = json!("2 of 14 failed\n\u{1b}[31msee the log\u{7}"),
        1 if outcome != "flaky" => {
            let first = choices.pick(&["pass", "fail", "timeout"]);
            result["attempts"] = json!([first, "fail", outcome]);
        }
        2 => result["iteration"] = json!(if choices.rarely(2) { index } else { 1 }),
        3 => result["fingerprint"] = json!("0".repeat(64)),
        4 if outcome != "pass" => result["code"] = json!("policy_trapped"),
        6 => result["failing"] = json!(choices.below(20)),
        5 if choices.rarely(8) => result["reason"] = json!("x".repeat(3000)),
        _ => {}
    }
    result
}

fn artifact(choices: &mut Choices<'_>) -> Json {
    let kind = choices.pick(&["yaml", "json", "text", "digest"]);
    let content = choices.pick(&["a: 1", "{\"a\": 1}", "1", "[1", "{a: 1, b: [2]}"]);
    json!({"name": choices.pick(&["plan.yaml", "tree"]), "kind": kind, "content": content})
}
