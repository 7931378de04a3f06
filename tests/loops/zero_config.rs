//! Loops without a configuration, with one that is elsewhere, and with what the command line adds to one.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use ralph_gate_tests::binary::binary;
use ralph_gate_tests::said::Said;
use serde_json::json;

use crate::harness::Workplace;
use crate::kit::{move_on, simple, work, write};

/// Passes when the work is done.
const CHECK: &[(&str, &str)] = &[("check.sh", "grep -q done done.txt\n")];

#[test]
fn a_loop_needs_no_configuration_where_the_command_line_names_a_check() {
    let workplace = Workplace::without_config(CHECK);
    let arguments = [
        "--json",
        "--check",
        "sh check.sh",
        "--max-iters",
        "5",
        "--budget",
        "2",
    ];
    let turns = [vec![move_on()], vec![work()]];
    let outcome = workplace.start_with(&arguments, &[], &turns).finish();
    outcome.stopped("completed", None, 2);
    let opened = outcome.events("opened").remove(0);
    assert_eq!(opened["checks"], json!(["sh-check.sh"]));
    assert_eq!(opened["at_most"], 5);
    let contract = workplace.logs()[0]["data"]["contract"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        contract.contains(r#""cost_budget_usd":"2.00""#),
        "{contract}"
    );
}

#[test]
fn a_loop_without_a_configuration_protects_what_init_would() {
    let files = [
        ("conftest.py", ""),
        ("tests/test_work.sh", "grep -q done done.txt\n"),
    ];
    let workplace = Workplace::without_config(&files);
    let arguments = [
        "--json",
        "--check",
        "sh tests/test_work.sh",
        "--max-iters",
        "9",
    ];
    let rigged = write("tests/test_work.sh", "true\n");
    let outcome = workplace
        .start_with(&arguments, &[], &[vec![rigged]])
        .finish();
    outcome.stopped("no_progress", Some("no_progress_limit"), 3);
    outcome.always_tampered("frozen");
    // What was protected then is protected when it goes on, whatever the agent has added since.
    let resumed = workplace.resume(&[vec![write("package.json", "{}")]]);
    resumed.always_tampered("frozen");
    // Work that leaves them as they are, and new tests, are welcome.
    let workplace = Workplace::without_config(&files);
    let honest = vec![work(), write("tests/test_more.sh", "true\n")];
    let outcome = workplace.start_with(&arguments, &[], &[honest]).finish();
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_loop_without_a_configuration_protects_the_script_of_its_check() {
    let script = "grep -q done done.txt\n";
    let files = [
        ("check.sh", script),
        ("ci/check.sh", "grep -q done ../done.txt\n"),
        ("calc.sh", "true\n"),
    ];
    for (check, file) in [
        ("sh check.sh calc.sh", "check.sh"),
        ("sh ./check.sh", "check.sh"),
        ("sh -c 'cd ci && sh ./check.sh'", "ci/check.sh"),
    ] {
        let arguments = ["--json", "--check", check, "--max-iters", "2"];
        let workplace = Workplace::without_config(&files);
        let rigged = vec![vec![write(file, "exit 0\n")], vec![move_on()]];
        let outcome = workplace.start_with(&arguments, &[], &rigged).finish();
        outcome.always_tampered("protected_paths");
        assert!(
            !outcome.stderr.contains("which the agent may change"),
            "{outcome:#?}"
        );
        // What the script works on is the agent's to change.
        let workplace = Workplace::without_config(&files);
        let honest = vec![vec![work(), write("calc.sh", "false\n")]];
        let outcome = workplace.start_with(&arguments, &[], &honest).finish();
        outcome.stopped("completed", None, 1);
    }
    // A program of the workspace.
    let workplace = Workplace::without_config(&files);
    let program = workplace.work().join("check.sh");
    fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = ["--json", "--check", "./check.sh", "--max-iters", "2"];
    let rigged = vec![
        vec![write("check.sh", "#!/bin/sh\nexit 0\n")],
        vec![move_on()],
    ];
    let outcome = workplace.start_with(&arguments, &[], &rigged).finish();
    outcome.always_tampered("protected_paths");
}

#[test]
fn without_a_configuration_and_without_a_check_there_is_no_loop() {
    let workplace = Workplace::without_config(CHECK);
    let outcome = workplace
        .start_with(&["--json", "--max-iters", "5"], &[], &[vec![work()]])
        .end();
    assert_eq!(outcome.error_code(), "config_missing");
    assert!(outcome.stdout.contains("--check COMMAND"), "{outcome:?}");
}

#[test]
fn a_limit_on_the_command_line_wins_over_the_contract() {
    let workplace = Workplace::new(&simple("loop_max_iters = 7"), &[]);
    let outcome = workplace
        .start_with(&["--json", "--max-iters", "2"], &[], &[vec![move_on()]])
        .finish();
    outcome.stopped("max_iters", None, 2);
}

#[test]
fn a_check_on_the_command_line_is_required_beside_those_of_the_contract() {
    let workplace = Workplace::new(&simple("loop_max_iters = 2"), &[]);
    let turns = [vec![work(), crate::kit::promise()]];
    let outcome = workplace
        .start_with(&["--json", "--check", "test -f other.txt"], &[], &turns)
        .finish();
    outcome.always_refused("check_failed", Some("test-f-other.txt"));
}

#[test]
fn a_loop_without_a_configuration_is_resumed_with_the_checks_that_it_began_with() {
    let workplace = Workplace::without_config(CHECK);
    let begin = ["--json", "--check", "sh check.sh", "--max-iters", "4"];
    let blocked = [vec![crate::kit::print("<promise>LOOP_BLOCKED</promise>")]];
    let outcome = workplace.start_with(&begin, &[], &blocked).finish();
    outcome.stopped("blocked", None, 1);
    let outcome = workplace.resume(&[vec![work()]]);
    outcome.stopped("completed", None, 1);
    assert_eq!(outcome.events("opened")[0]["at_most"], 4);
}

#[test]
fn a_configuration_is_found_in_a_folder_above_and_named() {
    let workplace = Workplace::new(&simple(""), &[("deep/er/file.txt", "")]);
    write_agent(&workplace);
    let said = Said::by(
        workplace
            .command(binary())
            .current_dir(workplace.work().join("deep/er"))
            .args(["run", "--prompt", "do it", "--", "sh"])
            .arg(workplace.beside("agent.sh")),
    );
    assert_eq!(said.code, 0, "{said:?}");
    let file = workplace
        .work()
        .canonicalize()
        .unwrap()
        .join("ralph-gate.toml");
    assert!(
        said.stderr.contains(&format!("using {}", file.display())),
        "{said:?}"
    );
    // The loop is that of the folder above: commands find it from there, too.
    let status = Said::by(
        workplace
            .command(binary())
            .current_dir(workplace.work().join("deep"))
            .args(["status", "--json"]),
    );
    assert_eq!(status.json()["stop_reason"], "completed");
}

#[test]
fn no_configuration_is_taken_from_above_the_repository() {
    let workplace = Workplace::without_config(&[]);
    fs::write(workplace.beside("ralph-gate.toml"), simple("")).unwrap();
    let said = workplace.gate(&["run", "--json", "--prompt", "do it", "--", "true"]);
    assert_eq!(said.error_code(), "config_missing", "{said:?}");
}

/// An agent that does the work at once and promises it.
fn write_agent(workplace: &Workplace) {
    let text = "echo done > done.txt\necho '<promise>COMPLETE</promise>'\n";
    fs::write(workplace.beside("agent.sh"), text).unwrap();
}

#[test]
fn the_task_can_come_from_standard_input() {
    let workplace = Workplace::without_config(CHECK);
    let mut child = workplace
        .command(binary())
        .args([
            "run",
            "--json",
            "--check",
            "sh check.sh",
            "--max-iters",
            "1",
        ])
        .args(["--session", "test", "--prompt-file", "-", "--", "true"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"make it so\n")
        .unwrap();
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(workplace.logs()[0]["data"]["prompt"], "make it so\n");
}

#[test]
fn a_loop_runs_in_the_directory_that_is_asked_for() {
    let workplace = Workplace::new(&simple(""), &[]);
    write_agent(&workplace);
    let said = Said::by(
        workplace
            .command(binary())
            .current_dir(workplace.beside(""))
            .args([
                "-C", "work", "run", "--quiet", "--prompt", "do it", "--", "sh",
            ])
            .arg(workplace.beside("agent.sh")),
    );
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "completed after 1 iteration\n"),
        "{said:?}"
    );
    assert_eq!(said.stderr, "ralph mode (requested)\n");
}

#[test]
fn a_quiet_loop_still_warns_of_tests_that_nothing_protects() {
    let config = "[contract]\ncompletion_checks = [\"tests\"]\nloop_max_iters = 1\n\n\
        [checks.tests]\nkind = \"tests_green\"\nargv = [\"false\"]\n";
    let workplace = Workplace::new(config, &[]);
    let outcome = workplace.start_with(&["--quiet"], &[], &[vec![]]).end();
    assert!(outcome.stderr.contains("warning:"), "{outcome:?}");
    assert!(outcome.stderr.contains("changing its tests"), "{outcome:?}");
    assert!(outcome.stdout.starts_with("stopped, "), "{outcome:?}");
}

#[test]
fn the_end_of_a_loop_is_told_in_words() {
    let workplace = Workplace::new(&simple("loop_max_iters = 2"), &[]);
    let turn = vec![move_on(), write("done.txt", "not yet\n")];
    let outcome = workplace.start_with(&[], &[], &[turn]).end();
    assert_eq!(outcome.code, Some(3));
    let told = "stopped, not done: limit of 2 iterations reached; work: ";
    assert!(outcome.stdout.contains(told), "{outcome:?}");
    assert!(!outcome.stdout.contains("max_iters"), "{outcome:?}");
    let status = workplace.gate(&["status"]);
    assert!(
        status
            .stdout
            .contains("stopped, not done: limit of 2 iterations reached"),
        "{status:?}"
    );
}
