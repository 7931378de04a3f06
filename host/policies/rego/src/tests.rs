//! What passes, what fails, and what can't be told.

use std::thread;

use ralph_gate_policy_evidence::{
    ArtifactInfo, ArtifactsInMemory, Evidence, Finding, FindingOutcome, Judgement, Outcome, Policy,
    TestCounts,
};
use serde_json::json;

use crate::Rego;

/// A check that counted tests, and these artifacts.
fn evidence() -> (Evidence, ArtifactsInMemory) {
    let contents: [(&str, &[u8]); 4] = [
        (
            "coverage",
            br#"{"line": 71.5, "files": [{"name": "a.rs", "line": 90}]}"#,
        ),
        ("notes", b"all done\n"),
        ("image", b"\x89PNG\xff"),
        ("to-do", b"[]"),
    ];
    let finding = Finding {
        id: "unit".to_owned(),
        kind: "tests_green".to_owned(),
        outcome: FindingOutcome::Pass,
        reason: String::new(),
        tests: Some(TestCounts {
            passed: 10,
            failed: 2,
            skipped: 1,
        }),
        exit: Some(0),
    };
    let info = |(name, bytes): &(&str, &[u8])| ArtifactInfo {
        name: (*name).to_owned(),
        size: bytes.len() as u64,
        digest: "d1".to_owned(),
        fresh: true,
    };
    let evidence = Evidence {
        iteration: 3,
        findings: vec![finding],
        artifacts: contents.iter().map(info).collect(),
    };
    let contents = contents.map(|(name, bytes)| (name.to_owned(), bytes.to_vec()));
    (evidence, ArtifactsInMemory(contents.into()))
}

fn judge_by(settings: &serde_json::Value) -> Judgement {
    let (evidence, artifacts) = evidence();
    Rego::evaluate(&evidence, &artifacts, &settings.to_string())
}

/// Judges by these rules in the package `gate`, which begin in line 2.
fn judge(rules: &str) -> Judgement {
    judge_by(&json!({"module": format!("package gate\n{rules}")}))
}

#[track_caller]
fn passes(rules: &str) {
    assert_eq!(judge(rules), Judgement::pass(), "{rules}");
}

#[track_caller]
fn fails(rules: &str, reasons: &[&str]) {
    let judgement = judge(rules);
    assert_eq!(judgement.outcome, Outcome::Fail, "{rules}: {judgement:?}");
    assert_eq!(judgement.reasons, reasons, "{rules}");
}

#[track_caller]
fn is_unknown(rules: &str, reason: &str) {
    let judgement = judge(rules);
    assert_eq!(
        judgement.outcome,
        Outcome::Unknown,
        "{rules}: {judgement:?}"
    );
    assert_eq!(judgement.reasons, [reason], "{rules}");
}

// What a module sees

#[test]
fn every_part_of_the_evidence_is_in_the_input() {
    passes("allow if input.iteration == 3");
    passes("allow if { input.checks.unit.passed; input.checks[\"unit\"].outcome == \"pass\" }");
    passes("allow if { input.tests.failed == 2; input.tests.total == 13 }");
    passes("allow if input.artifacts[\"to-do\"].size == 2");
    passes("allow if every check in input.checks { check.kind == \"tests_green\" }");
}

#[test]
fn an_artifact_of_json_is_its_value_and_another_one_its_text() {
    passes("allow if input.coverage.files[0].name == \"a.rs\"");
    passes("allow if { some file in input[\"coverage\"].files; file.line >= 90.0 }");
    passes("allow if startswith(input.notes, \"all\")");
    passes("import input.coverage as covered\nallow if covered.line > 71");
}

#[test]
fn whole_and_broken_numbers_compare() {
    passes(
        "allow if { input.coverage.line >= 71; input.coverage.line < 72.0; input.iteration == 3.0 }",
    );
}

#[test]
fn what_is_not_mentioned_is_not_loaded() {
    passes("allow if not input[concat(\"\", [\"cover\", \"age\"])]");
    passes("allow if input.artifacts[concat(\"\", [\"im\", \"age\"])].size == 5");
}

#[test]
fn an_artifact_that_is_mentioned_but_can_t_be_loaded_is_named() {
    is_unknown(
        "default allow := true\ndeny contains \"too red\" if input.image.red > 1",
        "the artifact `image` is neither JSON nor text: byte 0 is not UTF-8",
    );
    passes("allow if input.iteration == 3 # imaged, an_image");
}

