//! What can't work is found before the agent's first turn: all of it, with the place and the remedy.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ralph_gate_tests::agent_script::Step;
use serde_json::Value;

use crate::harness::{Outcome, Workplace};
use crate::kit::{print, promise, work, write};

/// A loop with these checks, each named by the contract.
fn config(checks: &[(&str, &str)]) -> String {
    let ids: Vec<String> = checks.iter().map(|(id, _)| format!("\"{id}\"")).collect();
    let mut config = format!(
        "[contract]\nmode = \"ralph\"\ncompletion_token = \"COMPLETE\"\ncompletion_checks = [{}]\n",
        ids.join(", ")
    );
    for (id, fields) in checks {
        config.push_str(&format!("\n[checks.{id}]\n{fields}\n"));
    }
    config
}

/// The agent says that it was started.
fn turns(workplace: &Workplace) -> Vec<Vec<Step>> {
    vec![vec![
        write(workplace.beside("started"), ""),
        work(),
        promise(),
    ]]
}

/// The problems of a run that was not started.
fn refused(workplace: &Workplace) -> Vec<Value> {
    let problems = refused_with(workplace, &["--json"]);
    assert_eq!(workplace.memory(), None, "a session was left");
    problems
}

/// The problems of a run with these arguments that ended before the agent's turn.
fn refused_with(workplace: &Workplace, arguments: &[&str]) -> Vec<Value> {
    let running = workplace.start_with(arguments, &[], &turns(workplace));
    let outcome = running.end();
    assert_eq!(outcome.error_code(), "preflight_failed");
    assert!(!workplace.beside("started").exists(), "{outcome:?}");
    let last = outcome.told().pop().unwrap();
    last["error"]["problems"].as_array().unwrap().clone()
}

