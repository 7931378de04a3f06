//! `ralph-gate evaluate`: the verdict as one line, and the exit code.

use serde_json::{Value, json};

use crate::harness::{Files, run, run_with};

/// An iteration in which the agent says final and the one check has an outcome.
fn input(outcome: &str) -> Value {
    json!({
        "contract": { "mode": "ralph", "completion_token": "DONE", "completion_checks": ["tests_green"] },
        "snapshot": null,
        "iteration": {
            "index": 1,
            "action": "final",
            "output": "All done.\n<promise>DONE</promise>",
            "checks": [{ "id": "tests_green", "outcome": outcome }],
        },
    })
}

fn exit_code(input: &Value) -> i32 {
    run_with(&["evaluate", "--exit-code"], input.to_string().as_bytes()).code
}

#[test]
fn a_file_standard_input_and_a_dash_give_the_same_line() {
    let text = input("fail").to_string();
    let file = Files::new();
    let from_file = run(&["evaluate", &file.write("iteration.json", &text)]);
    assert_eq!((from_file.code, from_file.stderr.as_str()), (0, ""));
    assert_eq!(from_file.json()["decision"], "continue");
    assert_eq!(
        run_with(&["evaluate"], text.as_bytes()).stdout,
        from_file.stdout
    );
    assert_eq!(
        run_with(&["evaluate", "-"], text.as_bytes()).stdout,
        from_file.stdout
    );
    assert_eq!(
        run_with(&["evaluate", "--json"], text.as_bytes()).stdout,
        from_file.stdout
    );
}

#[test]
fn the_exit_code_says_completed_or_continue() {
    assert_eq!(exit_code(&input("pass")), 0);
    assert_eq!(exit_code(&input("fail")), 2);
}

#[test]
fn the_exit_code_says_stopped_without_being_completed() {
    let mut canceled = input("fail");
    canceled["iteration"]["canceled"] = json!(true);
    assert_eq!(exit_code(&canceled), 3);
}

#[test]
fn what_passes_through_is_a_success() {
    let mut standard = input("fail");
    standard["contract"]["mode"] = json!("standard");
    let run = run_with(
        &["evaluate", "--exit-code"],
        standard.to_string().as_bytes(),
    );
    assert_eq!(run.json()["decision"], "pass_through");
    assert_eq!(run.code, 0);
}

#[test]
fn without_the_flag_every_verdict_is_a_success() {
    for outcome in ["pass", "fail"] {
        assert_eq!(
            run_with(&["evaluate"], input(outcome).to_string().as_bytes()).code,
            0
        );
    }
}

#[test]
fn the_snapshot_carries_the_loop_from_run_to_run() {
    let first = run_with(&["evaluate"], input("fail").to_string().as_bytes()).json();
    let mut second = input("pass");
    second["snapshot"] = first["snapshot"].clone();
    second["iteration"]["index"] = json!(2);
    let verdict = run_with(&["evaluate"], second.to_string().as_bytes()).json();
    assert_eq!(verdict["stop_reason"], "completed");
    assert_eq!(verdict["counters"]["iteration"], 2);
}

#[test]
fn an_error_of_the_gate_is_json_on_stdout_and_names_the_file_on_stderr() {
    let mut late = input("fail");
    late["iteration"]["index"] = json!(7);
    let files = Files::new();
    let file = files.write("late.json", late.to_string());
    for arguments in [
        vec!["evaluate", &file],
        vec!["evaluate", "--exit-code", &file],
    ] {
        let run = run(&arguments);
        assert_eq!(run.error_code(), "iteration_out_of_order");
        assert!(run.stderr.contains("late.json"), "{run:?}");
    }
    let quiet = run(&["evaluate", "--json", &file]);
    assert_eq!(quiet.error_code(), "iteration_out_of_order");
    assert_eq!(quiet.stderr, "");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let text = input("fail").to_string();
    let runs: Vec<String> = (0..3)
        .map(|_| run_with(&["evaluate"], text.as_bytes()).stdout)
        .collect();
    assert!(runs.windows(2).all(|pair| pair[0] == pair[1]));
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_the_verdict_is_told_in_words_and_as_json_where_that_is_asked_for() {
    use crate::harness::command;
    use crate::pty::Watched;

    let files = Files::new();
    let file = files.write("iteration.json", input("fail").to_string());
    let mut watched = Watched::start(command(&["evaluate", &file]), 24, 100);
    assert_eq!(watched.finish(), 0);
    let text = watched.text();
    assert!(
        text.contains("continue: the agent may not stop yet"),
        "{text}"
    );
    assert!(text.contains("tests_green: "), "{text}");
    assert!(!text.contains("\"decision\""), "{text}");
    let mut watched = Watched::start(command(&["evaluate", "--json", &file]), 24, 100);
    assert_eq!(watched.finish(), 0);
    assert!(
        watched.text().contains("\"needs\":[{\"kind\":"),
        "{}",
        watched.text()
    );
}
