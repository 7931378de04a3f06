//! Runs every vector natively and compares bytes. `BLESS=1` rewrites them.

use anyhow::Result;
use ralph_gate_tests::{Native, bless, check, failures, files, read, run};

fn bless_all() -> Result<()> {
    for path in files()? {
        let vector = read(&path)?;
        let answers = run(&vector, &mut Native)?;
        bless(&path, &vector, &answers)?;
    }
    Ok(())
}

#[test]
fn every_vector_holds_natively() {
    if std::env::var_os("BLESS").is_some() {
        bless_all().unwrap();
    }
    let failures = failures(&mut Native).unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
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
    assert!(rules.len() >= 300, "only {} vectors", rules.len());
}
