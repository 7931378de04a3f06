//! Which format a text is in, told by lines that only one runner writes.

use std::collections::BTreeSet;

use super::text::{Line, lines, without_mark};
use super::{TestFormat, cargo, go_json, nextest, node, pytest, tap};

/// Which format a text is in, or none if it can't be told: nothing in it is known, or marks of several formats are.
/// A torn report is recognised too; whether it is evidence, [`super::read`] says.
pub fn recognise(text: &[u8]) -> Option<TestFormat> {
    if is_xml(text, b"<testsuite") {
        return Some(TestFormat::Junit);
    }
    if is_xml(text, b"<TestRun") {
        return Some(TestFormat::Trx);
    }
    let mut found: BTreeSet<TestFormat> = lines(text).filter_map(|line| mark(&line)).collect();
    // Node writes TAP, and nextest shows what test binaries write.
    if found.contains(&TestFormat::Node) {
        found.remove(&TestFormat::Tap);
    }
    if found.contains(&TestFormat::Nextest) {
        found.remove(&TestFormat::Cargo);
    }
    match found.len() {
        1 => found.pop_first(),
        _ => None,
    }
}

/// Whether a text is an XML document that has an element near its beginning.
fn is_xml(text: &[u8], element: &[u8]) -> bool {
    const NEAR: usize = 4096;
    let text = without_mark(text).trim_ascii_start();
    let near = text.get(..NEAR).unwrap_or(text);
    let has = |window: &[u8]| window == element;
    text.starts_with(b"<") && near.windows(element.len()).any(has)
}

fn mark(line: &Line<'_>) -> Option<TestFormat> {
    let text = &*line.text;
    if go_json::is_mark(line) {
        Some(TestFormat::GoJson)
    } else if nextest::is_mark(text) {
        Some(TestFormat::Nextest)
    } else if cargo::is_mark(text) {
        Some(TestFormat::Cargo)
    } else if pytest::is_mark(text) {
        Some(TestFormat::Pytest)
    } else if node::is_mark(text) {
        Some(TestFormat::Node)
    } else if text.starts_with("TAP version ") || tap::plan(text).is_some() {
        Some(TestFormat::Tap)
    } else {
        None
    }
}
