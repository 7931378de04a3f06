//! `cargo xtask demo`: an agent says three times that it is done, and the gate believes it once.
//!
//! Everything is real but the model: a git repository, a child process that edits and commits, a
//! test run per iteration, and the `ralph-gate` command that is asked with what the tests said.

mod project;
mod screen;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::build;
use crate::cli::{Args, Command};
use crate::scratch::Scratch;
use crate::setup;
use crate::terminal::step;
use crate::workspace::Workspace;
use project::Project;

pub(crate) const COMMAND: Command = Command {
    name: "demo",
    summary: "watch the gate refuse an agent twice and release it once",
    details: "Builds the command, then lets a scripted agent work on a tiny project in a scratch git\n\
              repository. It claims to be done three times; the gate asks for proof. Needs sh and git.",
    flags: &[],
    words: &[],
    examples: &["cargo xtask demo"],
    run,
};

/// What must have been decided at the end, iteration by iteration.
const EXPECTED: [(&str, Option<&str>); 3] = [
    ("continue", None),
    ("continue", None),
    ("stop", Some("completed")),
];

fn run(workspace: &Workspace, _: &Args) -> Result<()> {
    step("checking the toolchain", || setup::ensure(workspace))?;
    let built = build::for_demo(workspace)?;
    play(&built.binary)
}

/// The three iterations. An error when the gate decides anything else than it should.
pub(crate) fn play(gate: &Path) -> Result<()> {
    let scratch = Scratch::new("demo")?;
    let project = Project::create(&scratch.path("project"), &scratch.path("agent.sh"))?;
    screen::opening();
    let contract = json!({
        "mode": "ralph",
        "completion_token": "COMPLETE",
        "completion_checks": ["tests_green"],
        "loop_max_iters": 5,
    });
    let mut snapshot = Value::Null;
    let mut prompt = String::from("Make leap.sh right for every year.");
    let mut decisions = Vec::new();
    for index in 1..=EXPECTED.len() {
        let start = Instant::now();
        let output = project.run_agent(index, &prompt)?;
        let tests = project.run_tests()?;
        let tree = project.tree()?;
        let iteration = json!({
            "index": index,
            "action": "final",
            "output": output,
            "checks": [{
                "id": "tests_green",
                "outcome": if tests.passed { "pass" } else { "fail" },
                "reason": tests.summary,
                "iteration": index,
            }],
            "artifacts": [{ "name": "tree", "kind": "digest", "content": tree }],
            "usage": { "elapsed_ms": u32::try_from(start.elapsed().as_millis())? },
        });
        let input = json!({ "contract": contract, "snapshot": snapshot, "iteration": iteration });
        let verdict = evaluate(gate, &input)?;
        screen::iteration(index, &output, &tests.summary, &tree, &verdict);
        text(&verdict, "feedback").clone_into(&mut prompt);
        snapshot = verdict.get("snapshot").cloned().unwrap_or_default();
        decisions.push(verdict);
    }
    check(&decisions)?;
    screen::closing();
    Ok(())
}

/// Asks `ralph-gate evaluate`, with the input on standard input as a harness would.
fn evaluate(gate: &Path, input: &Value) -> Result<Value> {
    let mut child = Process::new(gate)
        .arg("evaluate")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} can't be started", gate.display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.to_string().as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let verdict: Value = serde_json::from_str(answer.trim())
        .with_context(|| format!("`ralph-gate evaluate` did not answer with JSON: {answer}"))?;
    if let Some(error) = verdict.get("error") {
        bail!("`ralph-gate evaluate` refused the demo's input: {error}");
    }
    Ok(verdict)
}

fn check(verdicts: &[Value]) -> Result<()> {
    let seen = verdicts.iter().map(decision);
    for (index, (seen, expected)) in seen.zip(EXPECTED).enumerate() {
        if seen != expected {
            bail!(
                "iteration {} should end in {} but the gate said {}",
                index + 1,
                name(expected),
                name(seen)
            );
        }
    }
    if verdicts.len() != EXPECTED.len() {
        bail!(
            "{} iterations were evaluated instead of {}",
            verdicts.len(),
            EXPECTED.len()
        );
    }
    Ok(())
}

fn decision(verdict: &Value) -> (&str, Option<&str>) {
    (
        text(verdict, "decision"),
        verdict.get("stop_reason").and_then(Value::as_str),
    )
}

fn name((decision, stop_reason): (&str, Option<&str>)) -> String {
    stop_reason.map_or_else(
        || decision.to_owned(),
        |reason| format!("{decision}, {reason}"),
    )
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(decision: &str, stop_reason: Option<&str>) -> Value {
        json!({ "decision": decision, "stop_reason": stop_reason })
    }

    #[test]
    fn any_other_decision_fails_the_demo() {
        let refused = verdict("continue", None);
        let released = verdict("stop", Some("completed"));
        let exhausted = verdict("stop", Some("max_iters"));
        check(&[refused.clone(), refused.clone(), released.clone()]).unwrap();
        let error = check(&[refused.clone(), released.clone(), released]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "iteration 2 should end in continue but the gate said stop, completed"
        );
        assert!(check(&[refused.clone(), refused.clone(), exhausted]).is_err());
        assert!(check(&[refused.clone(), refused]).is_err());
    }

    #[test]
    fn the_scripted_agent_breaks_and_then_fixes_the_project_for_real() {
        let scratch = Scratch::new("demo-test").unwrap();
        let project = Project::create(&scratch.path("p"), &scratch.path("agent.sh")).unwrap();
        let mut trees = vec![project.tree().unwrap()];
        let mut summaries = Vec::new();
        for index in 1..=3 {
            let output = project.run_agent(index, "go").unwrap();
            assert!(output.contains("<promise>COMPLETE</promise>"));
            let tests = project.run_tests().unwrap();
            assert_eq!(tests.passed, index == 3);
            summaries.push(tests.summary);
            trees.push(project.tree().unwrap());
        }
        assert_eq!(
            summaries,
            [
                "2 of 6 failed: 1900 2100",
                "1 of 6 failed: 2000",
                "6 of 6 passed"
            ]
        );
        trees.dedup();
        assert_eq!(trees.len(), 4, "every iteration changes the tree");
    }
}
