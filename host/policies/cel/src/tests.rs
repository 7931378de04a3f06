//! What passes, what fails, and what can't be told.

use std::thread;

use cel::parser::{Parser, PrattParser};
use ralph_gate_policy_evidence::{
    ArtifactInfo, ArtifactsInMemory, Evidence, Finding, FindingOutcome, Judgement, Outcome, Policy,
    TestCounts,
};
use serde_json::json;

use crate::Cel;
use crate::expression::Expression;

fn finding(id: &str, outcome: FindingOutcome, tests: Option<TestCounts>) -> Finding {
    Finding {
        id: id.to_owned(),
        kind: "tests_green".to_owned(),
        outcome,
        reason: "2 of 12 failed".to_owned(),
        tests,
        exit: Some(1),
    }
}

/// Two checks that counted tests, and these artifacts.
fn evidence(contents: &[(&str, &[u8])]) -> (Evidence, ArtifactsInMemory) {
    let counts = |passed, failed, skipped| {
        Some(TestCounts {
            passed,
            failed,
            skipped,
        })
    };
    let mut evidence = Evidence {
        iteration: 3,
        findings: vec![
            finding("unit", FindingOutcome::Pass, counts(10, 0, 1)),
            finding("end-to-end", FindingOutcome::Fail, counts(10, 2, 0)),
            finding("lint", FindingOutcome::Timeout, None),
        ],
        artifacts: Vec::new(),
    };
    let mut artifacts = ArtifactsInMemory::default();
    for (name, bytes) in contents {
        evidence.artifacts.push(ArtifactInfo {
            name: (*name).to_owned(),
            size: bytes.len() as u64,
            digest: "d1".to_owned(),
            fresh: *name == "coverage",
        });
        artifacts.0.insert((*name).to_owned(), bytes.to_vec());
    }
    (evidence, artifacts)
}

fn judge_with(contents: &[(&str, &[u8])], expr: &str) -> Judgement {
    let (evidence, artifacts) = evidence(contents);
    Cel::evaluate(&evidence, &artifacts, &json!({"expr": expr}).to_string())
}

const COVERAGE: &[(&str, &[u8])] = &[
    (
        "coverage",
        br#"{"line": 71.5, "files": [{"name": "a.rs", "line": 90}]}"#,
    ),
    ("notes", b"all done\n"),
    ("image", b"\x89PNG\xff"),
];

fn judge(expr: &str) -> Judgement {
    judge_with(COVERAGE, expr)
}

#[track_caller]
fn passes(expr: &str) {
    assert_eq!(judge(expr), Judgement::pass(), "{expr}");
}

#[track_caller]
fn fails(expr: &str, reasons: &[&str]) {
    let judgement = judge(expr);
    assert_eq!(judgement.outcome, Outcome::Fail, "{expr}: {judgement:?}");
    assert_eq!(judgement.reasons, reasons, "{expr}");
}

#[track_caller]
fn is_unknown(expr: &str, reason: &str) {
    let judgement = judge(expr);
    assert_eq!(judgement.outcome, Outcome::Unknown, "{expr}: {judgement:?}");
    assert_eq!(judgement.reasons, [reason], "{expr}");
}

// What an expression sees

#[test]
fn every_part_of_the_evidence_can_be_asked_for() {
    passes("iteration == 3");
    passes(
        "checks.unit.passed && checks.unit.outcome == 'pass' && checks.unit.kind == 'tests_green'",
    );
    passes("checks['end-to-end'].outcome == 'fail' && checks['end-to-end'].exit == 1");
    passes("checks.lint.outcome == 'timeout' && !has(checks.lint.tests)");
    passes("checks.unit.tests.total == 11 && checks.unit.tests.skipped == 1");
    passes("checks.unit.reason.contains('2 of 12')");
    passes("artifacts.coverage.size == 55 && artifacts.coverage.digest == 'd1'");
    passes("artifacts.coverage.fresh && !artifacts.notes.fresh && !('other' in artifacts)");
    passes("checks.exists(id, checks[id].outcome == 'timeout') && size(checks) == 3");
}

#[test]
fn tests_are_the_sum_over_all_checks() {
    passes("tests.passed == 20 && tests.failed == 2 && tests.skipped == 1 && tests.total == 23");
    passes("double(tests.passed) / double(tests.total) > 0.85");
}

