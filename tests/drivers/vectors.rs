//! Runs every vector natively and through the component and compares bytes. `BLESS=1` rewrites them.

use std::path::Path;

use anyhow::Result;
use ralph_gate_tests::typed::Typed;
use ralph_gate_tests::{
    Component, Host, Native, bless, check, files, folder, input_text, read, run,
};

/// The vectors that fail on a host, each with its report.
fn failures(host: &mut dyn Host) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for path in files()? {
        let vector = read(&path)?;
        let answers = run(&vector, host)?;
        if let Err(report) = check(&vector, &answers) {
            failures.push(format!(
                "{} on {}: {}\n{report}",
                name(&path),
                host.name(),
                vector.rule
            ));
        }
    }
    Ok(failures)
}

fn name(path: &Path) -> String {
    path.strip_prefix(folder())
        .unwrap_or(path)
        .display()
        .to_string()
}

fn bless_all() -> Result<()> {
    for path in files()? {
        let vector = read(&path)?;
        let answers = run(&vector, &mut Native)?;
        bless(&path, &vector, &answers)?;
    }
    Ok(())
}

fn assert_none(failures: &[String]) {
    assert!(
        failures.is_empty(),
        "{} vectors fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn every_vector_holds_natively() {
    if std::env::var_os("BLESS").is_some() {
        bless_all().unwrap();
    }
    assert_none(&failures(&mut Native).unwrap());
}

#[test]
fn every_vector_holds_through_the_component() {
    assert_none(&failures(&mut Component::load().unwrap()).unwrap());
}

#[test]
fn the_typed_face_gives_the_bytes_of_the_json_face() {
    let mut typed = Typed::load().unwrap();
    let mut compared = 0;
    for path in files().unwrap() {
        let vector = read(&path).unwrap();
        let expected = run(&vector, &mut Native).unwrap();
        let mut previous = None;
        for (call, expected) in vector.calls.iter().zip(&expected) {
            let input = input_text(call, previous).unwrap();
            previous = Some(expected.as_str());
            let Ok(answer) = typed.call(&call.function, &input) else {
                // What is not JSON, or has fields that no record has, can't even be handed over.
                assert!(
                    expected.starts_with("{\"error\""),
                    "{}: no typed form",
                    name(&path)
                );
                continue;
            };
            if expected.starts_with("{\"error\"") {
                assert_eq!(code(&answer), code(expected), "{}", name(&path));
            } else if !has_places(expected) {
                assert_eq!(answer, *expected, "{}", name(&path));
            }
            compared += 1;
        }
    }
    assert!(compared > 300, "only {compared} calls were compared");
}

/// An error's code. Its places differ: records have no lines.
fn code(answer: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    answer["error"]["code"].as_str().unwrap().to_owned()
}

/// Whether an answer has warnings with places in a request, which the two faces lay out differently.
fn has_places(answer: &str) -> bool {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let is_route = answer.get("reason").is_some() && answer.get("enforcement").is_some();
    is_route && answer["warnings"] != serde_json::json!([])
}

#[test]
fn a_vector_with_a_wrong_expectation_or_other_bytes_fails() {
    let path = files().unwrap().remove(0);
    let mut vector = read(&path).unwrap();
    let answers = run(&vector, &mut Native).unwrap();
    assert!(check(&vector, &answers).is_ok());
    let call = vector.calls.first_mut().unwrap();
    call.expect = serde_json::json!({"no such field": 1});
    assert!(
        check(&vector, &answers)
            .unwrap_err()
            .contains("the rule is broken")
    );
    let call = vector.calls.first_mut().unwrap();
    call.expect = serde_json::json!({});
    call.output = serde_json::json!({});
    assert!(
        check(&vector, &answers)
            .unwrap_err()
            .contains("other bytes")
    );
}

#[test]
fn there_are_vectors_for_each_line_of_the_decision_table() {
    let rules: Vec<String> = files()
        .unwrap()
        .iter()
        .map(|path| read(path).unwrap().rule)
        .collect();
    for line in 1..=10 {
        let marker = format!("decision line {line}:");
        assert!(
            rules.iter().any(|rule| rule.starts_with(&marker)),
            "no vector for {marker}"
        );
    }
    assert!(rules.len() >= 60, "only {} vectors", rules.len());
}
