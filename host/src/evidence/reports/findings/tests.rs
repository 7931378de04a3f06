//! What is taken for a finding, and how bad it is.

use ralph_gate_component::Word as _;

use super::*;

fn found(text: &str) -> Vec<Finding> {
    read_findings(text.as_bytes(), None).unwrap()
}

fn severities(text: &str) -> Vec<&'static str> {
    found(text)
        .iter()
        .map(|finding| finding.severity.as_str())
        .collect()
}

fn refused(text: &str) -> String {
    read_findings(text.as_bytes(), None)
        .unwrap_err()
        .to_string()
}

fn sarif(rules: &str, results: &str) -> String {
    format!(
        r#"{{"version":"2.1.0","runs":[{{"tool":{{"driver":{{"name":"t","rules":[{rules}]}}}},"results":[{results}]}}]}}"#
    )
}

#[test]
fn a_sarif_report_is_read_in_order() {
    let found = read_findings(include_bytes!("../fixtures/findings.sarif"), None).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|finding| {
            let place = finding.place.as_deref().unwrap_or("-");
            (
                finding.severity.as_str(),
                finding.rule.as_str(),
                finding.message.as_str(),
                place,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "critical",
                "injection",
                "query built from input",
                "src/db.py:12"
            ),
            ("low", "style", "line too long", "src/a.py"),
            ("medium", "extension/weak-hash", "weak hash", "-"),
            ("high", "unknown", "", "-"),
        ]
    );
}

#[test]
fn the_level_decides_without_a_score_and_is_a_warning_if_absent() {
    let results = r#"{"level":"error"},{"level":"warning"},{"level":"note"},{"level":"none"},{},{"level":"new"},{"level":7}"#;
    assert_eq!(
        severities(&sarif("", results)),
        ["high", "medium", "low", "info", "medium", "high", "high"]
    );
}

