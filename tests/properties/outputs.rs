//! Properties of agents' outputs: where a promise counts, whatever stands in front of it.

use ralph_gate_component::contract::PromiseRules;
use ralph_gate_component::promise::{TagStatus, parse};

use crate::random::Random;

const WORDS: &[&str] = &[
    "done",
    "é",
    "😀",
    "a < b",
    "\\",
    "*",
    "-",
    "1.",
    "#",
    "\n",
    "\n\n",
    "\r\n",
    "  ",
    "&amp;",
    "<br>",
    "`code`",
    "</promise>",
    "promise",
];

/// Some lines of plain Markdown that leave nothing open.
fn prose(random: &mut Random) -> String {
    let words: Vec<&str> = (0..random.below(12)).map(|_| *random.pick(WORDS)).collect();
    words.join(" ")
}

#[test]
fn a_promise_at_the_end_of_prose_counts() {
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let output = format!("{}\n\n<promise>ALL  DONE</promise>\n", prose(&mut random));
        let report = parse(&output, PromiseRules::Strict);
        assert_eq!(report.accepted.as_deref(), Some("ALL DONE"), "{output:?}");
    }
}

#[test]
fn a_promise_in_code_a_quote_html_or_a_comment_or_beside_text_never_counts() {
    let mut random = Random::new(2);
    for (before, after, status) in [
        ("\n\n```\n", "\n```\n", TagStatus::InFencedCode),
        ("\n\n~~~~ text\n", "", TagStatus::InFencedCode),
        ("\n\n> quoted\n", "", TagStatus::InBlockQuote),
        ("\n\n<div>\n", "\n</div>", TagStatus::InHtmlBlock),
        ("\n\n    ", "", TagStatus::InIndentedCode),
        ("\n\nIt is ", "", TagStatus::NotAlone),
        ("\n\n", " it is", TagStatus::NotAlone),
        ("\n\nx `", "`", TagStatus::InInlineCode),
        ("\n\nx ``", "``", TagStatus::InInlineCode),
        ("\n\n> ", "", TagStatus::InBlockQuote),
        ("\n\n- > ", "", TagStatus::InBlockQuote),
        ("\n\n<!-- ", " -->", TagStatus::InComment),
        ("\n\n<!-- ", "", TagStatus::InComment),
    ] {
        for _ in 0..200 {
            let prose = prose(&mut random);
            let output = format!("{prose}{before}<promise>DONE</promise>{after}");
            let report = parse(&output, PromiseRules::Strict);
            assert_eq!(report.accepted, None, "{output:?}");
            assert_eq!(report.tags[0].status, status, "{output:?}");
            let report = parse(&output, PromiseRules::Lenient);
            assert_eq!(report.accepted.as_deref(), Some("DONE"), "{output:?}");
        }
    }
}

#[test]
fn text_behind_a_promise_takes_it_back() {
    let mut random = Random::new(3);
    for _ in 0..1000 {
        let (before, after) = (prose(&mut random), prose(&mut random));
        let output = format!("{before}\n\n<promise>DONE</promise>\n\n{after}");
        let report = parse(&output, PromiseRules::Strict);
        assert_eq!(
            report.accepted.is_some(),
            after.trim().is_empty(),
            "{output:?}"
        );
    }
}

#[test]
fn two_promises_that_differ_never_complete() {
    let mut random = Random::new(4);
    for _ in 0..1000 {
        let prose = prose(&mut random);
        let output =
            format!("<promise>DONE</promise>\n{prose}\n\n<promise>LOOP_CONTINUE</promise>");
        let report = parse(&output, PromiseRules::Strict);
        assert_eq!(
            (report.accepted, report.conflict),
            (None, true),
            "{output:?}"
        );
    }
}
