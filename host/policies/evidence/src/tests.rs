//! The evidence as a document, artifacts, settings and depth.

use std::cell::RefCell;

use serde_json::json;

use super::depth::{Depth, Limit, Mark};
use super::*;

fn finding(id: &str, outcome: FindingOutcome, tests: Option<TestCounts>) -> Finding {
    Finding {
        id: id.to_owned(),
        kind: "command".to_owned(),
        outcome,
        reason: format!("{id} ran"),
        tests,
        exit: None,
    }
}

fn counts(passed: u32, failed: u32, skipped: u32) -> TestCounts {
    TestCounts {
        passed,
        failed,
        skipped,
    }
}

fn info(name: &str, size: usize) -> ArtifactInfo {
    ArtifactInfo {
        name: name.to_owned(),
        size: size as u64,
        digest: "d1".to_owned(),
        fresh: true,
    }
}

/// Evidence of artifacts alone.
fn with_artifacts(contents: &[(&str, &[u8])]) -> (Evidence, ArtifactsInMemory) {
    let mut artifacts = ArtifactsInMemory::default();
    let mut evidence = Evidence::default();
    for (name, bytes) in contents {
        evidence.artifacts.push(info(name, bytes.len()));
        artifacts.0.insert((*name).to_owned(), bytes.to_vec());
    }
    (evidence, artifacts)
}

fn whole(evidence: &Evidence, artifacts: &dyn Artifacts) -> Result<Document, LoadError> {
    document(evidence, artifacts, |_| true)
}

/// The value of one artifact's variable.
fn content(bytes: &[u8]) -> Result<serde_json::Value, LoadError> {
    let (evidence, artifacts) = with_artifacts(&[("a", bytes)]);
    Ok(whole(&evidence, &artifacts)?["a"].clone())
}

// The document

#[test]
fn checks_are_found_by_their_id() {
    let mut failed = finding("build", FindingOutcome::Fail, Some(counts(3, 2, 1)));
    failed.exit = Some(101);
    let evidence = Evidence {
        iteration: 7,
        findings: vec![finding("lint", FindingOutcome::Pass, None), failed],
        artifacts: vec![info("report.xml", 12)],
    };
    let document = whole(&evidence, &ArtifactsInMemory::default()).unwrap();
    assert_eq!(
        serde_json::Value::Object(document),
        json!({
            "iteration": 7,
            "checks": {
                "lint": {"kind": "command", "outcome": "pass", "passed": true, "reason": "lint ran"},
                "build": {
                    "kind": "command", "outcome": "fail", "passed": false, "reason": "build ran",
                    "tests": {"passed": 3, "failed": 2, "skipped": 1, "total": 6}, "exit": 101
                }
            },
            "tests": {"passed": 3, "failed": 2, "skipped": 1, "total": 6},
            "artifacts": {"report.xml": {"size": 12, "digest": "d1", "fresh": true}}
        })
    );
}

#[test]
fn only_pass_is_passed_and_each_outcome_has_its_word() {
    let outcomes = [
        (FindingOutcome::Pass, "pass"),
        (FindingOutcome::Fail, "fail"),
        (FindingOutcome::Unknown, "unknown"),
        (FindingOutcome::Error, "error"),
        (FindingOutcome::Timeout, "timeout"),
        (FindingOutcome::Flaky, "flaky"),
    ];
    for (outcome, word) in outcomes {
        let evidence = Evidence {
            findings: vec![finding("a", outcome, None)],
            ..Evidence::default()
        };
        let document = whole(&evidence, &ArtifactsInMemory::default()).unwrap();
        let check = &document["checks"]["a"];
        assert_eq!(check["outcome"], word);
        assert_eq!(check["passed"], word == "pass");
    }
}

#[test]
fn tests_are_summed_over_all_checks_without_overflow() {
    let evidence = Evidence {
        findings: vec![
            finding("a", FindingOutcome::Pass, Some(counts(u32::MAX, 1, 0))),
            finding("b", FindingOutcome::Pass, None),
            finding("c", FindingOutcome::Pass, Some(counts(u32::MAX, 0, 2))),
        ],
        ..Evidence::default()
    };
    let document = whole(&evidence, &ArtifactsInMemory::default()).unwrap();
    assert_eq!(
        document["tests"],
        json!({"passed": 8_589_934_590_u64, "failed": 1, "skipped": 2, "total": 8_589_934_593_u64})
    );
}

#[test]
fn without_a_check_that_counts_there_are_no_tests() {
    let evidence = Evidence {
        findings: vec![finding("a", FindingOutcome::Pass, None)],
        ..Evidence::default()
    };
    let document = whole(&evidence, &ArtifactsInMemory::default()).unwrap();
    assert_eq!(document.get("tests"), None);
}

