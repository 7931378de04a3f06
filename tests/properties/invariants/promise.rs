//! Rules about promises: places are real, at most one promise counts, and it stands where it may.

use ralph_gate_component::contract::PromiseRules;
use ralph_gate_component::promise::{PromiseReport, PromiseTag, TagStatus, collapse, parse};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
/// Begins an ANSI escape sequence.
const ESCAPE: char = '\u{1b}';

/// Checks an agent's output under both rule sets.
pub fn check(input: &[u8]) {
    let output = super::text(input).replace(ESCAPE, "");
    for rules in [PromiseRules::Strict, PromiseRules::Lenient] {
        let report = parse(&output, rules);
        assert_eq!(
            report,
            parse(&output, rules),
            "the same output, another report"
        );
        tags(&output, &report);
        accepted(&output, &report);
        if rules == PromiseRules::Strict {
            strict(&output, &report);
        }
        colored(&output, rules, &report);
    }
}

/// Colors around the tags change where they stand and nothing else.
fn colored(output: &str, rules: PromiseRules, report: &PromiseReport) {
    let output = output
        .replace(OPEN, &format!("{ESCAPE}[1m{OPEN}"))
        .replace(CLOSE, &format!("{CLOSE}{ESCAPE}[0m"));
    let colored = parse(&output, rules);
    assert_eq!(colored.accepted, report.accepted);
    assert_eq!(
        (colored.found, colored.conflict),
        (report.found, report.conflict)
    );
    for (tag, plain) in colored.tags.iter().zip(&report.tags) {
        assert_eq!((tag.status, &tag.text), (plain.status, &plain.text));
        let start = usize::try_from(tag.offset).unwrap();
        assert!(output.get(start..).unwrap().starts_with(OPEN));
        if tag.status != TagStatus::Unclosed {
            assert!(span(&output, tag).len() == OPEN.len() || span(&output, tag).ends_with(CLOSE));
        }
    }
}

fn tags(output: &str, report: &PromiseReport) {
    let opened = output.matches(OPEN).count();
    assert_eq!(
        usize::try_from(report.found).unwrap(),
        opened,
        "every opening tag is counted"
    );
    // The first 32, the last 32 and the one that counts.
    let counts = report
        .tags
        .iter()
        .find(|tag| tag.status == TagStatus::Accepted)
        .map(|tag| usize::try_from(tag.offset).unwrap());
    let expected = output
        .match_indices(OPEN)
        .map(|(offset, _)| offset)
        .enumerate()
        .filter(|(index, offset)| *index < 32 || index + 32 >= opened || Some(*offset) == counts)
        .map(|(_, offset)| u32::try_from(offset).unwrap());
    assert!(report.tags.iter().map(|tag| tag.offset).eq(expected));
    let mut before = None;
    for tag in &report.tags {
        let span = span(output, tag);
        assert!(span.starts_with(OPEN), "{tag:?} is not at a tag");
        if tag.status == TagStatus::Unclosed {
            assert_eq!(span, OPEN);
        }
        if span != OPEN {
            assert!(span.ends_with(CLOSE), "{tag:?} does not end at a tag");
        }
        assert!(
            before < Some(tag.offset),
            "tags are in the order of the text"
        );
        before = Some(tag.offset);
        assert!(tag.text.len() <= 200);
        assert_eq!(tag.reason, tag.status.reason());
    }
}

/// The bytes of a tag. Panics unless they are inside the text and on character boundaries.
fn span<'o>(output: &'o str, tag: &PromiseTag) -> &'o str {
    let start = usize::try_from(tag.offset).unwrap();
    let end = start + usize::try_from(tag.length).unwrap();
    output
        .get(start..end)
        .unwrap_or_else(|| panic!("{tag:?} is outside the text or cuts a character"))
}

fn accepted(output: &str, report: &PromiseReport) {
    let counting: Vec<&PromiseTag> = report
        .tags
        .iter()
        .filter(|tag| tag.status == TagStatus::Accepted)
        .collect();
    assert!(counting.len() <= 1, "two promises count");
    match (&report.accepted, counting.as_slice()) {
        (Some(text), [tag]) => {
            assert_eq!(*text, tag.text);
            let span = span(output, tag);
            let inner = span
                .strip_prefix(OPEN)
                .and_then(|rest| rest.strip_suffix(CLOSE))
                .unwrap();
            assert!(
                !around_visible(report, tag),
                "a promise around another one counts"
            );
            let whole = collapse(inner);
            assert!(!whole.is_empty());
            assert!(whole == *text || (whole.len() > 200 && text.ends_with('…')));
        }
        // The first and the last 32 are listed, so the one that counts may be left out under `lenient`.
        (Some(_), []) => assert!(report.found > 64),
        (accepted, _) => assert_eq!(*accepted, None),
    }
    if report.accepted.is_none() {
        assert!(report.signal.is_none() && report.context.is_empty());
        assert!(report.context_warning.is_none());
    }
    if let Some(signal) = report.signal {
        assert_eq!(
            report.accepted.as_deref(),
            Some(signal.to_string().as_str())
        );
    }
}

/// Whether a tag that is not hidden in code, a quote or a comment stands inside another one.
fn around_visible(report: &PromiseReport, outer: &PromiseTag) -> bool {
    let is_inside =
        |tag: &&PromiseTag| outer.offset < tag.offset && tag.offset < outer.offset + outer.length;
    let is_hidden = |tag: &PromiseTag| {
        matches!(
            tag.status,
            TagStatus::InFencedCode
                | TagStatus::InInlineCode
                | TagStatus::InBlockQuote
                | TagStatus::InComment
                | TagStatus::InHtmlBlock
        )
    };
    let mut inside = report.tags.iter().filter(is_inside);
    inside.any(|tag| !is_hidden(tag))
}

/// Under `strict` nothing but one context block follows, nothing stands before it on its line, and there is no conflict.
fn strict(output: &str, report: &PromiseReport) {
    let conflicting = |tag: &PromiseTag| tag.status == TagStatus::Conflicting;
    if report.conflict {
        assert_eq!(report.accepted, None, "a conflict can't be accepted");
    } else {
        assert!(!report.tags.iter().any(conflicting));
    }
    let Some(tag) = report
        .tags
        .iter()
        .find(|tag| tag.status == TagStatus::Accepted)
    else {
        assert_eq!(
            report.accepted, None,
            "the tag that counts is always listed"
        );
        return;
    };
    let before = output.get(..usize::try_from(tag.offset).unwrap()).unwrap();
    let indent = before.rsplit('\n').next().unwrap_or_default();
    assert!(
        indent.trim().is_empty() && indent.chars().count() < 4,
        "{indent:?} stands before the promise"
    );
    let end = usize::try_from(tag.offset + tag.length).unwrap();
    let rest = output.get(end..).unwrap().trim();
    let is_block = rest.starts_with("<context>")
        && rest
            .find("</context>")
            .is_none_or(|close| close + "</context>".len() == rest.len());
    assert!(rest.is_empty() || is_block, "{rest:?} follows the promise");
}
