//! What passes before the agent begins proves nothing about its work.

use ralph_gate_tests::agent_script::Step;

use crate::harness::{KEY, Workplace};
use crate::kit::{RUN_TESTS, move_on, print, promise, simple, tested, work};

/// A loop without a token. `fields` are those of its only check.
fn tokenless(fields: &str, more: &str) -> String {
    format!(
        "[contract]\nmode = \"ralph\"\ncompletion_checks = [\"tests\"]\nno_progress_limit = 2\n\n[checks.tests]\n{fields}\n{more}"
    )
}

/// An agent that does nothing, and says so.
fn idle(workplace: &Workplace) -> Vec<Step> {
    vec![
        crate::kit::write(workplace.beside("started"), ""),
        print("Nothing to do.\n"),
    ]
}

#[test]
fn a_loop_whose_checks_pass_already_does_not_begin() {
    let workplace = Workplace::new(&tokenless("argv = [\"true\"]", ""), &[]);
    let outcome = workplace.start(&[idle(&workplace)]).end();
    assert_eq!(outcome.error_code(), "green_start");
    assert!(
        !workplace.beside("started").exists(),
        "the agent was started"
    );
    assert_eq!(workplace.memory(), None, "the session's key is not free");
    let said = workplace.gate(&["run", "--prompt", "do it", "--", "true"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("tests"), "{said:?}");
    assert!(said.stderr.contains("--allow-green-start"), "{said:?}");
}

#[test]
fn a_green_start_is_allowed_on_the_command_line_or_in_the_configuration() {
    let allowed = "[tripwires]\nallow_green_start = true\n";
    for (more, flags) in [
        ("", &["--json", "--allow-green-start"][..]),
        (allowed, &["--json"]),
    ] {
        let workplace = Workplace::new(&tokenless("argv = [\"true\"]", more), &[]);
        let turns = [idle(&workplace)];
        let outcome = workplace.start_with(flags, &[], &turns).finish();
        outcome.stopped("completed", None, 1);
        let warnings = outcome.events("warning");
        let said = |event: &serde_json::Value| {
            event["message"]
                .as_str()
                .unwrap()
                .contains("passes already")
        };
        assert!(warnings.iter().any(said), "{warnings:?}");
    }
}

#[test]
fn where_a_promise_is_asked_for_a_green_start_is_only_said() {
    let workplace = Workplace::new(&simple(""), &[("done.txt", "done\n")]);
    let running = workplace.start_with(
        &["--json", "--prompt", "do it"],
        &[],
        &[vec![move_on(), promise()]],
    );
    let outcome = running.finish();
    outcome.stopped("completed", None, 1);
    let warnings = outcome.events("warning");
    let told = warnings[0]["message"].as_str().unwrap();
    assert!(told.contains("passes already"), "{told}");
}

#[test]
fn an_agent_that_does_nothing_never_completes() {
    let workplace = Workplace::new(
        &tokenless("argv = [\"test\", \"-f\", \"done.txt\"]", ""),
        &[],
    );
    let outcome = workplace.run(&[idle(&workplace)]);
    outcome.never_completed();
    outcome.stopped("no_progress", Some("no_progress_limit"), 2);
}

#[test]
fn the_checks_are_run_once_before_the_agent_and_a_resumption_does_not_repeat_it() {
    let counting = RUN_TESTS.to_owned() + "\n";
    let counting = format!("echo run >> ../runs\n{counting}");
    let files = [
        ("run-tests.sh", counting.as_str()),
        ("tests/one.sh", "test -f done.txt\n"),
    ];
    let workplace = Workplace::new(&tested("loop_max_iters = 9"), &files);
    let runs = || {
        let runs = std::fs::read_to_string(workplace.beside("runs")).unwrap_or_default();
        runs.lines().count()
    };
    let outcome = workplace.run(&[vec![print("<promise>LOOP_BLOCKED</promise>")]]);
    outcome.stopped("blocked", None, 1);
    assert_eq!(runs(), 2, "before the agent, and after its turn");
    workplace.write("done.txt", "");
    workplace.resume(&[vec![work(), promise()]]);
    assert_eq!(runs(), 4, "the probe, and after the turn");
    let logs = workplace.gate(&["logs", KEY, "--json"]);
    assert_eq!(logs.stdout.matches("\"event\":\"baseline\"").count(), 1);
}

#[test]
fn an_agent_that_is_told_no_task_is_warned_of() {
    let warned = |arguments: &[&str]| {
        let workplace = Workplace::new(&simple("loop_max_iters = 1"), &[]);
        let outcome = workplace
            .start_with(arguments, &[], &[idle(&workplace)])
            .finish();
        outcome.stopped("max_iters", None, 1);
        let warnings = outcome.events("warning");
        let said = |event: &serde_json::Value| {
            let message = event["message"].as_str().unwrap();
            message.starts_with("no prompt: the agent is told only")
        };
        warnings.iter().any(said)
    };
    assert!(warned(&["--json"]));
    assert!(!warned(&["--json", "--prompt", "do it"]));
}
