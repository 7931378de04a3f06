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

/// An agent that notes how it was called and what it was told.
const TELLING: &str = r#"
echo turn >> "$(dirname "$0")/turns"
{ echo "arguments: $*"; sed -n '/^# Task/,/^# Memory/p'; } >> "$(dirname "$0")/told"
echo '<promise>LOOP_BLOCKED</promise>'
"#;

#[test]
fn resuming_goes_on_with_the_very_agent_prompt_and_options() {
    let other = "[agent]\nargv = [\"false\"]\nprompt = \"something else\"\n";
    let config = format!("{}\n{other}", config(5, CHECK));
    let workspace = Workspace::new(&config, TELLING, &[]);
    workspace.write("asked.yaml", "mode: ralph\nloop_max_iters: 9\n");
    let agent = workspace.beside("agent.sh").display().to_string();
    let words = [
        "run",
        "--json",
        "--request",
        "asked.yaml",
        "--prompt",
        "paint the shed",
    ];
    let words = [&words[..], &["--", "sh", &agent, "--carefully"]].concat();
    workspace.ask(&words).assert_code(3);
    // Without a word about agent, prompt or request.
    let run = workspace.ask(&["run", "--resume", "--json"]).assert_code(3);
    assert_eq!(stop_reason(&run), "blocked");
    let told = std::fs::read_to_string(workspace.beside("told")).unwrap();
    assert_eq!(told.matches("arguments: --carefully").count(), 2, "{told}");
    assert_eq!(told.matches("paint the shed").count(), 2, "{told}");
    // The request was found again: with another contract it would have been refused.
    assert_eq!(workspace.status()["state"], "stopped");
}

#[test]
fn the_handoff_names_the_command_that_resumes_the_same_loop() {
    let workspace = Workspace::new("", TELLING, &[]);
    std::fs::write(workspace.beside("other.toml"), config(5, CHECK)).unwrap();
    let file = workspace.beside("other.toml").display().to_string();
    let options = ["--config", file.as_str(), "--session", "a b"];
    let run = workspace.run(&options).assert_code(3);
    let memory = run.last()["memory"].as_str().unwrap().to_owned();
    let handoff = std::fs::read_to_string(format!("{memory}/handoff.md")).unwrap();
    let line = handoff.lines().find(|line| line.contains("ralph-gate run"));
    let expected = format!("    ralph-gate run --resume --session 'a b' --config {file}");
    assert_eq!(line, Some(expected.as_str()), "{handoff}");
}

#[test]
fn a_changed_agent_is_not_called_a_change_of_the_checks() {
    let agent = |word: &str| format!("{}\n[agent]\nprompt = \"{word}\"\n", config(5, CHECK));
    let workspace = Workspace::new(&agent("one"), TELLING, &[]);
    workspace.run(&[]).assert_code(3);
    workspace.configure(&agent("two"));
    let refused = workspace.run(&["--resume"]);
    assert_eq!(refused.last_error_code(), "files_changed");
    assert!(refused.stdout.contains("[agent]"), "{refused:?}");
    workspace
        .run(&["--resume", "--accept-contract"])
        .assert_code(3);
    let told = std::fs::read_to_string(workspace.beside("told")).unwrap();
    assert!(told.contains("two"), "an operator accepted it: {told}");
}

#[test]
fn no_prompt_at_all_is_an_error() {
    let workspace = Workspace::new(&config(5, CHECK), BLOCKED, &[]);
    for words in [
        &["run", "--json", "--", "claude", "-p", "--model", "opus"][..],
        &["run", "--json", "--", "codex", "exec"],
        &["run", "--json", "--", "sh", "agent.sh", "{prompt}"],
        &["run", "--json", "--prompt", " ", "--", "claude", "-p"],
    ] {
        let run = workspace.ask(words);
        assert_eq!(run.last_error_code(), "no_prompt", "{words:?}");
    }
    let said = workspace.ask(&["run", "--", "claude", "-p"]).stderr;
    assert!(said.contains("--prompt-file"), "{said}");
}

#[test]
fn a_completed_loop_is_not_resumed() {
    let workspace = Workspace::new(&config(5, r#""true""#), BUSY, &[]);
    workspace.run(&["--allow-green-start"]).assert_code(0);
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
