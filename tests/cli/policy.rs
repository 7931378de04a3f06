//! `ralph-gate policy`: what a person sees of policies, and what becomes of files that are none.

use std::fs;

use ralph_gate_tests::said::Said;
use serde_json::{Value, json};

use crate::harness::{Files, command, run, run_with};

const EVIDENCE: &str = r#"{
    "iteration": 3,
    "findings": [
        { "id": "tests", "kind": "tests_green", "outcome": "fail", "reason": "1 of 3 failed",
          "tests": { "passed": 2, "failed": 1, "skipped": 0 }, "exit": 1 }
    ],
    "artifacts": [{ "name": "coverage", "text": "{\"line\": 83}", "fresh": true }]
}"#;

fn cel(expression: &str, evidence: &str) -> Said {
    let settings = json!({ "expr": expression }).to_string();
    let arguments = ["policy", "run", "builtin:cel", "--json", "--settings"];
    run_with(
        &[&arguments[..], &[&settings]].concat(),
        evidence.as_bytes(),
    )
}

#[test]
fn an_expression_judges_evidence_from_standard_input() {
    let passed = cel("tests.failed <= 1 && coverage.line >= 80.0", EVIDENCE);
    assert_eq!(passed.code, 0, "{passed:?}");
    assert_eq!(passed.json()["outcome"], "pass", "{passed:?}");
    let failed = cel("tests.failed == 0 && coverage.line >= 80.0", EVIDENCE).json();
    assert_eq!(failed["outcome"], "fail");
    let reasons = failed["reasons"].to_string();
    assert!(reasons.contains("tests.failed == 0"), "{reasons}");
    assert!(!reasons.contains("coverage"), "{reasons}");
}

#[test]
fn no_input_is_empty_evidence() {
    assert_eq!(cel("size(checks) == 0", "").json()["outcome"], "pass");
    let unknown = cel("tests.failed == 0", "").json();
    assert_eq!(unknown["outcome"], "unknown");
    assert!(unknown["reasons"][0].as_str().unwrap().contains("tests"));
}

#[test]
fn the_same_call_takes_the_same_fuel() {
    let fuel = || cel("iteration == 3", EVIDENCE).json()["fuel"].clone();
    let first = fuel();
    assert!(first.as_u64().unwrap() > 1000, "{first}");
    assert_eq!(first, fuel());
}

#[test]
fn a_limit_that_is_reached_is_named_with_what_was_observed() {
    let said = run_with(
        &[
            "policy",
            "run",
            "builtin:cel",
            "--json",
            "--fuel",
            "1000",
            "--settings",
            r#"{"expr": "true"}"#,
        ],
        b"",
    );
    assert_eq!(said.code, 1, "{said:?}");
    let error = &said.json()["error"];
    assert_eq!(error["code"], "out_of_fuel");
    assert_eq!(error["limit"], json!({ "observed": 1000, "limit": 1000 }));
}

#[test]
fn a_module_of_rego_says_what_it_denies() {
    let module = r#"
        package release
        import rego.v1
        default allow := false
        allow if count(deny) == 0
        deny contains message if {
            some id, check in input.checks
            check.outcome == "fail"
            message := sprintf("%s failed", [id])
        }"#;
    let settings = json!({ "module": module });
    let said = run_with(
        &[
            "policy",
            "run",
            "builtin:rego",
            "--json",
            "--settings",
            &settings.to_string(),
        ],
        EVIDENCE.as_bytes(),
    );
    let judged = said.json();
    assert_eq!(judged["outcome"], "fail", "{judged}");
    assert_eq!(judged["reasons"], json!(["tests failed"]));
}

#[test]
fn the_shipped_policies_want_nothing_but_artifacts() {
    for name in ["builtin:cel", "builtin:rego"] {
        let said = run(&["policy", "inspect", name, "--json"]);
        assert_eq!(said.code, 0, "{said:?}");
        let answer = said.json();
        for import in answer["bill"]["imports"].as_array().unwrap() {
            assert_eq!(import["name"], "ralph:gate/artifacts@0.1.0");
            assert_eq!(import["grant"], "artifacts");
        }
        assert_eq!(
            answer["bill"]["exports"],
            json!(["ralph:gate/policy@0.1.0"])
        );
        let schema = answer["description"]["settings_schema"].as_str().unwrap();
        let schema: Value = serde_json::from_str(schema).unwrap();
        assert_eq!(schema["type"], "object");
        let text = run(&["policy", "inspect", name]);
        assert!(text.stdout.contains("digest   "), "{text:?}");
    }
}