/// Writes a script of the work that can be started by its name.
fn script(workplace: &Workplace, name: &str, text: &str) {
    workplace.write(name, text);
    let path = workplace.work().join(name);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The only problem of a loop with one check.
fn problem_of(fields: &str) -> (String, String) {
    let workplace = Workplace::new(&config(&[("tests", fields)]), &[("blocked", "a file")]);
    let problems = refused(&workplace);
    assert_eq!(problems.len(), 1, "{problems:?}");
    let text = |name: &str| problems[0][name].as_str().unwrap_or_default().to_owned();
    assert!(problems[0]["line"].as_u64().unwrap() > 0, "{problems:?}");
    (text("path"), text("message") + &text("help"))
}

#[test]
fn a_check_whose_program_is_not_found_stops_the_run_before_the_agent() {
    for argv in ["\"no-such-runner\"", "\"./no-such-script\", \"--all\""] {
        let (path, message) = problem_of(&format!("argv = [{argv}]"));
        assert_eq!(path, "checks.tests.argv");
        assert!(message.contains("was not found"), "{message}");
    }
}

#[test]
fn an_expression_that_does_not_compile_stops_the_run_before_the_agent() {
    let (path, message) = problem_of("kind = \"cel\"\nexpr = \"tests.failed ==\"");
    assert_eq!(path, "checks.tests.expr");
    assert!(message.contains("has a mistake"), "{message}");
    let module = "kind = \"rego\"\nmodule = \"package a\\nallow {{\"";
    let (path, message) = problem_of(module);
    assert_eq!(path, "checks.tests.module");
    assert!(message.contains("of the module"), "{message}");
}

#[test]
fn an_expression_over_evidence_that_is_yet_to_come_is_no_mistake() {
    let work = ("work", "kind = \"file\"\npath = \"done.txt\"");
    let quality = "kind = \"cel\"\nexpr = \"checks.work.passed && coverage.line >= 80.0\"\n\
        artifacts = { coverage = \"coverage.json\" }";
    let workplace = Workplace::new(&config(&[work, ("quality", quality)]), &[]);
    let mut steps = turns(&workplace).remove(0);
    steps.insert(0, write("coverage.json", "{\"line\": 90}"));
    workplace.run(&[steps]).stopped("completed", None, 1);
}

#[test]
fn a_policy_that_is_not_the_pinned_one_stops_the_run_before_the_agent() {
    let digest = "00".repeat(32);
    let fields = format!("kind = \"policy\"\ncomponent = \"blocked\"\nblake3 = \"{digest}\"");
    let (path, message) = problem_of(&fields);
    assert_eq!(path, "checks.tests.component");
    assert!(message.contains("has the digest"), "{message}");
    assert!(message.contains("policy pin"), "{message}");
}

#[test]
fn a_git_check_outside_a_repository_stops_the_run_before_the_agent() {
    let workplace = Workplace::new(&config(&[("clean", "kind = \"git\"\nclean = true")]), &[]);
    fs::remove_dir_all(workplace.work().join(".git")).unwrap();
    let problems = refused(&workplace);
    assert_eq!(problems[0]["path"], "checks.clean");
    let help = problems[0]["help"].as_str().unwrap();
    assert!(help.contains("git init"), "{help}");
}

#[test]
fn a_report_that_can_not_be_written_stops_the_run_before_the_agent() {
    let report = "kind = \"tests_green\"\nargv = [\"true\"]\nreport = \"blocked/report.xml\"";
    let (path, message) = problem_of(report);
    assert_eq!(path, "checks.tests.report");
    assert!(message.contains("can't be created"), "{message}");
}

#[test]
fn all_that_can_not_work_is_named_at_once_also_the_agent() {
    let checks = [
        ("lint", "argv = [\"no-such-linter\"]"),
        ("tests", "argv = [\"no-such-runner\"]"),
    ];
    let workplace = Workplace::new(&config(&checks), &[]);
    let said = workplace.gate(&["run", "--prompt", "do it", "--", "no-such-agent"]);
    assert_eq!(said.code, 1, "{said:?}");
    for thing in ["no-such-linter", "no-such-runner", "no-such-agent"] {
        assert!(said.stderr.contains(thing), "{thing}: {said:?}");
    }
    assert!(said.stderr.contains("ralph-gate.toml:7:"), "{said:?}");
    assert_eq!(workplace.memory(), None);
}

#[test]
fn files_of_the_memory_that_are_not_there_stop_the_run_before_the_agent() {
    let checks = config(&[("tests", "argv = [\"true\"]")]);
    let memory = "\n[memory]\nprd = \"no-such-prd.json\"\nprogress = \"no-such-progress.txt\"\n";
    let workplace = Workplace::new(&format!("{checks}{memory}"), &[]);
    let problems = refused(&workplace);
    let paths: Vec<_> = problems
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["memory.prd", "memory.progress"]);
    assert!(problems.iter().all(|it| it["line"].as_u64().unwrap() > 0));
}

