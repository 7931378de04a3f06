//! Resuming after each kind of stop: what is accepted, what is refused, and with which words.

use ralph_gate_tests::said::Said;

use crate::history::History;
use crate::workspace::{KEY, Workspace};

/// An agent that can't do it, and notes that it was started.
const BLOCKED: &str = r#"
echo turn >> "$(dirname "$0")/turns"
echo '<promise>LOOP_BLOCKED</promise>'
"#;

/// An agent that does something, but never what is wanted.
const BUSY: &str = r#"
echo turn >> "$(dirname "$0")/turns"
echo "$RALPH_GATE_ITERATION" >> notes.txt
"#;

fn config(most: u32, check: &str) -> String {
    format!(
        r#"
[contract]
mode = "ralph"
completion_checks = ["done"]
loop_max_iters = {most}
max_check_retries = 0

[checks.done]
argv = [{check}]
"#
    )
}

const CHECK: &str = r#""test", "-f", "done.txt""#;

/// The error with its remedy, as a person reads it.
fn told(workspace: &Workspace, options: &[&str]) -> String {
    let mut arguments = vec!["run"];
    arguments.extend(options);
    arguments.extend(["--", "true"]);
    let run = workspace.ask(&arguments);
    assert_eq!(run.code, 1, "{run:?}");
    run.stderr
}

fn stop_reason(run: &Said) -> String {
    let last = run.last();
    assert_eq!(last["event"], "ended", "{run:?}");
    last["stop_reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn what_a_person_mended_completes_without_the_agent() {
    for (most, agent, reason) in [(5, BLOCKED, "blocked"), (1, BUSY, "max_iters")] {
        let workspace = Workspace::new(&config(most, CHECK), agent, &[]);
        let run = workspace.run(&[]).assert_code(3);
        assert_eq!(stop_reason(&run), reason);
        workspace.write("done.txt", "");
        let run = workspace.run(&["--resume"]).assert_code(0);
        assert_eq!(stop_reason(&run), "completed");
        assert_eq!(workspace.turns(), 1, "the agent was started again");
        let history = History::read(&workspace);
        assert_eq!(history.verdicts, [1, 2]);
        assert_eq!(history.count("evidence"), 2);
        assert_eq!(history.count("agent_ended"), 1);
    }
}

#[test]
fn what_nobody_mended_is_the_agents_again() {
    let workspace = Workspace::new(&config(5, CHECK), BLOCKED, &[]);
    workspace.run(&[]).assert_code(3);
    let run = workspace.run(&["--resume"]).assert_code(3);
    assert_eq!(stop_reason(&run), "blocked");
    assert_eq!(workspace.turns(), 2);
    let history = History::read(&workspace);
    assert_eq!(history.verdicts, [1, 2]);
    assert_eq!(
        history.count("evidence"),
        2,
        "what the checks said before the agent is no result of an iteration"
    );
}

#[test]
fn a_raised_limit_counts_only_when_an_operator_accepts_it() {
    let workspace = Workspace::new(&config(2, CHECK), BUSY, &[]);
    let run = workspace.run(&[]).assert_code(3);
    assert_eq!(stop_reason(&run), "max_iters");
    workspace.configure(&config(4, CHECK));
    let refused = workspace.run(&["--resume"]);
    assert_eq!(refused.last_error_code(), "contract_changed");
    let said = told(&workspace, &["--resume"]);
    assert!(said.contains("--resume --accept-contract"), "{said}");
    assert_eq!(workspace.turns(), 2, "the agent was started all the same");
    let accepting = [
        "--resume",
        "--accept-contract",
        "--operator",
        "ada",
        "--reason",
        "two more",
    ];
    let run = workspace.run(&accepting).assert_code(3);
    assert_eq!(stop_reason(&run), "max_iters");
    assert_eq!(workspace.turns(), 4);
    let history = History::read(&workspace);
    assert_eq!(history.verdicts, [1, 2, 3, 4]);
    let resumed = history
        .events
        .iter()
        .find(|(name, _)| name == "loop_resumed")
        .unwrap();
    assert!(
        resumed
            .1
            .contains(r#""operator":"ada","reason":"two more""#),
        "{resumed:?}"
    );
    let tripped = history.count("tripwire");
    assert_eq!(tripped, 0, "the accepted file counts as changed");
}

#[test]
fn a_changed_check_is_refused() {
    let workspace = Workspace::new(&config(5, CHECK), BLOCKED, &[]);
    workspace.run(&[]).assert_code(3);
    workspace.configure(&config(5, r#""true""#));
    assert_eq!(
        workspace.run(&["--resume"]).last_error_code(),
        "checks_changed"
    );
    let said = told(&workspace, &["--resume"]);
    assert!(said.contains("--resume --accept-contract"), "{said}");
    assert_eq!(workspace.status()["stop_reason"], "blocked");
    workspace
        .run(&["--resume", "--accept-contract"])
        .assert_code(0);
}

#[test]
fn a_completed_loop_is_not_resumed() {
    let workspace = Workspace::new(&config(5, r#""true""#), BUSY, &[]);
    workspace.run(&[]).assert_code(0);
    assert_eq!(
        workspace.run(&["--resume"]).last_error_code(),
        "loop_completed"
    );
    let said = told(&workspace, &["--resume"]);
    assert!(
        said.contains("the loop has completed, at iteration 1"),
        "{said}"
    );
    assert!(said.contains("ralph-gate run"), "{said}");
    assert_eq!(workspace.turns(), 1);
}

#[test]
fn where_there_is_nothing_to_resume_that_is_said() {
    let workspace = Workspace::without_key(&config(5, CHECK), BLOCKED);
    let run = workspace.run(&["--resume"]);
    assert_eq!(run.last_error_code(), "nothing_to_resume");
    let said = told(&workspace, &["--resume"]);
    assert!(said.contains("there is no loop to resume"), "{said}");
    assert!(said.contains("ralph-gate run"), "{said}");
    assert_eq!(workspace.turns(), 0);
}

#[test]
fn a_session_that_is_not_there_is_named_when_it_should_be_resumed() {
    let workspace = Workspace::new(&config(5, CHECK), BLOCKED, &[]);
    let run = workspace.run(&["--resume"]);
    assert_eq!(run.last_error_code(), "memory_no_session");
    let said = told(&workspace, &["--resume"]);
    assert!(said.contains("night-run"), "{said}");
    assert!(said.contains("ralph-gate memory list"), "{said}");
    assert_eq!(workspace.turns(), 0);
}

#[test]
fn the_key_of_a_loop_that_is_there_is_refused_to_another() {
    let workspace = Workspace::new(&config(5, CHECK), BLOCKED, &[]);
    workspace.run(&[]).assert_code(3);
    let again = workspace.run(&["--session", KEY]);
    assert_eq!(again.last_error_code(), "session_exists");
    let said = told(&workspace, &["--session", KEY]);
    assert!(said.contains("--resume"), "{said}");
    assert_eq!(workspace.turns(), 1);
    workspace.run(&["--session", "another"]).assert_code(3);
    assert_eq!(workspace.turns(), 2);
}

#[test]
fn resuming_needs_no_key_where_there_is_one_loop() {
    let workspace = Workspace::without_key(&config(5, CHECK), BLOCKED);
    workspace.run(&[]).assert_code(3);
    workspace.write("done.txt", "");
    workspace.run(&["--resume"]).assert_code(0);
    assert_eq!(workspace.turns(), 1);
}
