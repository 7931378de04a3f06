//! What can't work is found before the agent's first turn: all of it, with the place and the remedy.

use std::fs;

use ralph_gate_tests::agent_script::Step;
use serde_json::Value;

use crate::harness::{Outcome, Workplace};
use crate::kit::{promise, work, write};

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
    let outcome = workplace.start(&turns(workplace)).end();
    assert_eq!(outcome.error_code(), "preflight_failed");
    assert!(!workplace.beside("started").exists(), "{outcome:?}");
    assert_eq!(workplace.memory(), None, "a session was left");
    let last = outcome.told().pop().unwrap();
    last["error"]["problems"].as_array().unwrap().clone()
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
fn what_the_agent_is_to_make_is_no_problem() {
    let report = "kind = \"tests_green\"\nargv = [\"sh\", \"run-tests.sh\"]\nformat = \"tap\"\nreport = \"out/new/report.tap\"";
    let script = "mkdir -p out/new; test -f done.txt || exit 1; printf 'ok 1 - a\\n1..1\\n' > out/new/report.tap\n";
    let workplace = Workplace::new(&config(&[("tests", report)]), &[("run-tests.sh", script)]);
    let outcome: Outcome = workplace.run(&turns(&workplace));
    outcome.stopped("completed", None, 1);
}