#[test]
fn an_artifact_of_json_is_its_value_and_another_one_its_text() {
    passes("coverage.line == 71.5 && coverage.files[0].name == 'a.rs'");
    passes("coverage.files.all(file, file.line >= 90)");
    passes("notes.startsWith('all') && notes.size() == 9");
}

#[test]
fn whole_and_broken_numbers_compare() {
    for line in ["83", "83.5", "83.0"] {
        let content = format!(r#"{{"line": {line}}}"#);
        let contents: &[(&str, &[u8])] = &[("coverage", content.as_bytes())];
        for (expr, outcome) in [
            ("coverage.line >= 80.0", Outcome::Pass),
            ("coverage.line >= 80", Outcome::Pass),
            ("80.0 <= coverage.line", Outcome::Pass),
            ("coverage.line > 84", Outcome::Fail),
            ("coverage.line > 84.0", Outcome::Fail),
            ("coverage.line in [1, 83, 83.5]", Outcome::Pass),
        ] {
            assert_eq!(
                judge_with(contents, expr).outcome,
                outcome,
                "{line}: {expr}"
            );
        }
    }
    passes("18446744073709551615u > 3 && tests.failed == 2.0");
}

#[test]
fn patterns_match_anywhere_and_know_their_classes() {
    passes(r"notes.matches('^all\\s\\w+') && matches(notes, 'done') && !notes.matches('\\d')");
    is_unknown(
        "notes.matches('(')",
        "`notes.matches('(')` can't be evaluated: `matches`: `(` is no pattern: found open group without closing ')'",
    );
    for hostile in [
        "((a{100}){100}){100}".to_owned(),
        "(".repeat(9_000) + &")".repeat(9_000),
    ] {
        let judgement = judge(&format!("notes.matches('{hostile}')"));
        assert_eq!(judgement.outcome, Outcome::Unknown, "{judgement:?}");
    }
}

#[test]
fn optional_values_stand_in_for_what_is_missing() {
    passes("coverage.?branch.orValue(100) == 100 && coverage.?line.orValue(0.0) == 71.5");
}

// False

#[test]
fn an_operand_that_is_false_is_named_with_what_it_looked_at() {
    fails(
        "tests.failed == 0 && coverage.line >= 80.0 && iteration < 10",
        &[
            "`tests.failed == 0` is false: tests.failed is 2",
            "`coverage.line >= 80.0` is false: coverage.line is 71.5",
        ],
    );
    fails(
        "checks['end-to-end'].passed",
        &[r#"`checks['end-to-end'].passed` is false: checks["end-to-end"].passed is false"#],
    );
    fails("1 > 2", &["`1 > 2` is false"]);
}

#[test]
fn only_the_outermost_and_is_split() {
    let facts = "tests.failed is 2, coverage.line is 71.5";
    for expr in [
        "(tests.failed == 0 && coverage.line > 1)",
        "tests.failed == 0 && coverage.line > 1 || false",
        "false || tests.failed == 0 && coverage.line > 1",
        "true ? tests.failed == 0 && coverage.line > 1 : true",
    ] {
        fails(expr, &[&format!("`{expr}` is false: {facts}")]);
    }
}

#[test]
fn an_and_in_a_text_or_comment_is_none() {
    fails(
        "notes == ' && ' // && not this\n && true",
        &["`notes == ' && ' // && not this` is false: notes is \"all done\""],
    );
}

#[test]
fn false_outweighs_an_operand_without_a_value() {
    fails(
        "coverage.branch > 1 && tests.failed == 0",
        &["`tests.failed == 0` is false: tests.failed is 2"],
    );
}

#[test]
fn a_message_takes_the_place_of_the_reasons() {
    let (evidence, artifacts) = evidence(&[]);
    let settings = json!({"expr": "tests.failed == 0", "message": "mend the tests"}).to_string();
    let judgement = Cel::evaluate(&evidence, &artifacts, &settings);
    assert_eq!(
        judgement,
        Judgement::fail(vec!["mend the tests".to_owned()])
    );
}

// Neither true nor false

#[test]
fn a_name_that_does_not_exist_is_named() {
    is_unknown(
        "tests.failed >= 0 && covrage.line >= 80.0",
        "`covrage.line >= 80.0` can't be evaluated: there is no `covrage`: it is none of iteration, checks, tests, artifacts, and no artifact has that name",
    );
    is_unknown(
        "coverage.branch > 1",
        "`coverage.branch > 1` can't be evaluated: there is no `branch`",
    );
    is_unknown(
        "checks.build.passed",
        "`checks.build.passed` can't be evaluated: there is no `build`",
    );
    is_unknown(
        "lines(notes) == 1",
        "`lines(notes) == 1` can't be evaluated: there is no function `lines`",
    );
}

#[test]
fn without_counts_the_absence_of_tests_is_explained() {
    let judgement = Cel::evaluate(
        &Evidence::default(),
        &ArtifactsInMemory::default(),
        r#"{"expr": "tests.failed == 0"}"#,
    );
    assert_eq!(
        judgement,
        Judgement::unknown(
            "`tests.failed == 0` can't be evaluated: there is no `tests`, because no check counted tests"
        )
    );
}

#[test]
fn what_is_no_boolean_is_neither_true_nor_false() {
    is_unknown(
        "tests.failed",
        "`tests.failed` is neither true nor false, but of type int",
    );
    is_unknown(
        "notes",
        "`notes` is neither true nor false, but of type string",
    );
    is_unknown(
        "true && iteration",
        "`iteration` can't be evaluated: it is neither true nor false, but of type int",
    );
    is_unknown(
        "null",
        "`null` is neither true nor false, but of type null_type",
    );
}

#[test]
fn values_of_the_wrong_type_are_explained() {
    is_unknown(
        "notes > 3",
        "`notes > 3` can't be evaluated: found no matching overload for '_>_' applied to '(string, int)'",
    );
    for expr in [
        "1 / 0 == 1",
        "9223372036854775807 + 1 > 0",
        "[1][5] == 1",
        "{'a': 1, 'a': 2} == {}",
    ] {
        assert_eq!(judge(expr).outcome, Outcome::Unknown, "{expr}");
    }
}

#[test]
fn a_mistake_is_reported_with_its_place() {
    is_unknown(
        "tests.failed ==\n  && true",
        "the expression has a mistake at line 2, column 3: unexpected token",
    );
    is_unknown(
        "tests.failed = 0",
        "the expression has a mistake at line 1, column 14: mismatched input '=' expecting <EOF>",
    );
    is_unknown(
        "",
        "the expression has a mistake at line 1, column 1: mismatched input '<EOF>' expecting expression",
    );
    is_unknown(
        "'größe' ==\n 'ä' § 1",
        "the expression has a mistake at line 2, column 6: unexpected character",
    );
    is_unknown(
        "notes == 'open",
        "the expression has a mistake at line 1, column 10: unterminated string literal",
    );
    is_unknown(
        "(tests.failed == 0",
        "the expression has a mistake at line 1, column 19: expected ')'",
    );
}

#[test]
fn an_artifact_that_is_mentioned_but_can_t_be_loaded_is_named() {
    is_unknown(
        "image == ''",
        "the artifact `image` is neither JSON nor text: byte 0 is not UTF-8",
    );
    passes("artifacts.image.size == 5");
}

#[test]
fn settings_that_do_not_fit_are_unknown() {
    let (evidence, artifacts) = evidence(&[]);
    for settings in ["", "{}", r#"{"expr": 1}"#, r#"{"expr": "true", "x": 1}"#] {
        let judgement = Cel::evaluate(&evidence, &artifacts, settings);
        assert_eq!(judgement.outcome, Outcome::Unknown, "{settings}");
    }
}

// Hostile texts

/// Runs on a stack of one mebibyte. That of a component is smaller, but so are its frames.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(1 << 20).spawn(work);
    thread.unwrap().join().unwrap();
}

/// Ways to make a tree deep: text before, what is repeated, the middle, what is repeated after it.
const SHAPES: &[(&str, &str, &str)] = &[
    ("(", "true", ")"),
    ("[", "1", "]"),
    ("{1: ", "1", "}"),
    ("{", "1", ": 1}"),
    ("!", "true", ""),
    ("-", "iteration", ""),
    ("!(", "true", ")"),
    ("-(", "1", ")"),
    ("!-", "true", ""),
    ("", "1", " + 1"),
    ("1 + (", "1", ")"),
    ("", "1", " == 1"),
    ("", "1", " in [1]"),
    ("", "true", " && true"),
    ("", "false", " || false"),
    ("true && (false || ", "true", ")"),
    ("true ? 1 : ", "1", ""),
    ("false ? 1 : ", "1", ""),
    ("", "true", " ? true : true"),
    ("(true ? ", "1", " : 2)"),
    ("", "checks", ".a"),
    ("", "{}", ".a"),
    ("", "{}", ".?a"),
    ("", "[1]", "[0]"),
    ("", "coverage", "['files'][0]"),
    ("[1][", "0", "]"),
    ("size(", "1", ")"),
    ("", "'a'", ".size()"),
    ("", "'a'", ".contains('a')"),
    ("'a'.contains(", "'a'", ")"),
    ("[1].all(x, ", "true", ")"),
    ("[1].exists(x, ", "true", ")"),
    ("[1].exists_one(x, ", "true", ")"),
    ("[1].map(x, ", "1", ")"),
    ("[1].filter(x, ", "true", ")"),
    ("", "[1]", ".map(x, x)"),
    ("", "[1]", ".filter(x, true)"),
    ("has({}.", "a", ")"),
    ("A{a: ", "1", "}"),
    ("", "a", " {}"),
    ("/* ", "1", ""),
    ("'", "a", ""),
    ("r'\\' + (", "1", ")"),
    ("'''' + ''' + (", "1", ")"),
    ("`", "a", ""),
    ("(\n", "1", "\n)"),
];

fn repeated((before, middle, after): (&str, &str, &str), times: usize) -> String {
    before.repeat(times) + middle + &after.repeat(times)
}

#[test]
fn no_depth_of_any_shape_overflows_a_small_stack() {
    on_a_small_stack(|| {
        for shape in SHAPES {
            // Up to where all shapes are refused, then as deep as a text can be.
            for times in (1..=340).step_by(3).chain([1_000, 6_000]) {
                let judgement = judge(&repeated(*shape, times));
                assert!(judgement.reasons.len() <= 200, "{shape:?} {times}");
            }
        }
    });
}

#[test]
fn shapes_inside_one_another_do_not_overflow_a_small_stack() {
    on_a_small_stack(|| {
        for outer in SHAPES {
            for inner in SHAPES {
                for times in [4, 8, 12, 16, 24, 32, 64] {
                    let (before, middle, after) = *inner;
                    let inner = repeated((before, middle, after), times);
                    let text = repeated((outer.0, &inner, outer.2), times);
                    judge(&text);
                }
            }
        }
    });
}

#[test]
fn what_is_too_deep_is_refused_with_value_and_limit() {
    is_unknown(
        &repeated(("(", "true", ")"), 100),
        "the expression is refused: it is nested too deeply: 600 operators and brackets (which count as 5 each) are inside one another, and at most 320 may be",
    );
}

#[test]
fn what_people_write_is_not_too_deep() {
    let conditions: Vec<String> = (0..80)
        .map(|number| format!("coverage.line > -{number}.5"))
        .collect();
    passes(&conditions.join(" && "));
    let words: Vec<String> = (0..2_000).map(|number| format!("'{number}'")).collect();
    passes(&format!("'1999' in [{}]", words.join(", ")));
    passes(&repeated(("(", "true", ")"), 20));
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let long = format!("'{}' != ''", "x".repeat(70_000));
    is_unknown(
        &long,
        "the expression is too long: it has 70008 bytes, and at most 65536 are read",
    );
    passes(&format!("'{}' != ''", "x".repeat(65_000)));
}

#[test]
fn no_text_makes_the_policy_panic() {
    // Every text of two of these pieces, and some longer ones.
    let pieces = [
        "a",
        "1",
        "1u",
        "1.5",
        "'x'",
        "b'x'",
        "\"",
        "'",
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
        "?",
        "!",
        "-",
        "+",
        "*",
        "/",
        "%",
        "==",
        "<",
        "&&",
        "||",
        "&",
        "in",
        "true",
        "null",
        " ",
        "\n",
        "//",
        "\\",
        "é",
        "\u{1F980}",
        "\0",
        "0x",
        "1e",
        "has(",
        ".all(",
        ".map(x,",
        "size(",
        "coverage",
        "checks",
        ".?",
        "[?",
        "9223372036854775808",
        "-9223372036854775808",
    ];
    for first in pieces {
        for second in pieces {
            judge_with(&[], &format!("{first}{second}"));
        }
    }
    let mut random = Random(1);
    for _ in 0..20_000 {
        let text: String = (0..12).map(|_| *random.one_of(&pieces)).collect();
        judge_with(&[], &text);
    }
}

// The engine's parser

#[test]
fn the_engine_s_two_parsers_agree() {
    let fixed = [
        "a && b || c && d",
        "a || b && c",
        "a ? b : c ? d : e",
        "a == b == c",
        "a < b && c >= d",
        "!a.b",
        "!!a",
        "--a",
        "-1 - -1",
        "1 + 2 * 3 - 4 / 5 % 6",
        "a.b.c[0]['x'].d(1, 2)",
        "[1, 2, [3]] + []",
        "{'a': 1, b: 2}",
        "a in [1, 2] && !(b in c)",
        "has(a.b) && a.all(x, x > 1)",
        "a.exists(x, b.exists_one(y, x == y))",
        "a.map(x, x * 2).filter(y, y > 1) == []",
        "a.?b.orValue(1)",
        "a[?0]",
        "r'\\d' + \"a\\n\\u00e4\" + '''x'y'''",
        "b'abc' == b\"\\xff\"",
        "0x1F == 31 && 1u == 1 && 1e3 > 1.5E-2",
        "((a))",
        "a // comment\n && b",
        ".a.b",
        "size(a) > 0 && a.size() > 0",
        "(a && b) && (c || d)",
        "a ? (b ? c : d) : e",
        "-a.b + -(c)",
        "a.b(c)[d].e",
    ];
    for text in fixed {
        agree(text);
        let expression = Expression::parse(text).unwrap();
        assert_eq!(expression.whole.text, text);
    }
    let mut random = Random(7);
    for _ in 0..3_000 {
        agree(&random.expression(4));
    }
    // And where one refuses, so does the other.
    for text in [
        "a &&", "a b", "1 +", "(a", "a)", "[1", "{1: }", "a ? b", "a..b", "f(", "'a", "as", "a.1",
    ] {
        assert!(PrattParser::new().parse(text).is_err(), "{text}");
        assert!(Parser::new().parse(text).is_err(), "{text}");
    }
}

/// Both trees, without the numbers of their nodes.
fn agree(text: &str) {
    let tree = PrattParser::new()
        .enable_optional_syntax(true)
        .parse(text)
        .unwrap();
    let other = Parser::new()
        .enable_optional_syntax(true)
        .parse(text)
        .unwrap();
    assert_eq!(unnumbered(&tree), unnumbered(&other), "{text}");
}

fn unnumbered(tree: &cel::parser::Expression) -> String {
    let text = format!("{tree:?}");
    let mut pieces = text.split("id: ");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| {
        all + piece.trim_start_matches(|c: char| c.is_ascii_digit())
    })
}

/// Always the same numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A text that follows the grammar.
    fn expression(&mut self, depth: usize) -> String {
        const LEAVES: &[&str] = &[
            "a", "b.c", "1", "-2", "3u", "4.5", "'x'", "true", "null", "[]", "{}", "f()", ".d",
            "b'y'",
        ];
        const OPERATORS: &[&str] = &[
            "&&", "||", "==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%",
        ];
        if depth == 0 {
            return (*self.one_of(LEAVES)).to_owned();
        }
        let first = self.expression(depth - 1);
        let second = self.expression(depth - 1);
        match self.below(14) {
            0 => format!("({first})"),
            1 => format!("!({first})"),
            2 => format!("-({first})"),
            3 => format!("({first}) ? ({second}) : {first}"),
            4 => format!("[{first}, {second}]"),
            5 => format!("{{{first}: {second}}}"),
            6 => format!("g({first}, {second})"),
            7 => format!("({first}).h({second})"),
            8 => format!("({first})[{second}]"),
            9 => format!("a.all(x, {first})"),
            _ => format!("{first} {} {second}", self.one_of(OPERATORS)),
        }
    }
}