// Artifacts

#[test]
fn an_artifact_is_its_json_value_or_else_its_text() {
    assert_eq!(content(br#"{"line": 83.5}"#), Ok(json!({"line": 83.5})));
    assert_eq!(content(b" [1, 2]\n"), Ok(json!([1, 2])));
    assert_eq!(content(b"42"), Ok(json!(42)));
    assert_eq!(content(b"{\"line\": "), Ok(json!("{\"line\": ")));
    assert_eq!(
        content("# Änderungen".as_bytes()),
        Ok(json!("# Änderungen"))
    );
    assert_eq!(content(b""), Ok(json!("")));
}

#[test]
fn json_that_is_too_deep_to_read_is_text() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    assert_eq!(content(deep.as_bytes()), Ok(json!(deep)));
}

#[test]
fn a_binary_artifact_is_refused_at_its_first_byte_that_is_no_text() {
    let error = content(b"PNG\xff\xfe").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the artifact `a` is neither JSON nor text: byte 3 is not UTF-8"
    );
}

#[test]
fn an_artifact_that_is_too_large_is_refused_without_being_read() {
    let evidence = Evidence {
        artifacts: vec![info("a", 4 * 1024 * 1024 + 1)],
        ..Evidence::default()
    };
    let error = whole(&evidence, &ArtifactsInMemory::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the artifact `a` is too large: it has 4194305 bytes, and at most 4194304 are loaded"
    );
}

#[test]
fn an_artifact_of_the_largest_size_is_loaded() {
    let text = "x".repeat(4 * 1024 * 1024);
    assert_eq!(content(text.as_bytes()), Ok(json!(text)));
}

#[test]
fn an_artifact_that_grows_beyond_its_size_is_refused() {
    struct Endless;
    impl Artifacts for Endless {
        fn read(&self, _: &str, _: u64, length: u32) -> Result<Vec<u8>, ReadError> {
            Ok(vec![b'x'; length as usize])
        }
    }
    let (evidence, _) = with_artifacts(&[("a", b"x")]);
    let error = whole(&evidence, &Endless).unwrap_err();
    assert!(matches!(error, LoadError::TooLarge { .. }), "{error}");
}

#[test]
fn artifacts_with_too_many_values_together_are_refused() {
    let half = format!("[{}1]", "1,".repeat(60_000));
    let (evidence, artifacts) = with_artifacts(&[("a", half.as_bytes()), ("b", half.as_bytes())]);
    let document = document(&evidence, &artifacts, |name| name == "a").unwrap();
    assert_eq!(document["a"].as_array().map(Vec::len), Some(60_001));
    let error = whole(&evidence, &artifacts).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the artifact `b` is too large: with it there are 120004 JSON values, and at most 100000 are loaded"
    );
}

#[test]
fn marks_in_a_text_that_is_no_json_are_no_values() {
    let text = "a,".repeat(200_000);
    assert_eq!(content(text.as_bytes()), Ok(json!(text)));
}

#[test]
fn an_artifact_is_read_piece_by_piece_however_small_the_pieces_are() {
    struct Stingy(ArtifactsInMemory, RefCell<u32>);
    impl Artifacts for Stingy {
        fn read(&self, name: &str, offset: u64, length: u32) -> Result<Vec<u8>, ReadError> {
            *self.1.borrow_mut() += 1;
            self.0.read(name, offset, length.min(3))
        }
    }
    let (evidence, artifacts) = with_artifacts(&[("a", b"12345678")]);
    let stingy = Stingy(artifacts, RefCell::new(0));
    assert_eq!(whole(&evidence, &stingy).unwrap()["a"], 12_345_678);
    assert_eq!(*stingy.1.borrow(), 4);
}

#[test]
fn an_artifact_that_ends_early_or_can_t_be_read_is_refused() {
    struct Refuses;
    impl Artifacts for Refuses {
        fn read(&self, _: &str, _: u64, _: u32) -> Result<Vec<u8>, ReadError> {
            Err(ReadError::LimitReached)
        }
    }
    let (mut evidence, artifacts) = with_artifacts(&[("a", b"12")]);
    evidence.artifacts[0].size = 3;
    let error = whole(&evidence, &artifacts).unwrap_err().to_string();
    assert_eq!(error, "the artifact `a` ends after 2 of 3 bytes");

    let error = whole(&evidence, &Refuses).unwrap_err().to_string();
    assert_eq!(
        error,
        "the artifact `a` can't be read: the host's limit on bytes read in one evaluation is used up"
    );
}