#[test]
fn the_score_of_the_rule_wins_over_the_level() {
    let scores = [
        "\"9.0\"", "\"7\"", "4.0", "\"0.1\"", "\"0.0\"", "\"bad\"", "\"NaN\"", "-1",
    ];
    let rules = scores.map(|score| format!(r#"{{"properties":{{"security-severity":{score}}}}}"#));
    let results: Vec<_> = (0..scores.len())
        .map(|index| format!(r#"{{"ruleIndex":{index},"level":"note"}}"#))
        .collect();
    assert_eq!(
        severities(&sarif(&rules.join(","), &results.join(","))),
        [
            "critical", "high", "medium", "low", "low", "high", "high", "high"
        ]
    );
}

#[test]
fn a_rule_is_found_by_its_place_or_its_name() {
    let rules = r#"{"id":"a","defaultConfiguration":{"level":"error"}},{"id":"b","defaultConfiguration":{"level":"note"}}"#;
    let results = r#"{"ruleIndex":1},{"ruleId":"a"},{"ruleId":"b/1"},{"ruleId":"a","ruleIndex":1},{"ruleId":"c","ruleIndex":-1},{"rule":{"id":"b"}},{"ruleIndex":9}"#;
    assert_eq!(
        severities(&sarif(rules, results)),
        ["low", "high", "low", "high", "medium", "low", "medium"]
    );
}

#[test]
fn only_accepted_suppressions_leave_a_result_out() {
    let results = [
        r#"{"ruleId":"comment","suppressions":[{"kind":"inSource"}]}"#,
        r#"{"suppressions":[{"kind":"external"}]}"#,
        r#"{"suppressions":[{"status":"accepted"}]}"#,
        r#"{"ruleId":"empty","suppressions":[]}"#,
        r#"{"ruleId":"review","suppressions":[{"status":"underReview"}]}"#,
        r#"{"ruleId":"both","suppressions":[{"status":"accepted"},{"status":"rejected"}]}"#,
    ];
    let found = found(&sarif("", &results.join(",")));
    let rules: Vec<_> = found.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["comment", "empty", "review", "both"]);
}

#[test]
fn what_is_no_failure_is_left_out_and_an_unknown_kind_is_not() {
    let results = r#"{"kind":"pass"},{"kind":"notApplicable"},{"kind":"informational"},{"kind":"fail"},{"kind":"new"},{"baselineState":"absent"}"#;
    assert_eq!(severities(&sarif("", results)).len(), 2);
}

#[test]
fn a_run_that_could_not_tell_is_an_error() {
    assert_eq!(
        refused(r#"{"version":"2.1.0","runs":[{"tool":{}}]}"#),
        "the findings can't be read: run 1 has no results, so it is not known what there is"
    );
    refused(r#"{"version":"2.1.0","runs":[{"results":null}]}"#);
    refused(r#"{"version":"2.1.0","runs":[]}"#);
    refused(
        r#"{"version":"2.1.0","runs":[{"results":[],"invocations":[{"executionSuccessful":false}]}]}"#,
    );
    refused(r#"{"version":"1.0.0","runs":[{"results":[]}]}"#);
    assert!(found(&sarif("", "")).is_empty());
}

#[test]
fn every_word_of_a_plain_list_has_its_severity() {
    let words = [
        ("info", "info"),
        ("Note", "info"),
        ("none", "info"),
        ("negligible", "info"),
        ("LOW", "low"),
        ("medium", "medium"),
        ("moderate", "medium"),
        ("warning", "medium"),
        ("high", "high"),
        ("ERROR", "high"),
        ("critical", "critical"),
        ("Blocker", "critical"),
        ("unheard-of", "high"),
    ];
    for (word, severity) in words {
        for field in ["severity", "level", "risk"] {
            let text = format!(r#"[{{"{field}":"{word}"}}]"#);
            assert_eq!(severities(&text), [severity], "{text}");
        }
    }
}

#[test]
fn an_entry_without_a_readable_severity_is_high() {
    assert_eq!(
        severities(r#"[{}, {"severity":2}, {"severity":null}, {"severity":["low"]}]"#),
        ["high"; 4]
    );
    assert_eq!(
        severities(r#"[{"severity":"low","risk":"critical"}]"#),
        ["critical"]
    );
}

#[test]
fn lists_have_several_names_and_forms() {
    for name in ["findings", "results", "issues", "vulnerabilities"] {
        assert_eq!(
            severities(&format!(r#"{{"{name}":[{{"severity":"low"}}]}}"#)),
            ["low"]
        );
        assert!(found(&format!(r#"{{"{name}":[]}}"#)).is_empty());
    }
    let by_name = found(r#"{"vulnerabilities":{"lodash":{"severity":"moderate","via":[1]}}}"#);
    assert_eq!(by_name[0].rule, "lodash");
    let both = r#"{"findings":[{"severity":"low"}],"issues":[{"severity":"high"}]}"#;
    assert_eq!(severities(both), ["low", "high"]);
}

#[test]
fn the_parts_of_an_entry_are_found_under_their_names() {
    let text = r#"[{"severity":"low","id":17,"title":"t\u0007","file":"f.rs"},{"rule":"r","id":"i","message":{"x":1},"description":"d","path":"p","file":"f"}]"#;
    let found = found(text);
    assert_eq!(
        found[0],
        Finding::new(Severity::Low, "17", "t\u{fffd}", Some("f.rs"))
    );
    assert_eq!(found[1], Finding::new(Severity::High, "r", "d", Some("p")));
}

#[test]
fn a_file_of_neither_form_is_an_error() {
    assert_eq!(
        refused("{}"),
        "the findings can't be read: there is neither a SARIF run nor a list of findings"
    );
    for text in [
        "",
        "null",
        "7",
        "[1]",
        "[",
        "[] []",
        r#"{"findings":7}"#,
        r#"{"issues":null}"#,
        r#"{"results":["x"]}"#,
        r#"{"vulnerabilities":{"found":true}}"#,
        r#"{"findings":[],"findings":[]}"#,
    ] {
        let message = refused(text);
        assert!(
            !message.contains("struct") && !message.contains("Listed"),
            "{message}"
        );
    }
}

#[test]
fn there_are_no_more_entries_than_the_limit() {
    let many = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
    assert_eq!(found(&many(100_000)).len(), 100_000);
    assert!(refused(&many(100_001)).contains("a list has more than 100000 entries"));
}

#[test]
fn deep_nesting_is_an_error() {
    refused(&"[".repeat(1_000_000));
    refused(&format!("[{{\"x\":{}", "[".repeat(1_000_000)));
}

#[test]
fn severities_are_ordered_and_have_names() {
    assert!(Severity::ALL.is_sorted());
    for severity in Severity::ALL.iter().copied() {
        assert_eq!(Severity::parse(severity.as_str()), Some(severity));
    }
    assert_eq!(Severity::parse("High"), None);
}

#[test]
fn findings_without_a_level_have_the_one_that_is_set() {
    let leak = r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"gitleaks","rules":[{"id":"aws"}]}},
        "results":[{"ruleId":"aws","message":{"text":"a secret"}},{"ruleId":"aws","level":"note"}]}]}"#;
    let severities = |text: &str, level| -> Vec<Severity> {
        let found = read_findings(text.as_bytes(), level).unwrap();
        found.iter().map(|finding| finding.severity).collect()
    };
    assert_eq!(severities(leak, None), [Severity::Medium, Severity::Low]);
    let critical = Some(Severity::Critical);
    assert_eq!(
        severities(leak, critical),
        [Severity::Critical, Severity::Low]
    );
    let list = r#"[{"id":"a"},{"id":"b","severity":"low"}]"#;
    assert_eq!(severities(list, None), [Severity::High, Severity::Low]);
    assert_eq!(
        severities(list, Some(Severity::Info)),
        [Severity::Info, Severity::Low]
    );
}
