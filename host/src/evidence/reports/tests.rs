//! What holds for every format: formats are told apart, a cut report is not green, and no damage ends in a panic.

use ralph_gate_component::Word as _;

use super::*;

/// A report of a real runner, or written by its documentation, and what it is in.
type Fixture = (TestFormat, &'static [u8]);

macro_rules! fixtures {
    ($($format:ident $file:literal),* $(,)?) => {
        [$((TestFormat::$format, include_bytes!(concat!("fixtures/", $file)) as &[u8])),*]
    };
}

const FIXTURES: [Fixture; 51] = fixtures![
    Junit "junit_several.xml",
    Junit "junit_pytest.xml",
    Junit "junit_pytest_double.xml",
    Junit "junit_nextest.xml",
    Junit "junit_node.xml",
    Junit "junit_pytest_subtests.xml",
    Junit "junit_pytest_subtests_failed.xml",
    Junit "junit_gotestsum_rerun.xml",
    Junit "junit_jest.xml",
    Junit "junit_jest_failed.xml",
    Junit "junit_vitest.xml",
    Junit "junit_vitest_failed.xml",
    Junit "junit_mocha.xml",
    Junit "junit_mocha_failed.xml",
    Junit "junit_node_nested_failed.xml",
    Trx "dotnet.trx",
    Tap "tap_vitest.txt",
    Tap "tap_vitest_failed.txt",
    Tap "tap_mocha.txt",
    Tap "tap_mocha_failed.txt",
    Pytest "pytest_subtests.txt",
    Pytest "pytest_subtests_failed.txt",
    Node "node_nested_tap.txt",
    Node "node_nested_spec.txt",
    Tap "tap_12.txt",
    Tap "tap_14.txt",
    Cargo "cargo_failed.txt",
    Cargo "cargo_passed.txt",
    Cargo "cargo_quiet.txt",
    Cargo "cargo_show_output.txt",
    Cargo "cargo_coloured.txt",
    Cargo "cargo_crashed.txt",
    Cargo "cargo_uncaptured.txt",
    Nextest "nextest_passed.txt",
    Nextest "nextest_passed_and_failed.txt",
    Nextest "nextest_variants.txt",
    Nextest "nextest_cancelled.txt",
    Nextest "nextest_coloured.txt",
    Pytest "pytest_failed.txt",
    Pytest "pytest_quiet.txt",
    Pytest "pytest_coloured.txt",
    Pytest "pytest_collection_error.txt",
    Pytest "pytest_double.txt",
    Pytest "pytest_none.txt",
    Node "node_tap.txt",
    Node "node_spec.txt",
    Node "node_passed_tap.txt",
    Node "node_passed_spec.txt",
    GoJson "go_failed.txt",
    GoJson "go_broken.txt",
    Cargo "cargo_not_compiled.txt",
];

const FINDINGS: [&[u8]; 2] = [
    include_bytes!("fixtures/findings.sarif"),
    include_bytes!("fixtures/findings.json"),
];

/// What a report means to the one who asks for evidence.
fn is_green(read: &Result<TestCounts, ReportError>) -> bool {
    matches!(read, Ok(counts) if counts.failed == 0)
}

fn total(read: &Result<TestCounts, ReportError>) -> u64 {
    read.as_ref().map_or(0, TestCounts::total)
}

#[test]
fn every_format_has_one_name() {
    for format in TestFormat::ALL.iter().copied() {
        assert_eq!(TestFormat::parse(format.as_str()), Some(format));
    }
    assert_eq!(TestFormat::parse("JUnit"), None);
}

#[test]
fn each_fixture_is_recognised() {
    for (format, text) in FIXTURES {
        let expected = match text {
            text if text.starts_with(b"   Compiling demo v0.1.0 (project)\nerror") => None,
            _ => Some(format),
        };
        let shown = String::from_utf8_lossy(text);
        assert_eq!(recognise(text), expected, "{shown}");
    }
}

#[test]
fn what_can_not_be_told_is_not_guessed() {
    assert_eq!(recognise(b""), None);
    assert_eq!(recognise(b"all is well\n"), None);
    assert_eq!(recognise(b"<html></html>"), None);
    assert_eq!(recognise(b"running 1 test\n3 passed in 0.1s\n"), None);
}

#[test]
fn a_report_is_nothing_in_another_format() {
    for (own, text) in FIXTURES {
        for format in TestFormat::ALL.iter().copied() {
            // Node writes TAP, whose outermost level is a report too.
            let is_tap = own == TestFormat::Node && format == TestFormat::Tap;
            if format != own && !is_tap {
                let read = read(format, text);
                assert!(read.is_err(), "{own:?} as {format:?}: {read:?}");
            }
        }
    }
}

/// For each proper prefix of each fixture: reading and recognising it doesn't panic, and if the whole fixture reads
/// as one with failed tests, a prefix that reads as one without any has fewer tests than the whole. This says nothing
/// about other reports: where a runner passes on unchanged what tests print, they can print a whole report.
#[test]
fn a_cut_report_is_never_green_with_as_many_tests_if_the_whole_failed() {
    for (format, text) in FIXTURES {
        let whole = read(format, text);
        for end in 0..text.len() {
            let _ = recognise(&text[..end]);
            let cut = read(format, &text[..end]);
            if whole.is_ok() && !is_green(&whole) && is_green(&cut) {
                assert!(
                    total(&cut) < total(&whole),
                    "{format:?} cut at {end}: {cut:?} of {whole:?}"
                );
            }
        }
    }
}

/// For each proper prefix of each fixture that is one run and is not green, because tests failed or because it is an
/// error: the prefix is not green either. A report that is a sequence of whole ones (binaries of cargo, XML documents)
/// can be cut between two of them, which shows only in the number of tests.
#[test]
fn a_cut_report_of_one_run_is_never_green_if_the_whole_is_not() {
    for (format, text) in FIXTURES {
        let documents = text.windows(5).filter(|window| window == b"<?xml").count();
        let is_sequence = format == TestFormat::Cargo || documents > 1;
        if is_sequence || is_green(&read(format, text)) {
            continue;
        }
        for end in 0..text.len() {
            let cut = read(format, &text[..end]);
            assert!(!is_green(&cut), "{format:?} cut at {end}: {cut:?}");
        }
    }
}

/// For each byte of each fixture: with any of its bits turned over, with all of them, and without it, reading
/// doesn't panic, in its own format or as findings.
#[test]
fn no_changed_byte_ends_in_a_panic() {
    for (format, text) in FIXTURES {
        for_each_damage(text, |damaged| {
            let _ = read(format, damaged);
        });
    }
    for text in FINDINGS {
        for_each_damage(text, |damaged| {
            let _ = read_findings(damaged, None);
        });
    }
}

fn for_each_damage(text: &[u8], mut take: impl FnMut(&[u8])) {
    let mut damaged = text.to_vec();
    for at in 0..text.len() {
        for flip in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
            damaged[at] = text[at] ^ flip;
            take(&damaged);
        }
        damaged[at] = text[at];
    }
    for at in 0..text.len() {
        take(&[&text[..at], &text[at + 1..]].concat());
    }
}