#[test]
fn only_what_is_mentioned_is_read() {
    let evidence = Evidence {
        artifacts: vec![info("a", 1)],
        ..Evidence::default()
    };
    let unreadable = ArtifactsInMemory::default();
    let document = document(&evidence, &unreadable, |_| false).unwrap();
    assert_eq!(document.get("a"), None);
    assert_eq!(document["artifacts"]["a"]["size"], 1);
}

#[test]
fn only_plain_identifiers_that_are_free_become_variables() {
    let names = [
        ("coverage", true),
        ("_x1", true),
        ("report.xml", false),
        ("my-report", false),
        ("1st", false),
        ("", false),
        ("größe", false),
        ("checks", false),
        ("tests", false),
        ("iteration", false),
        ("artifacts", false),
    ];
    for (name, expected) in names {
        let (evidence, artifacts) = with_artifacts(&[(name, b"\"mine\"")]);
        let document = whole(&evidence, &artifacts).unwrap();
        assert_eq!(
            document.get(name) == Some(&json!("mine")),
            expected,
            "{name}"
        );
    }
}

// Settings

const SETTINGS: &[Setting] = &[
    Setting {
        name: "expr",
        required: true,
        about: "What must hold.",
    },
    Setting {
        name: "message",
        required: false,
        about: "What to say.",
    },
];

#[test]
fn settings_that_fit_are_read() {
    let settings = Settings::read(SETTINGS, r#"{"expr": "a", "message": "b"}"#).unwrap();
    assert_eq!(settings.required("expr"), "a");
    assert_eq!(settings.get("message"), Some("b"));
    let settings = Settings::read(SETTINGS, r#"{"expr": ""}"#).unwrap();
    assert_eq!(settings.get("message"), None);
}

#[test]
fn settings_that_do_not_fit_are_refused_with_what_and_where() {
    let cases = [
        (
            "",
            "the settings are no JSON: EOF while parsing a value at line 1 column 0",
        ),
        ("[]", "the settings must be an object, and are a list"),
        ("{}", "the setting `expr` is missing: What must hold."),
        (
            r#"{"expr": 1}"#,
            "the setting `expr` must be a text, and is a number",
        ),
        (
            r#"{"expr": "a", "msg": "b"}"#,
            "there is no setting `msg`; there are `expr` and `message`",
        ),
    ];
    for (text, expected) in cases {
        let error = Settings::read(SETTINGS, text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn the_schema_says_what_the_reader_demands() {
    let schema: serde_json::Value = serde_json::from_str(&settings::schema(SETTINGS)).unwrap();
    assert_eq!(schema["required"], json!(["expr"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        schema["properties"]["message"]["description"],
        "What to say."
    );
}

// Depth

/// Measures brackets, commas, and `+` for an operator.
fn depth(text: &str) -> Result<u32, depth::TooDeep> {
    let mut depth = Depth::new(Limit {
        bracket: 10,
        most: 50,
    });
    for character in text.chars() {
        match character {
            '(' => depth.see(Mark::Open),
            ')' => depth.see(Mark::Close),
            ',' => depth.see(Mark::Separator),
            '+' => depth.see(Mark::Operator),
            _ => {}
        }
    }
    depth.finish()
}

#[test]
fn the_depth_counts_what_can_stand_above_one_another() {
    let cases = [
        ("a", 0),
        ("a + b + c", 2),
        ("a, b + c, d", 1),
        ("(a)", 11),
        ("((a))", 22),
        ("(a)(b)", 12),
        // Whatever follows the deepest part stands above it.
        ("(a + b) + c + d", 14),
        ("(a, b + c, d) + e", 13),
        ("(a, (b), c), d", 22),
    ];
    for (text, expected) in cases {
        assert_eq!(depth(text), Ok(expected), "{text}");
    }
}

#[test]
fn brackets_that_do_not_match_change_nothing_for_the_worse() {
    assert_eq!(depth("a) + b"), Ok(1));
    assert_eq!(depth("((a"), Ok(22));
}

#[test]
fn what_is_too_deep_is_refused_with_value_and_limit() {
    let error = depth(&"(".repeat(5)).unwrap_err();
    assert_eq!((error.depth, error.most), (55, 50));
    assert!(depth(&"a+".repeat(50)).is_ok());
    assert!(depth(&"a+".repeat(51)).is_err());
    assert!(depth(&"(".repeat(1_000_000)).is_err());
}

// Reasons

#[test]
fn quotes_are_short_and_on_one_line() {
    assert_eq!(quoted("a\n   && b"), "`a && b`");
    let long = quoted(&"ä".repeat(300));
    assert_eq!(long, format!("`{}…`", "ä".repeat(200)));
}
