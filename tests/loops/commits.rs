//! Loops that commit each iteration's changes.

use std::process::Command;

use ralph_gate_tests::agent_script::Step;
use ralph_gate_tests::git;

use crate::harness::Workplace;
use crate::kit::{move_on, promise, simple, work};

/// A loop that commits.
fn committing(terms: &str) -> Workplace {
    let config = format!("{}\n[git]\ncommit = true\n", simple(terms));
    Workplace::new(&config, &[])
}

/// What git says.
fn ask(workplace: &Workplace, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    let output = git::apart(&mut command)
        .args(arguments)
        .current_dir(workplace.work())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_iteration_that_changed_something_is_a_commit() {
    let workplace = committing("");
    let outcome = workplace.run(&[
        vec![move_on(), promise()],
        vec![promise()],
        vec![work(), promise()],
    ]);
    outcome.stopped("completed", None, 3);
    let log = ask(&workplace, &["log", "--format=%s", "--name-only"]);
    let expected = "ralph-gate: iteration 3, completed\n\ndone.txt\n\
                    ralph-gate: iteration 1, continue\n\nnotes.txt\n\
                    begin\n\n.gitignore\nralph-gate.toml\n";
    assert_eq!(log, expected);
    assert_eq!(ask(&workplace, &["status", "--porcelain"]), "");
}

#[test]
fn what_somebody_staged_is_not_committed() {
    let workplace = committing("loop_max_iters = 1");
    workplace.write("mine.txt", "not yet\n");
    git::git(&workplace.work(), &["add", "mine.txt"]);
    let outcome = workplace.run(&[vec![move_on(), promise()]]);
    outcome.stopped("max_iters", None, 1);
    let warnings = outcome.events("warning");
    let is_it = |warning: &serde_json::Value| {
        let text = warning["message"].as_str().unwrap_or_default();
        text.starts_with("iteration 1 was not committed: ")
    };
    assert!(warnings.iter().any(is_it), "{outcome:#?}");
    assert_eq!(ask(&workplace, &["log", "--format=%s"]), "begin\n");
    let status = ask(&workplace, &["status", "--porcelain"]);
    assert_eq!(status, "A  mine.txt\n?? notes.txt\n");
}

#[test]
fn nothing_is_committed_unless_it_is_wished_for() {
    let workplace = Workplace::new(&simple(""), &[]);
    let outcome = workplace.run(&[vec![work(), promise()]]);
    outcome.stopped("completed", None, 1);
    assert_eq!(ask(&workplace, &["log", "--format=%s"]), "begin\n");
}

#[test]
fn hooks_of_the_repository_that_an_agent_wrote_are_not_run() {
    let workplace = committing("");
    let hook = workplace.work().join(".git/hooks/post-commit");
    let trace = workplace.beside("hooked");
    let script = format!(
        "printf '#!/bin/sh\\ntouch {}\\n' > {hook} && chmod +x {hook}",
        trace.display(),
        hook = hook.display()
    );
    let outcome = workplace.run(&[vec![
        Step::Run {
            argv: ["sh", "-c", &script].map(str::to_owned).into(),
            into: workplace.beside("said"),
        },
        work(),
        promise(),
    ]]);
    outcome.stopped("completed", None, 1);
    assert!(hook.is_file());
    assert!(!trace.exists(), "it was run");
    let log = ask(&workplace, &["log", "--format=%s"]);
    assert_eq!(log, "ralph-gate: iteration 1, completed\nbegin\n");
}
