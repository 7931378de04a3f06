//! Rules about contracts: reading is total, and the canonical form reads back as itself.

use ralph_gate_component::contract::{self, ContractReport};
use ralph_gate_component::error::Problem;
use ralph_gate_component::tree::TextFormat;

/// Checks a text as a contract in each format, and with the format recognised.
pub fn check(input: &[u8]) {
    let text = super::text(input);
    for format in [
        None,
        Some(TextFormat::Json),
        Some(TextFormat::Yaml),
        Some(TextFormat::Toml),
    ] {
        report(&text, &contract::check(&text, format));
    }
    let recognised = contract::check(&text, None);
    match contract::parse(&text) {
        Ok(contract) => assert_eq!(Some(contract.canonical()), recognised.contract),
        Err(error) => {
            assert!(!recognised.valid);
            assert_eq!(error.problems, recognised.problems);
        }
    }
}

fn report(text: &str, report: &ContractReport) {
    assert_eq!(report.valid, report.problems.is_empty());
    assert_eq!(report.valid, report.contract.is_some());
    assert_eq!(report.valid, report.digest.is_some());
    assert!(report.problems.len() <= 100);
    for problem in report.problems.iter().chain(&report.warnings) {
        place(text, problem);
    }
    if let (Some(canonical), Some(digest)) = (&report.contract, &report.digest) {
        is_canonical(canonical, digest);
    }
}

/// Panics unless a contract is what the gate itself makes of it.
pub fn is_canonical(text: &str, digest: &str) {
    let again = contract::check(text, None);
    assert!(
        again.valid,
        "the canonical form is refused: {:?}\n{text}",
        again.problems
    );
    assert_eq!(again.contract.as_deref(), Some(text), "it is not canonical");
    assert_eq!(again.digest.as_deref(), Some(digest));
}

/// Panics unless a problem stands at a place of the text.
pub fn place(text: &str, problem: &Problem) {
    let lines = text.split(['\n', '\r']).count();
    let line = usize::try_from(problem.line).unwrap();
    let column = usize::try_from(problem.column).unwrap();
    assert!(
        (1..=lines + 1).contains(&line) && (1..=text.len() + 2).contains(&column),
        "{problem:?} is not in the text of {lines} lines"
    );
    assert!(!problem.message.is_empty());
}