#[test]
fn cut_findings_are_an_error() {
    for text in FINDINGS {
        let whole = text.trim_ascii_end();
        for end in 0..whole.len() {
            assert!(read_findings(&whole[..end], None).is_err(), "cut at {end}");
        }
    }
}

#[test]
fn names_are_few_short_and_clean() {
    let name = format!("a\x07{}", "ä".repeat(200));
    let text = format!("not ok - {name}\n").repeat(30);
    let counts = read(TestFormat::Tap, format!("1..30\n{text}").as_bytes()).unwrap();
    assert_eq!((counts.failed, counts.failures.len()), (30, 20));
    for name in &counts.failures {
        assert!(name.len() <= 200 && name.starts_with("a\u{fffd}ä"));
    }
}

#[test]
fn huge_numbers_do_not_overflow() {
    let huge = u64::MAX;
    for text in [
        format!("1..{huge}\nok {huge}\n"),
        format!("{huge} passed, {huge} failed in 0.1s\n"),
        format!("Summary [ 0.5s] {huge} tests run: {huge} passed\n"),
        format!(
            "running {huge} tests\ntest result: ok. {huge} passed; {huge} failed; 0 ignored; 0 measured; 0 filtered out\n"
        ),
        format!("<testsuite tests='{huge}' failures='{huge}' errors='{huge}'/>"),
    ] {
        for format in TestFormat::ALL.iter().copied() {
            assert!(read(format, text.as_bytes()).is_err(), "{format:?}: {text}");
        }
    }
}

/// The texts that a reader gives to people and to later comparisons.
fn told(counts: &TestCounts) -> impl Iterator<Item = &String> {
    let names = counts.names.iter();
    let names = names.flat_map(|names| names.ran.iter().chain(&names.skipped));
    names.chain(&counts.failures)
}

#[test]
fn every_name_of_a_damaged_report_is_bounded_and_clean() {
    for (format, text) in FIXTURES {
        for at in (0..text.len()).step_by(7) {
            let damaged = [&text[..at], b"\x1b[2J\x07\xe2\x80\xae", &text[at..]].concat();
            let Ok(counts) = read(format, &damaged) else {
                continue;
            };
            for name in told(&counts) {
                assert!(name.len() <= 200, "{name}");
                assert!(!name.contains(char::is_control), "{name:?}");
            }
        }
    }
}

#[test]
fn more_names_than_are_read_are_counted_alone() {
    let tests = 200_001;
    let points: Vec<String> = (1..=tests).map(|number| format!("ok {number}\n")).collect();
    let points = points.concat();
    let tap = read(TestFormat::Tap, format!("1..{tests}\n{points}").as_bytes()).unwrap();
    assert_eq!((tap.passed, tap.names), (tests, None));
    let name = "x".repeat(200);
    let cases: Vec<String> = (0..tests)
        .map(|number| format!("<testcase name='{number}'/>"))
        .collect();
    let cases = cases.concat();
    let text = format!("<testsuite name='{name}'>{cases}</testsuite>");
    let junit = read(TestFormat::Junit, text.as_bytes()).unwrap();
    assert_eq!((junit.passed, junit.names), (tests, None));
}

#[test]
fn reports_of_one_run_are_summed() {
    let one = read(TestFormat::Tap, b"1..2\nok 1 - a\nnot ok 2 - b\n").unwrap();
    let mut all = read(TestFormat::Tap, b"1..1\nok 1 - c # SKIP\n").unwrap();
    all.add(one.clone());
    assert_eq!((all.passed, all.failed, all.skipped), (1, 1, 1));
    assert_eq!(told(&all).collect::<Vec<_>>(), ["a", "b", "c", "b"]);
    all.add(TestCounts { names: None, ..one });
    assert_eq!((all.total(), all.names), (5, None));
}