#[test]
fn pure_functions_are_there() {
    passes(r"allow if regex.match(`^\w+\s\d?`, input.notes)");
    passes(r#"allow if regex.match("(?i)ALL", input.notes)"#);
    passes(r#"allow if semver.compare("1.2.0", "1.10.0") < 0"#);
    passes(r#"allow if base64.decode("YQ==") == "a""#);
    passes(r#"allow if hex.encode("a") == "61""#);
    passes(r#"allow if { walk(input.coverage, [["line"], value]); value > 71 }"#);
    passes(r#"allow if json.unmarshal("{\"a\": 1}").a == 1"#);
}

#[test]
fn there_is_no_clock_network_or_randomness() {
    for call in [
        "time.now_ns()",
        "http.send({})",
        "rand.intn(\"a\", 3)",
        "uuid.rfc4122(\"\")",
        "opa.runtime()",
        "net.lookup_ip_addr(\"localhost\")",
    ] {
        let judgement = judge(&format!("allow if {call}"));
        assert_eq!(judgement.outcome, Outcome::Unknown, "{call}");
        let reason = &judgement.reasons[0];
        assert!(reason.contains("could not find function"), "{reason}");
    }
}

// True and false

#[test]
fn by_default_allow_of_the_package_decides() {
    passes("allow := true");
    fails(
        "default allow := false\nallow if input.tests.failed == 0",
        &["`data.gate.allow` is false"],
    );
    let module = "package deeply.nested[\"my gate\"]\nallow := false";
    assert_eq!(
        judge_by(&json!({"module": module})).reasons,
        ["`data.deeply.nested[\"my gate\"].allow` is false"]
    );
}

#[test]
fn a_query_takes_its_place() {
    let module = "package gate\nallow := false\ngood if input.iteration == 3\nbad := false";
    let judge = |query: &str| judge_by(&json!({"module": module, "query": query}));
    assert_eq!(judge("data.gate.good"), Judgement::pass());
    assert_eq!(judge("data.gate.bad").reasons, ["`data.gate.bad` is false"]);
    assert_eq!(judge("count(input.coverage.files) == 1"), Judgement::pass());
    for (query, reason) in [
        (
            "data.gate.missing",
            "`data.gate.missing` is undefined: no rule for it applies, and there is no `default`",
        ),
        ("1; 2", "`1; 2` has 2 values, and must have one"),
        (
            "input.iteration",
            "`input.iteration` is neither true nor false, but a number",
        ),
        (
            "1 +",
            "`1 +` can't be evaluated: expecting an expression (line 1, column 1 of the query)",
        ),
    ] {
        let judgement = judge(query);
        assert_eq!(judgement.outcome, Outcome::Unknown, "{query}");
        assert_eq!(judgement.reasons, [reason]);
    }
}

#[test]
fn what_is_denied_fails_whatever_is_allowed() {
    fails(
        "allow := true\ndeny contains \"too few\" if input.tests.total < 20\ndeny contains \"no!\"\ndeny contains \"never\" if false",
        &["no!", "too few"],
    );
    fails(
        "deny := [\"one\", {\"msg\": \"two\"}]",
        &["one", r#"{"msg":"two"}"#],
    );
    fails(
        "deny contains sprintf(\"%d failed\", [input.tests.failed])",
        &["2 failed"],
    );
}

#[test]
fn a_deny_that_is_empty_or_undefined_leaves_it_to_allow() {
    passes("allow := true\ndeny contains \"never\" if false");
    passes("allow := true\ndeny := [\"never\"] if false");
    passes("allow := true\ndeny := []");
    fails(
        "allow := false\ndeny contains \"never\" if false",
        &["`data.gate.allow` is false"],
    );
}

// Neither

#[test]
fn without_allow_nothing_passes() {
    is_unknown(
        "deny contains \"never\" if false",
        "the package `data.gate` has no rule `allow`: add one, or name what must be true in `query`",
    );
}

#[test]
fn undefined_is_neither_true_nor_false() {
    is_unknown(
        "allow if input.coverage.branch > 80",
        "`data.gate.allow` is undefined: no rule for it applies, and there is no `default`",
    );
}

#[test]
fn what_is_no_boolean_is_neither_true_nor_false() {
    is_unknown(
        "allow := \"yes\"",
        "`data.gate.allow` is neither true nor false, but a text",
    );
    is_unknown(
        "allow contains 1",
        "`data.gate.allow` is neither true nor false, but a set",
    );
    is_unknown(
        "allow := true\ndeny := true",
        "`data.gate.deny` must be a set or list of texts, and is a boolean",
    );
}

#[test]
fn a_mistake_is_reported_with_its_place() {
    is_unknown(
        "allow if {\n  input.iteration ==\n}",
        "expecting expression (line 4, column 1 of the module)",
    );
    is_unknown(
        "allow if iteration == 3",
        "`data.gate.allow` can't be evaluated: use of undefined variable `iteration` is unsafe (line 2, column 10 of the module)",
    );
    is_unknown(
        "allow if counts(input.checks) == 1",
        "`data.gate.allow` can't be evaluated: could not find function counts (line 2, column 16 of the module)",
    );
    is_unknown(
        "allow if 1 / 0 == 1",
        "`data.gate.allow` can't be evaluated: divide by zero (line 2, column 12 of the module)",
    );
    let judgement = judge_by(&json!({"module": "allow := true"}));
    assert_eq!(
        judgement.reasons,
        ["expecting `package` Missing package declaration. (line 1, column 1 of the module)"]
    );
}

#[test]
fn settings_that_do_not_fit_are_unknown() {
    for settings in [
        json!({}),
        json!({"module": 1}),
        json!({"module": "package a", "x": 1}),
        json!([]),
    ] {
        assert_eq!(judge_by(&settings).outcome, Outcome::Unknown, "{settings}");
    }
}

// Recursion

#[test]
fn functions_that_call_themselves_are_refused() {
    for rules in [
        "allow if f(3)\nf(x) if f(x - 1)",
        "allow if f(3)\nf(x) if\n  f(x - 1)",
        "allow if f(3)\nf(x) := g(x)\ng(x) := f(x)",
        "allow if f(3)\nf(x) := y if {\n  y := [f(z) | z := x][0]\n}",
        "allow if f(3)\nf(x) := r\nr := f(1)",
        "allow if f(3)\nf(x) := data.gate.f(x)",
        "allow if f(3)\nf(x) := data[\"gate\"].f(x)",
        "allow if f(3)\nf(x) := data[\"gate\"][\"f\"](x)",
        "allow if f(3)\nf(x) := data[`gate`][`f`](x)",
        "allow if f(3)\nf(x) := f\n(x)",
        "allow := true f(x) := f(x)",
        "allow := a.b(3)\na.b(x) := a.b(x)",
        "default f(x) := 1\nallow if f(3)\nf(x) := f(x)",
        "contains(x) := contains(x)\nallow if contains(3)",
        "allow if contains(3)\ncontains(x) := contains(x)",
        "allow if f(3)\nf(1) := 1\nf(x) := y if {x == 2\n y := 1 } else := f(x)",
    ] {
        let judgement = judge(rules);
        assert_eq!(judgement.outcome, Outcome::Unknown, "{rules}");
        let reason = &judgement.reasons[0];
        assert!(
            reason.contains("calls itself, which Rego does not allow"),
            "{rules}: {reason}"
        );
    }
}

#[test]
fn rules_that_depend_on_themselves_are_reported_by_the_engine() {
    let judgement = judge("allow if a\na if b\nb if a");
    assert_eq!(judgement.outcome, Outcome::Unknown);
    let reason = &judgement.reasons[0];
    assert!(reason.contains("recursion detected"), "{reason}");
}

#[test]
fn a_name_that_is_used_for_something_else_is_no_recursion() {
    passes("allow if tests.failed == 2\ntests := input.tests");
    passes(
        "allow if f(input.notes)\nf(x) if not x.f\nf(x) if x == \"f\"\nf(x) if x == input.f # f(x)",
    );
    passes(
        "allow if contains(input.notes, \"all\")\ndeny contains \"x\" if contains(input.notes, \"never\")",
    );
    passes("a.b := 1\na.c := a.b + 1\nallow if a.c == 2");
}

#[test]
fn importing_data_is_refused() {
    is_unknown(
        "import data.gate.f as g\nallow if f(1)\nf(x) := g(x)",
        "the module is refused: `import data` has no meaning here: there is no other module and no data",
    );
    passes("import rego.v1\nallow if 1 in [1]");
}

// Hostile texts

/// Runs on a stack of one mebibyte. That of a component is smaller, but so are its frames.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(1 << 20).spawn(work);
    thread.unwrap().join().unwrap();
}

/// Ways to make a tree deep: what is repeated, the middle, what is repeated after it.
const SHAPES: &[(&str, &str, &str)] = &[
    ("(", "true", ")"),
    ("[", "1", "]"),
    ("{", "1", "}"),
    ("{1: ", "1", "}"),
    ("{", "1", ": 1}"),
    ("-", "1", ""),
    ("- ", "input.iteration", ""),
    ("-(", "1", ")"),
    ("not ", "true", ""),
    ("", "1", " + 1"),
    ("", "1", "\n+\n1"),
    ("", "1", "-1"),
    ("1 * (", "1", ")"),
    ("", "1", " == 1"),
    ("", "{1}", " | {1}"),
    ("", "1", " in [1]"),
    ("", "input", ".a"),
    ("", "input", "[0]"),
    ("", "input.coverage", ".files[0]"),
    ("input[", "0", "]"),
    ("count(", "1", ")"),
    ("count([", "1", "])"),
    ("[x | x := ", "1", "]"),
    ("{x | x := ", "1", "}"),
    ("{x: y | x := 1; y := ", "1", "}"),
    ("[", "1", " | true]"),
    ("[x |\nx := ", "1", "\n]"),
    ("", "true", " with input.a as 1"),
    ("", "1", "\n== 1"),
    ("", "f", "\n(1)"),
    ("\"", "a", ""),
    ("\"\\\" + [", "1", "]"),
    ("`\\` + [", "1", "]"),
    ("# \"\n[", "1", "]"),
    ("\u{e4}[", "1", "]"),
    ("set(", "1", ")"),
];

fn repeated((before, middle, after): (&str, &str, &str), times: usize) -> String {
    before.repeat(times) + middle + &after.repeat(times)
}

#[test]
fn no_depth_of_any_shape_overflows_a_small_stack() {
    on_a_small_stack(|| {
        for shape in SHAPES {
            for times in (1..=140).step_by(3).chain([1_000, 6_000]) {
                let text = repeated(*shape, times);
                judge(&format!("allow := {text}"));
                judge(&format!("allow if {text}"));
                judge(&format!("allow if {{\n{text}\n}}"));
            }
        }
    });
}

#[test]
fn shapes_inside_one_another_do_not_overflow_a_small_stack() {
    on_a_small_stack(|| {
        for outer in SHAPES {
            for inner in SHAPES {
                for times in [2, 4, 6, 10, 30, 60] {
                    let inner = repeated(*inner, times);
                    let text = repeated((outer.0, &inner, outer.2), times);
                    judge(&format!("allow := {text}"));
                }
            }
        }
    });
}

#[test]
fn nested_statements_do_not_overflow_a_small_stack() {
    on_a_small_stack(|| {
        for times in (1..=40).chain([1_000]) {
            let every = repeated(("every x in [1] {\n", "true", "\n}"), times);
            judge(&format!("allow if {{\n{every}\n}}"));
        }
        for statement in [
            "some x{} in [1]\n",
            "x{} := 1\n",
            "[1][x{}]\n",
            "not false\n",
            "walk(input, x{})\n",
        ] {
            let numbered = (0..150).map(|n: u32| statement.replace("{}", &n.to_string()));
            judge(&format!("allow if {{\n{}}}", numbered.collect::<String>()));
        }
        let alternatives = "else := true if 1 == 2\n".repeat(500);
        judge(&format!("allow if 1 == 2\n{alternatives}"));
    });
}

/// Rules that refer to the next one, a number of times.
fn chain(rule: &str, last: &str, times: usize) -> String {
    let number = |text: &str, n: usize| {
        text.replace("<n>", &n.to_string())
            .replace("<next>", &(n + 1).to_string())
    };
    let rules: String = (0..times).map(|n| number(rule, n) + "\n").collect();
    format!("allow if r0\n{rules}{}", number(last, times))
}

#[test]
fn no_chain_of_rules_overflows_a_small_stack() {
    on_a_small_stack(|| {
        for (rule, last) in [
            ("r<n> if r<next>", "r<n> := true"),
            ("r<n> := r<next>", "r<n> := true"),
            ("r<n> := [[r<next>] | true][0][0]", "r<n> := true"),
            (
                "r<n> := [[[[[[[[[r<next>]]]]]]]]][0][0][0][0][0][0][0][0][0]",
                "r<n> := true",
            ),
            (
                "r<n> if every x in [1] { every y in [2] { every z in [3] { r<next> } } }",
                "r<n> := true",
            ),
            ("r<n> contains x if some x in r<next>", "r<n> := {true}"),
            ("r<n>[x] := y if some x, y in r<next>", "r<n> := {1: true}"),
            ("r<n> := data.gate.r<next>", "r<n> := true"),
            (
                "r<n> := data.gate[concat(\"\", [\"r\", \"<next>\"])]",
                "r<n> := true",
            ),
            ("r<n> := f<n>(1)\nf<n>(x) := r<next>", "r<n> := true"),
            (
                "r<n> := y if { y := [z | some z in [r<next>]][_] }",
                "r<n> := true",
            ),
        ] {
            for times in (1..=70).chain([200, 900]) {
                let judgement = judge(&chain(rule, last, times));
                if times < 3 {
                    assert_eq!(judgement, Judgement::pass(), "{rule} {times}");
                }
            }
        }
    });
}

#[test]
fn what_is_too_deep_is_refused_with_value_and_limit() {
    is_unknown(
        &format!("allow := {}", repeated(("[", "1", "]"), 20)),
        "the module is refused: it is nested too deeply: 261 operators and brackets (which count as 12 each) are inside one another, and at most 130 may be",
    );
    is_unknown(
        &chain("r<n> := r<next>", "r<n> := true", 100),
        "the module is refused: rules refer to rules too deeply, beginning with `allow`: together they count as more than 500",
    );
    let judgement = judge(&chain(
        "r<n> := data.gate[concat(\"\", [\"r\", \"<next>\"])]",
        "r<n> := true",
        100,
    ));
    assert!(
        judgement.reasons[0].contains("in a circle or through `data`"),
        "{judgement:?}"
    );
}

#[test]
fn what_people_write_is_not_too_deep() {
    passes(
        r#"
        import rego.v1

        default allow := false

        allow if {
            count(deny) == 0
            all_passed
            well_covered
        }

        all_passed if every id, check in input.checks { check.passed == true }

        well_covered if input.coverage.line >= minimum

        minimum := 70 if input.iteration < 10 else := 60

        small := {file.name |
            some file in object.get(input, ["coverage", "files"], [])
            file.line < 50
        }

        deny contains message if {
            some name in small
            message := sprintf("%s is covered by %v of its lines only", [
                name,
                [file.line | some file in input.coverage.files; file.name == name][0],
            ])
        }

        deny contains sprintf("%d tests failed", [input.tests.failed]) if {
            input.tests.failed > 2
        }
        "#,
    );
    let rules: Vec<String> = (0..200)
        .map(|n| format!("deny contains \"{n}\" if input.tests.passed < {n} - 200"))
        .collect();
    passes(&format!("allow := true\n{}", rules.join("\n")));
    let body: Vec<String> = (0..200)
        .map(|n| format!("  input.tests.passed > {n} - 200"))
        .collect();
    passes(&format!("allow if {{\n{}\n}}", body.join("\n")));
}

#[test]
fn a_text_that_is_too_long_or_has_a_nul_is_refused() {
    let judgement = judge(&format!("allow := true # {}", "x".repeat(70_000)));
    assert_eq!(
        judgement.reasons,
        ["the module is too long: it has 70029 bytes, and at most 65536 are read"]
    );
    passes(&format!("allow := true # {}", "x".repeat(65_000)));
    passes(&format!("allow if \"{}\" != \"\"", "x".repeat(60_000)));
    is_unknown(
        &format!("allow := true # \0 {}", repeated(("[", "1", "]"), 20)),
        "the module has a NUL character at byte 29",
    );
    let judgement = judge_by(&json!({"module": "package a\nallow := true", "query": "\0"}));
    assert_eq!(
        judgement.reasons,
        ["the query has a NUL character at byte 0"]
    );
    let query = repeated(("[", "1", "]"), 20);
    let judgement = judge_by(&json!({"module": "package a\nallow := true", "query": query}));
    assert!(
        judgement.reasons[0].starts_with("the query is refused"),
        "{judgement:?}"
    );
}

#[test]
fn no_text_makes_the_policy_panic() {
    let pieces = [
        "allow",
        "x",
        "1",
        "1.5",
        "\"x\"",
        "`x`",
        "\"",
        "`",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ".",
        ",",
        ":",
        ";",
        ":=",
        "=",
        "==",
        "!",
        "-",
        "+",
        "*",
        "/",
        "%",
        "&",
        "|",
        "in",
        "if",
        "else",
        "contains",
        "some",
        "every",
        "not",
        "with",
        "as",
        "default",
        "import",
        "package",
        "true",
        "null",
        " ",
        "\n",
        "#",
        "\\",
        "é",
        "\u{1F980}",
        "\r",
        "\t",
        "1e",
        "input",
        "data",
        "set(",
        "count(",
        "deny",
        "_",
        "walk(",
    ];
    let mut state = 1_u64;
    let mut random = |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % end
    };
    for round in 0..20_000 {
        let length = 1 + round % 12;
        let text: String = (0..length)
            .map(|_| pieces[random(pieces.len())].to_owned() + [" ", ""][random(2)])
            .collect();
        judge(&text);
        judge(&format!("allow := {text}"));
        judge(&format!("allow if {{ {text} }}"));
    }
}