#[test]
fn what_is_no_policy_is_refused_with_a_reason_and_a_remedy() {
    let files = Files::new();
    let gate = files.write("gate.wasm", ralph_gate::engine::COMPONENT);
    for (path, code) in [
        (files.write("empty.wasm", ""), "invalid_component"),
        (
            files.write("text.wasm", "not a component"),
            "invalid_component",
        ),
        (
            files.write("core.wasm", b"\0asm\x01\0\0\0"),
            "invalid_component",
        ),
        (gate, "wrong_world"),
    ] {
        for words in [
            &["policy", "run", &path, "--json"][..],
            &["policy", "pin", &path, "--json"],
        ] {
            let said = run(words);
            assert_eq!(said.code, 1, "{said:?}");
            assert_eq!(said.json()["error"]["code"], code, "{said:?}");
        }
        let said = run(&["policy", "run", &path]);
        assert!(said.stderr.contains("help: "), "{said:?}");
    }
}

#[test]
fn a_file_that_is_not_there_or_too_large_is_not_read() {
    let files = Files::new();
    let large = files.write("large.wasm", "");
    let file = fs::File::options().write(true).open(&large).unwrap();
    file.set_len(100 << 20).unwrap();
    let said = run(&["policy", "inspect", &large, "--json"]);
    assert_eq!(said.json()["error"]["code"], "input_too_large", "{said:?}");
    let said = run(&["policy", "inspect", "no-such.wasm"]);
    assert!(
        said.stderr.contains("no-such.wasm can't be read"),
        "{said:?}"
    );
    let said = run(&["policy", "run", "builtin:lua"]);
    assert!(
        said.stderr
            .contains("there are builtin:cel and builtin:rego"),
        "{said:?}"
    );
}

#[test]
fn cases_are_compared_and_one_that_differs_fails_the_command() {
    let files = Files::new();
    let case = |name: &str, outcome: &str| {
        json!({ "name": name, "settings": { "expr": "iteration < 5" }, "evidence": { "iteration": 7 },
                "expect": { "outcome": outcome } })
    };
    let path = files.write(
        "good.json",
        json!({ "cases": [case("late", "fail")] }).to_string(),
    );
    let said = run(&["policy", "test", "builtin:cel", "--cases", &path]);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "ok late\n1 passed, 0 failed\n")
    );
    let cases = json!({ "cases": [case("late", "fail"), case("never", "pass")] });
    let path = files.write("bad.json", cases.to_string());
    let said = run(&["policy", "test", "builtin:cel", "--cases", &path]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.stdout
            .contains("not as expected: never\n  expected  pass\n  found     fail"),
        "{said:?}"
    );
    let answer = run(&["policy", "test", "builtin:cel", "--json", "--cases", &path]).json();
    assert_eq!(
        (&answer["passed"], &answer["failed"]),
        (&json!(1), &json!(1))
    );
    let measured = run(&["policy", "bench", "builtin:cel", "--json", "--cases", &path]).json();
    assert!(
        measured["cases"][0]["fuel"].as_u64().unwrap() > 1000,
        "{measured}"
    );
}

#[test]
fn cases_that_can_not_be_read_are_named_with_their_place() {
    let files = Files::new();
    for (text, reason) in [
        ("{\n  \"cases\": [{}]\n}", "line 2"),
        (r#"{"cases": []}"#, "has no case"),
        (
            r#"{"cases": [{"name": "a", "evidence": {"artifacts": [{"name": "b", "file": "none"}]}}]}"#,
            "it is not there",
        ),
    ] {
        let path = files.write("cases.json", text);
        let said = run(&["policy", "test", "builtin:cel", "--cases", &path]);
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.stderr.contains(reason), "{said:?}");
    }
}

#[test]
fn a_new_policy_is_a_folder_that_was_not_there() {
    let files = Files::new();
    let new = |words: &[&str]| {
        let mut command = command(&[&["policy", "new"], words].concat());
        Said::by(command.current_dir(files.folder()))
    };
    let said = new(&["--lang", "js", "no-todo"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("  wit/check-policy.wit\n"), "{said:?}");
    let again = new(&["--lang", "rust", "no-todo"]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.stderr.contains("is there already"), "{again:?}");
    for name in ["../escape", "No", "a b"] {
        let said = new(&[name]);
        assert!(
            said.stderr.contains("can't be the name of a policy"),
            "{said:?}"
        );
    }
}

#[test]
fn only_a_core_module_with_its_wit_can_be_wrapped() {
    let files = Files::new();
    let module = files.write("core.wasm", b"\0asm\x01\0\0\0");
    let output = format!("{}/policy.wasm", files.folder());
    let said = run(&["policy", "wrap", &module, "-o", &output]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(!fs::exists(&output).unwrap());
}