#[test]
fn config_check_finds_what_stops_a_run_before_the_agent() {
    let checks = [
        ("clean", "kind = \"git\"\nclean = true"),
        ("quality", "kind = \"cel\"\nexpr = \"tests.failed ==\""),
        ("tests", "argv = [\"no-such-runner\"]"),
    ];
    let workplace = Workplace::new(&config(&checks), &[]);
    fs::remove_dir_all(workplace.work().join(".git")).unwrap();
    let problems = refused(&workplace);
    assert_eq!(problems.len(), 3, "{problems:?}");
    let said = workplace.gate(&["config", "check", "--json"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.json()["problems"], Value::Array(problems));
}

#[test]
fn what_the_agent_is_to_make_is_no_problem() {
    let report = "kind = \"tests_green\"\nargv = [\"sh\", \"run-tests.sh\"]\nformat = \"tap\"\nreport = \"out/new/report.tap\"";
    let script = "mkdir -p out/new; test -f done.txt || exit 1; printf 'ok 1 - a\\n1..1\\n' > out/new/report.tap\n";
    let workplace = Workplace::new(&config(&[("tests", report)]), &[("run-tests.sh", script)]);
    let outcome: Outcome = workplace.run(&turns(&workplace));
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_check_whose_program_is_gone_stops_a_resumed_loop_before_the_agent() {
    let workplace = Workplace::new(&config(&[("tests", "argv = [\"./check.sh\"]")]), &[]);
    let check = "#!/bin/sh\ntest -f done.txt\n";
    script(&workplace, "check.sh", check);
    let blocked = vec![print("<promise>LOOP_BLOCKED</promise>")];
    workplace.run(&[blocked]).stopped("blocked", None, 1);
    fs::remove_file(workplace.work().join("check.sh")).unwrap();
    let problems = refused_with(&workplace, &["--json", "--resume"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0]["path"], "checks.tests.argv");
    // Nothing was used up.
    script(&workplace, "check.sh", check);
    let outcome = workplace.resume(&turns(&workplace));
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_path_outside_the_workspace_stops_the_run_before_the_agent() {
    for path in [
        "../../x.xml",
        "/tmp/x.xml",
        "../*.xml",
        "/tmp/*.xml",
        "/tmp",
    ] {
        let fields = format!("kind = \"tests_green\"\nargv = [\"true\"]\nreport = \"{path}\"");
        let (place, message) = problem_of(&fields);
        assert_eq!(place, "checks.tests.report");
        assert!(message.contains("inside the workspace"), "{message}");
    }
    for fields in [
        "kind = \"no_high_risk\"\nargv = [\"true\"]\nreport = \"../x\"",
        "kind = \"no_high_risk\"\nreport = \"../x\"",
        "kind = \"file\"\npath = \"../x\"",
    ] {
        let (_, message) = problem_of(fields);
        assert!(message.contains("inside the workspace"), "{message}");
    }
}

#[test]
fn a_report_behind_a_link_stops_the_run_before_the_agent() {
    let report = "kind = \"tests_green\"\nargv = [\"true\"]\nreport = \"link/x.xml\"";
    let workplace = Workplace::new(&config(&[("tests", report)]), &[("out/a", "")]);
    std::os::unix::fs::symlink("out", workplace.work().join("link")).unwrap();
    let problems = refused(&workplace);
    let message = problems[0]["message"].as_str().unwrap();
    assert!(message.contains("is a link"), "{message}");
}

#[test]
fn a_directory_of_reports_is_no_problem() {
    let report = "kind = \"tests_green\"\nargv = [\"sh\", \"run-tests.sh\"]\nreport = \"out\"";
    let script = "test -f done.txt || exit 1; echo '<testsuite><testcase name=\"a\"/></testsuite>' > out/a.xml\n";
    let files = [("run-tests.sh", script), ("out/old.txt", "")];
    let workplace = Workplace::new(&config(&[("tests", report)]), &files);
    let outcome = workplace.run(&turns(&workplace));
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_check_whose_interpreter_is_missing_stops_the_run_before_the_agent() {
    let workplace = Workplace::new(&config(&[("tests", "argv = [\"./check.sh\"]")]), &[]);
    script(&workplace, "check.sh", "#!/nope/sh\n");
    let problems = refused(&workplace);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0]["path"], "checks.tests");
    let message = problems[0]["message"].as_str().unwrap();
    assert!(message.contains("the interpreter that"), "{message}");
    // The name is free, and it works once that is mended.
    script(&workplace, "check.sh", "#!/bin/sh\ntest -f done.txt\n");
    let outcome = workplace.run(&turns(&workplace));
    outcome.stopped("completed", None, 1);
}

#[test]
fn a_check_whose_interpreter_is_gone_stops_a_resumed_loop_before_the_agent() {
    let workplace = Workplace::new(&config(&[("tests", "argv = [\"./check.sh\"]")]), &[]);
    script(&workplace, "check.sh", "#!/bin/sh\ntest -f done.txt\n");
    let blocked = vec![print("<promise>LOOP_BLOCKED</promise>")];
    workplace.run(&[blocked]).stopped("blocked", None, 1);
    script(&workplace, "check.sh", "#!/nope/sh\n");
    let problems = refused_with(&workplace, &["--json", "--resume"]);
    assert_eq!(problems[0]["path"], "checks.tests");
    script(&workplace, "check.sh", "#!/bin/sh\ntest -f done.txt\n");
    let outcome = workplace.resume(&turns(&workplace));
    outcome.stopped("completed", None, 1);
}
