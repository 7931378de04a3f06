//! Loops of which the command line says more than a configuration: what is wrong with it is reported as what was typed.

use std::fs;

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::said::Said;

use crate::harness::Workplace;
use crate::kit::{print, simple, work};

/// Passes when the work is done.
const CHECK: &[(&str, &str)] = &[("check.sh", "grep -q done done.txt\n")];

#[test]
fn a_check_of_the_command_line_that_can_not_start_is_named_as_it_was_typed() {
    let workplace = Workplace::without_config(&[]);
    let arguments = ["run", "--check", "nosuchprog \"a b\"", "--prompt", "x"];
    let agent = ["--", "no-such-agent", "-p"];
    let said = workplace.gate(&[&arguments[..], &agent].concat());
    assert_eq!(said.code, 1, "{said:?}");
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert!(
        lines[0].starts_with(
            r#"--check 'nosuchprog "a b"': error: program `nosuchprog` was not found"#
        ),
        "{said:?}"
    );
    assert!(
        lines[1].starts_with("-- no-such-agent: error: program `no-such-agent` was not found"),
        "{said:?}"
    );
    assert!(!said.stderr.contains("ralph-gate.toml"), "{said:?}");
    let json = [&arguments[..], &["--json"], &agent].concat();
    let said = workplace.gate(&json);
    assert_eq!(said.last_error_code(), "preflight_failed");
    let error = said.last()["error"].clone();
    assert_eq!(error["file"], serde_json::Value::Null, "{error:#}");
    assert_eq!(
        error["problems"][1]["path"], "-- no-such-agent",
        "{error:#}"
    );
}

#[test]
fn a_check_of_the_command_line_is_not_looked_for_in_a_configuration_above() {
    let workplace = Workplace::new(&simple(""), &[("deep/file.txt", "")]);
    let said = Said::by(
        workplace
            .command(binary())
            .current_dir(workplace.work().join("deep"))
            .args(["run", "--check", "./chk.sh", "--prompt", "x", "--", "true"]),
    );
    assert_eq!(said.code, 1, "{said:?}");
    let problem = "--check ./chk.sh: error: program `./chk.sh` was not found";
    assert!(said.stderr.contains(problem), "{said:?}");
    assert!(!said.stderr.contains("toml:"), "{said:?}");
    assert!(!said.stderr.contains('^'), "{said:?}");
}

#[test]
fn resuming_without_a_configuration_says_that_there_is_no_such_session() {
    let workplace = Workplace::without_config(CHECK);
    let said = workplace.gate(&["run", "--json", "--resume"]);
    assert_eq!(said.last_error_code(), "nothing_to_resume");
    let said = workplace.gate(&["run", "--json", "--resume", "--session", "nope"]);
    assert_eq!(said.last_error_code(), "memory_no_session");
    // One whose configuration is gone can't be resumed without it.
    let workplace = Workplace::new(&simple(""), &[]);
    let blocked = vec![print("<promise>LOOP_BLOCKED</promise>")];
    workplace.run(&[blocked]).stopped("blocked", None, 1);
    fs::remove_file(workplace.work().join("ralph-gate.toml")).unwrap();
    let said = workplace.gate(&["run", "--json", "--resume"]);
    assert_eq!(said.last_error_code(), "config_missing");
}

#[test]
fn an_explicit_prompt_is_not_empty_whatever_the_agent() {
    let workplace = Workplace::without_config(&[CHECK[0], ("empty.md", " \n")]);
    for prompt in [
        ["--prompt", ""],
        ["--prompt", " \n"],
        ["--prompt-file", "empty.md"],
    ] {
        for agent in ["true", "claude"] {
            let arguments = ["run", "--json", "--check", "sh check.sh"];
            let said = workplace.gate(&[&arguments[..], &prompt, &["--", agent]].concat());
            assert_eq!(said.last_error_code(), "no_prompt", "{prompt:?} {agent}");
        }
    }
    assert_eq!(workplace.memory(), None);
    // Without any, an agent that is not known may know its task.
    let arguments = ["--json", "--check", "sh check.sh"];
    let outcome = workplace
        .start_with(&arguments, &[], &[vec![work()]])
        .finish();
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_missing_configuration_is_reported_with_the_directories_that_were_searched() {
    let workplace = Workplace::without_config(&[("deep/file.txt", "")]);
    let root = workplace.work().canonicalize().unwrap();
    for command in [
        &["run", "--prompt", "x", "--", "true"][..],
        &["config", "check"],
    ] {
        let said = Said::by(
            workplace
                .command(binary())
                .current_dir(root.join("deep"))
                .args(command),
        );
        assert_eq!(said.code, 1, "{said:?}");
        let place = format!(
            "in {} or above it, up to {}\n",
            root.join("deep").display(),
            root.display()
        );
        assert!(said.stderr.contains(&place), "{said:?}");
    }
}

#[test]
fn what_is_protected_without_a_configuration_is_said_once_and_only_what_exists() {
    let run = |files: &[(&str, &str)]| {
        let workplace = Workplace::without_config(files);
        let arguments = ["--check", "sh check.sh", "--max-iters", "1"];
        let outcome = workplace.start_with(&arguments, &[], &[vec![work()]]).end();
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        outcome.stderr.clone()
    };
    let nothing = run(CHECK);
    // The script of the check itself.
    assert!(
        nothing.contains(": 1 existing file (tests, lock files and test settings);"),
        "{nothing}"
    );
    let python = run(&[
        CHECK[0],
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("tests/test_a.py", "def test_a(): pass\n"),
    ]);
    assert_eq!(python.matches("protected until").count(), 1, "{python}");
    assert!(
        python.contains("of Python); new test files are allowed"),
        "{python}"
    );
    let tasks = run(&[CHECK[0], ("tests/a.sh", "")]);
    assert!(tasks.contains("2 existing files "), "{tasks}");
    assert!(tasks.contains("of the task runner)"), "{tasks}");
}
